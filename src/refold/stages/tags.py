"""The exact words of every stand-in.

A *handle* is a short id at the end of a tag. It is there when the message has no other place for
its provenance: ` | #kdbfqamt]`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

REFERENCE: Final = re.compile(r"\[cce:(?:(?:near-)?dup of|superseded by) ([^\n]+?) (?:—|\()")
"""How a stand-in that refers to another message begins, with the id of that message."""

_MERGED: Final = re.compile(r" \(([0-9]{1,9}) messages merged\)\Z")
_ONLY_COUNT: Final = re.compile(r"([0-9]{1,9}) messages?")
"""A summary for which there was no room."""
_PART_HEAD: Final = re.compile(r"\[…(?:([0-9]{1,2})%| #)")
_GAP_LINE: Final = re.compile(
    r"(?:… [0-9]{1,3}(?: hundred| thousand)*+ (?:lines|words|characters) )?(?:…| )*+"
)
_TENTH: Final = 10
"""Percent; a mark that tells no share shows less."""


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


class Said(NamedTuple):
    """What a summary says, read back."""

    body: str
    messages: int
    """How many messages it stands for."""
    entities: tuple[str, ...] = ()


def read_summary(tag: str) -> Said | None:
    """Undo `summary_tag`; `None` if *tag* is none. Ids and handles are not part of what it says."""
    if not tag.startswith("[summary") or not tag.endswith("]"):
        return None
    _, is_headed, said = tag[:-1].partition(": ")
    if not is_headed:
        return None
    said, _, _ = _cut_end(said, " | #")
    said, _, names = _cut_end(said, " | entities: ")
    count = _MERGED.search(said)
    body = said[: count.start()] if count else said
    number = count or _ONLY_COUNT.fullmatch(body)
    return Said(
        body="" if number and not count else body,
        messages=int(number[1]) if number else 1,
        entities=tuple(names.split(", ")) if names else (),
    )


def _cut_end(text: str, mark: str) -> tuple[str, str, str]:
    """Cut *text* at the last *mark*; nothing stands behind it if there is none."""
    before, found, after = text.rpartition(mark)
    return (before, found, after) if found else (text, "", "")


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


def part_tag(body: str, percent: int, handle: str = "", errors: int = 0) -> str:
    """Spell a text or a stretch of messages of which only so much is shown: `[…12% #handle]`.

    Less than a tenth is next to nothing: telling the share would cost two tokens of the few that
    are shown, so it is `[… #handle]`. Without a handle that would be what people write themselves.
    Behind it stands how many *errors* are not shown.
    """
    words = f"…{percent}%" if percent >= _TENTH or not handle else "…"
    noun = "error" if errors == 1 else "errors"
    note = f" {spell_amount(errors)} {noun} left out" if errors else ""
    return _headed(words, handle, body, note)


class Shown(NamedTuple):
    """What a text or a stretch says of which only a part is shown, read back."""

    body: str
    """Without the marks of gaps that have a line of their own."""
    whole: int
    """About how many characters there were."""


def read_part(tag: str) -> Shown | None:
    """Undo `part_tag`; `None` if *tag* is none."""
    head, _, body = tag.partition("\n")
    found = _PART_HEAD.match(head)
    if found is None:
        return None
    share = int(found[1] or _TENTH // 2)
    lines = [line for line in body.split("\n") if _GAP_LINE.fullmatch(line) is None]
    return Shown("\n".join(lines), 100 * len(body) // max(1, share))


def spell_amount(count: int) -> str:
    """Spell about how many; three digits in a row would look like a value that somebody said."""
    if count < 100:
        return str(count)
    if count < 9_950:
        return f"{(count + 50) // 100} hundred"
    return f"{spell_amount((count + 500) // 1000)} thousand"


def recoded_tag(body: str, handle: str = "") -> str:
    """Spell a text that says the same in fewer tokens."""
    return _headed("recoded", handle, body)


def _headed(words: str, handle: str, body: str, note: str = "") -> str:
    """Put a head above *body*; nothing may end in a line break, which some providers refuse."""
    head = f"[{words} #{handle}]{note}" if handle else f"[{words}]{note}"
    return f"{head}\n{body}" if body else head


def _end(handle: str) -> str:
    return f" | #{handle}]" if handle else "]"
