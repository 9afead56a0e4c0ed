"""The two ways to spell what the rules decide: in plain words, and as the tags of the contract."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from refold.notation import classic, marks


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


def _plain_summary(said: Summary, handle: str) -> str:
    return marks.summary(said.text, merged=said.merged, entities=said.entities, handle=handle)


def _plain_count(messages: int, handle: str) -> str:
    return marks.digest("", marks.Stretch(messages), handle)


def _plain_beside_code(said: Summary, _: str) -> str:
    return said.text


def _plain_around_code(said: Summary, handle: str) -> str:
    return marks.summary(said.text, entities=said.entities, handle=handle)


def _plain_copy(copy: Copy, handle: str) -> str:
    if copy.similarity is None:
        return marks.same_text(is_below=copy.is_below, handle=handle)
    return marks.similar_text(copy.lines, is_below=copy.is_below, handle=handle)


def _plain_correction(correction: Correction, handle: str) -> str:
    return marks.corrected(correction.text, is_below=correction.is_below, handle=handle)


def _plain_beginning(beginning: Beginning, handle: str) -> str:
    return marks.beginning(beginning.text, handle)


def _classic_summary(said: Summary, handle: str) -> str:
    return classic.summary_tag(
        said.text,
        merged=said.merged,
        entities=said.entities,
        summary_id=said.summary_id,
        handle=handle,
    )


def _classic_around_code(said: Summary, _: str) -> str:
    return said.text


def _classic_copy(copy: Copy, handle: str) -> str:
    if copy.similarity is None:
        return classic.duplicate_tag(copy.of, copy.chars, handle)
    tag = classic.near_duplicate_tag(copy.of, copy.chars, copy.similarity, handle)
    return "\n".join((tag, *copy.lines))


def _classic_correction(correction: Correction, handle: str) -> str:
    return classic.superseded_tag(correction.by, correction.signal, correction.text, handle)


def _classic_beginning(beginning: Beginning, handle: str) -> str:
    return classic.truncated_tag(beginning.text, beginning.chars, handle)


PLAIN: Final = Spelling(
    shows_handles=True,
    summary=_plain_summary,
    only_count=_plain_count,
    beside_code=_plain_beside_code,
    around_code=_plain_around_code,
    copy=_plain_copy,
    correction=_plain_correction,
    beginning=_plain_beginning,
)
CLASSIC: Final = Spelling(
    shows_handles=False,
    summary=_classic_summary,
    only_count=classic.count_tag,
    beside_code=_classic_summary,
    around_code=_classic_around_code,
    copy=_classic_copy,
    correction=_classic_correction,
    beginning=_classic_beginning,
)
