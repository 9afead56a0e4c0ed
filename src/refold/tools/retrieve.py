"""The tool with which a model fetches an original by the handle that it sees in a stand-in.

Handles are looked up anew at every call, so entries added since are found. `Result.verbatim` holds
all there is to know. A store can only be asked for keys, so it needs the folded messages: their
metadata, or their links in the store (named after their content), say which originals they stand
for. What a `ToolCompressor` has put away is found in either by its handle alone.

Nothing of another conversation is found: a short handle only under the name of its conversation or
through the messages that show it, and without either only a handle of 128 bits.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import cycle
from typing import Any, Final, Literal, get_args

from refold.api import find_lookup
from refold.checks import check_choice, check_name, check_whole
from refold.errors import ConfigError, RefoldError
from refold.messages.handles import own_part
from refold.messages.message import DERIVED_ID
from refold.messages.provenance import ID_PREFIX, LINK_PREFIX, Provenance, make_anchor, read_link
from refold.messages.restore import Trust, find_folds, find_inner_folds, restore, restore_fold
from refold.messages.wire import digest, spell
from refold.notation.marks import ANCHOR_CHARS, HANDLE_CHARS, legend, show_handle
from refold.result import Result, UncompressResult
from refold.stores.base import Store
from refold.tools.shapes import ToolResultRef, read_turns, texts_of
from refold.tools.text_store import (
    TEXT_PREFIX,
    Ask,
    read_ask,
    say_size,
    select,
    shorten_line,
    text_key,
)

Style = Literal["openai", "openai_responses", "anthropic"]

_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_HANDLE: Final = re.compile(rf"#((?:{ID_PREFIX})?[0-9a-z]{{6,36}})\b")
_OWN_KEYS: Final = "refold:"  # sessions and links are not for the model
_DESCRIPTION: Final = (
    "Fetch the whole text behind a shortened message or tool result by its handle. "
    f"{legend()} Give a line range or a search text to get only a part."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrieveTool:
    """A tool to offer to a model: `schema` goes into the request, `call` answers."""

    source: Store | Mapping[str, Any] = field(repr=False)
    messages: Sequence[object] = field(default=(), repr=False)
    conversation: str | None = None
    """The name under which the conversation was folded; nothing of another one is ever found."""
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
        if self.conversation is not None:
            check_name("conversation", self.conversation)
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
        """Answer a call of the model; errors go into the answer and are never raised."""
        try:
            ask = read_ask(arguments, self.max_chars)
            return _Originals(self.source, self.messages, self.conversation).answer(ask)
        except RefoldError as error:
            return f"[{self.name}: {error}]"

    async def acall(self, arguments: Mapping[str, Any] | str) -> str:
        """Answer a call without blocking the event loop."""
        return await asyncio.to_thread(self.call, arguments)


def retrieve_tool(
    source: Result | Store | Mapping[str, Any],
    *,
    messages: Sequence[object] = (),
    conversation: str | None = None,
    name: str = "retrieve_original",
    style: Style = "openai",
    max_chars: int = 8_000,
) -> RetrieveTool:
    """Make the tool from a result, from its `verbatim`, or from a store and the folded messages.

    *conversation* is the name under which they were folded, if any.
    """
    if isinstance(source, Result):
        messages = messages or source.messages
        source = source.verbatim
    return RetrieveTool(
        source=source,
        messages=messages,
        conversation=conversation,
        name=name,
        style=style,
        max_chars=max_chars,
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
    """All originals of one conversation that can be found at the moment."""

    def __init__(
        self,
        source: Store | Mapping[str, Any],
        messages: Sequence[object],
        conversation: str | None,
    ) -> None:
        self._known = source if isinstance(source, Mapping) else {}
        self._is_named = conversation is not None or isinstance(source, Mapping)
        self._lookup = find_lookup(source, conversation)
        self._trust = Trust(conversation=conversation)
        self._messages = [message for message in messages if isinstance(message, Mapping)]
        self._folds = {_anchor(fold): fold for fold in self._find_folds()}

    def _find_folds(self) -> Iterator[Provenance]:
        """Yield what is known of stand-ins: in the view, in links and among the originals."""
        yield from find_folds(self._messages, self._lookup, self._trust)
        records = [w for key, w in self._known.items() if str(key).startswith(LINK_PREFIX)]
        yield from filter(None, map(read_link, records))
        inner = [w for w in self._known.values() if isinstance(w, Mapping)]
        yield from find_folds(inner, self._lookup, self._trust, links=[""] * len(inner))

    def answer(self, ask: Ask) -> str:
        """Return the text that was asked for, under a line that says what it is."""
        answer = self._answer(ask)
        if answer is None:  # unusual: a stand-in inside of an original
            inner = find_inner_folds(self._messages, self._lookup, self._trust)
            self._folds = {**{_anchor(fold): fold for fold in inner}, **self._folds}
            answer = self._answer(ask)
        return self._unknown(ask.handle) if answer is None else answer

    def _answer(self, ask: Ask) -> str | None:
        for name in _spellings(ask.handle):
            folds = self._folds_called(name)
            if len(folds) > 1:
                ids = ", ".join(show_handle(_anchor(fold)) for fold in folds)
                return f"[{shorten_line(name)} may be one of: {ids}; ask for one of these]"
            asked = replace(ask, handle=name)
            if folds:
                found = restore_fold(folds[0], self._lookup, self._trust)
                return self._show(found, folds[0].ids, asked)
            wire = self._wire_called(name)
            if wire is not None:
                found = restore([wire], self._lookup, recursive=True, trust=self._trust, links=[""])
                return self._show(found, [""], asked)
        return None

    def _folds_called(self, name: str) -> list[Provenance]:
        """Return the folds whose handle, or the part of it that is shown, is *name*.

        Or one original of a fold that has this id.
        """
        start = own_part(name.removeprefix("#").removeprefix(ID_PREFIX))
        if len(start) >= HANDLE_CHARS:  # fewer letters, behind an anchor or alone, may mean anyone
            called = [fold for handle, fold in self._folds.items() if handle.startswith(start)]
            if called:
                return called
        for fold in self._folds.values():
            if name in fold.ids:
                place = fold.ids.index(name)
                return [_only(fold, place)]
        return []

    def _wire_called(self, name: str) -> Mapping[str, Any] | None:
        """Return the text with this handle, or the message with this id."""
        keys = [text_key(name)] if self._is_named or len(name) >= ANCHOR_CHARS else []
        if name in self._known and not name.startswith(_OWN_KEYS):
            keys.append(name)
        kept = [w for w in self._lookup.links(keys).values() if isinstance(w, Mapping)]
        kept += (wire for wire in self._messages if wire.get("id") == name)
        if not kept and (derived := DERIVED_ID.fullmatch(name)):
            kept += (wire for wire in self._messages if digest(wire).startswith(derived[1]))
        return kept[0] if kept else None

    def _show(self, found: UncompressResult, ids: Sequence[str], ask: Ask) -> str:
        if found.missing_ids:
            return f"[{shorten_line(ask.handle)} is known, but its text is not kept any more]"
        names = ids if len(ids) == len(found.messages) else [""]
        turns = read_turns(self._messages)
        tools = {call.id: call.name for turn in turns for call in turn.calls}
        told = [_tell(m, id_, tools) for m, id_ in zip(found.messages, cycle(names), strict=False)]
        what, text = told[0]
        if len(told) > 1:
            what = f"{len(told)} messages"
            text = "\n\n".join(f"[{said}, {say_size(body)}]\n{body}" for said, body in told)
        return select(f"original {shorten_line(ask.handle)}: {what}, {say_size(text)}", text, ask)

    def _unknown(self, handle: str) -> str:
        tags = [show_handle(handle[:HANDLE_CHARS]) for handle in self._folds]
        names = [*(str(key).replace(TEXT_PREFIX, "#") for key in self._known), *tags]  # as seen
        known = [n for n in names if not n.startswith((_OWN_KEYS, ID_PREFIX))][-2_000:]
        seen = handle[: HANDLE_CHARS + 1] if handle.startswith("#") else handle[:100]
        near = get_close_matches(seen, known, n=5, cutoff=0.5)
        hint = f"similar: {', '.join(near)}" if near else f"known: {', '.join(known[-5:])}"
        return (
            f"[there is no original {shorten_line(handle)}; {hint if known else 'none is known'}]"
        )


def _spellings(handle: str) -> list[str]:
    """Return the names that *handle* may mean: itself, or the handle in a tag."""
    bare = handle.strip("[]()<>\"'`#., ")
    return list(dict.fromkeys((handle, *reversed(_HANDLE.findall(handle[-400:])), bare)))


def _anchor(fold: Provenance) -> str:
    """Return the longest handle of a fold; what its stand-in shows is the beginning of it."""
    return make_anchor(fold.ids, fold.digests)


def _only(fold: Provenance, place: int) -> Provenance:
    """Return one original of *fold*, if it is known."""
    return Provenance(
        ids=fold.ids[place : place + 1],
        summary_id="",
        digests=fold.digests[place : place + 1],
        links={0: fold.links[place]} if place in fold.links else {},
    )


def _tell(wire: Mapping[str, Any], id_: str, tools: Mapping[str, str]) -> tuple[str, str]:
    """Return what a message is, and its text: word for word, then the calls that it makes."""
    turns = read_turns([wire])
    found = texts_of(turns)
    calls = [f"[call {call.text}]" for turn in turns for call in turn.calls]
    results = [text for text in found if isinstance(text, ToolResultRef)]
    names = dict.fromkeys(result.tool or tools.get(result.call_id, "") for result in results)
    said = {
        "id": wire["id"] if isinstance(wire.get("id"), str) else id_,
        "role": found[0].role if found else str(wire.get("role") or ""),
        "tool": " ".join(names),
    }
    text = "\n\n".join([*(part.text for part in found), *calls])
    what = ", ".join(f"{name} {shorten_line(value)}" for name, value in said.items() if value)
    return what, text if found or calls else spell(wire)
