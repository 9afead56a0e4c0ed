"""A detector is asked by what it needs, also one that a caller adds."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.conversations import texts

from refold.detectors import DETECTORS, DetectorTable, detect
from refold.detectors.base import Detector, pattern_finder
from refold.scan.prefilter import Needs, words_of
from refold.scan.view import TextView

# Added here, at run time: by a shape, by a word, and by nothing at all.
SHELF = Detector(
    reason="shelf",
    hard=True,
    needs=Needs(shapes="[§¶]?[A-Z]{2}-[0-9]"),
    find=pattern_finder(re.compile(r"[§¶]?[A-Z]{2}-[0-9]++")),
)
PARCEL = Detector(
    reason="parcel",
    hard=True,
    needs=Needs(words=words_of("parcel paket")),
    find=pattern_finder(re.compile(r"\b(?:parcel|paket) [0-9]++", re.IGNORECASE)),
)
CRATE = Detector(reason="crate", hard=False, find=pattern_finder(re.compile("crate [0-9]++")))
ADDED = ("shelf", "parcel", "crate")
MORE = (SHELF, PARCEL, CRATE)
TABLE = DetectorTable((*DETECTORS, *MORE))

PIECES = st.lists(
    st.sampled_from(
        [
            *'aZ 1.:/-_+=?!\n\t"`~$@(°é漢。\u0130\u0131\u017f\u212a😀',
            *("thus ", "at ", "status ", "403", "km", "\n  ", "may not", "shall", "∴", "∀x"),
            *("parcel 7", "PAKET 8", "crate 12", "§AB-7", "AB-", "```", "~~~\n", "a1" * 20),
            *("connection ", "refused", "select ", "WHERE a", "from ", "Proof:", "first", "v1"),
        ]
    ),
    max_size=40,
).map("".join)


@pytest.mark.parametrize("around", ["", "So it was. ", "See `x` at 5 km: ", "一二三"])
def test_a_detector_that_was_added_is_asked(around: str) -> None:
    text = f"{around} parcel 7, crate 12, §AB-7 {around}"
    assert TABLE.detect(text).reasons[-3:] == ADDED
    assert TABLE.detect(text).hard[-2:] == ("shelf", "parcel")
    assert TABLE.detect_hard(text).hard[-2:] == ("shelf", "parcel")
    assert "crate 12" in TABLE.soft_texts(text)


@given(texts(), st.sampled_from(("", " parcel 7", " crate 12")))
def test_a_detector_more_changes_nothing_for_the_others(text: str, more: str) -> None:
    found = TABLE.detect(text + more).reasons
    assert tuple(r for r in found if r not in ADDED) == detect(text + more).reasons
    assert ("parcel" in found) == ("parcel" in more)


@example("Proof:")
@given(PIECES)
def test_nothing_is_ruled_out_that_is_found(text: str) -> None:
    view = TextView(text)
    found = tuple(one.reason for one in (*DETECTORS, *MORE) if any(True for _ in one.find(view)))
    assert TABLE.detect(text).reasons == found
