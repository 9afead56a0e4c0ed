"""The two ways to spell what the rules decide: in plain words, and as the tags of the contract.

Tags are those of the profile `classic`, word for word as the contract has them (— is U+2014). A
handle is at the end of a tag where the message has no other place for its provenance: ` | #kdbfq]`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from refold.lazy import regex
from refold.notation.marks import GAP, NAMED, count_things, digest, head, mark

REFERENCE: Final = regex(r"\[cce:(?:(?:near-)?dup of|superseded by) ([^\n]+?) (?:—|\()")
"""How a tag that refers to another message begins, with the id of that message."""
_MERGED: Final = regex(r" \(([0-9]{1,9}) messages merged\)\Z")
_ONLY_COUNT: Final = regex(r"([0-9]{1,9}) messages?")
"""A summary for which there was no room."""
_TRUNCATED: Final = regex(r"\[truncated — [0-9]{1,9} chars: ")
_COPY: Final = regex(
    r"\[cce:(?:near-)?dup of [^\n]{1,200}? — [0-9]{1,9} chars(?:, ~[0-9]{1,3}% match)?"
    r"(?: \| #[a-z]{6,36})?\](?:\n|\Z)"
)
_SUPERSEDED: Final = regex(r"\[cce:superseded by [^\n]{1,200}? (?:\([\w ]{1,40}\) — |— )")


class Summary(NamedTuple):
    """What one message or several say in short."""

    text: str
    merged: int = 1
    """How many messages it stands for."""
    entities: Sequence[str] = ()
    """What else they name."""
    summary_id: str = ""


class Copy(NamedTuple):
    """A text that says what another one says, which stays readable."""

    of: str
    """The id of the other one; no message shows it to a model."""
    chars: int
    is_below: bool
    """Whether the other one comes later."""
    similarity: float | None = None
    """How much of it is the same, where not all is."""
    lines: Sequence[str] = ()
    """What the other one lacks: it may be all that matters."""


class Correction(NamedTuple):
    """A statement that was corrected."""

    by: str
    """The id of the message that corrects it."""
    signal: str
    is_below: bool
    text: str = ""
    """What it said in short, if that is shown."""


class Beginning(NamedTuple):
    """A text of which only the beginning is shown."""

    text: str
    chars: int
    """How many characters it has."""


class Spelling(NamedTuple):
    """How the stand-ins of a profile are spelled; each takes the handle that it shows, if any."""

    shows_handles: bool
    """Whether every stand-in shows its handle, also those that carry their provenance."""
    summary: Callable[[Summary, str], str]
    only_count: Callable[[int, str], str]
    """Says only how many messages there were."""
    beside_code: Callable[[Summary, str], str]
    """Of a stretch of prose between code."""
    around_code: Callable[[Summary, str], str]
    """Of a text in which stretches of prose are spelled `beside_code`."""
    copy: Callable[[Copy, str], str]
    correction: Callable[[Correction, str], str]
    beginning: Callable[[Beginning, str], str]


# in plain words


def _summary(summary: Summary, handle: str) -> str:
    """Spell what one message or several say in short, and what else they name."""
    merged = f"{count_things(summary.merged, 'message')}, " if summary.merged > 1 else ""
    names = f"\n{NAMED}{', '.join(summary.entities)}" if summary.entities else ""
    return head(f"{merged}shortened", handle, f"{summary.text}{names}")


def _only_count(messages: int, handle: str) -> str:
    return digest("", messages, handle)


def _text_alone(summary: Summary, _handle: str) -> str:
    return summary.text


def _around_code(summary: Summary, handle: str) -> str:
    return _summary(summary._replace(merged=1), handle)


def _copy(copy: Copy, handle: str) -> str:
    """Refer to a text that is the same or nearly so, and show the lines that it lacks."""
    words = f"same as the copy {_where(copy.is_below)}"
    if copy.similarity is None:
        return mark(words, handle)
    return head(
        f"{words} but for these lines" if copy.lines else words, handle, "\n".join(copy.lines)
    )


def _correction(correction: Correction, handle: str) -> str:
    return head(f"corrected {_where(correction.is_below)}", handle, correction.text)


def _beginning(beginning: Beginning, handle: str) -> str:
    return head("shortened to its beginning", handle, f"{beginning.text} {GAP}")


def _where(is_below: bool) -> str:
    return "below" if is_below else "above"


PLAIN: Final = Spelling(
    shows_handles=True,
    summary=_summary,
    only_count=_only_count,
    beside_code=_text_alone,
    around_code=_around_code,
    copy=_copy,
    correction=_correction,
    beginning=_beginning,
)


# as tags


def _summary_tag(summary: Summary, handle: str) -> str:
    """Spell a summary: `[summary: TEXT (N messages merged) | entities: a, b]`."""
    head = f"[summary#{summary.summary_id}: " if summary.summary_id else "[summary: "
    count = f" ({summary.merged} messages merged)" if summary.merged > 1 else ""
    names = f" | entities: {', '.join(summary.entities)}" if summary.entities else ""
    return f"{head}{summary.text}{count}{names}{_end(handle)}"


def _count_tag(messages: int, handle: str) -> str:
    return _summary_tag(Summary(f"{messages} {'message' if messages == 1 else 'messages'}"), handle)


def _copy_tag(copy: Copy, handle: str) -> str:
    if copy.similarity is None:
        return f"[cce:dup of {copy.of} — {copy.chars} chars{_end(handle)}"
    match = f"{int(copy.similarity * 100 + 0.5)}% match"
    tag = f"[cce:near-dup of {copy.of} — {copy.chars} chars, ~{match}{_end(handle)}"
    return "\n".join((tag, *copy.lines))


def _correction_tag(correction: Correction, handle: str) -> str:
    signal, text = correction.signal, correction.text
    why = f" ({signal}) — {text}" if text else f" — {signal}"
    return f"[cce:superseded by {correction.by}{why}{_end(handle)}"


def _beginning_tag(beginning: Beginning, handle: str) -> str:
    return f"[truncated — {beginning.chars} chars: {beginning.text}{_end(handle)}"


def _end(handle: str) -> str:
    return f" | #{handle}]" if handle else "]"


CLASSIC: Final = Spelling(
    shows_handles=False,
    summary=_summary_tag,
    only_count=_count_tag,
    beside_code=_summary_tag,
    around_code=_text_alone,
    copy=_copy_tag,
    correction=_correction_tag,
    beginning=_beginning_tag,
)


class ParsedSummary(NamedTuple):
    """What a summary says, read back."""

    body: str
    messages: int
    """How many messages it stands for."""
    entities: tuple[str, ...] = ()


def read_summary_tag(tag: str) -> ParsedSummary | None:
    """Undo `summary_tag`; `None` if *tag* is none. Ids and handles are not part of what it says."""
    if not tag.startswith(("[summary: ", "[summary#")) or not tag.endswith("]"):
        return None
    _, is_headed, words = tag[:-1].partition(": ")
    if not is_headed:
        return None
    words, _ = _cut_end(words, " | #")
    words, names = _cut_end(words, " | entities: ")
    count = _MERGED.search(words)
    body = words[: count.start()] if count else words
    number = count or _ONLY_COUNT.fullmatch(body)
    return ParsedSummary(
        body="" if number and not count else body,
        messages=int(number[1]) if number else 1,
        entities=tuple(names.split(", ")) if names else (),
    )


def _cut_end(text: str, mark: str) -> tuple[str, str]:
    """Cut *text* at the last *mark*; nothing follows it if there is none."""
    before, sign, after = text.rpartition(mark)
    return (before, after) if sign else (text, "")


def read_other_tag(tag: str) -> str | None:
    """Return what a tag shows of a text that is cut, copied or corrected; `None` if it is none."""
    copy = _COPY.match(tag)
    if copy is not None:
        return tag[copy.end() :]
    head = _TRUNCATED.match(tag) or _SUPERSEDED.match(tag)
    if head is None or not tag.endswith("]"):
        return None
    return _cut_end(tag[head.end() : -1], " | #")[0]
