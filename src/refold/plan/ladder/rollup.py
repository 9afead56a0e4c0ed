"""One summary for a whole stretch of a conversation, as long as the budget has room for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from refold.messages.formats import KNOWN_ROLES
from refold.messages.handles import tag_handle_of
from refold.messages.message import Message
from refold.notation.marks import GAP
from refold.notation.recognize import read_summary, said_in
from refold.notation.spelling import Said, Spelling, Summary
from refold.plan.fold import Fold, Outcome
from refold.plan.shorten.prose import JOINT, Score, Units, pack_units
from refold.plan.text_cache import TextCache
from refold.plan.token_count import MESSAGE_OVERHEAD

_MIN_CHARS: Final = 24
"""In less than this nothing can be said but how many messages there were."""
_CHARS_PER_TOKEN: Final = 4
"""Where the search for the length that fits begins; each try corrects it by what the last one
cost."""
_MAX_ENTITIES: Final = 15
"""As many as the contract lets a tag list."""
_MAX_TRIES: Final = 8
"""Each try is corrected by what the last one cost; the bound is for counters that do not grow with
their text."""
_MIN_ASKING: Final = 60
"""Tokens of room from which it is worth asking a model."""


def smallest_roll(sources: Sequence[Message], spelling: Spelling) -> Fold:
    """Fold *sources* into a message that only says how many there were."""
    return _fold(sources, spelling.only_count(_turns(sources), tag_handle_of(sources, spelling)))


def roll_up(sources: Sequence[Message], room: int, text_cache: TextCache) -> Fold:
    """Fold *sources* into one message of at most *room* tokens, saying what matters most."""
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
    """Count the turns behind *sources*; a summary among them says how many it stands for."""
    return sum(_read(message).messages for message in sources if message.is_turn)


def _read(message: Message) -> Said:
    """Return what *message* says if it reads like a summary; else that it stands for itself."""
    said = read_summary(message.parts[0].text) if len(message.parts) == 1 else None
    return said or Said("", 1)


def transcript(sources: Sequence[Message]) -> str:
    """Spell a stretch of conversation as one text that says who said what."""
    return "\n\n".join(line for message in sources for line in _spoken(message))


def _spoken(message: Message) -> Iterator[str]:
    """Yield what *message* says; a summary says itself who said what."""
    said = _read(message)
    if said.messages > 1:
        yield said.body or f"{said.messages} messages"
        return
    yield from (f"{message.role}: {said_in(part.text)}" for part in message.parts)


@dataclass(slots=True)
class _Stretch:
    """The sentences of a stretch in order, and who says those of each paragraph."""

    texts: list[str] = field(default_factory=list[str])
    scores: list[Score] = field(default_factory=list[Score])
    paragraphs: list[int] = field(default_factory=list[int])
    speakers: list[str] = field(default_factory=list[str])

    def add(self, role: str, units: Units) -> None:
        """Add what one message says; each is a paragraph."""
        self.texts += units.texts
        self.scores += units.scores
        self.paragraphs += [len(self.speakers)] * len(units)
        self.speakers.append(role)


def _read_stretch(sources: Sequence[Message], text_cache: TextCache) -> _Stretch:
    """Read *sources*; a summary among them gives back the sentences that it was made of."""
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
    """Cut the body of a summary into what was put together, each with its speaker."""
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
    """Make a summary of about *chars* characters that says who said what."""
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
