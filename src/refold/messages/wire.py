"""The caller's own JSON-like data: copying it, addressing texts inside it, naming it by content."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from hashlib import blake2b
from json.encoder import encode_basestring
from typing import Any, Final

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

_ATOMS: Final = frozenset({str, int, float, bool, type(None)})
"""The types of values that JSON has and that hold no others."""
_SHALLOW_LEVELS: Final = 6
"""The arguments of a tool call are so deep in a message."""
_MOST_LEVELS: Final = 50
"""Data that is nested deeper is spelled without recursion."""
_PLAIN_BITS: Final = 2_000
"""About 600 digits, fewer than any limit that Python may set for spelling an integer."""
_LONG_CHARS: Final = 800
"""From here on replacements are faster than the encoder of `json`, by up to a third: that is a
tenth of the time of `uncompress`."""
_NO_CONTROLS: Final = bytes([code for code in range(256) if code >= 32 or code == ord("\n")])
"""All bytes but those that JSON spells in ways of their own."""
_PICKLE_PROTOCOL: Final = 4
"""Fixed, since digests depend on it."""
_HASH: Final = blake2b(digest_size=20)
"""An empty hash to copy, which is faster than making one."""


def clone(value: Any) -> Any:
    """Copy JSON-like data so that nothing is shared with the original.

    Other mappings than dicts become dicts, other objects are deep-copied. Walks with a list instead
    of recursion: nesting depth is the caller's, the stack is ours.
    """
    root = [value]
    todo: list[Any] = [root]
    while todo:
        fresh = todo.pop()
        # Only values are exchanged, so the walk over them may continue meanwhile.
        for place, item in fresh.items() if type(fresh) is dict else enumerate(fresh):
            kind = type(item)
            if kind is str or kind in _ATOMS:
                continue
            if kind is dict or kind is list:
                fresh[place] = item.copy()
                todo.append(fresh[place])
            elif isinstance(item, Mapping) and not isinstance(item, dict):
                fresh[place] = dict(item)
                todo.append(fresh[place])
            else:
                fresh[place] = copy.deepcopy(item)
    return root[0]


def clone_message(message: Wire) -> dict[str, Any]:
    """Copy a message; whatever mapping it is, the copy is a dict."""
    fresh: dict[str, Any] = dict(message)
    for name, item in fresh.items():
        if type(item) is not str and type(item) not in _ATOMS:
            fresh[name] = clone(item)
    return fresh


def clone_with(message: Wire, values: Mapping[Path, object]) -> dict[str, Any]:
    """Copy *message* with what stands at each path replaced."""
    fresh = clone_message(message)
    for path, value in values.items():
        put(fresh, path, value)
    return fresh


def id_of(message: Wire) -> str | None:
    """Return the id that a message came with."""
    id_ = message.get(ID_KEY)
    return id_ if isinstance(id_, str) else None


def put(message: dict[str, Any], path: Path, value: object) -> None:
    """Replace what stands at *path* of a message of our own."""
    spot: Any = message
    for step in path[:-1]:
        spot = spot[step]
    spot[path[-1]] = value


def is_shallow(value: object, levels: int = _SHALLOW_LEVELS) -> bool:
    """Tell whether *value* is plain data of a few levels: such a thing can always be spelled.

    It cannot contain itself, and none of its numbers has more digits than Python writes.
    """
    if type(value) is dict and levels:
        for name, item in value.items():
            if type(name) is not str:
                return False
            if type(item) is not str and not is_shallow(item, levels - 1):
                return False
        return True
    if type(value) is list and levels:
        return all(type(item) is str or is_shallow(item, levels - 1) for item in value)
    if type(value) is int:
        return value.bit_length() <= _PLAIN_BITS
    return type(value) in _ATOMS


def digest(value: Any) -> str:
    """Name data by its content: equal data, equal name; for plain JSON, on every machine.

    Key order counts, because restoring byte for byte includes the order of keys. What JSON has no
    form for (bytes, dates, tuples, numbers as keys) counts with its type and its value.
    """
    pieces: list[str] = []
    is_plain = _spell_plain(value, pieces, _MOST_LEVELS)
    return text_digest("".join(pieces if is_plain else _spell_exactly(value)))


def digest_unordered(value: Wire) -> str:
    """Name plain data by its content, whatever the order of its keys: some databases sort them."""
    pieces: list[str] = []
    is_plain = _spell_plain(value, pieces, _MOST_LEVELS, is_sorted=True)
    return text_digest("".join(pieces)) if is_plain else digest(value)


def _spell_plain(value: Any, pieces: list[str], levels: int, *, is_sorted: bool = False) -> bool:
    """Add the JSON of plain data to *pieces*: so no long text is copied at every level.

    Returns false if there is anything else in the value, or more than so many *levels*.
    """
    kind = type(value)
    if kind is str:
        pieces.append(_quote(value))
    elif kind is dict and levels:
        if not {*map(type, value)} <= {str}:
            return False
        before = "{"
        for name in sorted(value) if is_sorted else value:
            pieces += (before, encode_basestring(name), ":")
            if not _spell_plain(value[name], pieces, levels - 1, is_sorted=is_sorted):
                return False
            before = ","
        pieces.append("}" if value else "{}")
    elif kind is list and levels:
        before = "["
        for item in value:
            pieces.append(before)
            if not _spell_plain(item, pieces, levels - 1, is_sorted=is_sorted):
                return False
            before = ","
        pieces.append("]" if value else "[]")
    elif kind in _ATOMS:
        pieces.append(_ENCODER.encode(value))
    else:
        return False
    return True


def _quote(text: str) -> str:
    """Spell a string as JSON; a long one by replacements, which run at memory speed."""
    if len(text) >= _LONG_CHARS:
        controls = text.encode("utf-8", "surrogatepass").translate(None, _NO_CONTROLS)
        if not controls:
            text = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            return f'"{text}"'
    return encode_basestring(text)


def spell(value: object) -> str:
    """Spell JSON-like data as text, one way only; foreign objects by their type."""
    try:
        return _ENCODER.encode(value)
    except (RecursionError, TypeError):  # nested too deeply, or keys that JSON does not have
        return "".join(_spell_exactly(value))


def _spell_foreign(value: object) -> object:
    """Spell any mapping like the dict that a copy of it is, and other objects by their type.

    Their `repr` may hold an address that no copy shares.
    """
    return dict(value) if isinstance(value, Mapping) else f"<{type(value).__qualname__}>"


_ENCODER: Final = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), default=_spell_foreign
)


class _Text(str):
    """A text to write out unchanged, among values that are to be spelled."""

    __slots__ = ()


class _End(int):
    """The end of the container with this `id`."""

    __slots__ = ()


def _spell_exactly(root: object) -> Iterator[str]:
    """Spell any Python value as no other value is spelled, so that a digest of it covers the value.

    Plain data is spelled as JSON. What JSON has no form for is spelled by its type and by what it
    is made of, as `copy` and `pickle` see it: a copy of a value is spelled like the value. Walks
    with a list instead of recursion. Raises `ValueError` for plain data that contains itself; of
    other objects that is allowed.
    """
    todo: list[Any] = [root]
    around: dict[int, object] = {}
    while todo:
        item = todo.pop()
        kind = type(item)
        if kind is _Text:
            yield item
        elif kind is _End:
            del around[item]
        elif kind in _ATOMS:
            yield _ENCODER.encode(item)
        elif id(item) in around:
            if kind is dict or kind is list:
                raise ValueError("Circular reference detected")
            yield f"<{kind.__qualname__} again>"
        else:
            around[id(item)] = item
            todo.append(_End(id(item)))
            todo += reversed(list(_pieces(item)))


def _pieces(item: Any) -> Iterator[Any]:
    """Yield the parts of a value that is not an atom: texts to write out, and values to spell."""
    kind = type(item)
    if isinstance(item, Mapping):  # whatever mapping it is, a copy of it is a dict
        yield _Text("{")
        for place, (name, child) in enumerate(item.items()):
            yield _Text("," if place else "")
            yield _Text("" if type(name) is str else "<key>")
            yield name
            yield _Text(":")
            yield child
        yield _Text("}")
    elif kind is list or kind is tuple:
        yield _Text("[" if kind is list else "<tuple>[")
        for place, child in enumerate(item):
            yield _Text("," if place else "")
            yield child
        yield _Text("]")
    elif kind is bytes:
        yield _Text(f"<bytes {item.hex()}>")
    elif kind is set or kind is frozenset:
        spelled = sorted("".join(_spell_exactly(child)) for child in item)
        yield _Text(f"<{kind.__qualname__} {','.join(spelled)}>")
    elif isinstance(item, type) or not hasattr(item, "__reduce_ex__"):
        yield _Text(f"<{getattr(item, '__module__', '')}.{getattr(item, '__qualname__', '')}>")
    else:
        yield _Text(f"<{kind.__module__}.{kind.__qualname__} ")
        yield _reduced(item)
        yield _Text(">")


def _reduced(item: Any) -> Any:
    """Return what `copy` would make *item* anew from; nothing of what cannot be copied."""
    try:
        made = item.__reduce_ex__(_PICKLE_PROTOCOL)
    except Exception:  # noqa: BLE001 - foreign code may raise anything
        return None
    if isinstance(made, str):
        return made
    how, arguments, state, items, members = (*made, None, None, None)[:5]
    return [how, arguments, state, list(items or ()), list(members or ())]


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
    joined = kind + "".join([f"{len(part)}:{part}" for part in parts])
    if joined.isascii():  # most are, and one spelling is encoded faster than several
        return _hash(joined.encode())
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
