"""Folds for the judge: by the rules, with a perfect model, and with bad ones, at equal tokens.

The judge cuts recorded runs, so what really happened next is known. The perfect model is asked for
the oldest stretch as any model is, and answers with those sentences and lines of it whose values
and words the agent used afterwards; the bad ones refuse, or get every figure wrong. `judge.py`
reads these functions as plugins; evalkit, which it brings along, has the runs:

  python ../shared/judge/judge.py fold --cap 20 --baselines "" --out ctx.jsonl \
    --plugin bench/stretch_judge.py:by_rules --name rules \
    --plugin bench/stretch_judge.py:by_perfect_model --name perfect \
    --plugin bench/stretch_judge.py:by_refusing_model --name refusing \
    --plugin bench/stretch_judge.py:by_wrong_model --name wrong
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from refold import compress
from refold.llm.summarizers import Summarizer, Summary, SummaryRequest
from refold.scan.tokens.choose import counter_for

Messages = list[dict[str, Any]]

_MODEL: Final = "gpt-4o"
_RECORDS: Final = 20
"""Of each source; the judge must be called with no more."""
_AFTER: Final = 8
"""So many messages are what happened next, as the judge takes them."""
_FILL: Final = 0.97
_SENTENCE: Final = re.compile(r"(?<=[.!?]) +(?=[A-Z])|\n+")
_MOST: Final = 400
"""Characters of a piece: longer ones are cut, or a single one would take all the room."""
_WORD: Final = re.compile(r"\w+")
_VALUE: Final = 8
"""A value that is used again is worth so many of the threes of words that are."""
_FIGURE: Final = re.compile(r"[0-9]")


class Later(NamedTuple):
    """What is said and used after a cut."""

    threes: frozenset[tuple[str, ...]]
    values: tuple[str, ...]


class PerfectModel:
    """Writes the pieces of a text that are used later, in their order."""

    def __init__(self, later: Later) -> None:
        self._later = later

    async def summarize(self, request: SummaryRequest) -> Summary:
        """Choose pieces by what they are worth per token until the room is full."""
        count = counter_for(_MODEL)
        pieces = list(dict.fromkeys(_pieces(request.text)))
        costs = [count(piece) + 1 for piece in pieces]
        wanted = [self._wanted(piece) for piece in pieces]
        left = _FILL * request.max_tokens
        known: set[object] = set()
        chosen: set[int] = set()
        while True:
            worth = {
                n: sum(weight for item, weight in wanted[n].items() if item not in known) / costs[n]
                for n in range(len(pieces))
                if n not in chosen and costs[n] <= left
            }
            best = max(worth, key=lambda n: worth[n], default=None)
            if best is None or not worth[best]:
                return Summary(text="\n".join(pieces[n] for n in sorted(chosen)))
            chosen.add(best)
            known.update(wanted[best])
            left -= costs[best]

    def _wanted(self, piece: str) -> dict[object, int]:
        found: dict[object, int] = dict.fromkeys(_threes(piece) & self._later.threes, 1)
        found.update((value, _VALUE) for value in self._later.values if value in piece)
        return found


class RefusingModel:
    """Declines."""

    async def summarize(self, _request: SummaryRequest) -> Summary:
        """Say so."""
        return Summary(text="I'm sorry, but I can't help with summarizing this conversation.")


class WrongModel:
    """Quotes the text with every figure changed, and turns what it says at every second piece."""

    async def summarize(self, request: SummaryRequest) -> Summary:
        """Answer with as many pieces as there is room for."""
        count = counter_for(_MODEL)
        left = _FILL * request.max_tokens
        lines: list[str] = []
        for number, piece in enumerate(_pieces(request.text)):
            wrong = _FIGURE.sub(lambda digit: str((int(digit[0]) + 3) % 10), piece)
            line = f"It is not true that {wrong}" if number % 2 else wrong
            left -= count(line) + 1
            if left < 0:
                break
            lines.append(line)
        return Summary(text="\n".join(lines))


def by_rules(messages: Messages, budget: int) -> Messages:
    """Fold without a model."""
    return _fold(messages, budget, None)


def by_perfect_model(messages: Messages, budget: int) -> Messages:
    """Fold with a model that knows what comes next."""
    return _fold(messages, budget, PerfectModel(_later()[_name(messages)]))


def by_refusing_model(messages: Messages, budget: int) -> Messages:
    """Fold with a model that declines."""
    return _fold(messages, budget, RefusingModel())


def by_wrong_model(messages: Messages, budget: int) -> Messages:
    """Fold with a model that is wrong."""
    return _fold(messages, budget, WrongModel())


def _fold(messages: Messages, budget: int, model: Summarizer | None) -> Messages:
    return compress(messages, token_budget=budget, model=_MODEL, summarizer=model).messages


@cache
def _later() -> dict[str, Later]:
    """Return what comes after each cut that the judge makes."""
    judge, kit = sys.modules["__main__"], sys.modules["evalkit"]
    data = str(Path(str(judge.__file__)).parents[1] / "data")
    found: dict[str, Later] = {}
    for record in kit.load(data, ("trajectory", "chat"), _RECORDS):
        messages = record.get("messages") or []
        for cut in judge.places(kit, messages):
            after = [m for m in messages[cut : cut + _AFTER] if m["role"] == "assistant"]
            threes = frozenset().union(*(_threes(kit.full_text(m)) for m in after))
            values = tuple(one["v"] for one in kit.needles_at(messages, cut)[0])
            found[_name(messages[:cut])] = Later(threes, values)
    return found


def _name(messages: Messages) -> str:
    return repr([(m["role"], m.get("content"), m.get("tool_calls")) for m in messages])


def _pieces(text: str) -> Iterator[str]:
    for piece in _SENTENCE.split(text):
        for start in range(0, len(piece), _MOST):
            if (part := piece[start : start + _MOST].strip()) and not part.startswith("("):
                yield part


def _threes(text: str) -> frozenset[tuple[str, ...]]:
    words = _WORD.findall(text)
    return frozenset(zip(words, words[1:], words[2:], strict=False))
