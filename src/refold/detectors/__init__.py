"""What must survive word for word: one detector per file, one ordered table."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from sys import maxsize
from typing import Final

from refold import native
from refold.checks import check_rows
from refold.detectors import (
    api_key,
    base64_content,
    code_fence,
    direct_quote,
    email,
    error_traceback,
    failure_signature,
    file_path,
    hash_or_sha,
    high_line_length_variance,
    high_special_char_ratio,
    http_error,
    iban,
    indented_code,
    ip_or_semver,
    json_structure,
    latex_math,
    legal_term,
    numeric_with_units,
    phone,
    quoted_key,
    reasoning_chain,
    sql_content,
    unicode_math,
    url,
    verse_pattern,
    version_number,
    yaml_structure,
)
from refold.detectors.base import Detector, Span, pattern_finder
from refold.native import Scanner
from refold.scan.prefilter import Prefilter, Test, make_test
from refold.scan.view import Notes, TextView

__all__ = [
    "DETECTORS",
    "TABLE",
    "Detector",
    "DetectorTable",
    "Findings",
    "detect",
    "detect_hard",
    "pattern_finder",
    "soft_texts",
    "table_of",
]

DETECTORS: Final[tuple[Detector, ...]] = (
    code_fence.DETECTOR,
    indented_code.DETECTOR,
    latex_math.DETECTOR,
    unicode_math.DETECTOR,
    json_structure.DETECTOR,
    yaml_structure.DETECTOR,
    verse_pattern.DETECTOR,
    high_line_length_variance.DETECTOR,
    high_special_char_ratio.DETECTOR,
    sql_content.DETECTOR,
    api_key.DETECTOR,
    iban.DETECTOR,
    reasoning_chain.DETECTOR,
    url.DETECTOR,
    email.DETECTOR,
    phone.DETECTOR,
    version_number.DETECTOR,
    hash_or_sha.DETECTOR,
    base64_content.DETECTOR,
    file_path.DETECTOR,
    ip_or_semver.DETECTOR,
    quoted_key.DETECTOR,
    legal_term.DETECTOR,
    direct_quote.DETECTOR,
    numeric_with_units.DETECTOR,
    error_traceback.DETECTOR,
    http_error.DETECTOR,
    failure_signature.DETECTOR,
)
"""In the order in which reasons are reported."""

_MAX_SHOWN: Final = 120
"""Findings longer than this are not listed."""


class Findings:
    """The reasons seen in one text, in the order of the table."""

    __slots__ = ("hard", "notes", "reasons")

    def __init__(self, reasons: tuple[str, ...], hard: tuple[str, ...], notes: Notes) -> None:
        self.reasons: Final = reasons
        self.hard: Final = hard
        self.notes: Final = notes
        """What the prefilter has found out, to spare another look at the text."""


Rows = tuple[tuple[Detector, Test], ...]
"""Detectors, each with a cheap test whether it may find something."""


class DetectorTable:
    """Detectors in the order in which their reasons are reported, and how they are asked.

    Texts are read first for what the detectors say that they need: by the *scanner* in one pass
    for all of them, without it for each in its turn.
    """

    def __init__(
        self, detectors: tuple[Detector, ...], scanner: Scanner | None = native.scanner
    ) -> None:
        self._prefilter: Final = (
            None if scanner is None else Prefilter([one.needs for one in detectors], scanner)
        )
        self._declared: Final = frozenset[bytes]().union(
            *[one.needs.words | one.needs.also for one in detectors]
        )
        self._all: Final = tuple([(detector, self._test(detector)) for detector in detectors])
        self._hard: Final = tuple([row for row in self._all if row[0].hard])
        self._soft: Final = tuple([row for row in self._all if not row[0].hard])

    def _test(self, detector: Detector) -> Test:
        if self._prefilter is None:
            return make_test(detector.needs)
        mask = self._prefilter.mask(detector.needs)
        return lambda view: view.notes.bits & mask != 0

    def _notes(self, text: str) -> Notes:
        if self._prefilter is None:
            return Notes(declared=self._declared)
        return Notes(self._prefilter.scan(text), self._prefilter.words_in)

    def detect(self, text: str) -> Findings:
        """Name every reason to treat *text* as more than prose."""
        notes = self._notes(text)
        seen = _matching(self._all, TextView(text, notes))
        hard = tuple([detector.reason for detector in seen if detector.hard])
        return Findings(tuple([detector.reason for detector in seen]), hard, notes)

    def detect_hard(self, text: str) -> Findings:
        """Name the hard reasons only: they alone decide."""
        notes = self._notes(text)
        hard = tuple([one.reason for one in _matching(self._hard, TextView(text, notes))])
        return Findings(hard, hard, notes)

    def soft_texts(self, text: str, findings: Findings | None = None) -> tuple[str, ...]:
        """Return what the soft detectors find, each text once; long ones are left out, never cut.

        Half a link or half a hash would be a value that the text does not hold. What is known of
        the text already spares another look.
        """
        notes = self._notes(text) if findings is None else findings.notes
        view = TextView(text, notes)
        told: dict[str, None] = {}
        taken: list[Span] = []
        for detector, may_see in self._soft:
            if not may_see(view):
                continue
            # The path in an address or the number in a version is no finding of its own to a
            # reader.
            spans = [span for span in detector.find(view) if not _is_inside(span, taken)]
            taken = sorted(taken + spans)
            for start, end in spans:
                shown = text[start:end].strip() if end - start <= _MAX_SHOWN else ""
                if shown:
                    told[shown] = None
        return tuple(told)


def _matching(rows: Rows, view: TextView) -> list[Detector]:
    return [detector for detector, may_see in rows if may_see(view) and detector.finds(view)]


def _is_inside(span: Span, taken: list[Span]) -> bool:
    start, end = span
    before = bisect_right(taken, (start, maxsize))
    return before > 0 and end <= taken[before - 1][1]


TABLE: Final = DetectorTable(DETECTORS)
detect: Final = TABLE.detect
detect_hard: Final = TABLE.detect_hard
soft_texts: Final = TABLE.soft_texts


def table_of(detectors: Sequence[Detector] | None) -> DetectorTable:
    """Return a table of the caller's detectors; by default that of refold's own.

    Raises `ConfigError` for what is no detector, and for two of them with the same reason.
    """
    if detectors is None:
        return TABLE
    check_rows("detectors", detectors, Detector, by="reason")
    return TABLE if tuple(detectors) == DETECTORS else DetectorTable(tuple(detectors))
