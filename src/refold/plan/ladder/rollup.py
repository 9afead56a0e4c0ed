"""Summarize a whole stretch of a conversation in one message of a given size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from refold.messages.folds import Fold, Outcome
from refold.messages.formats import KNOWN_ROLES
from refold.messages.handles import tag_handle_of
from refold.messages.message import Message
from refold.messages.token_count import MESSAGE_OVERHEAD
from refold.notation.marks import GAP
from refold.notation.recognize import read_summary, said_in
from refold.notation.spelling import Said, Spelling, Summary
from refold.plan.shorten.prose import JOINT, Score, Units, pack_units
from refold.plan.text_cache import TextCache

_MIN_CHARS: Final = 24
"""In fewer characters, only the number of messages can be said."""
_CHARS_PER_TOKEN: Final = 4
"""The first guess in the search for a length that fits; each try corrects it."""
_MAX_ENTITIES: Final = 15
"""The most that a tag may list, by the contract."""
_MAX_TRIES: Final = 8
"""Bounds the search for counters whose counts do not grow with the text."""
_MIN_ASKING: Final = 60
"""The least room, in tokens, for which a model is asked."""


def smallest_roll(sources: Sequence[Message], spelling: Spelling) -> Fold:
    """Fold *sources* into a message that only says how many there are."""
    return _fold(sources, spelling.only_count(_turns(sources), tag_handle_of(sources, spelling)))


def roll_up(sources: Sequence[Message], room: int, text_cache: TextCache) -> Fold:
    """Fold *sources* into one message of at most *room* tokens that says what matters most."""
    tokens, spelling = text_cache.tokens, text_cache.spelling
    is_news = any(_read(message).messages == 1 for message in sources)
    asked = transcript(sources) if is_news and room >= _MIN_ASKING else ""
    written = text_cache.written(asked) if asked else None
    if written is not None:
        said = Summary(written, _turns(sources))
        tag = spelling.summary(said, tag_handle_of(sources, spelling))
        if tokens(tag) + MESSAGE_OVERHEAD <= room:
            text_cache.note_use(tag, asked)
            return _fold(sources, tag)
    stretch = _read_stretch(sources, text_cache)
    entities = _entities_of(sources, text_cache)
    chars = (room - MESSAGE_OVERHEAD) * _CHARS_PER_TOKEN
    for _ in range(_MAX_TRIES):
        if chars < _MIN_CHARS:
            break
        said = _summarize(sources, stretch, entities, chars)
        tag = spelling.summary(said, tag_handle_of(sources, spelling))
        cost = tokens(tag) + MESSAGE_OVERHEAD
        if cost <= room:
            return _fold(sources, tag)
        chars = int(0.95 * chars * room / cost)
    return smallest_roll(sources, spelling)


def _turns(sources: Sequence[Message]) -> int:
    """Count the turns in *sources*, including those behind summaries among them."""
    return sum(_read(message).messages for message in sources if message.is_turn)


def _read(message: Message) -> Said:
    """Return what *message* says if it reads like a summary; else that it is one message."""
    said = read_summary(message.parts[0].text) if len(message.parts) == 1 else None
    return said or Said("", 1)


def transcript(sources: Sequence[Message]) -> str:
    """Write a stretch of conversation as one text, with the speakers."""
    return "\n\n".join(line for message in sources for line in _spoken(message))


def _spoken(message: Message) -> Iterator[str]:
    """Yield the texts of *message* with its role; a summary has its own labels."""
    said = _read(message)
    if said.messages > 1:
        yield said.body or f"{said.messages} messages"
        return
    yield from (f"{message.role}: {said_in(part.text)}" for part in message.parts)


@dataclass(slots=True)
class _Stretch:
    """The sentences of a stretch in order, and the speaker of each paragraph."""

    texts: list[str] = field(default_factory=list[str])
    scores: list[Score] = field(default_factory=list[Score])
    paragraphs: list[int] = field(default_factory=list[int])
    speakers: list[str] = field(default_factory=list[str])

    def add(self, role: str, units: Units) -> None:
        """Add the sentences of one text as a paragraph."""
        self.texts += units.texts
        self.scores += units.scores
        self.paragraphs += [len(self.speakers)] * len(units)
        self.speakers.append(role)


def _read_stretch(sources: Sequence[Message], text_cache: TextCache) -> _Stretch:
    """Read the sentences of *sources*, also those that summaries among them are made of."""
    stretch = _Stretch()
    for message in sources:
        said = _read(message)
        if said.body:
            for role, sentence in _lines(said.body, message.role):
                stretch.add(role, text_cache.units(sentence))
        elif said.messages == 1:
            for part in message.parts:
                stretch.add(message.role, text_cache.units(said_in(part.text)))
    return stretch


def _lines(body: str, role: str) -> Iterator[tuple[str, str]]:
    """Split the body of a summary into its sentences, each with its speaker."""
    for piece in body.split(JOINT):
        head, is_named, text = piece.partition(": ")
        if is_named and head in KNOWN_ROLES:
            role = head
            yield role, text
        else:
            yield role, piece


def _entities_of(sources: Sequence[Message], text_cache: TextCache) -> Iterable[str]:
    return dict.fromkeys(name for message in sources for name in _names_in(message, text_cache))


def _names_in(message: Message, text_cache: TextCache) -> Iterable[str]:
    said = _read(message)
    if said.messages > 1:
        return (*said.entities, *text_cache.entities(said.body))
    return (name for part in message.parts for name in text_cache.entities(said_in(part.text)))


def _summarize(
    sources: Sequence[Message], stretch: _Stretch, entities: Iterable[str], chars: int
) -> Summary:
    """Return a summary of about *chars* characters, with the speakers."""
    pieces: list[str] = []
    speaker = ""
    for place in pack_units(Units(stretch.texts, stretch.scores, stretch.paragraphs), chars):
        role, text = stretch.speakers[stretch.paragraphs[place]], stretch.texts[place]
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
    return Summary(body or GAP, _turns(sources), named)


def _fold(sources: Sequence[Message], tag: str) -> Fold:
    share = int(len(tag) / sum(message.is_turn for message in sources) + 0.5)
    rows = tuple(
        (Outcome("compressed", "rolled_up", message.chars, share * message.is_turn),)
        for message in sources
    )
    return Fold(sources=tuple(sources), texts={0: tag}, outcomes=rows, is_rolled=True)
