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
    return _add_toml(text, entries) if is_toml else _add_json(text, entries)


def remove_entries(text: str, entries: Sequence[Entry], *, before: str, is_toml: bool) -> str:
    """Return the document *text* without those *entries* that are in it unchanged.

    Containers that are empty without them go as well, but for those that were there *before*.

    Raises:
        ConfigError: it cannot be read, or the entries cannot be told from what is not ours.
    """
    read = _read_toml if is_toml else _read_json
    document, first = read(text), read(before)
    for entry in entries:
        _take(document, entry, first)
    if not is_toml:
        return _write_json(document, text)
    rest = _without_blocks(text)
    if _read_toml(rest) != document:
        raise ConfigError(f"it was edited between {_BEGIN!r} and {_END!r}: take that out by hand")
    return rest


def has_entry(text: str, entry: Entry, *, is_toml: bool) -> bool:
    """Return whether *entry* is in the document *text*, unchanged."""
    found = _value_at(_read_toml(text) if is_toml else _read_json(text), entry.place)
    if entry.is_item:
        return isinstance(found, list) and entry.value in found
    return bool(found == entry.value)


def _value_at(document: Any, place: Sequence[str]) -> Any:
    """Return the value at the keys of *place*; `None` if there is none."""
    for key in place:
        document = document.get(key) if isinstance(document, dict) else None
    return document


def _add_json(text: str, entries: Sequence[Entry]) -> str:
    document = _read_json(text)
    for entry in entries:
        parent: Any = document
        for key in entry.place[:-1]:
            parent = parent.setdefault(key, {})
            if not isinstance(parent, dict):
                raise ConfigError(f"{key!r} is no object there")
        last = entry.place[-1]
        if entry.is_item:
            items = parent.setdefault(last, [])
            if not isinstance(items, list):
                raise ConfigError(f"{last!r} is no list there")
            items.append(entry.value)
        elif parent.setdefault(last, entry.value) != entry.value:
            raise ConfigError(f"{'.'.join(entry.place)} is set already: {parent[last]!r}")
    return _write_json(document, text)


def _take(document: dict[str, Any], entry: Entry, first: dict[str, Any]) -> None:
    """Remove *entry*, and containers that are empty without it and were not there at *first*."""
    parents: list[dict[str, Any]] = [document]
    for key in entry.place[:-1]:
        below = parents[-1].get(key)
        if not isinstance(below, dict):
            return
        parents.append(below)
    found = parents[-1].get(entry.place[-1])
    if entry.is_item and isinstance(found, list) and entry.value in found:
        found.remove(entry.value)
    elif entry.is_item or found != entry.value:
        return
    else:
        del parents[-1][entry.place[-1]]
    for depth in range(len(parents), 0, -1):
        parent, place = parents[depth - 1], entry.place[:depth]
        if parent.get(place[-1]) in ({}, []) and _value_at(first, place) is None:
            del parent[place[-1]]


def _read_json(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            f"it is not JSON, or has comments, which would be lost: {error}"
        ) from error
    if not isinstance(document, dict):
        raise ConfigError("it is not a JSON object")
    return document


def _write_json(document: dict[str, Any], like: str) -> str:
    """Serialize a document with the indentation and line endings of another."""
    match = _INDENT.match(like.lstrip())
    indent = match[1] if match else "  "
    text = json.dumps(document, indent=indent, ensure_ascii=False) + "\n"
    return text.replace("\n", _line_end(like))  # in strings they are escaped


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _add_toml(text: str, entries: Sequence[Entry]) -> str:
    document = _read_toml(text)
    for entry in entries:
        found = _value_at(document, entry.place)
        if found is not None:
            raise ConfigError(f"{'.'.join(entry.place)} is set already: {found!r}")
    # Top-level keys have to come before the first table.
    first = [entry for entry in entries if len(entry.place) == 1]
    tables = [entry for entry in entries if len(entry.place) > 1]
    end = _line_end(text)
    gap = "" if not text or text.endswith("\n") else end
    added = _block(first, end) + text + gap + _block(tables, end)
    _read_toml(added)
    return added


def _block(entries: Sequence[Entry], line_end: str) -> str:
    if not entries:
        return ""
    lines = [f"{_BEGIN} (`refold uninstall` takes this out)"]
    for entry in entries:
        if len(entry.place) == 1:
            lines.append(f"{_key(entry.place[0])} = {_toml(entry.value)}")
        else:
            lines.append(f"[{'.'.join(map(_key, entry.place))}]")
            lines += (f"{_key(key)} = {_toml(value)}" for key, value in entry.value.items())
    return line_end.join((*lines, _END, ""))


def _without_blocks(text: str) -> str:
    kept, is_ours = [], False
    for line in text.splitlines(keepends=True):
        is_ours = is_ours or line.startswith(_BEGIN)
        if not is_ours:
            kept.append(line)
        is_ours = is_ours and not line.startswith(_END)
    return "".join(kept)


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else json.dumps(name)


def _toml(value: Any) -> str:
    """Serialize a string, number or list: for these, JSON is valid TOML."""
    return json.dumps(value, ensure_ascii=False)


def _read_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"it is not TOML: {error}") from error
