"""One summary for a whole stretch of a conversation, as long as the budget has room for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from refold.model.message import Message
from refold.model.plan import Fold, Outcome
from refold.stages.stand_in import choose_entities
from refold.stages.tags import summary_tag
from refold.strategies.prose import JOINT, Unit, make_units, pack_units
from refold.tokens.base import MESSAGE_OVERHEAD, CountedTexts

_MIN_CHARS: Final = 24
_CHARS_PER_TOKEN: Final = 4
_MAX_ENTITIES: Final = 15
_MAX_TRIES: Final = 8


def smallest_roll(sources: Sequence[Message]) -> Fold:
    """Fold *sources* into a message that only says how many there were."""
    return _fold(sources, f"[summary: {len(sources)} messages merged]")


def roll_up(sources: Sequence[Message], room: int, tokens: CountedTexts) -> Fold:
    """Fold *sources* into one message of at most *room* tokens, saying what matters most."""
    units = list(_units_of(sources))
    entities = _entities_of(sources)
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


def _units_of(sources: Sequence[Message]) -> Iterator[Unit]:
    """Yield the sentences of all sources in order; each message is a paragraph."""
    place = 0
    for number, message in enumerate(sources):
        for part in message.parts:
            for unit in make_units(part.text):
                yield Unit(place, unit.start, unit.text, unit.score, number)
                place += 1


def _entities_of(sources: Sequence[Message]) -> list[str]:
    text = "\n".join(part.text for message in sources for part in message.parts)
    return choose_entities(text, "", 10 * _MAX_ENTITIES)


def _tag(sources: Sequence[Message], units: list[Unit], entities: Sequence[str], chars: int) -> str:
    """Spell a summary of about *chars* characters that says who said what."""
    pieces: list[str] = []
    speaker = ""
    for unit in pack_units(units, chars):
        role = sources[unit.paragraph].role
        pieces.append(unit.text if role == speaker else f"{role}: {unit.text}")
        speaker = role
    body = JOINT.join(pieces)
    left = chars - len(body)
    named: list[str] = []
    for entity in entities:
        if len(entity) + 2 <= left and len(named) < _MAX_ENTITIES and entity not in body:
            named.append(entity)
            left -= len(entity) + 2
    return summary_tag(body or "…", merged=len(sources), entities=named)


def _fold(sources: Sequence[Message], tag: str) -> Fold:
    share = int(len(tag) / len(sources) + 0.5)
    rows = tuple((Outcome("compressed", "rolled_up", message.chars, share),) for message in sources)
    return Fold(sources=tuple(sources), texts={0: tag}, outcomes=rows, is_rolled=True)
