"""Required pieces: errors before warnings, and a count of those that do not fit."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import compress

from refold.plan.choose import Candidates
from refold.plan.corpus import Text

Saying = frozenset[int]
"""The items that a piece says: two with the same ones say the same."""


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
