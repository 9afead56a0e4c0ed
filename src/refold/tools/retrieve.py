"""The tool with which a model asks for what was left out: in plain words, or by a handle.

Words are searched for in the originals of the conversation, which the folded messages lead to.
Handles are looked up anew at every call, so entries added since are found. A store can only be
asked for keys: it finds the handles of a conversation by its name, and those of one without a name
through the folded messages. What a `ToolCompressor` has put away is found by its handle alone.

Nothing of another conversation is found: a short handle only under the name of its conversation or
through the messages that show it, and without either only a handle of 128 bits.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from difflib import get_close_matches
from itertools import accumulate, takewhile
from typing import Any, Final, Literal, NamedTuple, get_args

from refold.api import find_source, uncompress
from refold.checks import check_choice, check_name, check_whole
from refold.errors import ConfigError, MessageError, RefoldError, describe
from refold.messages.foreign import ID_PREFIX
from refold.messages.manifest import Trail, folds_in, handle_key, read_wording
from refold.messages.message import DERIVED_ID
from refold.messages.restore import Leaves
from refold.messages.wire import FOLD_PREFIX, digest, letters_of, spell
from refold.notation.marks import (
    ANCHOR_CHARS,
    HANDLE_CHARS,
    MOST_CHARS,
    count_things,
    legend,
    show_handle,
)
from refold.result import Result
from refold.scan.tokens.estimate import estimate_tokens
from refold.scan.truncate import cut
from refold.stores.base import Store
from refold.tools.search import search
from refold.tools.shapes import read_turns, texts_of
from refold.tools.text_store import TEXT_PREFIX, text_key

Style = Literal["openai", "openai_responses", "anthropic"]

_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_HANDLE: Final = re.compile(rf"#((?:{ID_PREFIX})?[0-9a-z]{{6,36}})\b")
_LINES: Final = re.compile(
    r"[\sL]*+(\d{1,9}+)\s*+(?:(-|–|:|,|\.\.|to)[\sL]*+(\d{1,9}+)?+)?+\s*+", re.I
)
_WIDE: Final = 2_000
"""No line of an answer is longer, in characters."""
_INTERNAL_KEYS: Final = "refold:"  # sessions and links are not for the model
_DESCRIPTION: Final = (
    "Fetch what was left out of this conversation. With a query in plain words: the pieces of all "
    "earlier messages and tool results that fit best. With the handle of one shortened text: all "
    f"of it, or some of its lines. {legend()}"
)
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


class RetrieveTool:
    """A tool to offer to a model: put `schema` into the request, answer with `call`.

    - *source*: a result, its `verbatim`, or a store
    - *messages*: the folded messages, which a query needs unless *source* is a result or mapping
    - *conversation*: the name under which they were folded; originals of others are never found
    - *max_tokens*: the most tokens in one answer; the model may ask for more
    """

    def __init__(
        self,
        source: Result | Store | Mapping[str, Any],
        *,
        messages: Sequence[object] = (),
        conversation: str | None = None,
        name: str = "retrieve_original",
        style: Style = "openai",
        max_tokens: int = 2_000,
    ) -> None:
        if isinstance(source, Result):
            messages = messages or source.messages
            source = source.verbatim
        if not isinstance(source, Mapping | Store):
            kind = type(source).__name__
            raise ConfigError(f"source must be a Result, mapping or store, got {kind}")
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ConfigError(f"name must be 1 to 64 letters, digits, _ or -; got {name!r}")
        if conversation is not None:
            check_name("conversation", conversation)
        check_choice("style", style, get_args(Style))
        check_whole("max_tokens", max_tokens, least=1)
        self.source, self.messages, self.conversation = source, messages, conversation
        self.name, self.style, self.max_tokens = name, style, max_tokens

    def __repr__(self) -> str:
        return f"RetrieveTool(conversation={self.conversation!r}, name={self.name!r})"

    @property
    def schema(self) -> Any:
        """The tool as the provider expects it in a request."""
        about = {"name": self.name, "description": _DESCRIPTION}
        parameters = deepcopy(_PARAMETERS)
        match self.style:
            case "openai":
                return {"type": "function", "function": {**about, "parameters": parameters}}
            case "openai_responses":
                return {"type": "function", **about, "parameters": parameters, "strict": False}
            case "anthropic":
                return {**about, "input_schema": parameters}

    def call(self, arguments: Mapping[str, Any] | str) -> str:
        """Answer a call of the model; errors become answers and are never raised."""
        try:
            ask = _read(arguments)
            if not ask.query:
                return _LookUp(self).answer(ask)
            if self.messages:
                messages, name = list(self.messages), self.conversation
                originals: Sequence[object] = uncompress(
                    messages, self.source, conversation=name
                ).messages
            elif isinstance(self.source, Mapping):
                kept = self.source.values()
                originals = [wire for wire in kept if isinstance(wire, Mapping) and "role" in wire]
            else:
                why = "a query needs the conversation; give the handle of a text instead"
                raise ConfigError(why)
            return search(originals, ask.query, max_tokens=self.max_tokens)
        except RefoldError as error:
            return f"[{self.name}: {error}]"

    async def acall(self, arguments: Mapping[str, Any] | str) -> str:
        """Answer a call without blocking the event loop."""
        return await asyncio.to_thread(self.call, arguments)


retrieve_tool = RetrieveTool


class _Ask(NamedTuple):
    """One call: what to look for, or which original and which of its lines."""

    query: str = ""
    handle: str = ""
    first: int = 1
    last: int | None = None


def _read(arguments: Mapping[str, Any] | str) -> _Ask:
    """Read what a model sent; a text that is not a JSON object is taken for a handle."""
    sent: Any = arguments
    if isinstance(sent, str):
        with suppress(ValueError, RecursionError):
            sent = json.loads(sent)
    sent = sent if isinstance(sent, Mapping) else {"handle": arguments}
    asked: dict[str, str] = {}
    for name in ("query", "handle", "lines"):
        try:
            asked[name] = str(sent.get(name) or "").strip()  # a model may send a number
        except (ValueError, RecursionError) as error:  # of thousands of digits, or of brackets
            raise MessageError(f"{name} must be a text, got {describe(error)}") from error
    unknown = [str(name)[:50] for name, value in sent.items() if name not in asked and value]
    if unknown:
        raise MessageError(f"there is no {unknown[0]!r}: give a query, or a handle and its lines")
    query, handle, lines = asked["query"], asked["handle"], asked["lines"]
    if bool(query) == bool(handle):
        raise MessageError("give a query in plain words, or one handle")
    if query and lines:
        raise MessageError("lines go with a handle, not with a query")
    span = _LINES.fullmatch(lines or "1-")
    if span is None:
        raise MessageError(f'lines must be a range such as "120-180", got {lines[:50]!r}')
    first, to, last = span.groups()
    end = int(last) if last else (None if to else int(first))
    return _Ask(query, handle, max(int(first), 1), end)


class _LookUp:
    """All originals of one conversation that can be found at the moment."""

    def __init__(self, tool: RetrieveTool) -> None:
        source, name = tool.source, tool.conversation
        self._most = tool.max_tokens
        self._known = source if isinstance(source, Mapping) else {}
        self._is_named = name is not None or isinstance(source, Mapping)
        self._get = find_source(source, name)
        self._leaves = Leaves(self._get)
        self._trail = Trail.named(name)
        self._messages = [message for message in tool.messages if isinstance(message, Mapping)]
        for place, message in enumerate(self._messages):
            self._trail.add(read_wording(message, index=place))
        self._trail.read(self._get)
        self._leaves.fetch(fold for _, fold in self._trail.stands)
        listed = [key for key in self._known if str(key).startswith(FOLD_PREFIX)]
        self._folds = self._leaves.folds | folds_in(listed, self._get)

    def answer(self, ask: _Ask) -> str:
        """Return the text that was asked for, under a line that says what it is."""
        bare = ask.handle.strip("[]()<>\"'`#., ")
        in_tags = reversed(_HANDLE.findall(ask.handle[-400:]))
        for name in dict.fromkeys((ask.handle, *in_tags, bare)):
            folds = self._folds_called(name)
            if len(folds) > 1:
                ids = ", ".join(show_handle(letters_of(fold, ANCHOR_CHARS)) for fold in folds)
                return f"[{_line(name)} may be one of: {ids}; ask for one of these]"
            if folds:
                self._leaves.fetch(folds)
                originals = self._leaves.of(folds[0]) or []
                wires = [(id_, self._leaves.wires[key]) for key, id_ in originals]
                is_gone = bool(self._leaves.missing)
            else:
                wire, is_gone = self._message_called(name)
                wires = [] if wire is None else [("", wire)]
            if is_gone:
                return f"[{_line(name)} is known, but its text is no longer kept]"
            if wires:
                return self._show(wires, ask._replace(handle=name))
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
        fold = self._get([key]).get(key)
        return [fold] if isinstance(fold, str) and fold.startswith(FOLD_PREFIX) else []

    def _message_called(self, name: str) -> tuple[Mapping[str, Any] | None, bool]:
        """Return the original with this id or handle, and whether it is known, but gone."""
        for behind in self._folds.values():
            if name in behind.ids:
                child = behind.of[behind.ids.index(name)]
                if not child.startswith(FOLD_PREFIX):
                    self._leaves.fetch([behind.fold])
                    wire = self._leaves.wires.get(child)
                    return wire, wire is None
        keys = [text_key(name)] if self._is_named or len(name) >= ANCHOR_CHARS else []
        if name in self._known and not name.startswith(_INTERNAL_KEYS):
            keys.append(name)
        kept = [w for w in self._get(keys).values() if isinstance(w, Mapping)]
        kept += (wire for wire in self._messages if wire.get("id") == name)
        if not kept and (derived := DERIVED_ID.fullmatch(name)):
            kept += (wire for wire in self._messages if digest(wire).startswith(derived[1]))
        return (kept[0] if kept else None), False

    def _show(self, wires: Sequence[tuple[str, Mapping[str, Any]]], ask: _Ask) -> str:
        """Return the lines that were asked for, as many as fit into one answer."""
        tools = {call.id: call.name for turn in read_turns(self._messages) for call in turn.calls}
        spelled = [_spell_message(wire, id_, tools) for id_, wire in wires]
        what, text = spelled[0]
        if len(spelled) > 1:
            what = f"{len(spelled)} messages"
            text = "\n\n".join(f"[{one}, {_size(body)}]\n{body}" for one, body in spelled)
        title, most = f"original {_line(ask.handle)}: {what}, {_size(text)}", self._most
        lines = text.split("\n")
        if estimate_tokens(text) > most:  # a line that is too long for an answer counts as several
            wide = min(_WIDE, most)
            lines = [
                line[at : at + wide] for line in lines for at in range(0, len(line) or 1, wide)
            ]
        count, last = len(lines), min(ask.last or len(lines), len(lines))
        if last < ask.first:
            asked = f"{ask.first}-{ask.last or ''}"
            return f"[{title}: there are no lines {asked}; it has {count}]"
        prices = accumulate(estimate_tokens(line) + 1 for line in lines[ask.first - 1 : last])
        fitting = sum(1 for _ in takewhile(lambda price: price <= most, prices))
        end = ask.first - 1 + max(fitting, 1)
        if ask.first > 1 or end < count:
            title += f"; lines {ask.first}-{end}"
        more = f'\n[for more ask for lines "{end + 1}-" of {count}]' if end < last else ""
        return f"[{title}]\n" + "\n".join(lines[ask.first - 1 : end]) + more

    def _unknown(self, handle: str) -> str:
        tags = [show_handle(letters_of(fold, HANDLE_CHARS)) for fold in self._folds]
        names = [*(str(key).replace(TEXT_PREFIX, "#") for key in self._known), *tags]  # as seen
        known = [n for n in names if not n.startswith((_INTERNAL_KEYS, ID_PREFIX))][-2_000:]
        seen = handle[: HANDLE_CHARS + 1] if handle.startswith("#") else handle[:100]
        near = get_close_matches(seen, known, n=5, cutoff=0.5)
        hint = f"similar: {', '.join(near)}" if near else f"known: {', '.join(known[-5:])}"
        return f"[there is no original {_line(handle)}; {hint if known else 'none is known'}]"


def _spell_message(wire: Mapping[str, Any], id_: str, tools: Mapping[str, str]) -> tuple[str, str]:
    """Return what a message is, and its text: word for word, then the calls that it makes."""
    turns = read_turns([wire])
    texts = texts_of(turns)
    calls = [f"[call {call.text}]" for turn in turns for call in turn.calls]
    results = [text for text in texts if text.is_result]
    about = {
        "id": wire["id"] if isinstance(wire.get("id"), str) else id_,
        "role": texts[0].role if texts else str(wire.get("role") or ""),
        "tool": " ".join(dict.fromkeys(one.tool or tools.get(one.call_id, "") for one in results)),
    }
    what = ", ".join(f"{name} {_line(value)}" for name, value in about.items() if value)
    text = "\n\n".join([*(part.text for part in texts), *calls])
    return what, text if texts or calls else spell(wire)


def _size(text: str) -> str:
    """Spell the size of *text*: lines and characters."""
    return f"{count_things(text.count(chr(10)) + 1, 'line')}, {len(text)} chars"


def _line(text: str) -> str:
    """Put *text* on one line of at most 100 characters."""
    return cut(" ".join(text.split()), 100)
