"""Recognize stand-ins by their wording, and read back what they show.

What merely reads like a stand-in protects nothing and restores nothing: records do that
(`messages.manifest`). What is recognized here is only looked up there, and its marks are dropped
when a view is folded again, so that no mark is ever nested in another.
"""

from __future__ import annotations

import re
from typing import Final

from refold.lazy import regex
from refold.notation.marks import (
    AMOUNT,
    GAP,
    HANDLE_CHARS,
    MOST_CHARS,
    NAMED,
    SENT_WHOLE,
    without_gaps,
)
from refold.notation.spelling import ParsedSummary, read_other_tag, read_summary_tag

_HANDLE: Final = rf"[a-z]{{{HANDLE_CHARS},{MOST_CHARS}}}"
_MESSAGES: Final = rf"({AMOUNT}) messages?+(?=[ ,\]])"
_WORDS: Final = (
    rf"(?:(?:part|shortened|reformatted|same as the |corrected (?:above|below)"
    rf"|(?:image|audio|file) left out: |{_MESSAGES})[^\[\]\n#]{{0,400}})"
)
_MARK: Final = regex(rf"\[{_WORDS}(?<!:) #{_HANDLE}\]")
_DIGEST: Final = regex(rf"\[{_MESSAGES}")
_NOTE: Final = regex(
    r"\[(?:(?:shortened|summarized) from [0-9]{1,3}+(?:,[0-9]{3})*+ (?:tokens|bytes))?+(?:; )?+"
    rf"(?:whole text: #{_HANDLE})?+\]"
)
_JSON_NOTE: Final = regex(
    rf'(?:(?<=[{{\[])|,)(?:"{GAP}++":)?+"((?:{GAP} {AMOUNT} more (?:key|item)s?; )?+'
    rf'(?:{_NOTE.pattern}|{_MARK.pattern}))"(?=[}}\]]\Z)'
)
_MAX_NOTE: Final = 160
"""How far from its end a text may have a note."""
TAG: Final = regex(
    rf"\[(?:summary|cce:|truncated|{_WORDS}(?<!:) #{_HANDLE}\])"
    rf"|\[(?:shortened|summarized) from (?=[0-9a-z])|whole text: #[a-z]{{{HANDLE_CHARS}}}"
)
"""What every stand-in contains: a cheap test before any look-up.

People write brackets, ellipses and `[see #incident]` themselves; a handle alone is not a mark.
"""
_ARGUMENT: Final = regex(rf" {GAP} \[{SENT_WHOLE}(?: #{_HANDLE})?+\]\Z")
_WITHOUT: Final = ("[summary", "[cce:", "[truncated", "[shortened from ", "[summarized from ")
"""How tags and notes begin that may have no handle."""
_HANDLE_END: Final = regex(rf" #{_HANDLE}\]")
_HANDLES: Final = regex(rf" #({_HANDLE})\]")
IMITATION: Final = regex(
    r"\[(?:summary(?:#\w{1,64})?:|cce:|truncated\b|kept:|reformatted\b|whole text:|shortened\b"
    r"|summarized from|summary of \d|part #|same as the |corrected (?:above|below)\b"
    r"|[0-9]{1,9} messages?(?:,| #)|(?:image|audio|file) left out\b)"
    r"|\| ?entities:|\(\d{1,9} messages merged\)|#[a-z]{6,40}\]",
    re.IGNORECASE,
)
"""How stand-ins are written, in whole or in part: a model that writes this imitates one."""


def has_tag(text: str) -> bool:
    """Return whether *text* may be a stand-in."""
    return may_have_tag(text) and TAG.search(text) is not None


def may_have_tag(text: str) -> bool:
    """Return whether *text* has what every tag contains, within a single string."""
    if "#" in text and _HANDLE_END.search(text) is not None:
        return True
    return "[" in text and any(map(text.__contains__, _WITHOUT))


def is_marked(text: str) -> bool:
    """Return whether *text* is a stand-in: below a mark, or with a note at its end."""
    return read_visible(text) is not None


def find_handles(text: str) -> list[str]:
    """Return the handles that marks in *text* show, and notes after a text."""
    return list(dict.fromkeys(_HANDLES.findall(text))) if "#" in text else []


def read_visible(text: str) -> str | None:
    """Return what *text* shows below a mark, in a tag or before a note; `None` without any."""
    if text.startswith("["):
        head = _MARK.match(text)
        if head is not None:
            return without_gaps(text[head.end() :].removeprefix("\n"))
        summary = read_summary_tag(text)
        if summary is not None:
            return summary.body
        other = read_other_tag(text)
        if other is not None:
            return other
    return _read_noted(text)


def _read_noted(text: str) -> str | None:
    """Read back a text with a note at its end."""
    if not text.endswith("]") and not text.endswith("}"):
        return None
    tail = max(0, len(text) - _MAX_NOTE)
    place = text.rfind("[", tail)
    note = _NOTE.fullmatch(text, place) if place >= 0 else None
    if note is not None and len(note[0]) > 2:
        return without_gaps(text[:place].rstrip())
    inside = _JSON_NOTE.search(text, tail)
    if inside is not None and len(inside[1]) > 2:
        return text[: inside.start()] + text[inside.end() :]
    return None


def read_argument(text: str) -> str:
    """Return an argument of a call without the mark that it has if only its beginning is shown."""
    return _ARGUMENT.sub(f" {GAP}", text) if text.endswith("]") else text


def mark_of(text: str) -> str:
    """Return the mark that *text* begins with; nothing if it is not a stand-in in plain words."""
    head = _MARK.match(text)
    return head[0] if head else ""


def body_of(text: str) -> str:
    """Return the body of a stand-in that was just made: with its gaps, without its mark."""
    head = _MARK.match(text)
    if head is not None:
        return text[head.end() :].removeprefix("\n")
    summary = read_summary_tag(text)
    if summary is None:
        return text
    return (
        f"{summary.body}\n{NAMED}{', '.join(summary.entities)}"
        if summary.entities
        else summary.body
    )


def visible_text(text: str) -> str:
    """Return *text* without its marks and gaps, if it is a stand-in."""
    body = read_visible(text)
    return text if body is None else body


def unmarked(text: str) -> str:
    """Return the same, but keep the marks of a stand-in that has nothing else."""
    return visible_text(text) or text


def is_digest(text: str) -> bool:
    """Return whether *text* reads like a digest: its mark says how many messages it replaces."""
    return _DIGEST.match(text) is not None and _MARK.match(text) is not None


def count_messages(text: str) -> int:
    """Return how many messages a digest or merged summary stands for; 0 if *text* is neither."""
    if _MARK.match(text) is not None:
        match = _DIGEST.match(text)
        return int(match[1]) if match else 0
    summary = read_summary_tag(text)
    return summary.messages if summary is not None and summary.messages > 1 else 0


def read_summary(text: str) -> ParsedSummary | None:
    """Return what a summary says, in tags or below a mark; `None` if *text* is none."""
    if not text.startswith("["):  # as most do not
        return None
    summary = read_summary_tag(text)
    if summary is not None:
        return summary
    head = _MARK.match(text)
    if head is None:
        return None
    body, _, names = text[head.end() :].removeprefix("\n").rpartition(f"\n{NAMED}")
    if "\n" in names or not body:
        body, names = text[head.end() :].removeprefix("\n"), ""
    return ParsedSummary(
        body=body,
        messages=count_messages(text) or 1,
        entities=tuple(names.split(", ")) if names else (),
    )
