"""Sessions on disk: everything that is needed to go on, written as JSON into a store."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from refold.errors import ConfigError, StoreError
from refold.model.message import Message
from refold.model.plan import Fold, Outcome
from refold.model.wire import clone, digest
from refold.options import Options
from refold.stores.base import Store

_VERSION = 2
HOOKS = ("counter", "entropy_scorer", "ml_token_classifier")
"""Options that are functions: they cannot be saved and must be given again."""
_KEY_PREFIX = "refold:session:"


@dataclass(frozen=True, slots=True)
class State:
    """A saved session, read back."""

    options: Options
    messages: list[dict[str, Any]]
    folds: list[dict[str, Any]]
    facts: dict[str, Any]

    def plan(self, messages: Sequence[Message]) -> list[Fold]:
        """Rebuild the plan over the loaded messages."""
        return [
            Fold(
                sources=tuple(messages[fold["first"] : fold["last"] + 1]),
                texts={int(number): text for number, text in fold["texts"].items()},
                outcomes=tuple(
                    tuple(Outcome(*outcome) for outcome in row) for row in fold["outcomes"]
                ),
                is_rolled=fold["is_rolled"],
            )
            for fold in self.folds
        ]


def write_state(
    store: Store,
    *,
    options: Options,
    messages: Sequence[Message],
    plan: Sequence[Fold],
    facts: Mapping[str, Any],
) -> str:
    """Write a session in one go; the key is derived from what it holds."""
    originals = {message.digest: clone(message.wire) for message in messages}
    state = {
        "version": _VERSION,
        "options": _options_to_wire(options),
        "messages": [message.digest for message in messages],
        "plan": [_fold_to_wire(fold) for fold in plan],
        "facts": dict(facts),
    }
    key = _KEY_PREFIX + digest(state)
    store.put({**originals, key: state})
    return key


def read_state(store: Store, key: str, choices: Mapping[str, Any]) -> State:
    """Read a session back; *choices* replace or complete its options."""
    state = store.get([key]).get(key)
    if not isinstance(state, dict):
        raise StoreError(f"the store has no session {key!r}; was it saved to another one?")
    if state.get("version") != _VERSION:
        raise StoreError(f"session {key!r} was written by another version of refold")
    originals = store.get(dict.fromkeys(state["messages"]))
    missing = [name for name in state["messages"] if name not in originals]
    if missing:
        raise StoreError(f"session {key!r} lacks {len(missing)} of its messages in this store")
    return State(
        options=_options_from_wire(state["options"], choices),
        messages=[originals[name] for name in state["messages"]],
        folds=state["plan"],
        facts=state["facts"],
    )


def check_given(names: Iterable[str], choices: Mapping[str, Any]) -> None:
    """Ask for whatever of *names* is not among *choices*: a session had it, and cannot save it."""
    for name in names:
        if name not in choices:
            raise ConfigError(f"this session has its own {name}; pass {name}=… to resume it")


def _fold_to_wire(fold: Fold) -> dict[str, Any]:
    return {
        "first": fold.sources[0].index,
        "last": fold.sources[-1].index,
        "texts": {str(number): text for number, text in fold.texts.items()},
        "is_rolled": fold.is_rolled,
        "outcomes": [
            [[o.action, o.reason, o.input_chars, o.output_chars] for o in row]
            for row in fold.outcomes
        ],
    }


def _options_to_wire(options: Options) -> dict[str, Any]:
    wire: dict[str, Any] = {}
    for field in fields(options):
        value = getattr(options, field.name)
        if field.name in HOOKS:
            value = value is not None
        elif field.name == "preserve_patterns":
            value = [[e.pattern.pattern, e.pattern.flags, e.label] for e in value]
        wire[field.name] = list(value) if isinstance(value, tuple) else value
    return wire


def _options_from_wire(wire: Mapping[str, Any], choices: Mapping[str, Any]) -> Options:
    values = dict(wire)
    check_given([name for name in HOOKS if values.pop(name)], choices)
    values["preserve_patterns"] = [
        (re.compile(pattern, flags), label) for pattern, flags, label in values["preserve_patterns"]
    ]
    return Options(**{**values, **choices})
