"""The tool with which a model fetches an original by the handle that it sees in a stand-in.

Handles are looked up anew at every call, so entries added since are found. `Result.verbatim` holds
all there is to know. A store can only be asked for keys, so it needs the folded messages: their
metadata, or their links in the store (named after their content), say which originals they stand
for. What a `ToolCompressor` has put away is found in either by its handle alone.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import cycle
from typing import Any, Final, Literal, get_args

from refold.agent.excerpt import Ask, read_ask, say_size, select, shorten_line
from refold.agent.found import ToolText
from refold.agent.handles import TOOL_PREFIX, tool_key
from refold.agent.shapes import find_calls, find_texts
from refold.checks import check_choice, check_whole
from refold.errors import ConfigError, RefoldError
from refold.model.provenance import (
    ID_PREFIX,
    LINK_PREFIX,
    METADATA_KEY,
    PROVENANCE_KEY,
    Provenance,
    link_key,
    read_provenance,
)
from refold.model.wire import digest, spell
from refold.restore import MappingLookup, StoreLookup, looks_folded, restore
from refold.result import Result
from refold.stages.originals import HANDLE_CHARS
from refold.stores.base import Store

Style = Literal["openai", "openai_responses", "anthropic"]

_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_HANDLE: Final = re.compile(r"#((?:cce_sum_)?[0-9a-z]{6,12})\b")
_OWN_KEYS: Final = "refold:"  # sessions and links are not for the model
_DERIVED_ID: Final = re.compile(r"m\d+-([0-9a-f]{8})")
_DESCRIPTION: Final = (
    "Fetch the original text behind a shortened message or tool result. Shortened texts carry a "
    "handle such as #kdbfqa; […12% #kdbfqa] shows 12 percent of its original, [… #kdbfqa] "
    "less than 10 percent or nothing. In it, a line '41 …' stands for 41 lines left out, '…' for a "
    "few, and '×41' follows an error that 41 lines tell, numbers aside. Give a line range or a "
    "search text to get only a part."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrieveTool:
    """A tool to offer to a model: `schema` goes into the request, `call` answers."""

    source: Store | Mapping[str, Any] = field(repr=False)
    messages: Sequence[object] = field(default=(), repr=False)
    name: str = "retrieve_original"
    style: Style = "openai"
    max_chars: int = 8_000
    """The most text in one answer; the model may ask for less, and for more answers."""

    def __post_init__(self) -> None:
        kind = type(self.source).__name__
        if not isinstance(self.source, Mapping | Store):
            raise ConfigError(f"source must be a Result, mapping or store, got {kind}")
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise ConfigError(f"name must be 1 to 64 letters, digits, _ or -; got {self.name!r}")
        check_choice("style", self.style, get_args(Style))
        check_whole("max_chars", self.max_chars, least=1)

    @property
    def schema(self) -> Any:
        """The tool as the provider wants it in a request: a dict, which every SDK's types take."""
        said = {"name": self.name, "description": _DESCRIPTION}
        parameters = _parameters(self.max_chars)
        match self.style:
            case "openai":
                return {"type": "function", "function": {**said, "parameters": parameters}}
            case "openai_responses":
                return {"type": "function", **said, "parameters": parameters, "strict": False}
            case "anthropic":
                return {**said, "input_schema": parameters}

    def call(self, arguments: Mapping[str, Any] | str) -> str:
        """Answer a call of the model; what goes wrong is said in the answer, never raised."""
        try:
            ask = read_ask(arguments, self.max_chars)
            return _Originals(self.source, self.messages).answer(ask)
        except RefoldError as error:
            return f"[{self.name}: {error}]"

    async def acall(self, arguments: Mapping[str, Any] | str) -> str:
        """Answer a call without blocking the event loop."""
        return await asyncio.to_thread(self.call, arguments)


def retrieve_tool(
    source: Result | Store | Mapping[str, Any],
    *,
    messages: Sequence[object] = (),
    name: str = "retrieve_original",
    style: Style = "openai",
    max_chars: int = 8_000,
) -> RetrieveTool:
    """Make the tool from a result, from its `verbatim`, or from a store and the folded messages."""
    if isinstance(source, Result):
        messages = messages or source.messages
        source = source.verbatim
    return RetrieveTool(
        source=source, messages=messages, name=name, style=style, max_chars=max_chars
    )


def _parameters(max_chars: int) -> dict[str, Any]:
    text, number = {"type": "string"}, {"type": "integer"}
    return {
        "type": "object",
        "properties": {
            "handle": {**text, "description": "The handle, or the id of a message or summary."},
            "lines": {**text, "description": 'Only these lines, such as "120-180".'},
            "search": {**text, "description": "Only lines with this text, in any case."},
            "start": {**number, "description": "Go on from this character of a cut answer."},
            "max_chars": {**number, "description": f"At most so many characters, to {max_chars}."},
        },
        "required": ["handle"],
        "additionalProperties": False,
    }


class _Originals:
    """All that can be found at the moment."""

    def __init__(self, source: Store | Mapping[str, Any], messages: Sequence[object]) -> None:
        self._known = source if isinstance(source, Mapping) else {}
        self._lookup = (
            MappingLookup(source) if isinstance(source, Mapping) else StoreLookup(source.get)
        )
        self._messages = [message for message in messages if isinstance(message, Mapping)]
        self._folds = {fold.summary_id: fold for fold in self._find_folds()}

    def _find_folds(self) -> Iterator[Provenance]:
        """Yield what is known of stand-ins: in messages, in links and among the originals."""
        links = {key: w for key, w in self._known.items() if str(key).startswith(LINK_PREFIX)}
        wires = [*self._messages, *(w for w in self._known.values() if isinstance(w, Mapping))]
        bare = [w for w in self._messages if looks_folded(w) and read_provenance(w) is None]
        links.update(self._lookup.links([link_key(digest(wire)) for wire in bare]))
        found = (*map(read_provenance, wires), *map(Provenance.from_wire, links.values()))
        yield from (fold for fold in found if fold is not None)

    def answer(self, ask: Ask) -> str:
        """Return the text that was asked for, under a line that says what it is."""
        for name in _spellings(ask.handle):
            folds = self._folds_called(name)
            if len(folds) > 1:
                ids = ", ".join(fold.summary_id for fold in folds)
                return f"[{shorten_line(name)} may be one of: {ids}; ask for one of these]"
            wire = _stand_in(folds[0]) if folds else self._wire_called(name)
            if wire is not None:
                return self._show(wire, replace(ask, handle=name))
        return self._unknown(ask.handle)

    def _folds_called(self, name: str) -> list[Provenance]:
        """Return the folds whose id, or the part of it that tags show, is *name*."""
        if name in self._folds:
            return [self._folds[name]]
        start = ID_PREFIX + name if len(name) >= HANDLE_CHARS else None
        return [fold for id_, fold in self._folds.items() if start and id_.startswith(start)]

    def _wire_called(self, name: str) -> Mapping[str, Any] | None:
        """Return the message with this id or key, folded or not."""
        keys = [tool_key(name), *([] if name.startswith(_OWN_KEYS) else [name])]
        kept = [w for w in self._lookup.links(keys).values() if isinstance(w, Mapping)]
        for fold in self._folds.values():
            if name in fold.ids:
                digests = fold.digests[(place := fold.ids.index(name)) : place + 1]
                kept.append(_stand_in(Provenance(ids=(name,), summary_id="", digests=digests)))
        kept += (wire for wire in self._messages if wire.get("id") == name)
        if not kept and (derived := _DERIVED_ID.fullmatch(name)):
            kept += (wire for wire in self._messages if digest(wire).startswith(derived[1]))
        return kept[0] if kept else None

    def _show(self, wire: Mapping[str, Any], ask: Ask) -> str:
        found = restore([wire], self._lookup, recursive=True)
        if found.missing_ids:
            return f"[{shorten_line(ask.handle)} is known, but its text is not kept any more]"
        fold = read_provenance(wire)
        ids = fold.ids if fold and len(fold.ids) == len(found.messages) else [""]
        tools = {call.id: call.name for call in find_calls(self._messages)}
        told = [_tell(m, id_, tools) for m, id_ in zip(found.messages, cycle(ids), strict=False)]
        what, text = told[0]
        if len(told) > 1:
            what = f"{len(told)} messages"
            text = "\n\n".join(f"[{said}, {say_size(body)}]\n{body}" for said, body in told)
        return select(f"original {shorten_line(ask.handle)}: {what}, {say_size(text)}", text, ask)

    def _unknown(self, handle: str) -> str:
        tags = [f"#{id_.removeprefix(ID_PREFIX)[:HANDLE_CHARS]}" for id_ in self._folds]
        names = [*(str(key).replace(TOOL_PREFIX, "#") for key in self._known), *tags]  # as seen
        known = [n for n in names if not n.startswith((_OWN_KEYS, ID_PREFIX))][-2_000:]
        near = get_close_matches(handle[:100], known, n=5, cutoff=0.5)
        hint = f"similar: {', '.join(near)}" if near else f"known: {', '.join(known[-5:])}"
        return (
            f"[there is no original {shorten_line(handle)}; {hint if known else 'none is known'}]"
        )


def _spellings(handle: str) -> list[str]:
    """Return the names that *handle* may mean: as it is, or the handle in a tag around it."""
    bare = handle.strip("[]()<>\"'`#., ")
    return list(dict.fromkeys((handle, *reversed(_HANDLE.findall(handle[-400:])), bare)))


def _stand_in(fold: Provenance) -> dict[str, Any]:
    """Make a message that stands for the originals of *fold* and says nothing."""
    return {"role": "assistant", "content": "", METADATA_KEY: {PROVENANCE_KEY: fold.to_wire()}}


def _tell(wire: Mapping[str, Any], id_: str, tools: Mapping[str, str]) -> tuple[str, str]:
    """Return what a message is, and its text: word for word, then the calls that it makes."""
    found = find_texts([wire])
    calls = [f"[call {call.name} {call.arguments}]" for call in find_calls([wire])]
    results = [text for text in found if isinstance(text, ToolText)]
    names = dict.fromkeys(result.tool or tools.get(result.call_id, "") for result in results)
    said = {
        "id": wire["id"] if isinstance(wire.get("id"), str) else id_,
        "role": found[0].role if found else str(wire.get("role") or ""),
        "tool": " ".join(names),
    }
    text = "\n\n".join([*(part.text for part in found), *calls])
    what = ", ".join(f"{name} {shorten_line(value)}" for name, value in said.items() if value)
    return what, text if found or calls else spell(wire)
