"""What must survive word for word: one detector per file, one ordered table."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from sys import maxsize
from typing import Final, NamedTuple

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
from refold.scan.prefilter import Test, make_test
from refold.scan.view import TextView

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


class Findings(NamedTuple):
    """The reasons seen in one text, in the order of the table."""

    reasons: tuple[str, ...]
    hard: tuple[str, ...]


Rows = tuple[tuple[Detector, Test], ...]
"""Detectors, each with a cheap test whether it may find something."""


class DetectorTable:
    """Detectors in the order in which their reasons are reported, and how they are asked."""

    def __init__(self, detectors: tuple[Detector, ...]) -> None:
        self._all: Final = tuple([(detector, make_test(detector.needs)) for detector in detectors])
        self._hard: Final = tuple([row for row in self._all if row[0].hard])
        self._soft: Final = tuple([row for row in self._all if not row[0].hard])

    def detect(self, text: str) -> Findings:
        """Name every reason to treat *text* as more than prose."""
        seen = _matching(self._all, TextView(text))
        hard = tuple([detector.reason for detector in seen if detector.hard])
        return Findings(tuple([detector.reason for detector in seen]), hard)

    def detect_hard(self, text: str) -> Findings:
        """Name the hard reasons only: they alone decide."""
        hard = tuple([one.reason for one in _matching(self._hard, TextView(text))])
        return Findings(hard, hard)

    def soft_texts(self, text: str) -> tuple[str, ...]:
        """Return what the soft detectors find, each text once; long ones are left out, never cut.

        Half a link or half a hash would be a value that the text does not hold.
        """
        view = TextView(text)
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
