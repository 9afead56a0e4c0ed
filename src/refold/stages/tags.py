"""The exact words of every stand-in."""

from __future__ import annotations

from collections.abc import Sequence


def summary_tag(
    text: str, *, merged: int = 1, entities: Sequence[str] = (), summary_id: str = ""
) -> str:
    """Spell a summary: `[summary: TEXT (N messages merged) | entities: a, b]`."""
    head = f"[summary#{summary_id}: " if summary_id else "[summary: "
    count = f" ({merged} messages merged)" if merged > 1 else ""
    names = f" | entities: {', '.join(entities)}" if entities else ""
    return f"{head}{text}{count}{names}]"


def duplicate_tag(target_id: str, chars: int) -> str:
    """Spell a reference to an exact copy."""
    return f"[cce:dup of {target_id} — {chars} chars]"


def near_duplicate_tag(target_id: str, chars: int, similarity: float) -> str:
    """Spell a reference to a near copy."""
    return f"[cce:near-dup of {target_id} — {chars} chars, ~{int(similarity * 100 + 0.5)}% match]"


def superseded_tag(by_id: str, signal: str, text: str = "") -> str:
    """Spell a corrected statement, with or without a summary of what it said."""
    if text:
        return f"[cce:superseded by {by_id} ({signal}) — {text}]"
    return f"[cce:superseded by {by_id} — {signal}]"


def truncated_tag(beginning: str, chars: int) -> str:
    """Spell a text of which only the beginning is shown."""
    return f"[truncated — {chars} chars: {beginning}]"


def with_id(tag: str, summary_id: str) -> str:
    """Put an id behind a tag's keyword, for stand-ins that would otherwise read the same."""
    for keyword in ("[summary", "[cce:dup", "[cce:near-dup", "[cce:superseded", "[truncated"):
        place = tag.find(keyword)
        if place >= 0 and tag[place + len(keyword)] != "#":
            place += len(keyword)
            return f"{tag[:place]}#{summary_id}{tag[place:]}"
    return tag
