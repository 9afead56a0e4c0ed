"""Records at rest: smaller, exact, and never taken for something else."""

from __future__ import annotations

import zlib
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.errors import StoreError
from refold.stores.codec import (
    Compression,
    decode_key,
    decode_value,
    encode_key,
    encode_prefix,
    encode_value,
    pack,
    unpack,
)

from .contract import TEXTS

MESSAGE = {"role": "tool", "tool_call_id": "call_1", "content": "line of a log\n" * 40}
WAYS = get_args(Compression)


@pytest.fixture(params=WAYS)
def how(request: pytest.FixtureRequest) -> Compression:
    if request.param == "zstd":
        pytest.importorskip("zstandard", reason="zstandard is not installed")
    way: Compression = request.param
    return way


@given(key=st.binary(max_size=40), data=st.binary(max_size=2_000))
def test_what_is_packed_comes_back(key: bytes, data: bytes) -> None:
    assert unpack(key, pack(key, data)) == data


def test_long_values_are_smaller_at_rest(how: Compression) -> None:
    record = encode_value("k", MESSAGE, how)
    assert decode_value("k", record) == MESSAGE
    assert len(record) < len(str(MESSAGE)) / 4


def test_every_way_can_be_read_wherever_it_is(how: Compression) -> None:
    values = {f"{size}": "x" * size for size in (0, 1, 63, 64, 255, 256, 5_000, 10**6)}
    for key, value in values.items():
        assert decode_value(key, encode_value(key, value, how)) == value


def test_zstd_is_smaller_than_zlib_for_the_messages_of_an_agent() -> None:
    pytest.importorskip("zstandard", reason="zstandard is not installed")
    short = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function"}]}
    assert len(encode_value("k", short, "zstd")) < 0.8 * len(encode_value("k", short, "zlib"))


@pytest.mark.parametrize("place", [0, 1, 5, 9, 20, -1])
def test_a_changed_byte_is_found(how: Compression, place: int) -> None:
    record = bytearray(encode_value("k", MESSAGE, how))
    record[place] ^= 1
    with pytest.raises(StoreError, match="the value of 'k' is not readable"):
        decode_value("k", bytes(record))


@pytest.mark.parametrize("size", [0, 1, 8, 9, 10, 30])
def test_a_record_that_is_cut_off_is_found(how: Compression, size: int) -> None:
    with pytest.raises(StoreError, match="the value of 'k' is not readable"):
        decode_value("k", encode_value("k", MESSAGE, how)[:size])


def test_a_record_under_another_key_is_found(how: Compression) -> None:
    with pytest.raises(StoreError, match="its digest does not match"):
        decode_value("other", encode_value("k", MESSAGE, how))


def test_a_small_record_never_fills_the_memory() -> None:
    bomb = zlib.compress(b"0" * 50_000_000)
    with pytest.raises(ValueError, match="its packing is damaged"):
        unpack(b"k", b"\x02" + bytes(8) + bomb)


def test_a_small_record_of_zstd_never_fills_the_memory() -> None:
    zstandard = pytest.importorskip("zstandard", reason="zstandard is not installed")
    bomb = zstandard.ZstdCompressor().compress(b"0" * 50_000_000)
    with pytest.raises(ValueError, match="its packing is damaged"):
        unpack(b"k", b"\x03" + bytes(8) + bomb)


# --- keys ----------------------------------------------------------------------------------------

HEX = st.text("0123456789abcdef", min_size=30, max_size=34)
KEYS = TEXTS | st.builds(str.__add__, TEXTS, HEX)


@given(key=KEYS)
def test_a_key_comes_back_from_its_bytes(key: str) -> None:
    assert decode_key(encode_key(key)) == key


@given(keys=st.lists(KEYS, min_size=2, max_size=2, unique=True))
def test_two_keys_never_have_the_same_bytes(keys: list[str]) -> None:
    assert encode_key(keys[0]) != encode_key(keys[1])


@given(name=TEXTS, rest=KEYS)
def test_the_keys_of_a_scope_begin_with_its_bytes(name: str, rest: str) -> None:
    assert encode_key(f"{name}:{rest}").startswith(encode_prefix(f"{name}:"))


def test_a_digest_takes_half_the_room() -> None:
    assert len(encode_key("ab" * 20)) == 21
