"""What was kept and what was dropped of a text: summed up, and in runs of pieces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from refold.result import Piece

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
    "clipped": "calls cut",
}
"""The word for each action."""

_REASONS: Final[Mapping[str, str]] = {
    "preserved_role": "its role is never touched",
    "recency_window": "one of the latest messages",
    "tool_calls": "carries tool calls",
    "short_content": "too short to be worth folding",
    "no_rule": "no chosen rule applies",
    "already_compressed": "folded before",
    "not_a_turn": "not part of the conversation",
    "fixed_item": "must stay as it is",
    "exact_duplicate": "the same text is elsewhere",
    "fuzzy_duplicate": "nearly the same text is elsewhere",
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
    "oldest_stretch": "shortened together with its neighbours",
    "digest": "shortened together with its neighbours",
    "left_out": "dropped: nothing of it is shown",
    "newest_turns": "one of the newest turns",
    "newest": "the newest message",
    "long_arguments": "its long arguments are shown in part",
    "nothing_to_gain": "cannot get shorter without loss",
    "same_read": "the same was read before",
    "sent_unchanged": "sent unchanged",
    "same_data": "the same data, shorter",
    "sent_in_part": "its most useful parts are kept",
}
_FAMILIES: Final[Mapping[str, str]] = {
    "hard_t0": "structure: {}",
    "importance": "later messages build on it ({})",
    "contradicted": "corrected by a later message",
    "corrects": "corrects {}",
    "pattern": "matches {}",
    "recoded": "the same data, shorter ({})",
    "excerpt": "the most useful parts are kept ({})",
}
PIECES: Final[Mapping[str, tuple[str, str]]] = {
    "asked": ("answers", "answers what is asked now"),
    "line": ("best lines", "says more than the rest of it"),
    "task": ("the task", "how the task begins, and what it forbids"),
    "typed": ("typed words", "what a person typed"),
    "plan": ("the plan", "the newest plan"),
    "change": ("changes", "a call that may have changed something"),
    "error": ("errors", "reports what failed"),
    "heading": ("headings", "the heading of what is kept below"),
    "between": ("between", "hardly longer than a gap mark"),
    "value": ("values", "mentions {}"),
    "word": ("words", "mentions {}"),
    "out_of_date": ("out of date", "out of date: its file was read or written since"),
    "noise": ("noise", "progress, passed tests and the like"),
    "repeat": ("repeated", "an error that was reported before"),
    "worth_less": ("worth less", "worth less per token than what is kept"),
    "no_room": ("no room left", "the budget had no room left for it"),
    "says_little": ("little in it", "unlikely to be needed again"),
}
"""Why pieces are kept or dropped: a word for the sums, and words with what it is about."""
_LISTS: Final = frozenset({"recoded", "excerpt"})
_NAMED: Final = 6
"""How many values or messages a reason names at most."""


def say_count(count: int, noun: str) -> str:
    """Spell an exact number with its noun: `1 request`, `1,204 requests`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def say_action(action: str) -> str:
    """Return the word for an action; by default its name."""
    return ACTIONS.get(action, action)


def say_reason(reason: str) -> str:
    """Return a reason in words; an unknown one is shown with spaces for underscores."""
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


@dataclass(frozen=True, slots=True)
class Tally:
    """How much was kept or dropped, and the tokens by the reason for it, most first."""

    lines: int
    tokens: int
    reasons: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {"lines": self.lines, "tokens": self.tokens, "reasons": self.reasons}


def count_pieces(pieces: Sequence[Piece]) -> tuple[Tally, Tally]:
    """Count what is kept and what is dropped; a line of which anything is kept is kept."""
    kept = [piece for piece in pieces if piece.is_kept]
    dropped = [piece for piece in pieces if not piece.is_kept]
    lines = _lines(kept)
    return _tally(kept, len(lines)), _tally(dropped, len(_lines(dropped) - lines))


def _tally(pieces: Sequence[Piece], lines: int) -> Tally:
    tokens: Counter[str] = Counter()
    for piece in pieces:
        tokens[_family(piece)] += piece.tokens
    return Tally(lines, tokens.total(), dict(tokens.most_common()))


def _lines(pieces: Sequence[Piece]) -> set[tuple[int | None, int]]:
    return {
        (piece.part, line)
        for piece in pieces
        for line in range(piece.first_line, piece.last_line + 1)
    }


def _family(piece: Piece) -> str:
    return piece.reason.partition(":")[0]


def sum_up(pieces: Sequence[Piece]) -> list[str]:
    """Return how much was kept and how much was dropped, and why, in words."""
    kept, dropped = count_pieces(pieces)
    if kept.reasons and dropped.reasons:
        lines, tokens = kept.lines + dropped.lines, kept.tokens + dropped.tokens
        amount = (
            f"{kept.lines:,} of {say_count(lines, 'line')}, {kept.tokens:,} of {tokens:,} tokens"
        )
        return [f"kept {amount}{_why(kept)}", f"dropped {_amount(dropped)}"]
    if kept.reasons:
        return [f"kept all {_amount(kept)}"]
    return [f"dropped all {_amount(dropped)}"] if dropped.reasons else []


def _amount(tally: Tally) -> str:
    lines = f"{say_count(tally.lines, 'line')}, " if tally.lines else ""
    return f"{lines}{say_count(tally.tokens, 'token')}{_why(tally)}"


def _why(tally: Tally) -> str:
    reasons = [f"{_short(reason)} {tokens:,}" for reason, tokens in tally.reasons.items()]
    return f": {', '.join(reasons)}"


def _short(reason: str) -> str:
    return PIECES[reason][0] if reason in PIECES else reason.replace("_", " ")


def find_runs(pieces: Sequence[Piece]) -> Iterator[list[Piece]]:
    """Join neighbours of a text that were kept, or dropped, for the same kind of reason."""
    for _, run in groupby(pieces, lambda piece: (piece.part, piece.is_kept, _family(piece))):
        yield list(run)


def run_words(run: Sequence[Piece]) -> str:
    """Return in words why a run of pieces was kept or dropped."""
    reason = _family(run[0])
    short, words = PIECES.get(reason, (_short(reason), ""))
    if "{}" not in words:
        return words or short
    about = [name for piece in run for name in piece.reason.partition(":")[2].split(",") if name]
    names = list(dict.fromkeys(about))
    more = ", …" if len(names) > _NAMED else ""
    return words.format(", ".join(names[:_NAMED])) + more if names else short
