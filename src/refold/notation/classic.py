"""The tags of the profile `classic`, word for word as the contract has them (— is U+2014).

A handle is at the end of a tag where the message has no other place for its provenance:
` | #kdbfq]`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

REFERENCE: Final = re.compile(r"\[cce:(?:(?:near-)?dup of|superseded by) ([^\n]+?) (?:—|\()")
"""How a tag that refers to another message begins, with the id of that message."""
_MERGED: Final = re.compile(r" \(([0-9]{1,9}) messages merged\)\Z")
_ONLY_COUNT: Final = re.compile(r"([0-9]{1,9}) messages?")
"""A summary for which there was no room."""
_TRUNCATED: Final = re.compile(r"\[truncated — [0-9]{1,9} chars: ")
_COPY: Final = re.compile(
    r"\[cce:(?:near-)?dup of [^\n]{1,200}? — [0-9]{1,9} chars(?:, ~[0-9]{1,3}% match)?"
    r"(?: \| #[a-z]{6,36})?\](?:\n|\Z)"
)
_SUPERSEDED: Final = re.compile(r"\[cce:superseded by [^\n]{1,200}? (?:\([\w ]{1,40}\) — |— )")


class Said(NamedTuple):
    """What a summary says, read back."""

    body: str
    messages: int
    """How many messages it stands for."""
    entities: tuple[str, ...] = ()


def summary_tag(
    text: str,
    *,
    merged: int = 1,
    entities: Sequence[str] = (),
    summary_id: str = "",
    handle: str = "",
) -> str:
    """Spell a summary: `[summary: TEXT (N messages merged) | entities: a, b]`."""
    head = f"[summary#{summary_id}: " if summary_id else "[summary: "
    count = f" ({merged} messages merged)" if merged > 1 else ""
    names = f" | entities: {', '.join(entities)}" if entities else ""
    return f"{head}{text}{count}{names}{_end(handle)}"


def count_tag(messages: int, handle: str = "") -> str:
    """Spell a summary that says only how many messages there were."""
    noun = "message" if messages == 1 else "messages"
    return summary_tag(f"{messages} {noun}", handle=handle)


def read_summary_tag(tag: str) -> Said | None:
    """Undo `summary_tag`; `None` if *tag* is none. Ids and handles are not part of what it says."""
    if not tag.startswith(("[summary: ", "[summary#")) or not tag.endswith("]"):
        return None
    _, is_headed, said = tag[:-1].partition(": ")
    if not is_headed:
        return None
    said, _ = _cut_end(said, " | #")
    said, names = _cut_end(said, " | entities: ")
    count = _MERGED.search(said)
    body = said[: count.start()] if count else said
    number = count or _ONLY_COUNT.fullmatch(body)
    return Said(
        body="" if number and not count else body,
        messages=int(number[1]) if number else 1,
        entities=tuple(names.split(", ")) if names else (),
    )


def _cut_end(text: str, mark: str) -> tuple[str, str]:
    """Cut *text* at the last *mark*; nothing stands behind it if there is none."""
    before, found, after = text.rpartition(mark)
    return (before, after) if found else (text, "")


def duplicate_tag(target_id: str, chars: int, handle: str = "") -> str:
    """Spell a reference to an exact copy."""
    return f"[cce:dup of {target_id} — {chars} chars{_end(handle)}"


def near_duplicate_tag(target_id: str, chars: int, similarity: float, handle: str = "") -> str:
    """Spell a reference to a near copy."""
    percent = int(similarity * 100 + 0.5)
    return f"[cce:near-dup of {target_id} — {chars} chars, ~{percent}% match{_end(handle)}"


def superseded_tag(by_id: str, signal: str, text: str = "", handle: str = "") -> str:
    """Spell a corrected statement, with or without a summary of what it said."""
    said = f" ({signal}) — {text}" if text else f" — {signal}"
    return f"[cce:superseded by {by_id}{said}{_end(handle)}"


def truncated_tag(beginning: str, chars: int, handle: str = "") -> str:
    """Spell a text of which only the beginning is shown."""
    return f"[truncated — {chars} chars: {beginning}{_end(handle)}"


def read_other_tag(tag: str) -> str | None:
    """Return what a tag shows of a text that is cut, copied or corrected; `None` if it is none."""
    copy = _COPY.match(tag)
    if copy is not None:
        return tag[copy.end() :]
    head = _TRUNCATED.match(tag) or _SUPERSEDED.match(tag)
    if head is None or not tag.endswith("]"):
        return None
    return _cut_end(tag[head.end() : -1], " | #")[0]


def _end(handle: str) -> str:
    return f" | #{handle}]" if handle else "]"
