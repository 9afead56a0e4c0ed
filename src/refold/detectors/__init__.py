"""What must survive word for word: one detector per file, one ordered table."""

from __future__ import annotations

from bisect import bisect_right
from sys import maxsize
from typing import Final

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
from refold.detectors._look import look
from refold.detectors.base import Detector, Span
from refold.native import mypyc_attr, scanner
from refold.text.view import Notes, TextView

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


@mypyc_attr(acyclic=True)
class Findings:
    """The reasons seen in one text, in the order of the table."""

    __slots__ = ("hard", "notes", "reasons")

    def __init__(self, reasons: tuple[str, ...], hard: tuple[str, ...], notes: Notes) -> None:
        self.reasons: Final = reasons
        self.hard: Final = hard
        self.notes: Final = notes
        """What else was found out, to spare another look at the text."""


class DetectorTable:
    """Detectors in the order in which their reasons are reported, and how they are asked."""

    def __init__(self, detectors: tuple[Detector, ...]) -> None:
        self._all: Final = detectors
        self._hard: Final = tuple([detector for detector in detectors if detector.hard])
        self._soft: Final = tuple([detector for detector in detectors if not detector.hard])
        self._hard_signs: Final = _signs_of(self._hard)
        self._soft_signs: Final = _signs_of(self._soft)

    def detect(self, text: str) -> Findings:
        """Name every reason to treat *text* as more than prose."""
        notes = _notes_of(text)
        seen = _who_sees(self._all, TextView(text, notes))
        hard = tuple([detector.reason for detector in seen if detector.hard])
        return Findings(tuple([detector.reason for detector in seen]), hard, notes)

    def detect_hard(self, text: str) -> Findings:
        """Name the hard reasons only: they alone decide."""
        notes = _notes_of(text)
        if not notes.signs & self._hard_signs:
            return Findings((), (), notes)
        seen = _who_sees(self._hard, TextView(text, notes))
        hard = tuple([detector.reason for detector in seen])
        return Findings(hard, hard, notes)

    def soft_texts(self, text: str, findings: Findings | None = None) -> tuple[str, ...]:
        """Return what the soft detectors find, each text once; long ones are left out, never cut.

        Half a link or half a hash would be a value that the text does not hold. What is known of
        the text already spares another look.
        """
        notes = _notes_of(text) if findings is None else findings.notes
        if not notes.signs & self._soft_signs:
            return ()
        view = TextView(text, notes)
        told: dict[str, None] = {}
        taken: list[Span] = []
        for detector in self._soft:
            if not _may_see(detector, view):
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


def _signs_of(detectors: tuple[Detector, ...]) -> int:
    signs = 0
    for detector in detectors:
        signs |= detector.sign
    return signs


def _notes_of(text: str) -> Notes:
    return Notes() if scanner is None else Notes(look(text, scanner))


def _who_sees(detectors: tuple[Detector, ...], view: TextView) -> list[Detector]:
    if scanner is None:
        return [d for d in detectors if d.gate(view) and d.finds(view)]  # spares half the calls
    signs = view.notes.signs
    return [d for d in detectors if signs & d.sign and d.finds(view)]


def _may_see(detector: Detector, view: TextView) -> bool:
    """Tell at little cost whether there can be a finding: by the common look, or by the gate."""
    return detector.gate(view) if scanner is None else view.notes.signs & detector.sign != 0


def _is_inside(span: Span, taken: list[Span]) -> bool:
    start, end = span
    before = bisect_right(taken, (start, maxsize))
    return before > 0 and end <= taken[before - 1][1]


_TABLE: Final = DetectorTable(DETECTORS)


def detect(text: str) -> Findings:
    """Name every reason to treat *text* as more than prose."""
    return _TABLE.detect(text)


def detect_hard(text: str) -> Findings:
    """Name the hard reasons only: they alone decide."""
    return _TABLE.detect_hard(text)


def soft_texts(text: str, findings: Findings | None = None) -> tuple[str, ...]:
    """Return what the soft detectors find in *text*, each text once; see `DetectorTable`."""
    return _TABLE.soft_texts(text, findings)
