"""One summary for a whole stretch of a conversation, as long as the budget has room for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from refold.model.message import Message
from refold.model.plan import Fold, Outcome
from refold.stages import Analyses
from refold.stages.originals import handle_of
from refold.stages.tags import summary_tag
from refold.strategies.prose import JOINT, Units, pack_units
from refold.tokens.base import MESSAGE_OVERHEAD

_MIN_CHARS: Final = 24
_CHARS_PER_TOKEN: Final = 4
_MAX_ENTITIES: Final = 15
_MAX_TRIES: Final = 8
_MIN_ASKING: Final = 60
"""Tokens of room from which it is worth asking a model."""


def smallest_roll(sources: Sequence[Message]) -> Fold:
    """Fold *sources* into a message that only says how many there were."""
    turns = _turns(sources)
    noun = "message" if turns == 1 else "messages"
    return _fold(sources, summary_tag(f"{turns} {noun}", handle=handle_of(sources)))


def roll_up(sources: Sequence[Message], room: int, analyses: Analyses) -> Fold:
    """Fold *sources* into one message of at most *room* tokens, saying what matters most."""
    tokens = analyses.tokens
    asked = transcript(sources) if room >= _MIN_ASKING else ""
    written = analyses.written(asked) if asked else None
    if written is not None:
        tag = summary_tag(written, merged=_turns(sources), handle=handle_of(sources))
        if tokens(tag) + MESSAGE_OVERHEAD <= room:
            analyses.note_use(tag, asked)
            return _fold(sources, tag)
    units = _units_of(sources, analyses)
    entities = _entities_of(sources, analyses)
    chars = (room - MESSAGE_OVERHEAD) * _CHARS_PER_TOKEN
    for _ in range(_MAX_TRIES):
        if chars < _MIN_CHARS:
            break
        tag = _tag(sources, units, entities, chars)
        cost = tokens(tag) + MESSAGE_OVERHEAD
        if cost <= room:
            return _fold(sources, tag)
        chars = int(0.95 * chars * room / cost)
    return smallest_roll(sources)


def _turns(sources: Sequence[Message]) -> int:
    return sum(message.is_turn for message in sources)


def transcript(sources: Sequence[Message]) -> str:
    """Spell a stretch of conversation as one text that says who said what."""
    return "\n\n".join(
        f"{message.role}: {part.text}" for message in sources for part in message.parts
    )


def _units_of(sources: Sequence[Message], analyses: Analyses) -> Units:
    """Return the sentences of all sources in order; each message is a paragraph."""
    texts: list[str] = []
    scores: list[float] = []
    paragraphs: list[int] = []
    for number, message in enumerate(sources):
        for part in message.parts:
            units = analyses.units(part.text)
            texts += units.texts
            scores += units.scores
            paragraphs += [number] * len(units)
    return Units(texts, scores, paragraphs)


def _entities_of(sources: Sequence[Message], analyses: Analyses) -> Iterable[str]:
    return dict.fromkeys(
        name
        for message in sources
        for part in message.parts
        for name in analyses.entities(part.text)
    )


def _tag(sources: Sequence[Message], units: Units, entities: Iterable[str], chars: int) -> str:
    """Spell a summary of about *chars* characters that says who said what."""
    pieces: list[str] = []
    speaker = ""
    for place in pack_units(units, chars):
        role, text = sources[units.paragraphs[place]].role, units.texts[place]
        pieces.append(text if role == speaker else f"{role}: {text}")
        speaker = role
    body = JOINT.join(pieces)
    left = chars - len(body)
    named: list[str] = []
    for entity in entities:
        if len(named) == _MAX_ENTITIES:
            break
        if len(entity) + 2 <= left and entity not in body:
            named.append(entity)
            left -= len(entity) + 2
    return summary_tag(
        body or "…", merged=_turns(sources), entities=named, handle=handle_of(sources)
    )


def _fold(sources: Sequence[Message], tag: str) -> Fold:
    share = int(len(tag) / _turns(sources) + 0.5)
    rows = tuple(
        (Outcome("compressed", "rolled_up", message.chars, share * message.is_turn),)
        for message in sources
    )
    return Fold(sources=tuple(sources), texts={0: tag}, outcomes=rows, is_rolled=True)
