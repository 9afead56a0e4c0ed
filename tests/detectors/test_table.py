"""A detector works in both forms: by its sign, or by being asked about every text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conversations import texts
from tests.native import needs_scanner, the_scanner

from refold.detectors import DETECTORS, DetectorTable, _signs, _terms, detect
from refold.detectors._look import look
from refold.detectors.base import Detector, pattern_finder

CSRC = Path(__file__).parents[2] / "csrc"
SIGNS = {detector.reason.upper(): detector.sign for detector in DETECTORS}

# Added here, at run time: nothing in C knows of it.
PARCEL = Detector(reason="parcel", hard=True, find=pattern_finder(re.compile("parcel [0-9]++")))
CRATE = Detector(reason="crate", hard=False, find=pattern_finder(re.compile("crate [0-9]++")))
TABLE = DetectorTable((*DETECTORS, PARCEL, CRATE))


@pytest.mark.parametrize("around", ["", "So it was. ", "See `x` at 5 km: ", "一二三"])
def test_a_detector_without_a_sign_is_asked_about_every_text(around: str) -> None:
    text = f"{around}parcel 7 and crate 12{around}"
    assert TABLE.detect(text).reasons[-2:] == ("parcel", "crate")
    assert TABLE.detect(text).hard[-1] == "parcel"
    assert TABLE.detect_hard(text).hard[-1] == "parcel"
    assert "crate 12" in TABLE.soft_texts(text)
    assert "crate 12" in TABLE.soft_texts(text, TABLE.detect_hard(text))


@given(texts(), st.sampled_from(("", "parcel 7", "crate 12")))
def test_a_detector_more_changes_nothing_for_the_others(text: str, more: str) -> None:
    found = TABLE.detect(text + more).reasons
    assert tuple(r for r in found if r not in ("parcel", "crate")) == detect(text + more).reasons
    assert ("parcel" in found) == ("parcel 7" in text + more)


def test_each_detector_has_a_sign_of_its_own_or_is_always_asked() -> None:
    own = [sign for sign in SIGNS.values() if sign != _signs.ALWAYS]
    assert all(sign.bit_count() == 1 for sign in own)
    assert len(set(own)) == len(own)


def test_each_sign_is_one_that_the_scanner_sets() -> None:
    """It holds where the scanner is not built, too: there nobody else would notice."""
    source = "".join(path.read_text(encoding="utf-8") for path in CSRC.glob("look*.c"))
    header = (CSRC / "look.h").read_text(encoding="utf-8")
    in_c = {
        name: 1 << int(bit) for name, bit in re.findall(r"\b([A-Z0-9_]+) = 1 << (\d+),", header)
    }
    by_term = {sign for _, sign, _ in _terms._ROWS if sign}
    for name, sign in SIGNS.items():
        is_looked_for = in_c.get(name) == sign and re.search(rf"\b{name}\b", source)
        assert sign == _signs.ALWAYS or sign in by_term or is_looked_for, name


@needs_scanner
@given(texts())
def test_every_look_has_the_common_sign(text: str) -> None:
    assert look(text, the_scanner()) & _signs.ALWAYS
