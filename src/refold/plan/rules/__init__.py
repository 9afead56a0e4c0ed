"""The rules, one file each: a rule adds decisions and never takes one back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from refold.calling import is_async
from refold.errors import ConfigError
from refold.plan.draft import Draft, Keep, Rule, RunContext, Segment, Summarize, Verdict
from refold.plan.rules.contradiction import supersede
from refold.plan.rules.dedup import dedup, keep_referred
from refold.plan.rules.importance import keep_important
from refold.plan.rules.near_dedup import near_dedup
from refold.plan.rules.protect import protect
from refold.plan.rules.structure import (
    keep_json,
    keep_judged,
    keep_matching,
    keep_structure,
    split_code,
    summarize_rest,
)

RULES: Final[tuple[Rule, ...]] = (
    protect,
    keep_important,
    dedup,
    near_dedup,
    keep_referred,
    supersede,
    split_code,
    keep_structure,
    keep_matching,
    keep_judged,
    keep_json,
    summarize_rest,
)
"""In order of precedence: the first verdict on a segment stands."""


def apply_rules(draft: Draft, context: RunContext) -> None:
    """Let every rule decide on the segments that the rules before it have left open.

    Segments on which no rule of a caller's table decides are kept.
    """
    chosen = context.text_cache.tables.rules
    for rule in RULES if chosen is None else chosen:
        draft.decide(rule(draft, context))
    if chosen is not None:
        draft.decide([(segment, Keep(), "no_rule") for segment in draft.undecided()])


def check_rules(rules: Sequence[Rule] | None) -> tuple[Rule, ...] | None:
    """Return the rules that a caller chose; `None` for refold's own.

    Raises `ConfigError` for anything but a list of ordinary (not async) functions.
    """
    if rules is None:
        return None
    if isinstance(rules, str) or not isinstance(rules, Sequence):
        raise ConfigError(f"rules must be a list of functions, got {rules!r}")
    for rule in rules:
        if not callable(rule) or is_async(rule):
            raise ConfigError(f"rules must hold ordinary functions only, got {rule!r}")
    return None if tuple(rules) == RULES else tuple(rules)


__all__ = [
    "RULES",
    "Draft",
    "Keep",
    "Rule",
    "RunContext",
    "Segment",
    "Summarize",
    "Verdict",
    "apply_rules",
    "check_rules",
]
