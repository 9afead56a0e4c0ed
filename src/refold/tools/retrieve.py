"""The tool with which a model asks for what was left out: in plain words, or by a handle.

Words are searched for in the originals of the conversation, which the folded messages lead to.

Handles are looked up anew at every call, so entries added since are found. `Result.verbatim` holds
all there is to know. A store can only be asked for keys: it finds the handles of a conversation by
its name, and those of one without a name through the folded messages. What a `ToolCompressor` has
put away is found in either by its handle alone.

Nothing of another conversation is found: a short handle only under the name of its conversation or
through the messages that show it, and without either only a handle of 128 bits.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final, Literal, get_args

from refold.api import find_source, uncompress
from refold.checks import check_choice, check_name, check_whole
from refold.errors import ConfigError, RefoldError
from refold.messages.foreign import ID_PREFIX
from refold.messages.handles import MOST_CHARS
from refold.messages.manifest import Trail, folds_in, handle_key, read_said
from refold.messages.message import DERIVED_ID
from refold.messages.restore import Leaves
from refold.messages.wire import FOLD_PREFIX, digest, letters_of, spell
from refold.notation.marks import ANCHOR_CHARS, HANDLE_CHARS, legend, show_handle
from refold.result import Result
from refold.stores.base import Store
from refold.tools.search import search
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
    "Ask for what is left out of this conversation: with query in plain words, which brings the "
    "pieces of all earlier messages and tool results that fit best, or with the handle of one "
    f"shortened text, which brings all of it or some of its lines. {legend()}"
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
    max_tokens: int = 2_000
    """The most text in one answer; the model may ask again for more."""

    def __post_init__(self) -> None:
        kind = type(self.source).__name__
        if not isinstance(self.source, Mapping | Store):
            raise ConfigError(f"source must be a Result, mapping or store, got {kind}")
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise ConfigError(f"name must be 1 to 64 letters, digits, _ or -; got {self.name!r}")
        if self.conversation is not None:
            check_name("conversation", self.conversation)
        check_choice("style", self.style, get_args(Style))
        check_whole("max_tokens", self.max_tokens, least=1)

    @property
    def schema(self) -> Any:
        """The tool as the provider wants it in a request: a dict, which every SDK's types take."""
        said = {"name": self.name, "description": _DESCRIPTION}
        parameters = deepcopy(_PARAMETERS)
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
            ask = read_ask(arguments, self.max_tokens)
            if ask.query:
                originals = originals_of(self.source, self.messages, self.conversation)
                return search(originals, ask.query, max_tokens=self.max_tokens)
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
    max_tokens: int = 2_000,
) -> RetrieveTool:
    """Make the tool from a result, from its `verbatim`, or from a store and the folded messages.

    *conversation* is the name under which they were folded, if any; *max_tokens* is the most that
    one answer brings. A query needs the folded messages or a mapping.
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
        max_tokens=max_tokens,
    )


def originals_of(
    source: Store | Mapping[str, Any], messages: Sequence[object], conversation: str | None
) -> Sequence[object]:
    """Return the whole conversation behind the folded *messages*, as far as it is known.

    Without messages it is what a mapping holds. Raises `ConfigError` if there is neither.
    """
    if messages:
        return uncompress(list(messages), source, conversation=conversation).messages
    if isinstance(source, Mapping):
        return [wire for wire in source.values() if isinstance(wire, Mapping) and "role" in wire]
    raise ConfigError("a query needs the conversation; give the handle of a text instead")


_TEXT: Final = {"type": "string"}
_PARAMETERS: Final = {
    "type": "object",
    "properties": {
        "query": {**_TEXT, "description": "What to look for, in plain words; or give a handle."},
        "handle": {**_TEXT, "description": "The handle, or the id of a message or summary."},
        "lines": {**_TEXT, "description": 'With a handle: only these lines, such as "120-180".'},
    },
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
        self._source = find_source(source, conversation)
        self._leaves = Leaves(self._source)
        self._trail = Trail.named(conversation)
        self._messages = [message for message in messages if isinstance(message, Mapping)]
        own = [key for key in self._known if str(key).startswith(FOLD_PREFIX)]
        for place, message in enumerate(self._messages):
            self._trail.add(read_said(message, index=place))
        self._trail.read(self._source.get)
        self._leaves.fetch(fold for _, fold in self._trail.stands)
        self._folds = self._leaves.folds | folds_in(own, self._source.get)

    def answer(self, ask: Ask) -> str:
        """Return the text that was asked for, under a line that says what it is."""
        for name in _spellings(ask.handle):
            folds = self._folds_called(name)
            if len(folds) > 1:
                ids = ", ".join(show_handle(letters_of(fold, ANCHOR_CHARS)) for fold in folds)
                return f"[{shorten_line(name)} may be one of: {ids}; ask for one of these]"
            asked = ask._replace(handle=name)
            if folds:
                self._leaves.fetch(folds[:1])
                originals = self._leaves.of(folds[0]) or []
                wires = [(id_, self._leaves.wires[key]) for key, id_ in originals]
                return self._show(wires, [*self._leaves.missing], asked)
            wire, missing = self._message_called(name)
            if wire is not None or missing:
                return self._show([] if wire is None else [("", wire)], missing, asked)
        return self._unknown(ask.handle)

    def _folds_called(self, name: str) -> list[str]:
        """Return the folds whose handle, or the part of it that is shown, is *name*."""
        start = name.removeprefix("#").removeprefix(ID_PREFIX)
        if not HANDLE_CHARS <= len(start) <= MOST_CHARS or not start.isalpha():
            return []  # fewer letters may mean anyone
        called = [fold for fold in self._folds if letters_of(fold, MOST_CHARS).startswith(start)]
        if called:
            return called
        key = handle_key(self._trail.scope, start)
        found = self._source.get([key]).get(key)
        return [found] if isinstance(found, str) and found.startswith(FOLD_PREFIX) else []

    def _message_called(self, name: str) -> tuple[Mapping[str, Any] | None, list[str]]:
        """Return the original with this id or handle, or that it is known and gone."""
        for behind in self._folds.values():
            if name in behind.ids:
                child = behind.of[behind.ids.index(name)]
                if child.startswith(FOLD_PREFIX):
                    continue
                self._leaves.fetch([behind.fold])
                wire = self._leaves.wires.get(child)
                return wire, [name] if wire is None else []
        return self._wire_called(name), []

    def _wire_called(self, name: str) -> Mapping[str, Any] | None:
        """Return the text with this handle, or the message with this id."""
        keys = [text_key(name)] if self._is_named or len(name) >= ANCHOR_CHARS else []
        if name in self._known and not name.startswith(_OWN_KEYS):
            keys.append(name)
        kept = [w for w in self._source.get(keys).values() if isinstance(w, Mapping)]
        kept += (wire for wire in self._messages if wire.get("id") == name)
        if not kept and (derived := DERIVED_ID.fullmatch(name)):
            kept += (wire for wire in self._messages if digest(wire).startswith(derived[1]))
        return kept[0] if kept else None

    def _show(
        self, found: Sequence[tuple[str, Mapping[str, Any]]], missing: Sequence[str], ask: Ask
    ) -> str:
        if missing:
            return f"[{shorten_line(ask.handle)} is known, but its text is not kept any more]"
        turns = read_turns(self._messages)
        tools = {call.id: call.name for turn in turns for call in turn.calls}
        told = [_tell(wire, id_, tools) for id_, wire in found]
        what, text = told[0]
        if len(told) > 1:
            what = f"{len(told)} messages"
            text = "\n\n".join(f"[{said}, {say_size(body)}]\n{body}" for said, body in told)
        return select(f"original {shorten_line(ask.handle)}: {what}, {say_size(text)}", text, ask)

    def _unknown(self, handle: str) -> str:
        tags = [show_handle(letters_of(fold, HANDLE_CHARS)) for fold in self._folds]
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
