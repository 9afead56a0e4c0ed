"""RefoldReAct in DSPy, with a language model that is a function."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest

pytest.importorskip("dspy")

import dspy

from refold.integrations.dspy import RefoldReAct
from tests.integrations.contract import TASK, Brain, Integration, Mode, Talk, log_of

FIELD = re.compile(r"^\[\[ ## (\w+) ## \]\]$\n?", re.MULTILINE)


class Scripted(dspy.BaseLM):
    """Does what a `Brain` says, and keeps every request."""

    def __init__(self, brain: Brain) -> None:
        super().__init__("gpt-5", cache=False)
        self.brain = brain
        self.requests: list[list[Any]] = []
        self.tools: list[str] = []

    def __call__(self, prompt: Any = None, *, messages: Any = None, **_: Any) -> list[str]:
        self.tools += re.findall(r"\(\d+\) (\w+)", messages[0]["content"])
        pieces = FIELD.split(messages[-1]["content"].rpartition("\n\nRespond with")[0])
        texts = [text.strip() for text in pieces[2::2]]
        if "next_thought" not in messages[0]["content"]:
            return ["[[ ## reasoning ## ]]\nIt is.\n\n[[ ## answer ## ]]\nThe disk is full."]
        self.requests.append(texts)
        act = self.brain.act(texts)
        name, given = ("finish", {}) if isinstance(act, str) else (act.name, act.arguments)
        fields = {"thought": "I look.", "tool_name": name, "tool_args": json.dumps(given)}
        return ["\n\n".join(f"[[ ## next_{key} ## ]]\n{text}" for key, text in fields.items())]

    async def acall(self, prompt: Any = None, *, messages: Any = None, **given: Any) -> list[str]:
        return self(prompt, messages=messages, **given)


def read(n: int) -> str:
    """Read a log."""
    return log_of(n)


class TestDSPy(Integration):
    test_streaming: Any = None  # DSPy streams fields of the answer, which are not folded

    def talk(self, brain: Brain, mode: Mode, **choices: Any) -> Talk:
        model = Scripted(brain)
        react = RefoldReAct("question -> answer", tools=[read], **choices)
        with dspy.context(lm=model, adapter=dspy.ChatAdapter()):
            if mode == "async":
                made = asyncio.run(react.acall(question=TASK))
            else:
                made = react(question=TASK)
        return Talk(model.requests, [str(value) for value in made.trajectory.values()], model.tools)
