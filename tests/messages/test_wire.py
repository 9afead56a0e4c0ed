"""The caller's data: copies share nothing, names depend on content and on nothing else."""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from types import MappingProxyType
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold import MemoryStore, uncompress
from refold.messages.foreign import ID_PREFIX, summary_id_of_fold
from refold.messages.manifest import Behind
from refold.messages.wire import (
    clone,
    clone_message,
    digest,
    digest_unordered,
    is_shallow,
    spell,
)
from tests.classic import compress

_TEXTS = st.one_of(
    st.text(max_size=40),
    st.text('ab"\\\n\r\t\b\f\x00\x1f\x7f é漢\ud800', min_size=190, max_size=420),
)
_DATA = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), _TEXTS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(_TEXTS, inner, max_size=4)
    ),
    max_leaves=12,
)
PROSE = "The gardener counted the pots behind the long wall again. " * 10


def _standard_name(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()


@given(_DATA)
def test_a_name_is_the_hash_of_the_standard_spelling(value: Any) -> None:
    assert digest(value) == _standard_name(value)


@given(st.dictionaries(_TEXTS, _TEXTS, max_size=4))
def test_mappings_of_strings_have_the_standard_name_too(message: dict[str, str]) -> None:
    assert digest(message) == _standard_name(message)


def test_other_content_or_order_is_another_name() -> None:
    names = [
        digest({"role": "user", "content": PROSE}),
        digest({"content": PROSE, "role": "user"}),
        digest({"role": "user", "content": PROSE + "!"}),
        digest({"role": "user", "content": [PROSE]}),
    ]
    assert len(set(names)) == len(names)


@given(_DATA)
def test_a_copy_is_equal_and_shares_no_container(value: Any) -> None:
    copied = clone(value)
    assert spell(copied) == spell(value)
    assert not _containers(copied) & _containers(value)


def _containers(value: Any) -> set[int]:
    if isinstance(value, dict):
        return {id(value)}.union(*map(_containers, value.values()))
    if isinstance(value, list):
        return {id(value)}.union(*map(_containers, value))
    return set()


def test_deep_nesting_is_copied_and_named() -> None:
    deep: list[Any] = []
    for _ in range(20_000):
        deep = [deep]
    assert digest(clone(deep)) == digest(deep)


@pytest.mark.parametrize("nested", [False, True])
def test_other_mappings_are_copied_and_named_like_dicts(nested: bool) -> None:
    plain: dict[str, Any] = {"role": "user", "content": [{"type": "text", "text": "hi"}]}
    content = [MappingProxyType(plain["content"][0])] if nested else plain["content"]
    message = MappingProxyType({**plain, "content": content})
    assert clone_message(message) == plain
    assert digest(message) == digest(plain)


def test_messages_that_are_other_mappings_come_back() -> None:
    messages = [{"role": "user", "content": f"{number} {PROSE}"} for number in range(6)]
    store = MemoryStore()
    result = compress([MappingProxyType(m) for m in messages], store=store, recency_window=0)
    assert result.tokens_after < result.tokens_before
    assert uncompress(result.messages, store).messages == messages
    assert uncompress(result.messages, result.verbatim).messages == messages


@given(st.lists(st.text(), min_size=1, max_size=3))
def test_ids_of_stand_ins_are_twelve_letters(of: list[str]) -> None:
    fold = Behind.made(of, of).fold
    spelled = summary_id_of_fold(fold).removeprefix(ID_PREFIX)
    assert re.fullmatch("[a-z]{12}", spelled)
    number = int.from_bytes(hashlib.blake2b(fold.encode(), digest_size=32).digest())
    value = sum((ord(letter) - ord("a")) * 26**place for place, letter in enumerate(spelled))
    assert value == number % 26**12


FOREIGN: tuple[tuple[Any, Any], ...] = (
    (b"1", b"2"),
    (b"1", bytearray(b"1")),
    ((1, 2), [1, 2]),
    ({1: "a"}, {"1": "a"}),
    ({(1, 2): "a"}, {(1, 3): "a"}),
    (date(2025, 1, 1), date(2025, 1, 2)),
    (Decimal("1"), Decimal("1.0")),
    ({1, 2}, {1, 3}),
    ({1, 2}, frozenset({1, 2})),
    (UUID(int=1), UUID(int=2)),
    (range(3), range(4)),
)


@pytest.mark.parametrize("pair", FOREIGN, ids=repr)
def test_a_name_covers_values_that_json_does_not_have(pair: tuple[Any, Any]) -> None:
    one, two = ({"role": "user", "content": "hi", "extra": [value]} for value in pair)
    assert digest(one) != digest(two)
    for message in (one, two):
        assert digest(copy.deepcopy(message)) == digest(message)
        assert digest(clone_message(message)) == digest(message)


@pytest.mark.parametrize("pair", FOREIGN, ids=repr)
def test_messages_that_differ_in_such_values_come_back_as_themselves(pair: tuple[Any, Any]) -> None:
    store = MemoryStore()
    text = "The gardener counted the pots behind the long wall again and found them all. " * 6
    talks = [[{"role": "user", "content": text, "extra": value}] for value in pair]
    views = [compress(messages, store=store, recency_window=0).messages for messages in talks]
    for messages, view in zip(talks, views, strict=True):
        assert repr(uncompress(view, store).messages) == repr(messages)


def _nested(levels: int, *, wrap: Callable[[Any], Any]) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = wrap(value)
    return value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"a": "text", "b": [None, True, 1.5, 7]}, True),
        ({"a": (1 << 2_000) - 1}, True),
        ({"a": 1 << 2_000}, False),
        ({"a": [1 << 2_000]}, False),
        ({"a": (1, 2)}, False),
        ({"a": b"1"}, False),
        ({1: "a"}, False),
        (_nested(6, wrap=lambda inner: {"a": inner}), True),
        (_nested(7, wrap=lambda inner: {"a": inner}), False),
        ({"a": _nested(5, wrap=lambda inner: [inner])}, True),
        ({"a": _nested(6, wrap=lambda inner: [inner])}, False),
    ],
    ids=str,
)
def test_plain_data_of_a_few_levels_is_shallow(value: Any, expected: bool) -> None:
    assert is_shallow(value) is expected


def test_a_name_may_leave_the_order_of_keys_out_at_every_level() -> None:
    one = {"b": [{"y": 1, "x": [2, {"q": 3, "p": 4}]}], "a": {"d": 5, "c": 6}}
    two = {"a": {"c": 6, "d": 5}, "b": [{"x": [2, {"p": 4, "q": 3}], "y": 1}]}
    before = spell(one)
    assert digest_unordered(one) == digest_unordered(two)
    assert digest(one) != digest(two)
    assert digest_unordered({"a": [1, 2]}) != digest_unordered({"a": [2, 1]})
    assert spell(one) == before
