"""Several records in one object: each with its key and the time it was put, one after another."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from hashlib import blake2b
from typing import Final, NamedTuple

_MAGIC: Final = b"RFLD\x01"
_HEAD: Final = struct.Struct(">IId")
REMOVED: Final = b"\xfe"
"""The key of a record that says that everything before it is removed; no original has it."""


class Record(NamedTuple):
    """One record of a bundle."""

    key: bytes
    written_at: float
    value: bytes


def removal_of(key: bytes) -> bytes:
    """Return the key of a record that says that *key* is removed, without naming it."""
    return REMOVED + blake2b(key, digest_size=16).digest()


def write_bundle(records: Iterable[Record]) -> bytes:
    """Return *records* as bytes."""
    parts = [_MAGIC]
    for record in records:
        head = _HEAD.pack(len(record.key), len(record.value), record.written_at)
        parts += (head, record.key, record.value)
    return b"".join(parts)


def read_bundle(data: bytes) -> list[Record]:
    """Undo `write_bundle`; `ValueError` if something is missing or too much."""
    if not data.startswith(_MAGIC):
        raise ValueError("it begins like no bundle of refold's")
    records = []
    at = len(_MAGIC)
    while at < len(data):
        if at + _HEAD.size > len(data):
            raise ValueError("it is cut off")
        key_size, value_size, written_at = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        end = at + key_size + value_size
        if end > len(data):
            raise ValueError("it is cut off")
        key, value = data[at : at + key_size], data[at + key_size : end]
        records.append(Record(key, written_at, value))
        at = end
    return records
