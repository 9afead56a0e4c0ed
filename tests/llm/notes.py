"""Texts that are asked about, good answers to them, and what holds of every fold with a model."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from refold import ModelReport, Result, uncompress
from refold.llm.summarizers import Summary, SummaryRequest
from tests.classic import Compressor, compress
from tests.conversations import Conversation, all_text, spelled
from tests.llm.summarizers.contract import PAID

FILLER = (
    "It was a long day and all of us were glad when the work was done and the tea was ready. "
    "The walk along the water was a pleasure for everybody who came and for those who stayed. "
)
CLOSING = "Thank you, that is all for now."


def note(n: int) -> str:
    """Some prose with two facts, the number of a hall and a length."""
    return f"The pump in hall {n} was switched off at noon. {FILLER}Its gauge reads {n + 500} mm."


def short(n: int) -> str:
    """A summary of a note that nobody can object to."""
    return f"The pump in hall {n} is off since noon; its gauge reads {n + 500} mm."


def sum_up(text: str) -> str:
    """Answer a prompt about a note, or about several."""
    halls = dict.fromkeys(re.findall(r"pump in hall (\d+)", text))
    return " ".join(short(int(n)) for n in halls)


def talk(*texts: str) -> Conversation:
    """Say each text in turn, so that none is merged with the next; the closing is recent."""
    spoken: Conversation = [
        {"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(texts)
    ]
    return [*spoken, {"role": ("user", "assistant")[len(texts) % 2], "content": CLOSING}]


def notes(count: int) -> Conversation:
    """Say the notes 1, 2, 3, … in turn."""
    return talk(*(note(n) for n in range(1, count + 1)))


def fold(messages: Sequence[Mapping[str, Any]], **choices: Any) -> Result:
    """Fold all but the last message, and check what must hold whatever a model says."""
    return checked(messages, compress(messages, **{"recency_window": 1, **choices}))


def checked(messages: Sequence[Mapping[str, Any]], result: Result) -> Result:
    """Check what must hold of every result."""
    assert spelled(uncompress(result.messages, result.verbatim).messages) == spelled(list(messages))
    assert len(all_text(result.messages)) <= len(all_text(messages))
    assert result.tokens_after <= result.tokens_before
    return result


def report_of(result: Result) -> ModelReport:
    assert result.model is not None
    return result.model


def content(result: Result, index: int = 0) -> str:
    return str(result.messages[index]["content"])


def checks_of(result: Result) -> set[str]:
    return {refused.check for refused in report_of(result).refused}


class Clerk:
    """An asynchronous summarizer that sums up notes and keeps what it was asked."""

    def __init__(self) -> None:
        self.requests: list[SummaryRequest] = []
        self._lock = threading.Lock()

    async def summarize(self, request: SummaryRequest) -> Summary:
        with self._lock:
            self.requests.append(request)
        await self.wait(request)
        return Summary(text=sum_up(request.text), usage=PAID)

    async def wait(self, request: SummaryRequest) -> None:
        """Take time."""

    @property
    def times_asked(self) -> Counter[str]:
        return Counter(request.text for request in self.requests)


class Shelf:
    """A store that remembers how often it was written to."""

    def __init__(self) -> None:
        self.entries: dict[str, Any] = {}
        self.writes = 0

    def put(self, entries: Mapping[str, Any]) -> None:
        self.writes += 1
        self.entries.update(entries)

    def get(self, keys: Any) -> dict[str, Any]:
        return {key: self.entries[key] for key in keys if key in self.entries}


def plainly(messages: Conversation, **choices: Any) -> Conversation:
    """Fold without a model: what every failure must come down to."""
    return Compressor(**{"recency_window": 1, **choices}).compress(messages).messages
