"""One message for a whole stretch of a conversation, in the room that there is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from refold.classic.detectors import LONGEST_NAME, DetectorTable
from refold.classic.names import MOST_NAMES, Names, choose_names, entity_cap
from refold.classic.rules import Write
from refold.classic.sentences import JOINT, Sentences, join, pack, read
from refold.classic.texts import Reader, View, tag_handle_of
from refold.messages.folds import Fold, Outcome
from refold.messages.formats import KNOWN_ROLES
from refold.messages.message import Message
from refold.messages.token_count import MESSAGE_OVERHEAD
from refold.notation.marks import GAP
from refold.notation.recognize import read_summary, visible_text
from refold.notation.spelling import ParsedSummary, Spelling, Summary

_MIN_CHARS: Final = 24  # in fewer, only the number of messages can be shown
_CHARS_PER_TOKEN: Final = 4
"""The first guess in the search for a length that fits; each try corrects it."""
_MOST_OF_A_TEXT: Final = 8
"""So many of its best sentences may stand for a text: for all of them there is no room."""
_ENOUGH_NAMES: Final = 60  # when so many are known, no further text is looked through for more
_MAX_TRIES: Final = 8  # bounds the search for counters whose counts do not grow with the text
_MIN_ASKING: Final = 60  # the least room, in tokens, for which a model is asked


def smallest_roll(sources: Sequence[Message], spelling: Spelling) -> Fold:
    """Fold *sources* into a message that only says how many there are."""
    handle = tag_handle_of(sources, spelling)
    return _fold(sources, spelling.only_count(_turns(sources), handle))


def roll_up(sources: Sequence[Message], room: int, reader: Reader, write: Write | None) -> Fold:
    """Fold *sources* into one message of at most *room* tokens that says what matters most."""
    handle, turns = tag_handle_of(sources, reader.spelling), _turns(sources)
    # A model is worth asking if there is room, and not all are summaries.
    if write and room >= _MIN_ASKING and any(_parse(m).messages == 1 for m in sources):
        asked = transcript(sources)
        written = write(asked)
        tag = reader.spelling.summary(Summary(written or "", turns), handle)
        if written is not None and reader.tokens.count(tag) + MESSAGE_OVERHEAD <= room:
            return _fold(sources, tag)
    groups: list[Sentences] = []
    speakers: list[str] = []
    names: dict[str, None] = {}
    for message in sources:
        parsed = _parse(message)
        for role, text in _lines(message, parsed):
            best = _best_of(reader.view(text))
            groups.append(best)
            speakers += [role] * len(best.texts)
        if len(names) < _ENOUGH_NAMES:
            names.update(dict.fromkeys(parsed.entities))
            texts = [parsed.body]
            if parsed.messages <= 1:
                texts = [visible_text(part.text) for part in message.parts]
            for text in texts:
                names.update(dict.fromkeys(_names_in(reader.view(text), reader.detectors)))
    stretch = join(groups) if groups else Sentences([], [], [])
    chars = (room - MESSAGE_OVERHEAD) * _CHARS_PER_TOKEN
    for _ in range(_MAX_TRIES):
        if chars < _MIN_CHARS:
            break
        body = _summarize(stretch, speakers, chars)
        listed = _listed(names, body, chars - len(body))
        tag = reader.spelling.summary(Summary(body or GAP, turns, listed), handle)
        cost = reader.tokens.count(tag) + MESSAGE_OVERHEAD
        if cost <= room:
            return _fold(sources, tag)
        chars = int(0.95 * chars * room / cost)
    return smallest_roll(sources, reader.spelling)


def _best_of(view: View) -> Sentences:
    """Return the best sentences of a text, which is one paragraph of a stretch.

    They stay known: when a conversation goes on, nearly the same stretch is rolled up again.
    """
    if view.best is None:
        texts, scores, _ = read(view)
        best = sorted(sorted(range(len(scores)), key=lambda n: -scores[n])[:_MOST_OF_A_TEXT])
        chosen = [texts[n] for n in best]
        view.best = Sentences(chosen, [scores[n] for n in best], [0] * len(best))
        view.forget()
    return view.best


def _names_in(view: View, detectors: DetectorTable) -> Sequence[str]:
    """Return the names that a summary of a text alone would list; they stay known, too."""
    if view.listed is None:
        view.listed = choose_names([Names(view, detectors)], "", entity_cap(len(view.text)))
    return view.listed


def transcript(sources: Sequence[Message]) -> str:
    """Write a stretch of conversation as one text, with the speakers."""
    lines: list[str] = []
    for message in sources:
        parsed = _parse(message)
        if parsed.messages > 1:  # a summary has its own labels
            lines.append(parsed.body or f"{parsed.messages} messages")
        else:
            lines += [f"{message.role}: {visible_text(part.text)}" for part in message.parts]
    return "\n\n".join(lines)


def _turns(sources: Sequence[Message]) -> int:
    """Count the turns in *sources*, including those that summaries among them stand for."""
    return sum(_parse(message).messages for message in sources if message.is_turn)


def _parse(message: Message) -> ParsedSummary:
    """Return what *message* says if it reads like a summary; else that it is one message."""
    parsed = read_summary(message.parts[0].text) if len(message.parts) == 1 else None
    return parsed or ParsedSummary("", 1)


def _lines(message: Message, parsed: ParsedSummary) -> Iterator[tuple[str, str]]:
    """Yield who says what in a message; of a summary, its sentences and their speakers."""
    role = message.role
    for piece in parsed.body.split(JOINT) if parsed.body else ():
        head, is_named, text = piece.partition(": ")
        if is_named and head in KNOWN_ROLES:
            role, piece = head, text  # noqa: PLW2901
        yield role, piece
    if not parsed.body and parsed.messages == 1:
        yield from ((role, visible_text(part.text)) for part in message.parts)


def _summarize(stretch: Sentences, speakers: Sequence[str], chars: int) -> str:
    """Return about *chars* characters of a stretch, with the speakers."""
    pieces: list[str] = []
    speaker = ""
    for place in pack(stretch, chars):
        role, text = speakers[place], stretch.texts[place]
        pieces.append(text if role == speaker else f"{role}: {text}")
        speaker = role
    return JOINT.join(pieces)


def _listed(names: dict[str, None], body: str, left: int) -> list[str]:
    """Return the names that *body* lacks, as far as there is room."""
    listed: list[str] = []
    for name in names:
        if len(name) + 2 <= min(left, LONGEST_NAME + 2) and name not in body:
            listed.append(name)
            left -= len(name) + 2
        if len(listed) == MOST_NAMES:
            break
    return listed


def _fold(sources: Sequence[Message], tag: str) -> Fold:
    share = int(len(tag) / max(1, sum(message.is_turn for message in sources)) + 0.5)
    outcomes = [Outcome("compressed", "rolled_up", m.chars, share * m.is_turn) for m in sources]
    rows = tuple([(outcome,) for outcome in outcomes])
    return Fold(sources=tuple(sources), texts={0: tag}, outcomes=rows, is_rolled=True)
