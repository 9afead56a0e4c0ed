"""Records as they lie in a store: packed, and with a digest that is checked when they are read.

A record begins with a byte that says how its body is packed, and the digest of its key and its
plain bytes: damage, truncation and a swapped key are detected.

zstd packs better than zlib, and is faster: it begins with a dictionary of what messages look like,
which was trained on texts of refold's own. One that a store trains on what it holds would be better
still, and would keep pieces of conversations that were deleted on request.
"""

from __future__ import annotations

import threading
import zlib
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from typing import Any, Final, Literal

from refold.checks import need
from refold.errors import StoreError

Compression = Literal["zlib", "zstd"]

_PLAIN: Final = b"\x01"
_ZLIB: Final = b"\x02"
_ZSTD: Final = b"\x03"
_LEAST_BYTES: Final[dict[Compression, int]] = {"zlib": 256, "zstd": 64}
"""Sizes below which packing does not pay. Tuned on the originals of recorded conversations, as the
levels are; `bench/stores.py packing` compares them."""
_MOST: Final = 64
"""How many times shorter a packed body may be: what is unpacked can then not fill the memory."""
_ZLIB_LEVEL: Final = 1
_ZSTD_LEVEL: Final = 3
"""Tuned like the sizes above."""
_DIGEST_BYTES: Final = 8
"""This is against damage, not against people: whoever can write to a store can write digests. An
original is named by 128 bits besides, which are compared when a conversation is unfolded."""
_HEAD: Final = 1 + _DIGEST_BYTES
"""How it was packed, and the digest."""
_DICTIONARY: Final = "dictionary-1.zdict"
"""Named in no record, so it never changes: a better one takes a byte and a file of its own."""


def pack(key: bytes, data: bytes, how: Compression = "zlib") -> bytes:
    """Return *data* as a record that is kept under *key*."""
    kind, body = _PLAIN, data
    if len(data) >= _LEAST_BYTES[how]:
        short = _zstd().compress(data) if how == "zstd" else zlib.compress(data, _ZLIB_LEVEL)
        if len(short) < len(data) <= _MOST * len(short):
            kind, body = _ZSTD if how == "zstd" else _ZLIB, short
    return b"".join((kind, _digest(key, data), body))


def unpack(key: bytes, record: bytes) -> bytes:
    """Undo `pack`; `ValueError` if that is not what was kept under *key*."""
    kind, digest, body = record[:1], record[1:_HEAD], record[_HEAD:]
    if kind == _PLAIN:
        data = body
    elif kind == _ZLIB:
        data = _inflate(body)
    elif kind == _ZSTD:
        data = _zstd().decompress(body)
    else:
        raise ValueError("it begins like no record of refold's")
    if _digest(key, data) != digest:
        raise ValueError("its digest is another one")
    return data


def check_compression(how: Compression) -> None:
    """Refuse what cannot be used here, before anything is written with it."""
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


class _Zstd:
    """zstd with the dictionary; its working memory is for one thread at a time."""

    def __init__(self) -> None:
        zstandard = need("zstandard", "zstd", what="originals packed with zstd", error=StoreError)
        words = files("refold.stores").joinpath(_DICTIONARY).read_bytes()
        self._made = zstandard
        self._dictionary = zstandard.ZstdCompressionDict(words)
        self._dictionary.precompute_compress(level=_ZSTD_LEVEL)
        self._mine = threading.local()

    def compress(self, data: bytes) -> bytes:
        packer = getattr(self._mine, "packer", None)
        if packer is None:
            packer = self._mine.packer = self._made.ZstdCompressor(
                level=_ZSTD_LEVEL, dict_data=self._dictionary, write_dict_id=False
            )
        packed: bytes = packer.compress(data)
        return packed

    def decompress(self, body: bytes) -> bytes:
        unpacker: Any = getattr(self._mine, "unpacker", None)
        if unpacker is None:
            unpacker = self._mine.unpacker = self._made.ZstdDecompressor(dict_data=self._dictionary)
        try:
            if self._made.frame_content_size(body) > _MOST * len(body):
                raise ValueError("its packing is damaged")
            data: bytes = unpacker.decompress(body, allow_extra_data=False)
        except self._made.ZstdError as error:
            raise ValueError(str(error)) from error
        return data


@cache
def _zstd() -> _Zstd:
    return _Zstd()
