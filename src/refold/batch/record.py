"""Fold one conversation given as JSON text, and unfold it to exactly the same text."""

from __future__ import annotations

import json
from typing import Any, Final, TypedDict

from refold.api import Compressor, uncompress
from refold.errors import ConfigError, FormatError, MessageError, RecordError
from refold.messages.formats.base import CONVERSATION_KEYS
from refold.messages.json_style import Style, find_style
from refold.messages.wire import text_digest
from refold.options import Options
from refold.result import Result
from refold.stores import Store
from refold.stores.scope import ScopedStore

_BLANKS: Final = " \t\r\n\ufeff"
ONE_LINE: Final = Style(item_separator=",", key_separator=":", ascii_only=False)
"""The style of folded records whose text has no single style, or takes several lines."""
_TEXT_PREFIX: Final = "refold:record:"
"""The prefix of the keys for texts of records that no style reproduces."""
_MAX_NAMED: Final = 3
"""How many missing originals an error names, so that it fits on a line."""


class FoldedRecord(TypedDict):
    """A folded conversation as a row of plain values, which every data engine accepts."""

    folded: str
    """The conversation as JSON text, in the shape of its input."""
    originals: str
    """What `unfold_record` needs, as JSON text; with a store, originals are in the store."""
    tokens_before: int
    tokens_after: int


def fold_record(text: str, *, key: str | None = None, **choices: Any) -> FoldedRecord:
    """Fold a conversation given as JSON text.

    It is a list of messages, or an object that has one under *key*; by default `messages`,
    `contents` or `input`. The rest of the object stays as it is. *choices* are those of
    `Compressor`: options, *store* and models. The fold is verified by undoing it.

    Raises `FormatError` or `MessageError` if *text* is not a conversation.
    """
    return RecordFolder(key=key, **choices).fold(text)[0]


def unfold_record(folded: str, originals: str, *, store: Store | None = None) -> str:
    """Return the text that `fold_record` was given, to the byte.

    Raises `RecordError` if that is impossible: originals are missing, or something was changed.
    """
    note = parse_json(originals, "originals")
    if store is not None and isinstance(note, dict) and "scope" in note:
        store = ScopedStore(store, note["scope"])
    match note:
        case {"text": str() as text}:
            return text
        case {"text_key": str() as text_key}:
            stored = None if store is None else store.get([text_key]).get(text_key)
            if not isinstance(stored, str):
                raise RecordError("the text of this record is in a store: give that as store=")
            return stored
        case {"style": style, "digest": str() as digest}:
            value, key = parse_json(folded, "folded"), note.get("key")
            source = note.get("verbatim", store)
        case _:
            raise FormatError("this was not written by fold_record()", "originals")
    if source is None:
        raise RecordError("the originals of this record are in a store: give it as store=")
    result = uncompress(value if key is None else value[key], source)
    if result.missing_ids:
        named = ", ".join(map(repr, result.missing_ids[:_MAX_NAMED]))
        raise RecordError(f"{len(result.missing_ids)} originals are missing, such as {named}")
    head, tail = note.get("around", ("", ""))
    text = f"{head}{Style.from_wire(style).dump(_put(value, key, result.messages))}{tail}"
    if text_digest(text) != digest:
        raise RecordError(
            "the record does not unfold to the text that it was made from: it was changed, "
            "or these are not its originals"
        )
    return text


class RecordFolder:
    """Folds records with one set of choices, which are checked only once."""

    def __init__(
        self,
        options: Options | None = None,
        *,
        key: str | None = None,
        store: Store | None = None,
        scope: str | None = None,
        **choices: Any,
    ) -> None:
        """Take the choices of `Compressor`, and a *scope* of the store, which records note."""
        if choices.get("conversation") is not None:
            raise ConfigError(
                "a record cannot be given a conversation: for a part of a store of its own, give "
                "store=ScopedStore(store, name)"
            )
        self._store = store if store is None or scope is None else ScopedStore(store, scope)
        self._scope = {} if scope is None else {"scope": scope}
        self._compressor = Compressor(options, store=self._store, **choices)
        self._key = key

    def fold(self, text: str) -> tuple[FoldedRecord, Result]:
        """Fold *text*; also return the result of the library."""
        core = text.strip(_BLANKS) if isinstance(text, str) else text
        value = parse_json(core, "record")
        key = find_key(value, self._key)
        messages = value if key is None else value[key]
        result = self._compressor.compress(messages)
        # Unfolding and comparing with the text proves that this fold can be undone.
        back = uncompress(result.messages, self._store or result.verbatim).messages
        style = find_style(core, _put(value, key, back))
        spell = ONE_LINE if style is None or style.indent is not None else style
        folded = spell.dump(_put(value, key, result.messages))
        record = FoldedRecord(
            folded=folded,
            originals=self._note(text, core, key, style, result),
            tokens_before=result.tokens_before,
            tokens_after=result.tokens_after,
        )
        return record, result

    def _note(
        self, text: str, core: str, key: str | None, style: Style | None, result: Result
    ) -> str:
        """Return what `unfold_record` needs beside the folded text."""
        if style is None:
            if self._store is None:
                return ONE_LINE.dump({"text": text})
            text_key = _TEXT_PREFIX + text_digest(text)
            self._store.put({text_key: text})
            return ONE_LINE.dump({"text_key": text_key, **self._scope})
        note: dict[str, Any] = {"key": key, "style": style.to_wire(), "digest": text_digest(text)}
        note.update(self._scope)
        if text != core:
            head, _, tail = text.partition(core)
            note["around"] = [head, tail]
        if self._store is None:
            note["verbatim"] = result.verbatim
        return ONE_LINE.dump(note)


def parse_json(text: object, what: str) -> Any:
    """Parse JSON text; raise `FormatError` if anything is wrong with it."""
    if not isinstance(text, str):
        raise FormatError(f"expected JSON text, got {type(text).__name__}", what)
    try:
        text.encode()  # half a surrogate pair cannot be written to any file
        return json.loads(text)
    except json.JSONDecodeError as error:
        where = f"{what}, line {error.lineno}, column {error.colno}"
        raise FormatError(f"broken JSON: {error.msg}", where) from error
    except RecursionError as error:
        raise FormatError("the JSON is nested too deeply to read", what) from error
    except ValueError as error:
        raise FormatError(f"the JSON cannot be read: {error}", what) from error


def find_key(value: object, key: str | None) -> str | None:
    """Return the key of the messages in a record; `None` if it is the list of them."""
    if isinstance(value, list):
        return None
    if isinstance(value, dict):
        for name in CONVERSATION_KEYS if key is None else (key,):
            if isinstance(value.get(name), list):
                return name
    wanted = " or ".join(CONVERSATION_KEYS) if key is None else key
    raise MessageError(
        f"not a conversation: expected a list of messages, or an object that has one under {wanted}"
    )


def _put(value: Any, key: str | None, messages: list[Any]) -> Any:
    return messages if key is None else {**value, key: messages}
