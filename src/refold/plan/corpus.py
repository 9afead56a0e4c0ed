"""The texts of a conversation, cut into pieces, and the items in each piece."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp
from typing import Final, NamedTuple

from refold.kinds import TABLE, Grade, KindTable
from refold.messages.message import Call, Message
from refold.messages.token_count import CountedTexts
from refold.notation.recognize import Shown, read_shown
from refold.plan.calls import find_failed, spell_calls, subject_of
from refold.plan.choose import Candidates
from refold.plan.item_index import ItemIndex, ItemStats, Voice
from refold.plan.layout import SHORT_TOKENS, Key, Layout, Place
from refold.plan.pieces import ONCE, cut_text
from refold.plan.relevance import Turn
from refold.plan.typed import is_typed_text
from refold.scan.items import distinct_items

CALLS: Final = -1
"""In place of a part number: the tool calls of a message."""
OUTDATED: Final = 0.5
"""The factor for a read whose file was written since."""
_MARK: Final = 1.0
"""Tokens of the mark that shows a gap."""
_FULL_CONTEXT_ITEMS: Final = 7
"""A piece of at least this many items keeps their full relevance; of fewer, a share."""
_ALONE, _PER_ITEM = 0.3, 0.1

# Tuned on 293 cuts of recorded runs: how well a model that reads the view foresees the next
# messages (docs/benchmarks.md).
_RECENCY: Final = 4.0
"""How much more the newest message counts: the next turn continues from it. With 0 a model foresees
.03 fewer of the next words at 30 % of the tokens; 8 gains nothing more and costs older values."""
_RECENCY_TURNS: Final = 3.0
"""After so many messages about a third of that is left."""
_VOICE_FACTOR: Final[Mapping[Voice, float]] = {
    Voice.USER: 1.2,
    Voice.ASSISTANT: 1.2,
    Voice.CALL: 1.2,
    Voice.TOOL: 1.0,
}
"""The factor of each voice: talk and calls tell what was asked and done. More costs values."""
_TYPED_GLUE: Final = 60
"""Typed text is cut into sentences, so that each message leaves a trace for few tokens."""
_TALK_GLUE: Final = 300
_NEW_GLUE: Final = 300
_GLUE: Final = 140
"""Characters up to which neighbors share a piece: in talk and calls, in the newest results, in
older ones. Longer pieces are easier to continue from, short ones hold more values per token."""
_NEW_TURNS: Final = 4
"""Results among so many of the last messages are the newest ones."""


class Text(NamedTuple):
    """A text of the conversation: a part of a message, or all its calls."""

    message: Message
    part: int
    """Its number in the message, or `CALLS`."""
    text: str
    tokens: int
    kind: str = ""
    is_open: bool = False
    """Whether its pieces compete for room."""
    is_outdated: bool = False
    """Whether it shows a file that was written since."""
    is_typed: bool = False
    """Whether a person typed it for this turn."""
    tool: str = ""
    """The tool that returned it, if one did."""
    subject: str = ""
    """What the call was about that returned it, in a word or two."""
    heads: tuple[tuple[int, bool], ...] = ()
    """Where calls begin, and whether each may have changed something."""
    times: Mapping[int, int] = ONCE
    """End of a piece whose words the text repeats → how often."""

    @property
    def key(self) -> Key:
        """Its message and part number."""
        return self.message.index, self.part


class Cuts(NamedTuple):
    """The pieces of all texts in reading order, as columns."""

    of: list[range]
    """The pieces of each text."""
    ends: list[int]
    """Where each piece ends in its text."""
    grades: list[Grade]
    credits: list[float]
    """The share of the relevance of its items that a piece keeps: items need context."""
    rows: list[tuple[int, ...]]
    """The items of each piece, by their rows in the index."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """The indexed texts of a conversation: its items, turns and pieces."""

    stats: ItemStats
    turns: list[Turn]
    cuts: Cuts
    known: set[str]
    """Items in messages of preserved roles, which are shown in any case."""


def voice_of(message: Message) -> Voice:
    """Return who speaks in *message*."""
    if message.is_tool_result:
        return Voice.TOOL
    return Voice.USER if message.role == "user" else Voice.ASSISTANT


def shown_in(text: str) -> Shown:
    """Return what *text* shows; if it is a stand-in, without its marks."""
    return read_shown(text) or Shown(text, len(text))


def read_texts(
    messages: Sequence[Message],
    tokens: CountedTexts,
    recoded: Mapping[Key, str],
    *,
    kinds: KindTable = TABLE,
) -> list[Text]:
    """Return all texts that a model sees, in reading order; *recoded* has re-encoded ones."""
    texts: list[Text] = []
    calls: dict[str, Call] = {}
    failed = find_failed(messages)
    for message in messages:
        if not message.is_turn:
            continue
        own = {call.id: call for call in message.calls}
        calls.update(own)
        may_be_typed = message.role == "user"
        for number, part in enumerate(message.parts):
            text = recoded.get((message.index, number)) or shown_in(part.text).body
            if text:
                call = calls.get(part.call_id or "")
                kind = kinds.kind_of(text, call.name, call.spelled) if call else kinds.kind_of(text)
                typed = (
                    may_be_typed
                    and not part.call_id
                    and is_typed_text(text, None if call else kind)
                )
                tool, subject = (call.name, subject_of(call)) if call else ("", "")
                texts.append(
                    Text(
                        message,
                        number,
                        text,
                        tokens(text),
                        kind,
                        is_typed=typed,
                        tool=tool,
                        subject=subject,
                    )
                )
        if own:
            spelled = spell_calls(list(own.values()), [id_ in failed for id_ in own])
            texts.append(
                Text(message, CALLS, spelled.text, tokens(spelled.text), heads=spelled.heads)
            )
    return texts


def index_texts(
    texts: Sequence[Text], preserved: Container[str], *, talk: bool, kinds: KindTable = TABLE
) -> Corpus:
    """Cut and index all texts; items in messages of *preserved* roles are known."""
    index = ItemIndex()
    turns: list[Turn] = []
    cuts = Cuts([], [], [], [], [])
    known: set[str] = set()
    credit_of = [
        1.0 if talk else _ALONE + _PER_ITEM * (count - 1) for count in range(_FULL_CONTEXT_ITEMS)
    ]
    message: Message | None = None
    newest = texts[-1].message.index - _NEW_TURNS if texts else 0
    for text in texts:
        if text.message.role in preserved:
            known.update(distinct_items(_as_compared(text.text, talk=talk)))
            cuts.of.append(range(0))
            continue
        if message is text.message:
            last = turns[-1]
            chars, tokens = last.chars + len(text.text), last.tokens + text.tokens
            turns[-1] = Turn(last.voice, chars, tokens)
        else:
            message = text.message
            turns.append(Turn(voice_of(message), len(text.text), text.tokens))
        voice = Voice.CALL if text.part == CALLS else turns[-1].voice
        glue = _TALK_GLUE
        if voice is Voice.TOOL:
            glue = _NEW_GLUE if text.message.index > newest else _GLUE
        elif text.is_typed:
            glue = _TYPED_GLUE
        ends, grades = cut_text(
            text.text, text.kind, talk=talk, glue=glue, heads=text.heads, kinds=kinds
        )
        compared = _as_compared(text.text, talk=talk)
        counts, rows = index.add_text(len(turns) - 1, int(voice), compared, ends)
        cuts.of.append(range(len(cuts.ends), len(cuts.ends) + len(ends)))
        cuts.ends.extend(ends)
        cuts.grades.extend(grades)
        cuts.credits.extend([credit_of[n] if n < _FULL_CONTEXT_ITEMS else 1.0 for n in counts])
        cuts.rows.extend(rows)
    return Corpus(index.stats(), turns, cuts, known)


def _as_compared(text: str, *, talk: bool) -> str:
    """Return *text* for comparing words, no longer or shorter: in *talk* capitals say little."""
    return text.lower() if talk and text.isascii() else text


def open_texts(texts: Sequence[Text], layout: Layout, superseded: Container[Key]) -> list[Text]:
    """Mark the texts whose pieces compete, and which of them are *superseded*."""
    return [
        text._replace(is_open=True, is_outdated=text.key in superseded)
        if _competes(text, layout)
        else text
        for text in texts
    ]


def _competes(text: Text, layout: Layout) -> bool:
    if layout.shows_all(text.key, text.tokens):
        return False
    match layout.places[text.message.index]:
        case Place.WHOLE:
            return False
        case Place.DIGEST:
            return True
        case Place.EXCERPT:
            return text.part != CALLS and text.tokens > SHORT_TOKENS


def find_cut_away(
    texts: Sequence[Text], cuts: Cuts, calls: Mapping[int, Mapping[int, Call]]
) -> frozenset[int]:
    """Return the pieces of calls in place that are clipped away.

    *calls* are the clipped calls, by message index and number.
    """
    found: set[int] = set()
    for text, pieces in zip(texts, cuts.of, strict=True):
        short = calls.get(text.message.index) if text.part == CALLS else None
        if not short:
            continue
        own = [short.get(n, call) for n, call in enumerate(text.message.calls)]
        shown, start = spell_calls(own, [False] * len(own)).text, 0
        for piece in pieces:
            if text.text[start : cuts.ends[piece]].strip() not in shown:
                found.add(piece)
            start = cuts.ends[piece]
    return frozenset(found)


def _headings(first: int, grades: Sequence[Grade]) -> Iterator[int]:
    """Yield the heading of each candidate of a text, itself if none; *first* is its first one."""
    heading: int | None = None
    for number, grade in enumerate(grades, first):
        if grade.leads:
            heading = number
        elif grade.begins:
            heading = None
        yield number if heading is None else heading


def _factor_of(text: Text, last: int) -> float:
    """Return how much a text counts by its voice, its age, and whether it is out of date."""
    voice = Voice.CALL if text.part == CALLS else voice_of(text.message)
    factor = _VOICE_FACTOR[voice] if voice is not Voice.USER or text.is_typed else 1.0
    if text.is_outdated:
        factor *= OUTDATED
    return factor * (1.0 + _RECENCY * exp((text.message.index - last) / _RECENCY_TURNS))


def find_candidates(texts: Sequence[Text], cuts: Cuts, *, talk: bool = False) -> Candidates:
    """Return the pieces of the open texts as candidates; in plain *talk* all texts count alike."""
    found = Candidates()
    last = texts[-1].message.index if texts else 0
    for number, (text, own) in enumerate(zip(texts, cuts.of, strict=True)):
        if not text.is_open:
            continue
        pieces = slice(own.start, own.stop)
        ends, grades = cuts.ends[pieces], cuts.grades[pieces]
        starts = [0, *ends][: len(ends)]
        rate = text.tokens / len(text.text)
        factor = 1.0 if talk else _factor_of(text, last)
        found.heading.extend(_headings(len(found), grades))
        found.text.extend([number] * len(own))
        found.start.extend(starts)
        found.end.extend(ends)
        found.cost.extend([rate * (b - a) + _MARK for a, b in zip(starts, ends, strict=True)])
        found.rows.extend(cuts.rows[pieces])
        found.credit.extend(cuts.credits[pieces])
        found.factor.extend([grade.weight * factor for grade in grades])
        found.is_required.extend([grade.must or grade.label == "summary" for grade in grades])
        found.grade.extend(grades)
    return found
