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
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Final

from refold.conversation.cursor import Cursor, Item, View
from refold.conversation.economics import Account, Rates
from refold.conversation.report import SessionReport
from refold.errors import ConfigError, MessageError, StoreError
from refold.llm.ask import Tally
from refold.messages.manifest import RECORD_PREFIXES, Behind, read_wording
from refold.messages.wire import clone_message, digest
from refold.options import Options
from refold.stores.base import Store

if TYPE_CHECKING:
    from refold.conversation.session import Session

_VERSION: Final = 7
"""The format version; states of older versions cannot be read."""
_KEY_PREFIX: Final = "refold:session:"
_LIST_PREFIX: Final = "refold:list:"
_WIRE: Final = 3
"""Where in the row of an item its message is; it has none if that is as it was given."""
_LIST_LENGTH: Final = 128
"""Names in a list: the last list of 20,000 messages is then as long as the list of all lists."""


def restore(session: Session[Any], state: Mapping[str, Any], *, keeps_rates: bool) -> SessionReport:
    """Let a *session*, to which the messages were appended, go on as it was; return its report.

    Its rates are those of then if it *keeps_rates*.
    """
    cursor, facts, view = session.cursor, state["facts"], state["view"]
    _rebuild(cursor, view, state["verbatim"])
    if view["budget"] is not None:
        cursor.now = replace(cursor.now, budget=SessionReport.from_dict(view["budget"]).budget)
    cursor.verbatim.update(state["verbatim"])
    report = SessionReport.from_dict(facts["report"])
    cursor.tally = Tally.of(report.model)
    spent, plain, cost = facts["account"]
    read, written, seconds = facts["rates"]
    rates = Rates(read=read, written=written, seconds=seconds)
    rates = rates if keeps_rates else session.account.rates
    session.account = Account(rates=rates, spent=spent, plain=plain, saved=cost)
    count, session.sent_at, session.whole_sent = facts["sent"]
    tokens = sum(item.tokens for item in cursor.now.current()[:count])
    session.sent = replace(cursor.now, count=count, tokens=tokens)
    session.has_new_pins = bool(session.options.pins)
    return report


def spell_trace(session: Session[Any], first: int) -> dict[str, Any]:
    """Return what `follow_trace` needs, with the view from its message *first* on."""
    account = session.account
    return {
        "view": _spell_view(session.cursor, first),
        "account": [account.spent, account.plain, account.saved],
        "sent": [session.sent_at, session.whole_sent],
        "tried": list(session.tried),
    }


def follow_trace(session: Session[Any], trace: Mapping[str, Any]) -> SessionReport:
    """Let a *session*, to which the messages were appended, go on where another one was."""
    cursor, view, account = session.cursor, trace["view"], session.account
    with reading("trace"):
        folds = [row[-1] for row in view["items"] if row[-1]]
        get = cursor.engine.get
        _rebuild(cursor, view, get(folds) if get and folds else {})
        account.spent, account.plain, account.saved = trace["account"]
        session.sent_at, session.whole_sent = trace["sent"]
        length, tokens = trace["tried"]
        session.tried = length, tokens
    session.sent = now = cursor.now
    return SessionReport(
        messages=now.count, tokens=now.tokens, tokens_unfolded=cursor.whole, folds=now.folds
    )


def _spell_view(cursor: Cursor, first: int = 0) -> dict[str, Any]:
    """Return the view of *cursor* as plain data, from its item *first* on."""
    now = cursor.now
    return {
        "items": [
            [
                *(item.first, item.end, item.tokens, None if item.is_verbatim else item.wire),
                *(item.is_stripped, item.behind.fold if item.behind else ""),
            ]
            for item in now.current()[first:]
        ],
        "known": [list(record) for record in now.trail.known[-1:]],
        "looked": now.trail.looked,
        "covered": now.covered,
        "seen": now.seen,
        "landed": now.landed,
        "folds": now.folds,
        "is_doubted": cursor.is_doubted,
    }


def _rebuild(cursor: Cursor, view: Mapping[str, Any], records: Mapping[str, Any]) -> None:
    """Let *cursor*, to which the messages were appended, go on from a *view* as it was spelled.

    *records* say what its stand-ins stand for.
    """
    trail = cursor.engine.new_trail()
    items: list[Item] = []
    for first, end, tokens, changed, is_stripped, behind in view["items"]:
        wire = clone_message(cursor.messages[first].wire if changed is None else changed)
        known = Behind.from_record(behind, records.get(behind)) if behind else None
        items.append(Item(wire, first, end, tokens, changed is None, is_stripped, known))
        trail.add(read_wording(wire, index=first), known.fold if known else "")
    trail.known = [(place, key) for place, key in view["known"]]
    trail.looked = view["looked"]
    cursor.now = View(
        items=items,
        count=len(items),
        trail=trail,
        tokens=sum(item.tokens for item in items),
        covered=view["covered"],
        seen=view["seen"],
        landed=view["landed"],
        folds=view["folds"],
        is_stripped=any(item.is_stripped for item in items),
    )
    cursor.is_doubted = view["is_doubted"]


def write_state(store: Store, session: Session[Any], facts: Mapping[str, Any]) -> str:
    """Write a session in one go; the key is derived from what it holds."""
    cursor, account = session.cursor, session.account
    now, view, verbatim = cursor.now, _spell_view(cursor), cursor.verbatim
    entries: dict[str, Any] = {message.digest: message.wire for message in cursor.messages}
    for row in view["items"]:
        wire, row[_WIRE] = row[_WIRE], ""
        if wire is not None:
            row[_WIRE] = digest(wire)
            entries[row[_WIRE]] = wire
    originals = [[key, digest(value)] for key, value in verbatim.items()]
    entries |= {name: verbatim[key] for key, name in originals}
    entries |= {key: value for key, value in verbatim.items() if key.startswith(RECORD_PREFIXES)}
    report = None if now.budget is None else SessionReport(budget=now.budget).to_dict()
    state = {
        "version": _VERSION,
        "options": _options_to_wire(cursor.options),
        "messages": _write_list([message.digest for message in cursor.messages], entries),
        "verbatim": _write_list(originals, entries),
        "view": {**view, "budget": report},
        "facts": {
            "budget": facts["budget"],
            "account": [account.spent, account.plain, account.saved],
            "rates": [account.rates.read, account.rates.written, account.rates.seconds],
            "sent": [session.sent.count, session.sent_at, session.whole_sent],
            "models": facts["models"],
            "report": session.report.to_dict(),
        },
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


def read_state(store: Store, key: str) -> dict[str, Any]:
    """Read back what was written, with the messages, originals and stand-ins that it names."""
    state = store.get([key]).get(key)
    if not isinstance(state, dict) or not key.startswith(_KEY_PREFIX):
        raise StoreError(f"the store has no session {key!r}; was it saved to another one?")
    if state.get("version") != _VERSION:
        raise StoreError(f"session {key!r} was written by another version of refold")
    _check(key, state, key.removeprefix(_KEY_PREFIX), "what it says of itself")

    def read(names: Sequence[str], what: str) -> dict[str, Any]:
        places = {name: place for place, name in reversed(list(enumerate(names)))}
        values = store.get(places)
        missing = sum(name not in values for name in names)
        if missing:
            raise StoreError(f"session {key!r} lacks {missing} of its {what} in this store")
        for name, place in places.items():
            _check(key, values[name], name.removeprefix(_LIST_PREFIX), f"{what}[{place}]")
        return values

    def read_list(names: Sequence[str], what: str) -> list[Any]:
        parts = read(names, f"lists of {what}")
        return [value for name in names for value in parts[name]]

    names = read_list(state["messages"], "messages")
    originals = read_list(state["verbatim"], "originals")
    stand_ins = read([row[_WIRE] for row in state["view"]["items"] if row[_WIRE]], "stand-ins")
    for row in state["view"]["items"]:
        row[_WIRE] = stand_ins[row[_WIRE]] if row[_WIRE] else None
    messages = read(names, "messages")
    wires = read([name for _, name in originals], "originals")
    return {
        **state,
        "messages": [messages[name] for name in names],
        "verbatim": {id_: wires[name] for id_, name in originals},
    }


def _check(key: str, value: object, name: str, what: str) -> None:
    """Refuse a value that is not the one that was written."""
    if digest(value) != name:
        raise StoreError(
            f"session {key!r} is damaged: {what} is not what was saved; "
            "restore a backup of the store"
        )


@contextmanager
def reading(key: str) -> Iterator[None]:
    """Turn any error on malformed data into a `StoreError`."""
    try:
        yield
    except (KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        problem = f"{type(error).__name__}: {error}"
        raise StoreError(f"session {key!r} is not a session of refold ({problem})") from error
    except (MessageError, re.error) as error:
        raise StoreError(f"session {key!r} cannot be read: {error}") from error


def check_passed(names: Iterable[str], choices: Mapping[str, Any]) -> None:
    """Raise `ConfigError` for any of *names* that is not among *choices*: it cannot be saved."""
    for name in names:
        if name not in choices:
            raise ConfigError(f"this session has its own {name}; pass {name}=… to resume it")


def _options_to_wire(options: Options) -> dict[str, Any]:
    wire: dict[str, Any] = {}
    for field in fields(options):
        value = getattr(options, field.name)
        if field.name == "counter":
            value = value is not None  # a function: it must be given again
        elif field.name == "preserve_patterns":
            value = [[e.pattern.pattern, e.pattern.flags, e.label] for e in value]
        elif field.name == "pins" and any(map(callable, value)):
            value = None  # functions cannot be saved
        wire[field.name] = list(value) if isinstance(value, tuple) else value
    return wire


def read_options(wire: Mapping[str, Any], choices: Mapping[str, Any]) -> Options:
    """Return the options of a saved session, which *choices* replace or complete."""
    values = dict(wire)
    lost = ["counter"] if values.pop("counter") else []
    check_passed([*lost, *(["pins"] if values["pins"] is None else [])], choices)
    values["preserve_patterns"] = [
        (re.compile(pattern, flags), label) for pattern, flags, label in values["preserve_patterns"]
    ]
    return Options(**{**values, **choices})
