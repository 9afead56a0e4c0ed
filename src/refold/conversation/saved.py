"""Saved sessions: everything needed to resume, written as JSON into a store.

Whatever is written has its own digest for a name, and whatever is read must have it still: damage
is found before anything is made of it. The conversation and its originals only ever get longer, so
their names are written in lists of a fixed length, of which a later save finds all but the last in
the store.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from refold.conversation.state import State
from refold.conversation.view import Item, View, number_through
from refold.errors import ConfigError, MessageError, StoreError
from refold.messages.folds import Fold, kept_fold
from refold.messages.formats import Loader
from refold.messages.message import Message
from refold.messages.provenance import RECORD_PREFIXES, Behind
from refold.messages.wire import Wire, digest
from refold.options import Options
from refold.stores.base import Store

_VERSION: Final = 6
"""The format version; states of older versions cannot be read."""
HOOKS: Final = ("counter",)
"""Options that are functions: they cannot be saved and must be given again."""
_KEY_PREFIX: Final = "refold:session:"
_LIST_PREFIX: Final = "refold:list:"
_LIST_LENGTH: Final = 128
"""Names in a list: the last list of 20,000 messages is then as long as the list of all lists."""


@dataclass(frozen=True, slots=True)
class Saved:
    """A saved session, read back."""

    options: Options
    messages: list[dict[str, Any]]
    verbatim: dict[str, Any]
    items: list[dict[str, Any]]
    stand_ins: dict[str, Any]
    """What is shown for several messages, by digest."""
    facts: dict[str, Any]

    def rebuild(self, state: State) -> tuple[View, dict[str, Any]]:
        """Return the view of a conversation whose messages were read again, and all originals."""
        folds = list(self._folds(state.view.sources))
        _, rendering = state.engine.write(tuple(fold for fold, _ in folds))
        items = [
            Item(
                fold=fold,
                wire=wire,
                first=saved["first"],
                end=saved["end"],
                unfolded=saved["unfolded"],
                is_apart="shared" in saved and saved["end"] - saved["first"] == 1,
            )
            for (fold, saved), wire in zip(folds, rendering.messages, strict=True)
        ]
        folded = self.facts["folded"]
        view = replace(
            state.view,
            items=number_through(items, state.text_cache.tokens),
            settled=self.facts["settled"],
            folded=folded,
            seen=items[folded - 1].end if folded else 0,
            is_guarded=self.facts["is_guarded"],
            is_stripped=any(item.fold.is_stripped for item in items),
        )
        return view, {**self.verbatim, **rendering.verbatim}

    def _folds(self, given: Sequence[Message]) -> Iterator[tuple[Fold, dict[str, Any]]]:
        """Yield the fold of each message of the view, and what was saved of it."""
        for place, item in enumerate(self.items):
            source = self._source(item, given).changed(index=place)
            texts = {int(number): text for number, text in item["texts"].items()}
            given_as = {int(number): given for number, given in item.get("calls", {}).items()}
            if texts or given_as:
                fold = Fold(
                    sources=(source,),
                    texts=texts,
                    calls={n: source.calls[n].given_as(given) for n, given in given_as.items()},
                    is_rolled=item["is_rolled"],
                    role=item["role"],
                )
            else:
                fold = kept_fold(source, "not_folded_yet")
            fold = fold.stripped(item["note"]) if item["is_stripped"] else fold
            yield fold, item

    def _source(self, item: Mapping[str, Any], given: Sequence[Message]) -> Message:
        """Return what the next fold starts from."""
        first: int = item["first"]
        shared = item.get("shared")
        if shared is None:
            return given[first]
        wire = self.stand_ins[shared["name"]]
        loaded = Loader(shared["format"]).load(wire, first)
        behind = Behind.from_record(shared["fold"], shared["behind"])
        return loaded if behind is None else loaded.changed(stands_for=behind)


def write_state(
    store: Store,
    *,
    options: Options,
    names: Sequence[str],
    given: Mapping[str, Wire],
    items: Sequence[Item],
    verbatim: Mapping[str, Any],
    facts: Mapping[str, Any],
) -> str:
    """Write a session in one go; the key is derived from what it holds.

    *names* are the digests of the messages, in order, and *given* has each of them by its digest.
    """
    entries: dict[str, Any] = dict(given)
    entries |= {item.source.digest: item.source.wire for item in items if item.is_shared}
    originals = [[key, digest(value)] for key, value in verbatim.items()]
    entries |= {name: verbatim[key] for key, name in originals}
    entries |= {key: value for key, value in verbatim.items() if key.startswith(RECORD_PREFIXES)}
    state = {
        "version": _VERSION,
        "options": _options_to_wire(options),
        "messages": _write_list(names, entries),
        "verbatim": _write_list(originals, entries),
        "items": list(map(_item_to_wire, items)),
        "facts": dict(facts),
    }
    key = _KEY_PREFIX + digest(state)
    store.put({**entries, key: state})
    return key


def _write_list(values: Sequence[Any], entries: dict[str, Any]) -> list[str]:
    """Add *values* to *entries*, in lists of a fixed length; return the names of these."""
    parts = [list(values[n : n + _LIST_LENGTH]) for n in range(0, len(values), _LIST_LENGTH)]
    names = [_LIST_PREFIX + digest(part) for part in parts]
    entries.update(zip(names, parts, strict=True))
    return names


def read_state(store: Store, key: str, choices: Mapping[str, Any]) -> Saved:
    """Read a session back; *choices* replace or complete its options."""
    state = store.get([key]).get(key)
    if not isinstance(state, dict) or not key.startswith(_KEY_PREFIX):
        raise StoreError(f"the store has no session {key!r}; was it saved to another one?")
    if state.get("version") != _VERSION:
        raise StoreError(f"session {key!r} was written by another version of refold")
    reader = _Reader(store, key)
    reader.check(state, key.removeprefix(_KEY_PREFIX), "what it says of itself")
    names = reader.read_list(state["messages"], "messages")
    originals = reader.read_list(state["verbatim"], "originals")
    shared = [item["shared"]["name"] for item in state["items"] if item.get("shared")]
    messages = reader.read(names, "messages")
    wires = reader.read([name for _, name in originals], "originals")
    return Saved(
        options=_options_from_wire(state["options"], choices),
        messages=[messages[name] for name in names],
        verbatim={id_: wires[name] for id_, name in originals},
        items=state["items"],
        stand_ins=reader.read(shared, "summaries"),
        facts=state["facts"],
    )


@contextmanager
def reading(key: str) -> Iterator[None]:
    """Turn any error on malformed data into a `StoreError`."""
    try:
        yield
    except (KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        problem = f"{type(error).__name__}: {error}"
        raise StoreError(f"session {key!r} is not a session of refold's ({problem})") from error
    except (MessageError, re.error) as error:
        raise StoreError(f"session {key!r} cannot be read: {error}") from error


class _Reader:
    """Reads what belongs to one session, and rejects whatever is not as it was written."""

    def __init__(self, store: Store, key: str) -> None:
        self._store = store
        self._key = key

    def read(self, names: Sequence[str], what: str) -> dict[str, Any]:
        """Return the values with these names."""
        places = {name: place for place, name in reversed(list(enumerate(names)))}
        found = self._store.get(places)
        missing = sum(name not in found for name in names)
        if missing:
            raise StoreError(f"session {self._key!r} lacks {missing} of its {what} in this store")
        for name, place in places.items():
            self.check(found[name], name.removeprefix(_LIST_PREFIX), f"{what}[{place}]")
        return found

    def read_list(self, names: Sequence[str], what: str) -> list[Any]:
        """Return what stands in the lists with these names; no list names another one."""
        found = self.read(names, f"lists of {what}")
        return [value for name in names for value in found[name]]

    def check(self, value: object, name: str, what: str) -> None:
        """Refuse a value that is not the one that was written."""
        if digest(value) != name:
            raise StoreError(
                f"session {self._key!r} is damaged: {what} is not what was saved; "
                "restore a backup of the store"
            )


def check_given(names: Iterable[str], choices: Mapping[str, Any]) -> None:
    """Raise `ConfigError` for any of *names* that is not among *choices*: it cannot be saved."""
    for name in names:
        if name not in choices:
            raise ConfigError(f"this session has its own {name}; pass {name}=… to resume it")


def _item_to_wire(item: Item) -> dict[str, Any]:
    wire: dict[str, Any] = {
        "first": item.first,
        "end": item.end,
        "unfolded": item.unfolded,
        "texts": {str(number): text for number, text in item.fold.texts.items()},
        "calls": {str(number): call.given for number, call in item.fold.calls.items()},
        "is_rolled": item.fold.is_rolled,
        "role": item.fold.role,
        "is_stripped": item.fold.is_stripped,
        "note": item.fold.note,
    }
    source = item.source
    if item.is_shared and source.stands_for is not None:
        wire["shared"] = {
            "name": source.digest,
            "format": source.format,
            "fold": source.stands_for.fold,
            "behind": source.stands_for.to_record(),
        }
    return wire


def _options_to_wire(options: Options) -> dict[str, Any]:
    wire: dict[str, Any] = {}
    for field in fields(options):
        value = getattr(options, field.name)
        if field.name in HOOKS:
            value = value is not None
        elif field.name == "preserve_patterns":
            value = [[e.pattern.pattern, e.pattern.flags, e.label] for e in value]
        elif field.name == "pins" and any(map(callable, value)):
            value = None  # functions cannot be saved
        wire[field.name] = list(value) if isinstance(value, tuple) else value
    return wire


def _options_from_wire(wire: Mapping[str, Any], choices: Mapping[str, Any]) -> Options:
    values = dict(wire)
    lost = [name for name in HOOKS if values.pop(name)]
    check_given([*lost, *(["pins"] if values["pins"] is None else [])], choices)
    values["preserve_patterns"] = [
        (re.compile(pattern, flags), label) for pattern, flags, label in values["preserve_patterns"]
    ]
    return Options(**{**values, **choices})
