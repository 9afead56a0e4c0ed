"""The texts that compete for a budget, cut into candidates."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from refold.kinds import Piece, kind_of, split
from refold.model.message import Message
from refold.planner.choose import Candidate
from refold.planner.items import find_items
from refold.planner.layout import STUB_TOKENS, Layout, Place
from refold.planner.survey import Survey, Voice, rows_of
from refold.planner.worth import Turn
from refold.tokens.base import CountedTexts

Key = tuple[int, int]
"""The index of a message and the number of one of its texts."""
CALLS: Final = -1
"""Stands for the number of a part: the tool calls of a message."""
_OUTDATED: Final = 0.5
"""What a read counts once its file was written."""
_MARK_TOKENS: Final = 1.0
_CONTEXT: Final = 6
"""An item with this many others around it can be understood."""
_MIN_GLUE: Final = 140
_CLAUSE: Final = re.compile(r"[^\n.!?,;:。！？，；、]*+[\n.!?,;:。！？，；、]*+\s*+")
_MIN_CLAUSE: Final = 30


@dataclass(frozen=True, slots=True)
class Text:
    """A text that competes, or is shown anyway."""

    message: Message
    part: int
    """Its number in the message, or `CALLS`."""
    text: str
    tokens: int
    kind: str = ""
    is_open: bool = False
    """Whether its pieces compete."""
    factor: float = 1.0
    """What its pieces are worth beside others."""

    @property
    def key(self) -> Key:
        """Name it by its place."""
        return self.message.index, self.part


def voice_of(message: Message) -> Voice:
    """Tell who speaks."""
    if message.is_tool_result:
        return Voice.TOOL
    return Voice.USER if message.role == "user" else Voice.ASSISTANT


def calls_text(message: Message) -> str:
    """Spell what a message says beside its texts: its tool calls."""
    return " ".join(message.opaque)


def read_texts(
    messages: Sequence[Message], tokens: CountedTexts, recoded: Mapping[Key, str]
) -> list[Text]:
    """List all texts that a model sees, in reading order; *recoded* are those said shorter."""
    texts: list[Text] = []
    for message in messages:
        if not message.is_turn:
            continue
        for number, part in enumerate(message.parts):
            text = recoded.get((message.index, number), part.text)
            texts.append(Text(message, number, text, tokens(text)))
        calls = recoded.get((message.index, CALLS)) or calls_text(message)
        if calls:
            texts.append(Text(message, CALLS, calls, tokens(calls)))
    return texts


def open_texts(texts: Sequence[Text], layout: Layout, superseded: Container[str]) -> list[Text]:
    """Mark the texts whose pieces compete; results of *superseded* calls are worth less."""
    return [
        replace(
            text,
            is_open=True,
            kind=kind_of(text.text),
            factor=_OUTDATED if _call_of(text) in superseded else 1.0,
        )
        if _competes(text, layout)
        else text
        for text in texts
    ]


def _call_of(text: Text) -> str:
    """Return the call that *text* answers, if it answers one."""
    return "" if text.part == CALLS else text.message.parts[text.part].call_id or ""


def _competes(text: Text, layout: Layout) -> bool:
    match layout.places[text.message.index]:
        case Place.WHOLE:
            return False
        case Place.DIGEST:
            return bool(text.text)
        case Place.EXCERPT:
            return text.part != CALLS and text.tokens > STUB_TOKENS


def survey_texts(
    texts: Sequence[Text], preserved: Container[str], *, talk: bool = False
) -> tuple[Survey, list[Turn], set[str]]:
    """Look over all texts; what the *preserved* roles say will be there in any case."""
    survey = Survey()
    turns: list[Turn] = []
    known: set[str] = set()
    message: Message | None = None
    for text in texts:
        items = find_items(text.text.lower() if talk and text.text.isascii() else text.text)
        if text.message.role in preserved:
            known.update(items)
            continue
        if message is text.message:
            last = turns[-1]
            turns[-1] = Turn(last.voice, last.chars + len(text.text), last.tokens + text.tokens)
        else:
            message = text.message
            turns.append(Turn(voice_of(message), len(text.text), text.tokens))
        survey.hear(len(turns) - 1, Voice.CALL if text.part == CALLS else turns[-1].voice, items)
    return survey, turns, known


def find_candidates(texts: Sequence[Text], survey: Survey, *, talk: bool) -> Iterator[Candidate]:
    """Cut the open texts into candidates, with the items that each would show."""
    for number, text in enumerate(texts):
        if not text.is_open:
            continue
        rate = text.tokens / len(text.text)
        said = text.text.lower() if talk and text.text.isascii() else text.text
        pieces = _clauses(text.text) if talk else _glue(split(text.text, text.kind))
        for piece in pieces:
            items = find_items(said, piece.start, piece.end)
            yield Candidate(
                text=number,
                start=piece.start,
                end=piece.end,
                cost=rate * (piece.end - piece.start) + _MARK_TOKENS,
                credits=_credits(rows_of(survey, items), talk=talk),
                factor=piece.weight * text.factor,
                must=piece.must or piece.label == "summary",
            )


def _credits(rows: Sequence[int], *, talk: bool) -> list[tuple[int, float]]:
    """Credit each item by how much of its surroundings the piece shows."""
    if talk:
        return [(row, 1.0) for row in set(rows) if row >= 0]
    best: dict[int, float] = {}
    last = len(rows) - 1
    for place, row in enumerate(rows):
        if row < 0:
            continue
        around = min(_CONTEXT, place) + min(_CONTEXT, last - place)
        credit = 1.0 if around >= _CONTEXT else 0.3 + 0.1 * around
        if credit > best.get(row, 0.0):
            best[row] = credit
    return list(best.items())


def _clauses(text: str) -> Iterator[Piece]:
    """Cut talk into clauses."""
    start = 0
    for found in _CLAUSE.finditer(text):
        if found.end() - start >= _MIN_CLAUSE or found.end() == len(text):
            if found.end() > start:
                yield Piece(start, found.end())
            start = found.end()


def _glue(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Join short neighbours of the same worth: a value needs its surroundings."""
    held: Piece | None = None
    for piece in pieces:
        if held is None:
            held = piece
        elif (
            piece.end - held.start <= _MIN_GLUE
            and piece.weight == held.weight
            and piece.must == held.must
        ):
            held = Piece(held.start, piece.end, held.weight, held.must, held.label)
        else:
            yield held
            held = piece
    if held is not None:
        yield held
