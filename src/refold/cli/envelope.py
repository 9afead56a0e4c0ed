"""The one-file form of a fold: `{"messages", "verbatim", "compression"}`, as `--json` writes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from refold.cli.document import Document, Item
from refold.json_style import Style, says
from refold.result import Compression

FILE_KEY: Final = "refold:file"
"""Under `verbatim`: how the file looked that the messages came from, so that it can come back."""

_LIST: Final = Document(
    name="",
    head="[\n  ",
    tail="\n]\n",
    gap=",\n  ",
    style=Style(item_separator=",", indent="  ", newline="\n  ", ascii_only=False),
)
"""How messages are written when nothing is known about their file."""


def is_envelope(others: Mapping[str, Any]) -> bool:
    """Tell whether an object with `messages` and these other keys is a fold in one file."""
    return isinstance(others.get("verbatim"), Mapping) and "compression" in others


def open_envelope(document: Document, others: Mapping[str, Any]) -> Document:
    """Return the folded file that *document* carries, with its originals at hand."""
    verbatim = dict(others["verbatim"])
    noted = verbatim.pop(FILE_KEY, None)
    layout: Mapping[str, Any] = noted if isinstance(noted, Mapping) else {}
    shell = replace(_read_shell(layout), name=document.name, verbatim=verbatim)
    return shell.with_items(_items(document, shell, layout))


def dump_envelope(document: Document, verbatim: Mapping[str, Any], compression: Compression) -> str:
    """Spell a folded file, its originals and the figures as one line of JSON."""
    body = {
        "messages": document.messages,
        "verbatim": {**verbatim, FILE_KEY: _layout(document)},
        "compression": compression.to_dict(),
    }
    return Style(ascii_only=False).dump(body) + "\n"


def _layout(document: Document) -> dict[str, Any]:
    """Note what cannot be worked out from the messages: the style, and where it is not kept."""
    exceptions = {}
    for index, item in enumerate(document.items):
        raw = None if document.style.dump(item.wire) == item.raw else item.raw
        if raw is not None or item.gap != document.gap:
            exceptions[str(index)] = [raw, item.gap]
    return {
        "head": document.head,
        "tail": document.tail,
        "gap": document.gap,
        "style": document.style.to_wire(),
        "count": len(document.items),
        "items": exceptions,
    }


def _read_shell(layout: Mapping[str, Any]) -> Document:
    texts = {name: layout.get(name) for name in ("head", "tail", "gap")}
    if not all(isinstance(text, str) for text in texts.values()):
        return _LIST
    return Document(name="", style=Style.from_wire(layout.get("style")), **texts)  # type: ignore[arg-type]


def _items(document: Document, shell: Document, layout: Mapping[str, Any]) -> list[Item]:
    """Spell every message as it stood in its file, or in that file's style if it was changed."""
    exceptions, count = layout.get("items"), layout.get("count")
    known = exceptions if isinstance(exceptions, Mapping) else {}
    is_whole = count == len(document.items)
    items = []
    for index, item in enumerate(document.items):
        raw, gap = _exception(known, str(index))
        if raw is None or not says(raw, item.wire):
            raw = shell.style.dump(item.wire)
        if not is_whole:
            gap = None  # messages came or went: only the usual gap is safe
        items.append(replace(item, raw=raw, gap=shell.gap if gap is None else gap))
    if items and not is_whole:
        _, last = _exception(known, str(count - 1)) if isinstance(count, int) else (None, "")
        items[-1] = replace(items[-1], gap=shell.gap if last is None else last)
    return items


def _exception(known: Mapping[str, Any], index: str) -> tuple[str | None, str | None]:
    match known.get(index):
        case [str() | None as raw, str() as gap]:
            return raw, gap
        case _:
            return None, None
