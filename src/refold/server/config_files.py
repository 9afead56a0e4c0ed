"""Entries in the configuration of other programs, JSON and TOML: add, find and remove them.

A JSON document is parsed and written anew. TOML is kept as text, with its comments: entries go into
blocks of their own between two marker lines.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from refold.errors import ConfigError

_BEGIN: Final = "# >>> refold"
_END: Final = "# <<< refold"
_INDENT: Final = re.compile(r"[{\[]\r?\n([ \t]+)")
_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Entry:
    """One value in a document: at the keys of *place*, or one more item of the list there."""

    place: tuple[str, ...]
    value: Any
    is_item: bool = False


def add_entries(text: str, entries: Sequence[Entry], *, is_toml: bool) -> str:
    """Return the document *text* with *entries* in it.

    Raises:
        ConfigError: it cannot be read, or the place of an entry is taken.
    """
    document = _read(text, is_toml=is_toml)
    for entry in entries:
        _put(document, entry, may_be_there=not is_toml)
    if not is_toml:
        return _write_json(document, text)
    # Top-level keys have to come before the first table.
    first = [entry for entry in entries if len(entry.place) == 1]
    tables = [entry for entry in entries if len(entry.place) > 1]
    end = _line_end(text)
    gap = "" if not text or text.endswith("\n") else end
    added = _block(first, end) + text + gap + _block(tables, end)
    _read(added, is_toml=True)
    return added


def remove_entries(text: str, entries: Sequence[Entry], *, before: str, is_toml: bool) -> str:
    """Return the document *text* without those *entries* that are in it unchanged.

    Containers that are empty without them go as well, but for those that were there *before*.

    Raises:
        ConfigError: it cannot be read, or the entries cannot be told from what is not ours.
    """
    document, first = _read(text, is_toml=is_toml), _read(before, is_toml=is_toml)
    for entry in entries:
        _take(document, entry, first)
    if not is_toml:
        return _write_json(document, text)
    kept, is_ours = [], False
    for line in text.splitlines(keepends=True):
        is_ours = is_ours or line.startswith(_BEGIN)
        if not is_ours:
            kept.append(line)
        is_ours = is_ours and not line.startswith(_END)
    rest = "".join(kept)
    if _read(rest, is_toml=True) != document:
        raise ConfigError(f"it was edited between {_BEGIN!r} and {_END!r}: remove that by hand")
    return rest


def has_entry(text: str, entry: Entry, *, is_toml: bool) -> bool:
    """Return whether *entry* is in the document *text*, unchanged."""
    value = _value_at(_read(text, is_toml=is_toml), entry.place)
    if entry.is_item:
        return isinstance(value, list) and entry.value in value
    return bool(value == entry.value)


def _read(text: str, *, is_toml: bool) -> dict[str, Any]:
    try:
        document = tomllib.loads(text) if is_toml else json.loads(text if text.strip() else "{}")
    except (ValueError, RecursionError) as error:
        kind = "TOML" if is_toml else "JSON, or has comments, which would be lost"
        raise ConfigError(f"it is not {kind}: {error}") from error
    if not isinstance(document, dict):
        raise ConfigError("it is not a JSON object")
    return document


def _value_at(document: Any, place: Sequence[str]) -> Any:
    """Return the value at the keys of *place*; `None` if there is none."""
    for key in place:
        document = document.get(key) if isinstance(document, dict) else None
    return document


def _put(document: dict[str, Any], entry: Entry, *, may_be_there: bool) -> None:
    """Add *entry*; the same value *may be there* where that is not written a second time."""
    parent: Any = document
    for key in entry.place[:-1]:
        parent = parent.setdefault(key, {})
        if not isinstance(parent, dict):
            raise ConfigError(f"{key!r} is not an object there")
    last = entry.place[-1]
    if entry.is_item:
        items = parent.setdefault(last, [])
        if not isinstance(items, list):
            raise ConfigError(f"{last!r} is not a list there")
        items.append(entry.value)
    elif last in parent and not (may_be_there and parent[last] == entry.value):
        raise ConfigError(f"{'.'.join(entry.place)} is already set: {parent[last]!r}")
    parent.setdefault(last, entry.value)


def _take(document: dict[str, Any], entry: Entry, first: dict[str, Any]) -> None:
    """Remove *entry*, and containers that are empty without it and were not there at *first*."""
    parents = [_value_at(document, entry.place[:depth]) for depth in range(len(entry.place))]
    if not isinstance(parents[-1], dict):
        return
    value = parents[-1].get(entry.place[-1])
    if entry.is_item and isinstance(value, list) and entry.value in value:
        value.remove(entry.value)
    elif not entry.is_item and value == entry.value:
        del parents[-1][entry.place[-1]]
    else:
        return
    for depth in range(len(parents), 0, -1):
        parent, place = parents[depth - 1], entry.place[:depth]
        if parent.get(place[-1]) in ({}, []) and _value_at(first, place) is None:
            del parent[place[-1]]


def _write_json(document: dict[str, Any], like: str) -> str:
    """Serialize a document with the indentation and line endings of another."""
    match = _INDENT.match(like.lstrip())
    indent = match[1] if match else "  "
    text = json.dumps(document, indent=indent, ensure_ascii=False) + "\n"
    return text.replace("\n", _line_end(like))  # in strings they are escaped


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _block(entries: Sequence[Entry], line_end: str) -> str:
    """Write entries in TOML; of strings, numbers and lists, JSON is valid TOML."""
    if not entries:
        return ""
    lines = [f"{_BEGIN} (`refold uninstall` takes this out)"]
    for entry in entries:
        table, values = entry.place, entry.value
        if len(table) == 1:
            values = {table[0]: values}
        else:
            lines.append(f"[{'.'.join(map(_key, table))}]")
        for key, value in values.items():
            lines.append(f"{_key(key)} = {json.dumps(value, ensure_ascii=False)}")
    return line_end.join((*lines, _END, ""))


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else json.dumps(name)
