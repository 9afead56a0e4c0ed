"""One message for a whole stretch of a conversation, in the room that there is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from refold.classic.reader import Reader, Writer
from refold.classic.sentences import JOINT, Sentences, join, pack
from refold.messages.folds import Fold, Outcome
from refold.messages.formats import KNOWN_ROLES
from refold.messages.handles import tag_handle_of
from refold.messages.message import Message
from refold.messages.token_count import MESSAGE_OVERHEAD
from refold.notation.marks import GAP
from refold.notation.recognize import read_summary, said_in
from refold.notation.spelling import Said, Spelling, Summary

_MIN_CHARS: Final = 24
"""In fewer characters, only the number of messages can be shown."""
_CHARS_PER_TOKEN: Final = 4
"""The first guess in the search for a length that fits; each try corrects it."""
_MAX_NAMES: Final = 15
_LONGEST_NAME: Final = 120
_MOST_OF_A_TEXT: Final = 8
"""So many of its best sentences may stand for a text: for all of them there is no room."""
_ENOUGH_NAMES: Final = 60
"""When so many are known, no further text is looked through for more."""
_MAX_TRIES: Final = 8
"""Bounds the search for counters whose counts do not grow with the text."""
_MIN_ASKING: Final = 60
"""The least room, in tokens, for which a model is asked."""


def smallest_roll(sources: Sequence[Message], spelling: Spelling) -> Fold:
    """Fold *sources* into a message that only says how many there are."""
    handle = tag_handle_of(sources, spelling)
    return _fold(sources, spelling.only_count(_turns(sources), handle))


def roll_up(sources: Sequence[Message], room: int, reader: Reader, writer: Writer | None) -> Fold:
    """Fold *sources* into one message of at most *room* tokens that says what matters most."""
    handle = tag_handle_of(sources, reader.spelling)
    turns = _turns(sources)
    asked = transcript(sources) if writer is not None and _may_ask(sources, room) else ""
    written = writer.written(asked) if writer is not None and asked else None
    if writer is not None and written is not None:
        tag = reader.spelling.summary(Summary(written, turns), handle)
        if reader.tokens.count(tag) + MESSAGE_OVERHEAD <= room:
            writer.note_use(tag, asked)
            return _fold(sources, tag)
    groups, speakers = _read(sources, reader)
    stretch = join(groups) if groups else Sentences([], [], [])
    names = list(_names(sources, reader))
    chars = (room - MESSAGE_OVERHEAD) * _CHARS_PER_TOKEN
    for _ in range(_MAX_TRIES):
        if chars < _MIN_CHARS:
            break
        tag = reader.spelling.summary(_summarize(stretch, speakers, names, chars, turns), handle)
        cost = reader.tokens.count(tag) + MESSAGE_OVERHEAD
        if cost <= room:
            return _fold(sources, tag)
        chars = int(0.95 * chars * room / cost)
    return smallest_roll(sources, reader.spelling)


def _may_ask(sources: Sequence[Message], room: int) -> bool:
    """Tell whether a model is worth asking: there is room, and not all are summaries."""
    return room >= _MIN_ASKING and any(_parse(message).messages == 1 for message in sources)


def transcript(sources: Sequence[Message]) -> str:
    """Write a stretch of conversation as one text, with the speakers."""
    lines: list[str] = []
    for message in sources:
        parsed = _parse(message)
        if parsed.messages > 1:  # a summary has its own labels
            lines.append(parsed.body or f"{parsed.messages} messages")
        else:
            lines += [f"{message.role}: {said_in(part.text)}" for part in message.parts]
    return "\n\n".join(lines)


def _turns(sources: Sequence[Message]) -> int:
    """Count the turns in *sources*, including those that summaries among them stand for."""
    return sum(_parse(message).messages for message in sources if message.is_turn)


def _parse(message: Message) -> Said:
    """Return what *message* says if it reads like a summary; else that it is one message."""
    parsed = read_summary(message.parts[0].text) if len(message.parts) == 1 else None
    return parsed or Said("", 1)


def _read(sources: Sequence[Message], reader: Reader) -> tuple[list[Sentences], list[str]]:
    """Return the sentences of a stretch, also of summaries in it, and who speaks each."""
    groups: list[Sentences] = []
    speakers: list[str] = []
    for message in sources:
        parsed = _parse(message)
        lines = [(message.role, said_in(part.text)) for part in message.parts]
        if parsed.body:
            lines = list(_lines(parsed.body, message.role))
        elif parsed.messages > 1:
            continue
        for role, text in lines:
            sentences = reader.sentences(text)
            scores = sentences.scores
            best = sorted(range(len(scores)), key=lambda place: -scores[place])[:_MOST_OF_A_TEXT]
            best.sort()
            # To a stretch, each text is one paragraph.
            groups.append(
                Sentences(
                    [sentences.texts[place] for place in best],
                    [scores[place] for place in best],
                    [0] * len(best),
                )
            )
            speakers += [role] * len(best)
            reader.view(text).forget()
    return groups, speakers


def _lines(body: str, role: str) -> Iterator[tuple[str, str]]:
    """Split the body of a summary into its sentences, each with its speaker."""
    for piece in body.split(JOINT):
        head, is_named, text = piece.partition(": ")
        if is_named and head in KNOWN_ROLES:
            role = head
            yield role, text
        else:
            yield role, piece


def _names(sources: Sequence[Message], reader: Reader) -> Iterable[str]:
    """Return what the first messages name."""
    chosen: dict[str, None] = {}
    for message in sources:
        parsed = _parse(message)
        texts = [parsed.body] if parsed.messages > 1 else [said_in(p.text) for p in message.parts]
        chosen.update(dict.fromkeys(parsed.entities))
        for text in texts:
            chosen.update(dict.fromkeys(reader.names([text], "")))
        if len(chosen) >= _ENOUGH_NAMES:
            break
    return chosen


def _summarize(
    stretch: Sentences, speakers: Sequence[str], names: Sequence[str], chars: int, turns: int
) -> Summary:
    """Return a summary of about *chars* characters, with the speakers."""
    pieces: list[str] = []
    speaker = ""
    for place in pack(stretch, chars):
        role, text = speakers[place], stretch.texts[place]
        pieces.append(text if role == speaker else f"{role}: {text}")
        speaker = role
    body = JOINT.join(pieces)
    left = chars - len(body)
    listed: list[str] = []
    for name in names:
        if len(listed) == _MAX_NAMES:
            break
        if len(name) + 2 <= left and len(name) <= _LONGEST_NAME and name not in body:
            listed.append(name)
            left -= len(name) + 2
    return Summary(body or GAP, turns, listed)


def _fold(sources: Sequence[Message], tag: str) -> Fold:
    share = int(len(tag) / max(1, sum(message.is_turn for message in sources)) + 0.5)
    rows = tuple(
        [
            (Outcome("compressed", "rolled_up", message.chars, share * message.is_turn),)
            for message in sources
        ]
    )
    return Fold(sources=tuple(sources), texts={0: tag}, outcomes=rows, is_rolled=True)
