"""The caller's own JSON-like data: copying it, addressing texts inside it, naming it by content."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from hashlib import blake2b
from json.encoder import encode_basestring
from typing import Any, Final

from refold.messages.exact import ATOMS, spell_exactly

Wire = Mapping[str, Any]
"""A message as the caller wrote it. Read it, never write to it."""

Path = tuple[str | int, ...]
"""Where a text stands inside a message: `("content", 1, "text")`."""

ID_KEY: Final = "id"
METADATA_KEY: Final = "metadata"
CLASS_KEY: Final = "__class__"
"""Beside the fields of a message that is an object: the name of its class."""

FOLD_PREFIX: Final = "refold:fold:"
"""The prefix of the keys of folds."""

_HASH: Final = blake2b(digest_size=20)
"""An empty hash to copy, which is faster than making one."""
_LONG_CHARS: Final = 800
"""Replacing bytes is faster than the encoder of `json` from about 800 characters on, and by a fifth
to a third in long ones; below, its calls take more than they save (at 200 a third more)."""
_PLAIN_DEPTH: Final = 5
"""How deep the arguments of a tool call are."""
_MOST_LEVELS: Final = 50
"""Data that is nested deeper is spelled without recursion."""
_PLAIN_BITS: Final = 2_000
"""About 600 digits, fewer than any limit that Python may set for spelling an integer."""
_USUAL: Final = {
    word: json.dumps(word).encode()
    for word in (
        *("role", "content", "id", "system", "user", "assistant", "type", "text"),
        *("tool", "tool_call_id", "tool_calls", "function", "name", "arguments"),
    )
}
"""How words that are in every message are spelled."""
_WORDS: Final = {None: b"null", True: b"true", False: b"false"}
_NO_CONTROLS: Final = bytes([code for code in range(256) if code >= 32 or code == ord("\n")])
"""All bytes but those that JSON spells in ways of their own."""


def clone(value: Any) -> Any:
    """Copy JSON-like data so that nothing is shared with the original.

    Walks with a list instead of recursion: nesting depth is the caller's, the stack is ours.
    """
    if type(value) in ATOMS:
        return value
    todo: list[dict[Any, Any] | list[Any]] = []
    fresh = _clone_one(value, todo)
    while todo:
        holder = todo.pop()
        # Only values are exchanged, so the walk over the holder may go on meanwhile.
        if isinstance(holder, dict):
            for name, item in holder.items():
                if type(item) is not str and type(item) not in ATOMS:
                    holder[name] = _clone_one(item, todo)
        else:
            for place, item in enumerate(holder):
                if type(item) not in ATOMS:
                    holder[place] = _clone_one(item, todo)
    return fresh


def _clone_one(source: Any, todo: list[dict[Any, Any] | list[Any]]) -> Any:
    """Copy one level; a copy whose items are still those of the original goes to *todo*."""
    kind = type(source)
    if kind is dict or kind is list:
        fresh = source.copy()
        todo.append(fresh)
        return fresh
    return _clone_foreign(source)


def _clone_foreign(source: Any) -> Any:
    """Copy what is not plain JSON: other mappings become dicts, other objects are deep-copied."""
    if isinstance(source, Mapping) and not isinstance(source, dict):
        return {name: clone(item) for name, item in source.items()}
    return copy.deepcopy(source)


def clone_message(message: Wire) -> dict[str, Any]:
    """Copy a message; whatever mapping it is, the copy is a dict."""
    fresh: dict[str, Any] = message.copy() if type(message) is dict else dict(message)
    for name, item in fresh.items():
        if type(item) is not str and type(item) not in ATOMS:
            fresh[name] = clone(item)
    return fresh


def clone_with(message: Wire, values: Mapping[Path, object]) -> dict[str, Any]:
    """Copy *message* with what stands at each path replaced."""
    fresh = clone_message(message)
    for path, value in values.items():
        put(fresh, path, value)
    return fresh


def put(message: dict[str, Any], path: Path, value: object) -> None:
    """Replace what stands at *path* of a message of our own."""
    spot: Any = message
    for step in path[:-1]:
        spot = spot[step]
    spot[path[-1]] = value


def is_same(one: object, other: object) -> bool:
    """Tell whether two values are the same plain data, to the types and the order of keys."""
    todo = [(one, other)]
    while todo:
        a, b = todo.pop()
        if a is b and type(a) in ATOMS:
            continue
        if type(a) is not type(b):
            return False
        if isinstance(a, dict) and isinstance(b, dict):
            if list(a) != list(b) or not {*map(type, a)} <= {str}:
                return False
            todo += zip(a.values(), b.values(), strict=True)
        elif type(a) is list and isinstance(b, list):
            if len(a) != len(b):
                return False
            todo += zip(a, b, strict=True)
        elif type(a) not in ATOMS or a != b or (type(a) is float and repr(a) != repr(b)):
            return False
    return True


def is_shallow(value: Wire) -> bool:
    """Tell whether *value* is plain data of a few levels: such a thing can always be spelled.

    It cannot contain itself, and none of its numbers has more digits than Python writes.
    """
    return _ends_within(value, _PLAIN_DEPTH + 1)


def _ends_within(value: object, depth: int) -> bool:
    if type(value) is str:
        return True
    if type(value) is int:
        return value.bit_length() <= _PLAIN_BITS
    if type(value) in ATOMS:
        return True
    if type(value) is dict and depth:
        for name, item in value.items():
            if type(name) is not str or (
                type(item) is not str and not _ends_within(item, depth - 1)
            ):
                return False
        return True
    if type(value) is list and depth:
        return all(type(item) is str or _ends_within(item, depth - 1) for item in value)
    return False


def digest(value: Any) -> str:
    """Name data by its content: equal data, equal name; for plain JSON, on every machine.

    Key order counts, because restoring byte for byte includes the order of keys. What JSON has no
    form for (bytes, dates, tuples, numbers as keys) counts with its type and its value.
    """
    pieces: list[bytes] = []
    if _spell_plain(value, pieces, _MOST_LEVELS):
        return _hash(b"".join(pieces))
    return _hash("".join(spell_exactly(value)).encode("utf-8", "surrogatepass"))


def digest_unordered(value: Wire) -> str:
    """Name data by its content, whatever the order of its keys: some databases sort them."""
    fresh: dict[str, Any] = {"": value}
    todo: list[Any] = [fresh]
    while todo:
        holder = todo.pop()
        pairs = holder.items() if type(holder) is dict else enumerate(holder)
        for name, item in pairs:
            if type(item) is dict and all(type(key) is str for key in item):
                holder[name] = dict(sorted(item.items()))
                todo.append(holder[name])
            elif type(item) is list:
                holder[name] = item.copy()
                todo.append(holder[name])
    return digest(fresh[""])


def _spell_plain(value: Any, pieces: list[bytes], depth: int) -> bool:
    """Add the spelling of plain data to *pieces*: so no long text is copied at every level.

    Returns false if there is anything else in the value, or more than *depth* levels.
    """
    kind = type(value)
    if kind is str:
        _quote(value, pieces)
    elif kind is dict and depth:
        before = b"{"
        for name, item in value.items():
            if type(name) is not str:
                return False
            pieces.append(before)
            _quote(name, pieces)
            pieces.append(b":")
            if not _spell_plain(item, pieces, depth - 1):
                return False
            before = b","
        pieces.append(b"}" if value else b"{}")
    elif kind is list and depth:
        before = b"["
        for item in value:
            pieces.append(before)
            if not _spell_plain(item, pieces, depth - 1):
                return False
            before = b","
        pieces.append(b"]" if value else b"[]")
    elif kind is int:
        pieces.append(str(value).encode())
    elif kind in ATOMS:
        pieces.append(_WORDS[value] if kind is not float else _ENCODER.encode(value).encode())
    else:
        return False
    return True


def _quote(text: str, pieces: list[bytes]) -> None:
    """Spell a string as JSON; a long one by replacing bytes, which runs at memory speed."""
    usual = _USUAL.get(text)
    if usual is not None:
        pieces.append(usual)
        return
    if len(text) >= _LONG_CHARS:
        data = text.encode("utf-8", "surrogatepass")
        if not data.translate(None, _NO_CONTROLS):
            data = data.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
            pieces += (b'"', data, b'"')
            return
    pieces.append(encode_basestring(text).encode("utf-8", "surrogatepass"))


def spell(value: object) -> str:
    """Spell JSON-like data as text, one way only; foreign objects by their type."""
    try:
        return _ENCODER.encode(value)
    except (RecursionError, TypeError):  # nested too deeply, or keys that JSON does not have
        return "".join(_spell_deep(value))


def _spell_foreign(value: object) -> object:
    """Spell any mapping like the dict that a copy of it is, and other objects by their type.

    Their `repr` may hold an address that no copy shares.
    """
    return dict(value) if isinstance(value, Mapping) else f"<{type(value).__qualname__}>"


_ENCODER: Final = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), default=_spell_foreign
)


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
            for place in range(len(pairs) - 1, -1, -1):
                name, child = pairs[place]
                todo += [(False, child), (True, f",{name}" if place else name)]
            todo.append((True, "{"))
        elif isinstance(item, list | tuple):
            todo.append((True, "]"))
            for place in range(len(item) - 1, -1, -1):
                todo += [(False, item[place]), (True, "," if place else "")]
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
    """Name a text by its content."""
    return _hash(text.encode("utf-8", "surrogatepass"))


@lru_cache(maxsize=20_000)
def letters_of(fold: str, count: int) -> str:
    """Spell the first letters of a fold: letters only, so that no id looks like a number."""
    number, spelled = int.from_bytes(blake2b(fold.encode(), digest_size=32).digest()), ""
    for _ in range(count):
        number, letter = divmod(number, 26)
        spelled += chr(ord("a") + letter)
    return spelled


def name(kind: str, *parts: str) -> str:
    """Name texts together; every part with its length, so that none can pass for another."""
    if all(map(str.isascii, parts)):  # most are, and one spelling is encoded faster than several
        return _hash((kind + "".join([f"{len(part)}:{part}" for part in parts])).encode())
    pieces = [part.encode("utf-8", "surrogatepass") for part in parts]
    return _hash(kind.encode() + b"".join([b"%d:%b" % (len(piece), piece) for piece in pieces]))


def _hash(data: bytes) -> str:
    """Return 160 bits of BLAKE2b in hexadecimal."""
    fresh = _HASH.copy()
    fresh.update(data)
    return fresh.hexdigest()


def place_of(index: int, path: Path = ()) -> str:
    """Spell a spot in a conversation for people: `messages[3].content[1].text`."""
    return spot(f"messages[{index}]", path)


def spot(place: str, path: Path) -> str:
    """Extend a place by a path: `messages[3]` + `("content", 1)` → `messages[3].content[1]`."""
    steps = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in path]
    return place + "".join(steps)
