"""The caller's own JSON-like data: copying it, addressing texts inside it, naming it by content."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

Wire = Mapping[str, Any]
"""A message as the caller wrote it. Read it, never write to it."""

Path = tuple[str | int, ...]
"""Where a text stands inside a message: `("content", 1, "text")`."""

_ATOMS = (str, int, float, bool, type(None))


def clone(value: Any) -> Any:
    """Copy JSON-like data so that nothing is shared with the original.

    Walks with a list instead of recursion: nesting depth is the caller's, the stack is ours.
    """
    holder: list[Any] = [None]
    todo: list[tuple[Any, Any, Any]] = [(value, holder, 0)]
    while todo:
        source, target, key = todo.pop()
        kind = type(source)
        if kind in _ATOMS:
            target[key] = source
        elif kind is dict:
            fresh: dict[Any, Any] = dict.fromkeys(source)
            target[key] = fresh
            todo.extend((item, fresh, name) for name, item in source.items())
        elif kind is list:
            row: list[Any] = [None] * len(source)
            target[key] = row
            todo.extend((item, row, place) for place, item in enumerate(source))
        else:
            target[key] = _clone_foreign(source)
    return holder[0]


def _clone_foreign(source: Any) -> Any:
    """Copy what is not plain JSON: other mappings become dicts, other objects are deep-copied."""
    if isinstance(source, Mapping) and not isinstance(source, dict):
        return {name: clone(item) for name, item in source.items()}
    return copy.deepcopy(source)


def clone_with(message: Wire, texts: Mapping[Path, str]) -> dict[str, Any]:
    """Copy *message* with the text at each path replaced."""
    fresh: dict[str, Any] = clone(dict(message))
    for path, text in texts.items():
        spot: Any = fresh
        for step in path[:-1]:
            spot = spot[step]
        spot[path[-1]] = text
    return fresh


def digest(value: Any) -> str:
    """Name JSON-like data by its content: equal data, equal name, on every machine.

    Key order counts, because restoring byte for byte includes the order of keys.
    """
    return text_digest(spell(value))


def spell(value: object) -> str:
    """Spell JSON-like data as text, one way only; foreign objects by their type."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_spell_foreign)
    except (RecursionError, TypeError):  # nested too deeply, or keys that JSON does not have
        return "".join(_spell_deep(value))


def _spell_foreign(value: object) -> str:
    """Name an object by its type: its `repr` may hold an address that no copy shares."""
    return f"<{type(value).__qualname__}>"


def _spell_deep(value: object) -> Iterator[str]:
    """Spell data that the standard encoder cannot, in the very same way."""
    todo: list[tuple[bool, object]] = [(False, value)]
    while todo:
        is_spelled, item = todo.pop()
        if is_spelled:
            yield str(item)
        elif isinstance(item, Mapping):
            pairs = [(f"{spell(_key(name))}:", child) for name, child in item.items()]
            todo.append((True, "}"))
            for place, (name, child) in reversed(list(enumerate(pairs))):
                todo += [(False, child), (True, f",{name}" if place else name)]
            todo.append((True, "{"))
        elif isinstance(item, list | tuple):
            todo.append((True, "]"))
            for place, child in reversed(list(enumerate(item))):
                todo += [(False, child), (True, "," if place else "")]
            todo.append((True, "["))
        else:
            yield spell(item)


def _key(name: object) -> str:
    """Spell a key as the standard encoder does, and any other by its `repr`."""
    if isinstance(name, str):
        return name
    plain = name is None or isinstance(name, bool | int | float)
    return json.dumps(name) if plain else repr(name)


def text_digest(text: str) -> str:
    """Name a text by its content: 96 bits of BLAKE2b in hexadecimal."""
    data = text.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=12).hexdigest()


def place_of(index: int, path: Path = ()) -> str:
    """Spell a spot for people: `messages[3].content[1].text`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return f"messages[{index}]" + "".join(steps)
