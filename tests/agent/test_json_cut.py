"""A note inside JSON leaves it JSON, with everything that was in it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.agent.deterministic import pack
from refold.notation.notes import annotate_json

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("a…", max_size=3), inner),
    max_leaves=8,
)
_DATA = st.lists(_VALUES, max_size=3) | st.dictionaries(st.text("a…", max_size=3), _VALUES)


@given(data=_DATA, indent=st.sampled_from((None, 0, 3)))
def test_a_note_is_added_and_nothing_is_lost(data: Any, indent: int | None) -> None:
    text = json.dumps(data, indent=indent, ensure_ascii=False)
    noted = json.loads(annotate_json(text, "whole text: #k3f9a2"))
    if isinstance(data, list):
        assert noted == [*data, "[whole text: #k3f9a2]"]
    else:
        (key,) = set(noted) - set(data)
        assert noted == {**data, key: "[whole text: #k3f9a2]"}


@given(data=_DATA, indent=st.sampled_from((None, 1, 8)))
def test_packed_json_is_the_same_and_never_longer(data: Any, indent: int | None) -> None:
    text = json.dumps(data, indent=indent)
    packed = pack(text)
    assert packed is not None
    assert json.loads(packed) == data
    assert len(packed) <= len(text)
    assert pack(packed) == packed


@pytest.mark.parametrize("text", ["", "plain", "3", '"a  b"', '{"a": ', "[1, 2] and more"])
def test_what_is_no_object_or_array_is_not_packed(text: str) -> None:
    assert pack(text) is None
