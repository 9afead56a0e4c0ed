"""Pieces that are chosen before all others compete: what people typed, the task, changes, errors.

Of a task that is too long to stay whole: how it begins and ends, and what it forbids. Whoever
continues the work must know what is to be done, how to submit it and what is off limits; a
traceback in the middle of an issue says none of that, and neither do examples.

Chat programs put lines of their own between those of their user: what was sent and what it cost,
which file was edited. Such lines repeat with other numbers, and many of them are not prose.
"""

from __future__ import annotations

import re
from bisect import bisect_left
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
"""The items of a piece: two pieces with the same items say the same."""
_OPENING: Final = 2
"""The first pieces of a task say what it is about: a title and the first sentences."""
_CLOSING: Final = 2
"""Of the pieces that ask for something, the last ones say how the work ends: harnesses put there
how it is submitted, people what they want in the end."""
_LEAST_ACT: Final = 4
"""The least `act_worth` that counts: holding a value or a name is not enough, most pieces do."""
_BOILERPLATE: Final = 0.5
"""Pieces that their kind weighs no more than this are frames and noise."""
_DIGITLESS: Final = re.compile(r"(?<!\S)[^\s\d]++(?!\S)")
"""A word without a digit; each is tried from its beginning only."""


class RequiredPieces:
    """The candidates that tell what went wrong, and how it all ended."""

    def __init__(self, candidates: Candidates, texts: Sequence[Text]) -> None:
        self._candidates = candidates
        self._texts = texts
        self._sayings: dict[int, Saying] = {
            number: frozenset(candidates.rows[number])
            for number in compress(range(len(candidates)), candidates.is_required)
        }
        self._error_lines: dict[tuple[int, Saying], int] = {
            (candidates.text[number], saying): _text_of(candidates, number, texts)
            .strip()
            .count("\n")
            + 1
            for number, saying in self._sayings.items()
            if candidates.grade[number].is_error
        }
        """How many lines of a text report the same error."""

    def by_severity(self, first: int = 0) -> list[list[int]]:
        """Return those from the candidate *first* on, grouped, the most severe first.

        Of those that say the same, only the newest.
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

    def repeat_counts(self) -> dict[int, dict[int, int]]:
        """Map each text to the ends of pieces whose words it repeats, and how often."""
        counts: defaultdict[int, dict[int, int]] = defaultdict(dict)
        texts, ends, grades = self._candidates.text, self._candidates.end, self._candidates.grade
        for number in self._sayings:
            if grades[number].times > 1:
                counts[texts[number]][ends[number]] = grades[number].times
        return counts

    def errors_left_out(self, chosen: Iterable[int]) -> Counter[int]:
        """Count in each text the errors that are shown nowhere if these are *chosen*."""
        left_out: Counter[int] = Counter()
        if self._error_lines:
            shown = set(map(self._sayings.get, chosen))
            for (text, saying), lines in self._error_lines.items():
                if saying not in shown:
                    left_out[text] += lines
        return left_out


def _text_of(candidates: Candidates, number: int, texts: Sequence[Text]) -> str:
    return texts[candidates.text[number]].text[candidates.start[number] : candidates.end[number]]


def _act_worth(candidates: Candidates, number: int, texts: Sequence[Text]) -> int:
    """Rate a candidate by what it does: asking, forbidding and deciding count, filler does not."""
    return act_worth(_text_of(candidates, number, texts))


def rank_task(candidates: Candidates, texts: Sequence[Text], task: int) -> list[int]:
    """Return the candidates of the message *task* that say what is wanted, the first ones first.

    How it begins and how it ends come before what it forbids, and that before all else it asks.
    """
    own = [n for n, place in enumerate(candidates.text) if texts[place].message.index == task]
    worths = {
        number: _act_worth(candidates, number, texts)
        for number in own[_OPENING:]
        if candidates.grade[number].weight > _BOILERPLATE
    }
    acts = [number for number, worth in worths.items() if worth > _LEAST_ACT]
    closing, rest = acts[-_CLOSING:], acts[:-_CLOSING]
    bans = {
        number
        for number in rest
        if any(forbids(act_bits(line)) for line in _text_of(candidates, number, texts).splitlines())
    }
    rest.sort(key=lambda number: (number in bans, worths[number]), reverse=True)
    return own[:_OPENING] + closing + rest


def find_typed(candidates: Candidates, texts: Sequence[Text]) -> list[int]:
    """Return the candidates that a person typed, in reading order."""
    parts: dict[int, str] = {}
    typed: list[int] = []
    is_typed = [text.is_typed for text in texts]
    for number, place in enumerate(candidates.text):
        if not is_typed[place]:
            continue
        if candidates.end[number] - candidates.start[number] < len(texts[place].text):
            parts[number] = _text_of(candidates, number, texts)
        typed.append(number)
    # Words that hold a digit differ each time that a program repeats itself.
    forms = {number: " ".join(_DIGITLESS.findall(part)) for number, part in parts.items()}
    times = Counter(forms.values())
    return [
        number
        for number in typed
        if number not in parts or (times[forms[number]] == 1 and is_in_words(parts[number]))
    ]


def one_of_each(numbers: Iterable[int], candidates: Candidates, texts: Sequence[Text]) -> list[int]:
    """Return one of the candidates *numbers* for each of their texts.

    The first that is more than filler, such as a greeting, or else the first.
    """
    found: dict[int, int] = {}
    settled: set[int] = set()
    for number in numbers:
        text = candidates.text[number]
        if text in settled:
            continue
        if _act_worth(candidates, number, texts) > 0:
            found[text] = number
            settled.add(text)
        else:
            found.setdefault(text, number)
    return list(found.values())


def find_long_prose(candidates: Candidates, texts: Sequence[Text], task: int | None) -> list[int]:
    """Return what first asks, forbids or decides in each prose of the user's too long to be typed.

    Not in the message *task*, which is ranked by itself.
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
            and _act_worth(candidates, number, texts) > _LEAST_ACT
        ):
            found.append(number)
            is_open[place] = False
    return found


def first_of_newest(candidates: Candidates, texts: Sequence[Text]) -> int:
    """Return the first candidate since the assistant last spoke: in the newest tool results."""
    spoken = [text.message.index for text in texts if text.message.role == "assistant"]
    newest = spoken[-1] if spoken else 0
    return bisect_left(candidates.text, newest, key=lambda number: texts[number].message.index)
