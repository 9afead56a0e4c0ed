"""What every integration must do, tested with the real framework and a model that is a function.

A subclass runs an agent of its framework; `docs/integrations/index.md` has a column for each test
here.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar, Literal

import pytest

from refold import MemoryStore, Session
from refold.scan.tokens.choose import counter_for

Mode = Literal["sync", "async", "streaming"]
BUDGET = 6_000
TURNS = 8
TASK = "Why do requests fail?"
BOUND = "claude-fable-5-2"
MODELS = ("gpt-5", BOUND)
MARK = re.compile(r"#([a-z]{5,36})\b")


@cache
def log_of(n: int) -> str:
    """Return what the tool `read` returns: 300 lines of a log, one of them an error."""
    lines = [f"10:{k // 60:02}:{k % 60:02} INFO worker {k * n % 7} took {k} ms" for k in range(300)]
    lines[137] = f"10:02:17 ERROR request {n} failed: disk full"
    return "\n".join(lines)


def tokens_of(requests: Sequence[Sequence[str]], model: str) -> int:
    """Count all texts of all requests."""
    count = counter_for(model)
    return sum(count(text) for texts in requests for text in texts)


@cache
def saved_by_session(model: str) -> float:
    """Return the share of tokens that a session saves in the conversation of a `Brain`."""
    session = Session[Any](model=model, token_budget="auto", store=MemoryStore())
    session.append({"role": "user", "content": TASK})
    sent: list[list[str]] = []
    for n in range(TURNS + 1):
        sent.append([str(message["content"] or "") for message in session.view()])
        function = {"name": "read", "arguments": f'{{"n": {n}}}'}
        call = {"id": f"c{n}", "type": "function", "function": function}
        session.append({"role": "assistant", "content": None, "tool_calls": [call]})
        session.append({"role": "tool", "tool_call_id": f"c{n}", "content": log_of(n)})
    whole = [[TASK, *map(log_of, range(step))] for step in range(TURNS + 1)]
    return 1 - tokens_of(sent, model) / tokens_of(whole, model)


@dataclass(frozen=True)
class Call:
    """The model calls a tool."""

    name: str
    arguments: dict[str, Any]
    thought: str = ""


Act = Call | str
"""What the model does: it calls a tool, or says something and is done."""


@dataclass
class Brain:
    """A model: is shown texts, calls `read` so many times, and then says that it is done."""

    turns: int = TURNS
    thinks: bool = False
    retrieves: bool = False
    seen: list[list[str]] = field(default_factory=list)
    """The texts of every request."""

    def act(self, texts: Sequence[str]) -> Act:
        """Answer a request."""
        step = len(self.seen)
        self.seen.append(list(texts))
        thought = f"I look at number {step}." if self.thinks else ""
        if step < self.turns:
            return Call("read", {"n": step}, thought)
        if self.retrieves and step == self.turns:
            handle = MARK.findall(next(text for text in reversed(texts) if MARK.search(text)))[0]
            return Call("retrieve_original", {"handle": f"#{handle}"}, thought)
        return "The disk is full."


@dataclass
class Talk:
    """What came of a run."""

    requests: list[list[Any]]
    """What was sent, request by request, in the types of the framework."""
    history: list[str]
    """The texts that the framework keeps."""
    tools: list[str] = field(default_factory=list)
    """The names of the tools that the model was offered."""


Choose = Callable[..., Any]


class Integration(ABC):
    """The tests of one framework."""

    is_whole: ClassVar[bool] = True
    """Whether the whole conversation is kept within the budget, not only each tool result."""

    @abstractmethod
    def talk(self, brain: Brain, mode: Mode, **choices: Any) -> Talk:
        """Run an agent that is asked `TASK`, has the tool `read` and the retrieval tool."""

    def run(self, brain: Brain, mode: Mode = "sync", **choices: Any) -> Talk:
        given = {"store": MemoryStore(), "token_budget": BUDGET, **choices}
        return self.talk(brain, mode, **given)

    @pytest.fixture(scope="class")
    @classmethod
    def sync(cls) -> tuple[Brain, Talk]:
        """A run that several tests look at."""
        brain = Brain()
        return brain, cls().run(brain)

    def check(self, brain: Brain, talk: Talk) -> None:
        assert len(brain.seen) == TURNS + 1
        sent = sum(map(len, brain.seen[-1]))
        kept = sum(map(len, talk.history))
        assert kept > TURNS * len(log_of(0))
        if self.is_whole:
            assert sent < 4 * BUDGET
        assert sent < kept / 2
        assert "ERROR request 7 failed" in "".join(brain.seen[-1])

    def test_sync(self, sync: tuple[Brain, Talk]) -> None:
        self.check(*sync)

    def test_async(self) -> None:
        brain = Brain()
        self.check(brain, self.run(brain, "async"))

    def test_streaming(self) -> None:
        brain = Brain()
        self.check(brain, self.run(brain, "streaming"))

    def test_tools(self, sync: tuple[Brain, Talk]) -> None:
        brain, talk = sync
        assert {"read", "retrieve_original"} <= set(talk.tools)
        assert [text for text in brain.seen[-1] if text.startswith(TASK)]

    def test_history_untouched(self, sync: tuple[Brain, Talk]) -> None:
        _, talk = sync
        for n in range(TURNS):
            assert log_of(n) in talk.history

    def test_retrieval(self) -> None:
        brain = Brain(retrieves=True)
        talk = self.run(brain)
        answers = [text for text in talk.history if text.startswith("[original ")]
        assert len(answers) == 1
        assert "INFO worker" in answers[0]
        assert any(answers[0] in text for text in brain.seen[-1]), "it is folded again"

    @pytest.mark.parametrize("model", MODELS)
    def test_savings(self, model: str) -> None:
        """By default eight results cost a quarter less, and what they cost in a `Session`."""
        brain = Brain()
        self.run(brain, model=model, token_budget="auto")
        whole = [[TASK, *map(log_of, range(step))] for step in range(TURNS + 1)]
        saved = 1 - tokens_of(brain.seen, model) / tokens_of(whole, model)
        assert saved >= 0.25
        assert saved == pytest.approx(saved_by_session(model), abs=0.01)

    def test_nothing_changes_without_need(self) -> None:
        """What was sent once is sent again, but when the conversation is folded."""
        brain = Brain()
        self.run(brain, token_budget=100_000)
        for before, after in zip(brain.seen, brain.seen[1:], strict=False):
            assert after[: len(before)] == before


def check_thinking(requests: Sequence[Sequence[tuple[str, Any]]]) -> None:
    """Check requests as the newest Claude models do: thinking is bound to all that was before it.

    Each message is told as the thought in it, if there is one, and all else that it says.
    """
    bound: dict[str, list[Any]] = {}
    for number, request in enumerate(requests):
        for place, (thought, _) in enumerate(request):
            if thought:
                assert bound[thought] == list(request[:place]), "bound to a different conversation"
        bound[f"I look at number {number}."] = list(request)
    assert any(thought for request in requests for thought, _ in request)
