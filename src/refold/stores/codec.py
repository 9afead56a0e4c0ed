"""JSON that comes back exactly as it went in, or is refused before it is written.

Plain `json` is not exact: it turns tuples into lists and numbers used as keys into strings, and its
ASCII escapes fuse two lone surrogates into one character. So only what JSON has a form for is
accepted, and text is written as UTF-8 with surrogates passed through as they are. `packing` has
what becomes of these bytes in a store.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from refold.errors import NestingError, StoreError
from refold.stores.key import encode_key
from refold.stores.packing import Compression, pack, unpack

MAX_DEPTH: Final = 500
"""Deepest nesting accepted: half of Python's default stack, so that what was written can be read
back from deep inside a program too."""

_SCALARS: Final = frozenset({str, int, float, bool, type(None)})
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def encode_value(key: str, value: Any, compression: Compression = "zlib") -> bytes:
    """Return the record of *value*, or raise `StoreError` naming *key* and what is not JSON."""
    return pack(encode_key(key), spell_json(key, value), compression)


def decode_value(key: str, record: bytes) -> Any:
    """Undo `encode_value`; *key* names what was damaged if that fails."""
    try:
        return parse_json(unpack(encode_key(key), record))
    except RecursionError as error:
        raise StoreError(f"the value of {key!r} is nested too deeply to read from here") from error
    except ValueError as error:
        raise StoreError(
            f"the value of {key!r} is not readable ({error}); something other than refold "
            "has changed it"
        ) from error


def decode_found(
    wanted: Mapping[bytes, str], found: Mapping[bytes, bytes], store: str
) -> dict[str, Any]:
    """Decode what was found of *wanted* keys, in their order; errors name the *store*."""
    try:
        return {key: decode_value(key, found[raw]) for raw, key in wanted.items() if raw in found}
    except StoreError as error:
        raise StoreError(f"cannot read the store {store!r}: {error}") from error


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


class _Place(NamedTuple):
    """A spot inside a value, as a link to the one around it: cheap until it is printed."""

    around: _Place | None
    step: str | int
    depth: int

    def __str__(self) -> str:
        steps: list[str] = []
        place: _Place | None = self
        while place is not None:
            steps.append(f"[{place.step!r}]")
            place = place.around
        return "".join(reversed(steps))


def _check(key: str, root: Any) -> None:
    """Raise unless *root* is made of exactly the types that JSON gives back.

    Depth first and without recursion, so a value that contains itself ends at `MAX_DEPTH` as well.
    """
    pending: list[tuple[Any, _Place | None]] = [(root, None)]
    while pending:
        value, place = pending.pop()
        if type(value) in _SCALARS:
            continue
        if type(value) is not dict and type(value) is not list:
            raise StoreError(
                f"the value of {key!r} is not JSON: {type(value).__name__} at value{place or ''}; "
                "convert it to dict, list, str, int, float, bool or None, or use a MemoryStore"
            )
        depth = place.depth + 1 if place else 1
        if depth > MAX_DEPTH:
            raise NestingError(
                f"the value of {key!r} is nested more than {MAX_DEPTH} levels deep; "
                "flatten it, or use a MemoryStore"
            )
        pending.extend((child, _Place(place, step, depth)) for step, child in _items(key, value))


def _items(key: str, value: dict[Any, Any] | list[Any]) -> Iterator[tuple[str | int, Any]]:
    """Yield the children that need a look: containers, and whatever JSON has no form for."""
    if isinstance(value, list):
        yield from ((i, child) for i, child in enumerate(value) if type(child) not in _SCALARS)
        return
    for name, child in value.items():
        if type(name) is not str:
            raise StoreError(
                f"the value of {key!r} is not JSON: a dict in it has the key {name!r}; "
                "convert it to str, or use a MemoryStore"
            )
        if type(child) not in _SCALARS:
            yield name, child
