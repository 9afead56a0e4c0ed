"""Keys of originals: which are valid, the same in every store, and how they are encoded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from refold.errors import StoreError

AUDIT_PREFIX: Final = "refold:audit:"
"""How the keys of what was removed, and when, begin; see `upkeep`."""

_DIGEST_CHARS: Final = 32
"""128 bits in hexadecimal; such an ending is packed to half."""
_IS_DIGEST: Final = re.compile("[0-9a-f]{32}").fullmatch
_DIGEST_MARK: Final = 0xFF  # a byte that is in no UTF-8, so no other key ends like this
_BEYOND: Final = bytes([_DIGEST_MARK] * (2 + _DIGEST_CHARS // 2))
"""Behind all keys with the same beginning: of those, the last is a mark and a digest of the same
bytes, which is one byte shorter."""


def check_entries(entries: Mapping[str, Any]) -> dict[str, Any]:
    """Return *entries* as a dict of its own, or say which key is not a string."""
    if not isinstance(entries, Mapping):
        raise StoreError(f"put() takes a mapping of key to value, got {type(entries).__name__}")
    return {_checked(key): value for key, value in entries.items()}


def check_keys(keys: Iterable[str]) -> list[str]:
    """Return *keys* without repeats; a lone string is refused, as its letters are not keys."""
    if isinstance(keys, str | bytes) or not isinstance(keys, Iterable):
        raise StoreError(f"get() takes several keys, got {keys!r}; write get([key]) for one")
    return list(dict.fromkeys(_checked(key) for key in keys))


def _checked(key: object) -> str:
    if not isinstance(key, str):
        raise StoreError(f"a key must be a string, got {key!r}")
    return key


def encode_key(key: str) -> bytes:
    """Return the bytes *key* is stored under; any string has some, lone surrogates included.

    Nearly every key ends in a digest, which takes half the room if it is not spelled out.
    """
    if _IS_DIGEST(key, max(0, len(key) - _DIGEST_CHARS)):
        start = encode_prefix(key[:-_DIGEST_CHARS])
        return b"%b%c%b" % (start, _DIGEST_MARK, bytes.fromhex(key[-_DIGEST_CHARS:]))
    return encode_prefix(key)


def decode_key(raw: bytes) -> str:
    """Undo `encode_key`."""
    end = len(raw) - _DIGEST_CHARS // 2
    if end > 0 and raw[end - 1] == _DIGEST_MARK:
        return raw[: end - 1].decode("utf-8", "surrogatepass") + raw[end:].hex()
    return raw.decode("utf-8", "surrogatepass")


def encode_prefix(prefix: str) -> bytes:
    """Return how the bytes of a key begin that begins with *prefix*: up to its digest."""
    return prefix.encode("utf-8", "surrogatepass")


def is_digest(key: str) -> bool:
    """Return whether *key* is nothing but a digest: of the original that it is the key of."""
    return _IS_DIGEST(key) is not None


Range = tuple[bytes, bytes]
"""From a key on, up to but without another one."""


def removable(prefix: str) -> list[Range]:
    """Return where the keys are that begin with *prefix* and may be removed.

    What notes removals stays, unless it is asked for by its own prefix.
    """
    low, high = span(prefix)
    first, last = span(AUDIT_PREFIX)
    if prefix.startswith(AUDIT_PREFIX) or not AUDIT_PREFIX.startswith(prefix):
        return [(low, high)]
    return [(low, first), (last, high)]


def is_removable(prefix: str, key: str) -> bool:
    """Return the same for one key that begins with *prefix*."""
    return prefix.startswith(AUDIT_PREFIX) or not key.startswith(AUDIT_PREFIX)


def span(prefix: str) -> Range:
    """Return where the keys are that begin with *prefix*."""
    start = encode_prefix(prefix)
    return start, start + _BEYOND
