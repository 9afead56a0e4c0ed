"""The texts of a conversation, cut into pieces, with what each piece says."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp
from typing import Final, NamedTuple

from refold.files.calls import CallEffects
from refold.kinds import TABLE, Grade, KindTable
from refold.messages.message import Call, Message
from refold.notation.recognize import Shown, read_shown
from refold.plan.calls import find_failed, spell_calls, subject_of
from refold.plan.choose import Candidates
from refold.plan.item_index import ItemStats, Voice, start_index
from refold.plan.layout import SHORT_TOKENS, Key, Layout, Place
from refold.plan.pieces import ONCE, cut_text
from refold.plan.relevance import Turn
from refold.plan.token_count import CountedTexts
from refold.plan.typed import is_typed_text
from refold.scan.items import distinct_items

CALLS: Final = -1
"""Stands for the number of a part: the tool calls of a message."""
OUTDATED: Final = 0.5
"""What a read counts once its file was written."""
_MARK: Final = 1.0
"""Tokens of the mark that shows a gap."""
_FULL_CONTEXT_ITEMS: Final = 7
"""With this many items around it a value keeps its full worth."""
_ALONE, _PER_ITEM = 0.3, 0.1

# Tuned side by side on 293 cuts of recorded runs: how well a model foresees the next messages
# (docs/benchmarks.md). What is newest is gone on from; talk and calls tell what was asked and done.
_RECENCY: Final = 4.0
"""How much more the newest message is worth; 0 loses .03 of the next words at 30 % of the tokens,
8 gains nothing more and costs older values."""
_RECENCY_TURNS: Final = 3.0
"""After so many turns about a third of that is left."""
_VOICE_WORTH: Final[Mapping[Voice, float]] = {
    Voice.USER: 1.2,
    Voice.ASSISTANT: 1.2,
    Voice.CALL: 1.2,
    Voice.TOOL: 1.0,
}
"""What the words of each are worth beside what tools returned; more costs values."""
_TYPED_GLUE: Final = 60
"""What people typed is shown sentence by sentence: each message leaves a trace for little."""
_TALK_GLUE: Final = 300
_NEW_GLUE: Final = 300
_GLUE: Final = 140
"""Up to how many characters neighbours share a piece: in talk and calls, in the newest results, in
older ones. Whole stretches are easier to go on from, small ones hold more values to a token."""
_NEW_TURNS: Final = 4
"""Results of so many of the last turns are the newest ones."""


class Text(NamedTuple):
    """A text that competes, or is shown anyway."""

    message: Message
    part: int
    """Its number in the message, or `CALLS`."""
    text: str
    tokens: int
    kind: str = ""
    is_open: bool = False
    """Whether its pieces compete."""
    is_outdated: bool = False
    """Whether the file that it shows was written since."""
    is_typed: bool = False
    """Whether a person typed it for this turn."""
    tool: str = ""
    """The tool that returned it, if one did."""
    subject: str = ""
    """What the call was about that brought it, in a word or two."""
    heads: tuple[tuple[int, bool], ...] = ()
    """Where calls begin, and whether each may have changed something."""
    times: Mapping[int, int] = ONCE
    """Where a piece ends whose words were said more than once → how often."""

    @property
    def key(self) -> Key:
        """Name it by its place."""
        return self.message.index, self.part


class Cuts(NamedTuple):
    """The pieces of all texts in reading order, and what each says: columns."""

    of: list[range]
    """Which pieces each text has."""
    ends: list[int]
    """Where each ends in its text."""
    grades: list[Grade]
    credits: list[float]
    """How much of the worth of its items it keeps: an item needs others around it."""
    rows: list[tuple[int, ...]]
    """The items it shows, as rows of the statistics."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """The indexed texts of a conversation: statistics of the items, the turns, the pieces."""

    stats: ItemStats
    turns: list[Turn]
    cuts: Cuts
    known: set[str]
    """What the preserved roles say: it will be there in any case."""


def voice_of(message: Message) -> Voice:
    """Tell who speaks."""
    if message.is_tool_result:
        return Voice.TOOL
    return Voice.USER if message.role == "user" else Voice.ASSISTANT


def shown_in(text: str) -> Shown:
    """Return what *text* says, without the marks that it has if it is a stand-in."""
    return read_shown(text) or Shown(text, len(text))


def read_texts(
    messages: Sequence[Message],
    tokens: CountedTexts,
    recoded: Mapping[Key, str],
    effects: CallEffects | None = None,
    *,
    kinds: KindTable = TABLE,
) -> list[Text]:
    """List all texts that a model sees, in reading order; *recoded* are those said shorter.

    *effects* tell what the calls do with files, for whoever asks again.
    """
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
                tool, subject = (call.name, subject_of(call, effects)) if call else ("", "")
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
            spelled = spell_calls(list(own.values()), [id_ in failed for id_ in own], effects)
            texts.append(
                Text(message, CALLS, spelled.text, tokens(spelled.text), heads=spelled.heads)
            )
    return texts


def index_texts(
    texts: Sequence[Text], preserved: Container[str], *, talk: bool, kinds: KindTable = TABLE
) -> Corpus:
    """Cut and index all texts; what the *preserved* roles say is known."""
    index = start_index()
    turns: list[Turn] = []
    cuts = Cuts([], [], [], [], [])
    known: set[str] = set()
    credit_of = [1.0 if talk else _credit(count) for count in range(_FULL_CONTEXT_ITEMS)]
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
    """Return *text* as its words are compared, as long as it was: in *talk* capitals say little."""
    return text.lower() if talk and text.isascii() else text


def _credit(items: int) -> float:
    return _ALONE + _PER_ITEM * (items - 1)


def open_texts(texts: Sequence[Text], layout: Layout, superseded: Container[Key]) -> list[Text]:
    """Mark the texts whose pieces compete; those that are *superseded* are worth less."""
    return [_open(text, superseded) if _competes(text, layout) else text for text in texts]


def _open(text: Text, superseded: Container[Key]) -> Text:
    return text._replace(is_open=True, is_outdated=text.key in superseded)


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
    """Return the pieces of calls that nobody sees: those in arguments that are cut in place.

    *calls* are the cut ones, by their message and their number.
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


def _worth_of(text: Text, last: int) -> float:
    """Return what a text is worth by who says it, how long ago, and whether it still holds."""
    voice = Voice.CALL if text.part == CALLS else voice_of(text.message)
    worth = _VOICE_WORTH[voice] if voice is not Voice.USER or text.is_typed else 1.0
    if text.is_outdated:
        worth *= OUTDATED
    return worth * (1.0 + _RECENCY * exp((text.message.index - last) / _RECENCY_TURNS))


def find_candidates(texts: Sequence[Text], cuts: Cuts, *, talk: bool = False) -> Candidates:
    """Make the pieces of the open texts candidates; in plain *talk* all voices count alike."""
    found = Candidates()
    last = texts[-1].message.index if texts else 0
    for number, (text, own) in enumerate(zip(texts, cuts.of, strict=True)):
        if not text.is_open:
            continue
        pieces = slice(own.start, own.stop)
        ends, grades = cuts.ends[pieces], cuts.grades[pieces]
        starts = [0, *ends][: len(ends)]
        rate = text.tokens / len(text.text)
        worth = 1.0 if talk else _worth_of(text, last)
        found.heading.extend(_headings(len(found), grades))
        found.text.extend([number] * len(own))
        found.start.extend(starts)
        found.end.extend(ends)
        found.cost.extend([rate * (b - a) + _MARK for a, b in zip(starts, ends, strict=True)])
        found.rows.extend(cuts.rows[pieces])
        found.credit.extend(cuts.credits[pieces])
        found.factor.extend([grade.weight * worth for grade in grades])
        found.is_required.extend([grade.must or grade.label == "summary" for grade in grades])
        found.grade.extend(grades)
    return found
