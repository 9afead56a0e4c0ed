"""From keys and values to the bytes that a store keeps, and back.

Values come back exactly as they went in, or are refused before anything is written. Plain `json` is
not exact: it turns tuples into lists and numbers used as keys into strings, and its ASCII escapes
fuse two lone surrogates into one character. So only what JSON has a form for is accepted, and text
is written as UTF-8 with surrogates passed through.

A record begins with a byte that says how its body is packed, and the digest of its key and its
plain bytes: damage, truncation and a swapped key are detected. zstd packs better than zlib, and is
faster: it begins with a dictionary of what messages look like, which was trained on texts of
refold's own. A dictionary trained on what a store holds would be better still, and would keep
pieces of conversations that were deleted on request.
"""

from __future__ import annotations

import json
import threading
import zlib
from collections.abc import Mapping
from functools import cache
from hashlib import blake2b
from typing import Any, Final, Literal

from refold.checks import need
from refold.errors import NestingError, StoreError
from refold.lazy import regex
from refold.shipped import read_shipped
from refold.stores.base import AUDIT_PREFIX, store_error

MAX_DEPTH: Final = 500
"""The deepest nesting accepted: half of Python's default stack, so that values can be read back
deep inside of a program, too."""

_SCALARS: Final = frozenset({str, int, float, bool, type(None)})
_Place = tuple[Any, str | int] | None
"""Where something stands in a value: the place of what is around it, and a step from there."""
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))

Compression = Literal["zlib", "zstd"]

_PLAIN: Final = b"\x01"
_ZLIB: Final = b"\x02"
_ZSTD: Final = b"\x03"
_LEAST_BYTES: Final[dict[Compression, int]] = {"zlib": 256, "zstd": 64}
"""Sizes below which packing does not pay. Tuned on the originals of recorded conversations, as the
levels are; `bench/stores.py packing` compares them."""
_MOST: Final = 64
"""The highest compression ratio accepted, so that unpacking cannot fill the memory."""
_ZLIB_LEVEL: Final = 1
_ZSTD_LEVEL: Final = 3
"""Tuned like the sizes above."""
_DIGEST_BYTES: Final = 8
"""Protects against damage, not against attackers, who can write digests, too. Originals are also
named by 160 bits, which are compared when a conversation is unfolded."""
_HEAD: Final = 1 + _DIGEST_BYTES
"""The length of the packing byte and the digest."""
_DICTIONARY: Final = "dictionary-1.zdict"
"""Records do not name it, so it never changes: a better one needs a packing byte of its own."""

DIGEST_CHARS: Final = 40
"""160 bits in hexadecimal."""
ends_in_digest: Final = regex("[0-9a-f]{40}").fullmatch
"""Called with a key and the place where its last `DIGEST_CHARS` characters begin."""
_DIGEST_MARK: Final = 0xFF  # no UTF-8 text has this byte, so no other key ends like this
_BEYOND: Final = bytes([_DIGEST_MARK] * (2 + DIGEST_CHARS // 2))
"""Appended to a prefix, this sorts after every key with that prefix: the last of them is a mark and
a digest of the same bytes, which is one byte shorter."""
Range = tuple[bytes, bytes]
"""From the first key up to, but not including, the second one."""


def encode_key(key: str) -> bytes:
    """Return the bytes that *key* is stored under; works for any string, lone surrogates included.

    Nearly every key ends in a digest, which takes half the room when it is not spelled in hex.
    """
    if ends_in_digest(key, max(0, len(key) - DIGEST_CHARS)):
        start = encode_prefix(key[:-DIGEST_CHARS])
        return b"%b%c%b" % (start, _DIGEST_MARK, bytes.fromhex(key[-DIGEST_CHARS:]))
    return encode_prefix(key)


def decode_key(raw: bytes) -> str:
    """Undo `encode_key`; raise `StoreError` for bytes that it never returns."""
    end = len(raw) - DIGEST_CHARS // 2
    has_digest = end > 0 and raw[end - 1] == _DIGEST_MARK
    text, digest = (raw[: end - 1], raw[end:].hex()) if has_digest else (raw, "")
    try:
        return text.decode("utf-8", "surrogatepass") + digest
    except UnicodeDecodeError as error:
        raise StoreError(f"the store is damaged: {raw!r} is not a key of refold") from error


def encode_prefix(prefix: str) -> bytes:
    """Return the first bytes of every encoded key that begins with *prefix*, up to its digest."""
    return prefix.encode("utf-8", "surrogatepass")


def span(prefix: str) -> Range:
    """Return the range of the encoded keys that begin with *prefix*."""
    start = encode_prefix(prefix)
    return start, start + _BEYOND


def removable(prefix: str) -> list[Range]:
    """Return the ranges of the keys that begin with *prefix* and may be removed: `is_removable`."""
    low, high = span(prefix)
    first, last = span(AUDIT_PREFIX)
    if prefix.startswith(AUDIT_PREFIX) or not AUDIT_PREFIX.startswith(prefix):
        return [(low, high)]
    return [(low, first), (last, high)]


def encode_value(key: str, value: Any, compression: Compression = "zlib") -> bytes:
    """Return the record of *value*, or raise `StoreError` naming *key* and what is not JSON."""
    return pack(encode_key(key), spell_json(key, value), compression)


def decode_value(key: str, record: bytes) -> Any:
    """Undo `encode_value`; errors name the *key*."""
    try:
        return parse_json(unpack(encode_key(key), record))
    except RecursionError as error:
        raise StoreError(f"the value of {key!r} is nested too deeply to read from here") from error
    except ValueError as error:
        raise StoreError(
            f"the value of {key!r} is not readable ({error}); something other than refold "
            "has changed it"
        ) from error


def decode_records(
    wanted: Mapping[bytes, str], records: Mapping[bytes, bytes], store: str
) -> dict[str, Any]:
    """Decode the *records* of *wanted* keys, in that order; errors name the *store*."""
    try:
        return {
            key: decode_value(key, records[raw]) for raw, key in wanted.items() if raw in records
        }
    except StoreError as error:
        raise store_error("read", store, str(error)) from error


def spell_json(key: str, value: Any) -> bytes:
    """Spell *value* as JSON, or raise `StoreError` naming *key* and the place that is not JSON."""
    _check(key, value)
    try:
        return _ENCODER.encode(value).encode("utf-8", "surrogatepass")
    except RecursionError as error:
        where = f"the value of {key!r} is nested too deeply to write from here"
        raise NestingError(where) from error
    except ValueError as error:  # an integer beyond sys.get_int_max_str_digits()
        raise StoreError(f"the value of {key!r} cannot be written as JSON: {error}") from error


def parse_json(data: bytes) -> Any:
    """Undo `spell_json`; `ValueError` or `RecursionError` if that fails."""
    return json.loads(data.decode("utf-8", "surrogatepass"))


def _check(key: str, root: Any) -> None:
    """Raise unless *root* consists of exactly the types that JSON preserves.

    This is depth first and without recursion: a value that contains itself ends at `MAX_DEPTH`.
    Each container waits with the containers around it and the way there, for the error.
    """
    pending: list[tuple[Any, _Place, int]] = [(root, None, 1)]
    while pending:
        value, place, depth = pending.pop()
        if type(value) is dict:
            children = list(value.items())
            for name in value:
                if type(name) is not str:
                    raise StoreError(
                        f"the value of {key!r} is not JSON: a dict in it has the key {name!r}; "
                        "convert it to str, or use a MemoryStore"
                    )
        elif type(value) is list:
            children = list(enumerate(value))
        elif type(value) in _SCALARS:  # the root: other scalars do not wait
            return
        else:
            raise StoreError(
                f"the value of {key!r} is not JSON: {type(value).__name__} at "
                f"value{_spell_place(place)}; "
                "convert it to dict, list, str, int, float, bool or None, or use a MemoryStore"
            )
        if depth > MAX_DEPTH:
            raise NestingError(
                f"the value of {key!r} is nested more than {MAX_DEPTH} levels deep; "
                "flatten it, or use a MemoryStore"
            )
        pending += (
            (child, (place, step), depth + 1)
            for step, child in children
            if type(child) not in _SCALARS
        )


def _spell_place(place: _Place) -> str:
    steps: list[str] = []
    while place is not None:
        place, step = place
        steps.append(f"[{step!r}]")
    return "".join(reversed(steps))


def pack(key: bytes, data: bytes, how: Compression = "zlib") -> bytes:
    """Return *data* as a record that is kept under *key*."""
    kind, body = _PLAIN, data
    if len(data) >= _LEAST_BYTES[how]:
        short = _zstd().compress(data) if how == "zstd" else zlib.compress(data, _ZLIB_LEVEL)
        if len(short) < len(data) <= _MOST * len(short):
            kind, body = _ZSTD if how == "zstd" else _ZLIB, short
    return b"".join((kind, _digest(key, data), body))


def unpack(key: bytes, record: bytes) -> bytes:
    """Undo `pack`; raise `ValueError` if the record is damaged or was stored under another key."""
    if not isinstance(record, bytes):  # a damaged row, or one of another program
        raise ValueError(f"it is {type(record).__name__}, not bytes")
    kind, body = record[:1], record[_HEAD:]
    if kind == _PLAIN:
        data = body
    elif kind == _ZLIB:
        data = _inflate(body)
    elif kind == _ZSTD:
        data = _zstd().decompress(body)
    else:
        raise ValueError("it does not begin like a record of refold")
    if _digest(key, data) != record[1:_HEAD]:
        raise ValueError("its digest does not match")
    return data


def check_compression(how: Compression) -> None:
    """Raise `StoreError` if a compression is not available, before anything is written."""
    if how == "zstd":
        _zstd()


def _digest(key: bytes, data: bytes) -> bytes:
    hashed = blake2b(b"%d:%b" % (len(key), key), digest_size=_DIGEST_BYTES)
    hashed.update(data)
    return hashed.digest()


def _inflate(body: bytes) -> bytes:
    unpacking = zlib.decompressobj()
    try:
        data = unpacking.decompress(body, _MOST * len(body))
    except zlib.error as error:
        raise ValueError(str(error)) from error
    if not unpacking.eof or unpacking.unused_data:
        raise ValueError("its packing is damaged")
    return data


class _Zstd(threading.local):
    """zstd with the dictionary; made once for each thread, which may not share it."""

    def __init__(self) -> None:
        self._library, words = _zstd_dictionary()
        self._packer = self._library.ZstdCompressor(
            level=_ZSTD_LEVEL, dict_data=words, write_dict_id=False
        )
        self._unpacker = self._library.ZstdDecompressor(dict_data=words)

    def compress(self, data: bytes) -> bytes:
        packed: bytes = self._packer.compress(data)
        return packed

    def decompress(self, body: bytes) -> bytes:
        try:
            if self._library.frame_content_size(body) > _MOST * len(body):
                raise ValueError("its packing is damaged")
            data: bytes = self._unpacker.decompress(body, allow_extra_data=False)
        except self._library.ZstdError as error:
            raise ValueError(str(error)) from error
        return data


@cache
def _zstd_dictionary() -> tuple[Any, Any]:
    """Return the library and the dictionary, which threads do share."""
    zstandard = need("zstandard", "zstd", what="originals packed with zstd", error=StoreError)
    words = zstandard.ZstdCompressionDict(read_shipped("refold.stores", _DICTIONARY))
    words.precompute_compress(level=_ZSTD_LEVEL)
    return zstandard, words


@cache
def _zstd() -> _Zstd:
    return _Zstd()
