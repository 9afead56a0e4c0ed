"""Conversations with tools, and models for the tests of the compression manager."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from refold.codecs import reencode
from refold.notation.notes import annotate, note, summarized_from
from refold.scan.tokens.estimate import estimate_tokens
from refold.tools.shapes import TextRef, find_texts

FACTS = (
    "The harbour ledger was closed for nine hours on 14 March because pump P-77 failed twice. "
    "Nobody must restart pump P-77 before Maria Lopez signs form 2231. "
)
FILLER = "The crew moved along the quay as usual and everybody went on with the work of the day. "


def result_text(number: int) -> str:
    return f"{FACTS}{FILLER * 4}Case number {1000 + number}."


def call(number: int, name: str = "look", arguments: str = '{"pump": "P-77"}') -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    made = {"id": f"c{number}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [made]}


def turn(number: int, text: str | None = None, name: str = "look") -> list[dict[str, Any]]:
    content = result_text(number) if text is None else text
    return [call(number, name), {"role": "tool", "tool_call_id": f"c{number}", "content": content}]


def talk(turns: int = 4, *, name: str = "look", end: bool = True) -> list[dict[str, Any]]:
    """A user's question, so many tool calls with their results, and the model's answer."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Why was the ledger closed?"}]
    for number in range(turns):
        messages += turn(number, name=name)
    return [*messages, {"role": "assistant", "content": "Done."}] if end else messages


def find_results(messages: Sequence[object]) -> list[TextRef]:
    """What is found in *messages* that tools returned."""
    return [found for found in find_texts(messages) if found.is_result]


def data_of(messages: Sequence[Mapping[str, str]]) -> str:
    """What was to be shortened."""
    user = messages[-1]["content"]
    start = user.index("<<<data ")
    mark = user[start + 8 : user.index("\n", start)]
    return user[user.index("\n", start) + 1 : user.rindex(f"\n{mark} data>>>")]


def well(text: str) -> str:
    """Shorten as a good model does."""
    return text.replace(FILLER, "")


def shown(text: str) -> str:
    """What stands beside *text* once that model was asked."""
    return annotate(well(text), note(summarized_from(estimate_tokens(text), "tokens")))


def reencoded(text: str) -> str:
    """What *text* is without a model where nothing of it may be lost."""
    short = reencode(text, estimate_tokens)
    assert short is not None
    return short.text


class Model:
    """A `generate` function that notes what it is asked; `answer` says what it answers."""

    def __init__(
        self,
        answer: Callable[[str], Any] = well,
        wait: Callable[[int], Awaitable[object]] | None = None,
    ) -> None:
        self._answer = answer
        self._wait = wait
        self._lock = threading.Lock()
        self.asked: list[list[dict[str, str]]] = []
        self.at_once = self.most_at_once = 0

    @property
    def texts(self) -> list[str]:
        return [data_of(messages) for messages in self.asked]

    async def __call__(self, messages: Sequence[Mapping[str, str]]) -> Any:
        with self._lock:
            self.asked.append([dict(message) for message in messages])
            number = len(self.asked)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await (asyncio.sleep(0) if self._wait is None else self._wait(number))
            return self._answer(data_of(messages))
        finally:
            with self._lock:
                self.at_once -= 1


class Clock:
    """Time that goes on when the test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now
