"""Pieces with a claim, which come before all that compete: errors, the task, what people typed.

Of a task that is too long to stay whole: how it begins and ends, and what it forbids. Whoever reads
on must know what is to be done, how that is to be handed in and what is forbidden; a traceback in
the middle of an issue says none of it, and neither do examples.

Chat programs put their own lines between those of their user: what was sent and what it cost, which
file was edited. Such lines come again and again with other numbers, and many are not in words.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import compress
from typing import Final

from refold.messages.formats.base import is_note
from refold.plan.choose import Candidates
from refold.plan.corpus import Text
from refold.plan.typed import PROSE_KINDS, is_in_words
from refold.scan.acts import act_bits, act_worth, forbids

Saying = frozenset[int]
"""The items that a piece says: two with the same ones say the same."""
_OPENING: Final = 2
"""So many pieces say what it is about: a title and the first sentences."""
_CLOSING: Final = 2
"""Of the pieces that ask for something, so many of the last say how the work ends: harnesses put
there how it is submitted, people what they want in the end."""
_LEAST_WORTH: Final = 4
"""What a piece must do to be shown for it: more than hold a value or a name, which most do."""
_BOILERPLATE: Final = 0.5
"""Pieces that their kind weighs no more than this are frames and noise."""
_DIGITLESS: Final = re.compile(r"(?<!\S)[^\s\d]++(?!\S)")
"""A word without a digit; each is looked at from its beginning only."""


class RequiredPieces:
    """The candidates that tell what went wrong, and how it all ended."""

    def __init__(self, candidates: Candidates, texts: Sequence[Text]) -> None:
        self._candidates = candidates
        self._texts = texts
        self._sayings: dict[int, Saying] = {
            number: frozenset(candidates.rows[number])
            for number in compress(range(len(candidates)), candidates.must)
        }
        self._errors: dict[tuple[int, Saying], int] = {
            (candidates.text[number], saying): self._count_lines(number)
            for number, saying in self._sayings.items()
            if candidates.grade[number].is_error
        }
        """How many lines of a text tell of an error."""

    def by_severity(self, first: int = 0) -> list[list[int]]:
        """Return those from the candidate *first* on, the most severe first.

        Of what says the same, only the newest.
        """
        by_weight: dict[float, list[int]] = {}
        said: set[Saying] = set()
        for number, saying in reversed(self._sayings.items()):
            if number < first:
                break
            if saying not in said:
                said.add(saying)
                by_weight.setdefault(self._candidates.grade[number].weight, []).append(number)
        return [by_weight[weight][::-1] for weight in sorted(by_weight, reverse=True)]

    def times_said(self) -> dict[int, dict[int, int]]:
        """Return for each text where pieces end that it says more than once, and how often."""
        times: defaultdict[int, dict[int, int]] = defaultdict(dict)
        texts, ends, grades = self._candidates.text, self._candidates.end, self._candidates.grade
        for number in self._sayings:
            if grades[number].times > 1:
                times[texts[number]][ends[number]] = grades[number].times
        return times

    def errors_left_out(self, chosen: Iterable[int]) -> Counter[int]:
        """Count in each text the errors that are shown nowhere if these are *chosen*."""
        left_out: Counter[int] = Counter()
        if self._errors:
            shown = set(map(self._sayings.get, chosen))
            for (text, saying), lines in self._errors.items():
                if saying not in shown:
                    left_out[text] += lines
        return left_out

    def _count_lines(self, number: int) -> int:
        start, end = self._candidates.start[number], self._candidates.end[number]
        text = self._texts[self._candidates.text[number]].text
        return text[start:end].strip().count("\n") + 1


def worth_as_act(candidates: Candidates, number: int, texts: Sequence[Text]) -> int:
    """Return what a candidate is worth by what it does: ask, forbid, decide, or only fill."""
    return act_worth(_text_of(candidates, number, texts))


def rank_task(candidates: Candidates, texts: Sequence[Text], task: int) -> list[int]:
    """Return the candidates in the message *task* that say what is wanted, the first ones first.

    How it begins and how it ends come before what it forbids, and that before all else it asks.
    """
    own = [n for n, place in enumerate(candidates.text) if texts[place].message.index == task]
    worths = {
        number: worth_as_act(candidates, number, texts)
        for number in own[_OPENING:]
        if candidates.grade[number].weight > _BOILERPLATE
    }
    acts = [number for number, worth in worths.items() if worth > _LEAST_WORTH]
    closing, rest = acts[-_CLOSING:], acts[:-_CLOSING]
    bans = {number for number in rest if _has_ban(_text_of(candidates, number, texts))}
    rest.sort(key=lambda number: (number in bans, worths[number]), reverse=True)
    return own[:_OPENING] + closing + rest


def _text_of(candidates: Candidates, number: int, texts: Sequence[Text]) -> str:
    return texts[candidates.text[number]].text[candidates.start[number] : candidates.end[number]]


def _has_ban(text: str) -> bool:
    return any(forbids(act_bits(line)) for line in text.splitlines())


def find_typed(candidates: Candidates, texts: Sequence[Text]) -> list[int]:
    """Return the candidates that a person typed, in reading order."""
    parts: dict[int, str] = {}
    typed: list[int] = []
    is_typed = [text.is_typed for text in texts]
    for number, place in enumerate(candidates.text):
        if not is_typed[place]:
            continue
        text = texts[place]
        start, end = candidates.start[number], candidates.end[number]
        if end - start < len(text.text):
            parts[number] = text.text[start:end]
        typed.append(number)
    forms = {number: _form(part) for number, part in parts.items()}
    times = Counter(forms.values())
    return [
        number
        for number in typed
        if number not in parts or (times[forms[number]] == 1 and is_in_words(parts[number]))
    ]


def find_long_prose(candidates: Candidates, texts: Sequence[Text], task: int | None) -> list[int]:
    """Return what first asks, forbids or decides in each text of the user's too long to be typed.

    Not in the message *task*, which has a claim of its own.
    """
    is_open = [
        text.message.role == "user"
        and text.message.index != task
        and not (text.is_typed or text.tool or text.message.is_tool_result)
        and text.kind in PROSE_KINDS
        and not is_note(text.text)
        for text in texts
    ]
    found: list[int] = []
    for number, place in enumerate(candidates.text):
        if (
            is_open[place]
            and is_in_words(_text_of(candidates, number, texts))
            and worth_as_act(candidates, number, texts) > _LEAST_WORTH
        ):
            found.append(number)
            is_open[place] = False
    return found


def _form(part: str) -> str:
    """Return *part* without words that hold a digit: they are other ones each time."""
    return " ".join(_DIGITLESS.findall(part))
