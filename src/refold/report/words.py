"""Say in plain words what the codes of a trace mean: actions, reasons, and reasons of pieces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

ACTIONS: Final[Mapping[str, str]] = {
    "preserved": "kept",
    "compressed": "summary",
    "deduped": "copy",
    "fuzzy_deduped": "near copy",
    "contradicted": "corrected",
    "code_split": "code kept",
    "truncated": "cut",
    "recoded": "recoded",
    "excerpted": "excerpt",
    "digested": "digest",
}
"""The word for each action."""

_REASONS: Final[Mapping[str, str]] = {
    "preserved_role": "its role is never touched",
    "recency_window": "one of the latest messages",
    "tool_calls": "carries tool calls",
    "short_content": "too short to be worth folding",
    "already_compressed": "folded before",
    "not_a_turn": "not part of the conversation",
    "fixed_item": "must stay as it is",
    "exact_duplicate": "the same text elsewhere",
    "fuzzy_duplicate": "nearly the same text elsewhere",
    "duplicate_target": "copies refer to it",
    "code_split": "code stays, prose is shortened",
    "code_fence_no_prose": "code with hardly any prose",
    "json_structure": "JSON",
    "compressible_prose": "prose: its main sentences",
    "merged_compressed": "prose: one summary for several",
    "single_reverted": "a summary would not be shorter",
    "within_budget": "the budget has room for it",
    "below_threshold": "the conversation is short enough",
    "first_task": "the first task",
    "last_user_message": "the last user message",
    "user_turn": "a picture that belongs to the last user message",
    "open_tool_call": "a tool call still waiting for its result",
    "min_recency_window": "one of the latest messages",
    "pinned": "pinned",
    "typed": "what a person typed",
    "force_converge": "cut to fit the budget",
    "rolled_up": "one summary of the oldest messages",
    "oldest_stretch": "one digest of the oldest messages",
    "newest": "the newest message",
    "nothing_to_gain": "as short as it gets without loss",
    "same_read": "the same was read before",
    "changed_read": "read before: only the changes are shown",
    "sent_as_given": "sent as it came",
    "said_shorter": "the same data, shorter",
    "sent_in_part": "its most telling parts are kept",
}
_FAMILIES: Final[Mapping[str, str]] = {
    "hard_t0": "structure: {}",
    "importance": "later messages build on it ({})",
    "contradicted": "corrected by a later message",
    "corrects": "corrects {}",
    "pattern": "matches {}",
    "llm_preserved": "a model says: {}",
    "recoded": "the same data, shorter ({})",
    "excerpt": "the most useful parts are kept ({})",
    "digest": "part of one digest of the oldest messages ({})",
}
PIECES: Final[Mapping[str, tuple[str, str]]] = {
    "error": ("errors", "reports an error"),
    "warning": ("warnings", "reports a warning"),
    "exit": ("exit codes", "a non-zero exit code"),
    "failure": ("failures", "shows what failed"),
    "frame": ("frames", "a stack frame"),
    "summary": ("summaries", "sums it up"),
    "heading": ("headings", "the heading of what is kept below"),
    "value": ("values", "mentions {}"),
    "word": ("words", "mentions {}"),
    "recent": ("recent", "nothing new, but recent"),
    "best_stretch": ("the best stretch", "the best stretch that fits"),
    "whole": ("shown whole", "shown whole"),
    "said_elsewhere": ("repeated", "repeated in {}"),
    "out_of_date": ("out of date", "out of date: its file was written since"),
    "worth_less": ("worth less", "worth less per token than what is kept"),
    "no_room": ("no room left", "the budget had no room left for it"),
    "says_little": ("says little", "unlikely to be needed again"),
}
"""Why pieces are kept or dropped: a word for the sums, and words with what it is about."""
_LISTS: Final = frozenset({"recoded", "excerpt", "digest"})


def say_action(action: str) -> str:
    """Return the word for an action; one without a word of its own is its own word."""
    return ACTIONS.get(action, action)


def say_reason(reason: str) -> str:
    """Say a reason in words; one without words of its own is shown with spaces."""
    if reason in _REASONS:
        return _REASONS[reason]
    family, colon, rest = reason.partition(":")
    if colon and family in _FAMILIES:
        first, *more = rest.split(",") if family == "hard_t0" else [rest]
        name = first.replace("_", " ") if family == "hard_t0" else first
        name = name.replace("_", " ").replace(",", ", ") if family in _LISTS else name
        return _FAMILIES[family].format(name) + (f" +{len(more)}" if more else "")
    if reason.endswith("_reverted"):
        return "a stand-in would not be shorter"
    return reason.replace("_", " ")
