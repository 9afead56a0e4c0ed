"""Any Python value as a text that no other value has, so that a digest of it covers the value.

Plain JSON is spelled as JSON. What JSON has no form for is spelled by its type and by what it is
made of, as `copy` and `pickle` see it: a copy of a value is spelled like the value.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

ATOMS: Final = frozenset({str, int, float, bool, type(None)})
"""The types of values that JSON has and that hold no others."""
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False)
_PROTOCOL: Final = 4
"""The pickle protocol; fixed, since digests depend on it."""


class _Said:
    """A text to write out unchanged."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class _Left:
    """Marks the end of a container."""

    __slots__ = ("name",)

    def __init__(self, name: int) -> None:
        self.name = name


def spell_exactly(root: object) -> Iterator[str]:
    """Spell *root*; walks with a list instead of recursion, for nesting depth is the caller's.

    Raises `ValueError` for plain data that contains itself. Of other objects that is allowed.
    """
    todo: list[Any] = [root]
    around: dict[int, object] = {}
    while todo:
        item = todo.pop()
        kind = type(item)
        if kind is _Said:
            yield item.text
        elif kind is _Left:
            del around[item.name]
        elif kind in ATOMS:
            yield _ENCODER.encode(item)
        elif id(item) in around:
            if kind is dict or kind is list:
                raise ValueError("Circular reference detected")
            yield f"<{kind.__qualname__} again>"
        else:
            around[id(item)] = item
            todo.append(_Left(id(item)))
            todo += reversed(list(_pieces(item)))


def _pieces(item: Any) -> Iterator[Any]:
    """Yield what a value that is no atom is made of: texts to say, and values to spell."""
    kind = type(item)
    if isinstance(item, Mapping):
        yield from _members(item)
    elif kind is list or kind is tuple:
        yield _Said("[" if kind is list else "<tuple>[")
        for place, child in enumerate(item):
            if place:
                yield _Said(",")
            yield child
        yield _Said("]")
    elif kind is bytes:
        yield _Said(f"<bytes {item.hex()}>")
    elif kind is set or kind is frozenset:
        spelled = sorted("".join(spell_exactly(child)) for child in item)
        yield _Said(f"<{kind.__qualname__} {','.join(spelled)}>")
    elif isinstance(item, type) or not hasattr(item, "__reduce_ex__"):
        yield _Said(f"<{getattr(item, '__module__', '')}.{getattr(item, '__qualname__', '')}>")
    else:
        yield _Said(f"<{kind.__module__}.{kind.__qualname__} ")
        yield _reduced(item)
        yield _Said(">")


def _members(item: Mapping[Any, Any]) -> Iterator[Any]:
    """Yield the members of a mapping; whatever mapping it is, a copy of it is a dict."""
    before = "{"
    for name, child in item.items():
        if type(name) is str:
            yield _Said(f"{before}{_ENCODER.encode(name)}:")
        else:
            yield _Said(f"{before}<key>")
            yield name
            yield _Said(":")
        yield child
        before = ","
    yield _Said("}" if before == "," else "{}")


def _reduced(item: Any) -> Any:
    """Return what `copy` would make *item* anew from; nothing of what cannot be copied."""
    try:
        made = item.__reduce_ex__(_PROTOCOL)
    except Exception:  # noqa: BLE001 - foreign code may raise anything
        return None
    if isinstance(made, str):
        return made
    how, arguments, state, items, members = (*made, None, None, None)[:5]
    return [how, arguments, state, list(items or ()), list(members or ())]
