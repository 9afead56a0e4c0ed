"""Where each message stands: whole, in its place as an excerpt, or in a digest with its neighbours.

Structure costs tokens too: the framing of every message, the arguments of every call. Recent
messages stay in their places as long as that takes no more than a share of the budget; what is
older goes into digests. A tool call and its results are always treated alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import groupby
from math import ceil
from types import MappingProxyType
from typing import Final, NamedTuple

from refold.messages.handles import handle_of
from refold.messages.message import Call, Message
from refold.notation.marks import Stretch, digest
from refold.plan.blocks import find_blocks
from refold.plan.fold import NO_CALLS
from refold.plan.shorten.arguments import clip_calls, may_clip
from refold.plan.token_count import MESSAGE_OVERHEAD, CountedTexts
from refold.plan.typed import is_typed_text, reads_like_words
from refold.plan.untouchable import find_last_words

STUB_TOKENS: Final = 12
"""About what the mark of an excerpt costs."""
SHORT_TOKENS: Final = 24
"""A text that costs no more than this is whole in its place: a mark instead would save ten tokens,
and what came of an edit is mostly told in so few."""
_BARE_DIGEST: Final = digest("", Stretch(99), "qxzjvkwq")
"""A digest that shows nothing; these letters take as many tokens as any handle."""
_SHORT_STRETCH: Final = 24
"""A digest of its own costs about this much before it says much."""
_STRUCTURE_SHARE: Final = 0.6
"""What the newest turns may take to stay in their places and roles: a share of the budget, however
large that is, so that only the oldest stretch becomes a digest. A model goes on from the shape of
the newest turns (.03 to .05 of its foresight on recorded runs). A fixed limit of 1,500 tokens made
one digest of 30,000 tokens out of 250 messages, and read no better (101 cuts of runs of up to
24,000 tokens); it kept .003 more of the values that are used later. With .8 or .9, values are lost.
"""
_FIRST_TURNS_TOKENS: Final = 300
_FIRST_TURNS_SHARE: Final = 0.8
_FIRST_TURNS_LEAST: Final = 120
"""Where there is little room, but this much, most of it goes to the newest turns: token for token,
the agent's own words and calls tell a model five times as much as results do, also of values (each
message of 293 recorded cuts shown alone, and left out alone). With .9, more of what people typed
leaves no trace."""
_SAID_TOKENS: Final = 120
"""Of what was said in the newest turns, so many tokens a text are counted: up to that it is whole,
and of more at least a piece is shown. With 200, a model foresees .01 more at 15 % of the tokens,
but at 30 % twice as much of what people typed leaves no trace."""
_ANSWER_SHARE: Final = 0.25
"""The agent's last words may take this share of the room to stay whole: the next turn goes on from
them. Without it a model foresees .004 less of what comes next at 30 % of the tokens, and twice as
much costs values (293 recorded cuts)."""
_NEWEST_BLOCKS: Final = 2
_NEWEST_SHARE: Final = 0.1
"""So many of the newest blocks may each take this share of the budget for their structure."""
_WHOLE_SHARE: Final = 0.65
"""What the newest calls and their results may take to stay whole: nobody has read them yet. What
was typed, said and done before has the older claim: with .9 an answer is there, and the question is
gone. With .4 a model foresees .02 more at 30 % of the tokens (on 293 cuts), but what the agent
has just asked for is cut though it fits.
"""
_TALK_WHOLE_SHARE: Final = 0.85
"""What the newest message may take to stay whole: plain talk goes on from what was said last."""
_TASK_SHARE: Final = 0.5
"""The task stays whole while it leaves half of the room to what was done about it."""
_PASTED_TASK_SHARE: Final = 0.1
"""The same for a first message that is data, such as what a program printed when it started."""
_OPENING_SHARE: Final = 0.1
"""The same for how plain talk began, which is seldom a task."""
_MIN_REMAINDER_SHARE: Final = 0.15
"""Share of the budget left to everything else beside the user's last words, if they allow it."""
_FRAME_SHARE: Final = 0.1
"""Where a stub would take more of what is left, only what must have its own place has. A guess."""
YIELDING: Final = ("first_task", "last_user_message")
"""What is excerpted after all: the task when it takes too much, the question if it cannot fit."""


Key = tuple[int, int]
"""The index of a message and the number of one of its texts."""


class Place(Enum):
    """How a message is shown."""

    WHOLE = 0
    EXCERPT = 1
    """In its place, with its calls; its texts compete."""
    DIGEST = 2
    """In a digest with its neighbours; its texts and calls compete."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The place of every message, and why those that are whole are whole."""

    places: list[Place]
    reasons: dict[int, str]
    last_words: frozenset[Key] = frozenset()
    """What the user said last, beside tool results: shown whole where it stands."""
    recoded: frozenset[int] = frozenset()
    """What is newest and whole in the shorter form that loses nothing, for want of room."""
    said: Mapping[Key, float] = field(default_factory=dict[Key, float])
    """The talk of the newest turns: whole as well, up to so many tokens."""
    calls: Mapping[int, Mapping[int, Call]] = field(default_factory=dict[int, Mapping[int, Call]])
    """The messages in their places with calls that have long arguments, and those with them cut.
    Of the newest ones, that may be all that is cut."""

    def shows_all(self, key: Key, tokens: int) -> bool:
        """Tell whether a text of so many *tokens* that keeps its place is whole there."""
        return key in self.last_words or (key in self.said and tokens <= self.said[key])


class Frames:
    """What messages cost in their places, where the long arguments of calls are cut."""

    def __init__(self, tokens: CountedTexts) -> None:
        self.tokens: Final = tokens
        self._calls: dict[int, Mapping[int, Call]] = {}
        self._bare: dict[int, tuple[float, list[int], int]] = {}
        """What a message costs without what was said, the tokens of that, and what cuts save."""

    def calls(self, message: Message) -> Mapping[int, Call]:
        """Return the calls of *message* that have long arguments, by their numbers, with these cut.

        A model's thinking is about what it does then: beside that, everything stays.
        """
        if message.thinking or not may_clip(message):
            return NO_CALLS
        known = self._calls.get(message.index)
        if known is None:
            cut = clip_calls(message, handle_of((message,)))
            known = {n: call for n, call in cut.items() if self._saved(message.calls[n], call) > 0}
            self._calls[message.index] = known
        return known

    def _saved(self, before: Call, after: Call) -> int:
        return self.tokens(before.text) - self.tokens(after.text)

    def cost(self, message: Message, said_tokens: float = STUB_TOKENS) -> float:
        """Return what *message* costs in its place with next to nothing of what tools returned.

        Of what was said, so many tokens are counted, and of long arguments what is left of them.
        """
        cost, said, saved = self._measure(message)
        for tokens in said:
            cost -= max(0, tokens - said_tokens)
        return cost - saved

    def _measure(self, message: Message) -> tuple[float, list[int], int]:
        """Return what *message* costs without what tools returned, what was said, what cuts save.

        A short text is whole in any case.
        """
        known = self._bare.get(message.index)
        if known is None:
            said, long_said = set(find_said(message)), list[int]()
            cost: float = self.tokens.message(message)
            for number, part in enumerate(message.parts):
                tokens = self.tokens(part.text)
                if tokens <= SHORT_TOKENS:
                    continue
                if number in said:
                    long_said.append(tokens)
                else:
                    cost -= tokens - STUB_TOKENS
            known = self._bare[message.index] = cost, long_said, self.saved(message)
        return known

    def saved(self, message: Message) -> int:
        """Return what *message* costs less with its calls cut."""
        return sum(self._saved(message.calls[n], call) for n, call in self.calls(message).items())

    def find_calls(self, messages: Iterable[Message]) -> dict[int, Mapping[int, Call]]:
        """Return the cut calls of all *messages* that have some."""
        return {message.index: calls for message in messages if (calls := self.calls(message))}


def lay_out(
    messages: Sequence[Message],
    untouchable: Mapping[int, str],
    tokens: CountedTexts,
    target: int,
    *,
    limit: int,
    talk: bool,
    shorter: Mapping[int, int] = MappingProxyType({}),
) -> Layout:
    """Give every message its place; in plain *talk* structure says nothing.

    Everything aims at *target*; for the user's last words there is room up to the *limit*. Some of
    the newest messages can be said *shorter* without loss, for so many tokens.
    """
    frames = Frames(tokens)
    reasons = _let_yield(messages, untouchable, tokens, target, limit=limit, talk=talk)
    whole = sum(tokens.message(messages[index]) for index in reasons)
    left = target - whole
    blocks = find_turns(messages)
    last_words = frozenset((message.index, n) for message, n in find_last_words(messages))
    room_for_words = max(
        (1 - _MIN_REMAINDER_SHARE) * left,
        limit - whole - _least_rest(messages, reasons, tokens, _bare_cost(tokens)),
    )
    if _cost_in_place(messages, blocks, last_words, reasons, frames) > room_for_words:
        last_words = frozenset()
    left -= sum(tokens(messages[index].parts[number].text) for index, number in last_words)
    places = [Place.WHOLE if m.index in reasons else Place.EXCERPT for m in messages]
    block = blocks[-1] if blocks else range(0)
    newest = [messages[index] for index in block if index not in reasons]
    most = _room_for_newest(left, tokens, talk=talk)
    fitting = _fit_newest(newest, shorter, frames, most)
    if fitting is not None:
        for index in block:
            places[index] = Place.WHOLE
            reasons.setdefault(index, "newest")
        left -= fitting.tokens
    recoded, cut = (fitting.recoded, fitting.calls) if fitting else (frozenset[int](), {})
    anchored = _find_anchored(messages, untouchable, reasons, frames, left, talk=talk)
    anchored.update(index for index, _ in last_words)
    open_ = [
        [messages[index] for index in block if index not in reasons] for block in reversed(blocks)
    ]
    stays = [not anchored.isdisjoint(block) for block in reversed(blocks)]
    said, old, spelled = _find_old(open_, stays, _find_answer(messages), frames, left, talk=talk)
    for number in old:
        for index in blocks[-1 - number]:
            places[index] = Place.DIGEST
    _take_notes_along(messages, places)
    _keep_short(messages, places, reasons, tokens)
    in_place = (m for m in messages if places[m.index] is Place.EXCERPT)
    calls = frames.find_calls(m for m in in_place if m.index not in spelled) | cut
    return Layout(places, reasons, last_words, recoded, said, calls)


class _Newest(NamedTuple):
    """How the newest messages fit into their room: with nothing cut but what the agent wrote."""

    tokens: int
    recoded: frozenset[int]
    """Those in the shorter form that loses nothing."""
    calls: dict[int, Mapping[int, Call]]
    """Those whose long arguments are cut."""


def _fit_newest(
    newest: Sequence[Message], shorter: Mapping[int, int], frames: Frames, most: float
) -> _Newest | None:
    """Return how *newest* take no more than *most* tokens, with as little changed as can be.

    The agent knows what it wrote, but not yet what came of it: so its calls are cut before that.
    """
    costs = {message.index: frames.tokens.message(message) for message in newest}
    recoded = {index: cost for index, cost in shorter.items() if index in costs}
    own = [message for message in newest if message.index not in recoded]
    cut = {m.index: costs[m.index] - frames.saved(m) for m in own if frames.calls(m)}
    for less in ({}, recoded, cut, recoded | cut):
        tokens = sum((costs | less).values())
        if tokens <= most:
            calls = frames.find_calls(message for message in own if message.index in less)
            return _Newest(tokens, frozenset(recoded.keys() & less.keys()), calls)
    return None


def _find_old(
    blocks: Sequence[Sequence[Message]],
    stays: Sequence[bool],
    answer: int | None,
    frames: Frames,
    left: int,
    *,
    talk: bool,
) -> tuple[dict[Key, float], list[int], set[int]]:
    """Return the talk of the newest *blocks*, and the numbers of those too old for their places.

    The newest block comes first, each without what is whole anyway; *stays* tells which ones keep
    their places in any case, and *answer* is the message with the agent's last words. The third are
    the messages whose calls stay as they are: arguments are cut only where that keeps a place. What
    the agent wrote tells most of what it does next: cut everywhere, a model foresees .02 less in
    coding runs at 30 % of the tokens, and .05 less of values.
    """
    said: dict[Key, float] = {}
    old: list[int] = []
    spelled: set[int] = set()
    room = 0.0 if talk else _room_for_structure(max(0, left))
    most = {answer: max(_SAID_TOKENS, _ANSWER_SHARE * left)}
    for number, block in enumerate(blocks):
        limits = {m.index: most.get(m.index, _SAID_TOKENS) for m in block}
        room -= sum(frames.cost(m, limits[m.index]) for m in block)
        saved = sum(map(frames.saved, block))
        if room >= saved:
            room -= saved
            spelled.update(m.index for m in block)
        if room >= 0 or not block:
            said.update(((m.index, part), limits[m.index]) for m in block for part in find_said(m))
            continue
        frame = sum(map(frames.cost, block))
        fits = not talk and number < _NEWEST_BLOCKS and frame <= left * _NEWEST_SHARE
        is_last = number == 0 and frame + STUB_TOKENS <= (left / 3 if talk else left)
        if not (fits or is_last or stays[number]):
            old.append(number)
    return said, old, spelled


def target_for_newest(
    messages: Sequence[Message], untouchable: Mapping[int, str], tokens: CountedTexts
) -> int:
    """Return for how many tokens the newest block is whole beside what is *untouchable*."""
    blocks = find_turns(messages)
    newest = [index for index in (blocks[-1] if blocks else ()) if index not in untouchable]
    whole = sum(tokens.message(messages[index]) for index in untouchable)
    return whole + ceil(sum(tokens.message(messages[n]) for n in newest) / _WHOLE_SHARE)


def find_turns(messages: Sequence[Message]) -> list[range]:
    """Return the blocks of *messages* that a model sees something of."""
    return [block for block in find_blocks(messages) if any(messages[i].is_turn for i in block)]


def find_movable(messages: Sequence[Message], layout: Layout) -> frozenset[int]:
    """Return the messages in their places that may as well go into a digest.

    Not those with calls or results or tied to others, nor the last one: a view ends as its
    conversation does.
    """
    turns = [message.index for message in messages if message.is_turn]
    free = {block[0] for block in find_blocks(messages) if len(block) == 1}
    return frozenset(
        message.index
        for message in messages
        if layout.places[message.index] is Place.EXCERPT
        and message.index not in turns[-1:]
        and message.index in free
        and not (message.calls or message.is_tool_result or message.images or message.binds_next)
    )


def _room_for_structure(left: int) -> float:
    """Return how many of *left* tokens may go into keeping messages in their places."""
    is_enough = left >= _FIRST_TURNS_LEAST
    first = min(_FIRST_TURNS_SHARE * left, _FIRST_TURNS_TOKENS) if is_enough else 0.0
    return max(first, _STRUCTURE_SHARE * left)


def _room_for_newest(left: int, tokens: CountedTexts, *, talk: bool) -> float:
    """Return how many of *left* tokens the newest block may take to stay whole."""
    if talk:
        return min(left * _TALK_WHOLE_SHARE, left - _bare_cost(tokens))
    return left * _WHOLE_SHARE


def _find_anchored(
    messages: Sequence[Message],
    untouchable: Mapping[int, str],
    reasons: Mapping[int, str],
    frames: Frames,
    left: int,
    *,
    talk: bool,
) -> set[int]:
    """Return what must survive and stays in its place, if only as an excerpt.

    An excerpt of next to nothing is a waste: with very little room it goes into a digest, too.
    """
    anchored = {index for index in untouchable if index in reasons and messages[index].is_turn}
    if _FRAME_SHARE * left < STUB_TOKENS:
        return anchored
    for index, why in untouchable.items():
        message = messages[index]
        counts = message.is_turn and (not talk or why == "last_user_message")
        if counts and frames.cost(message) <= left * _NEWEST_SHARE:
            anchored.add(index)
    return anchored


def _share_of_task(task: Message, *, talk: bool) -> float:
    """Return which share of the room the first message may take to stay whole."""
    if talk:
        return _OPENING_SHARE
    return _TASK_SHARE if reads_like_words(task) else _PASTED_TASK_SHARE


def _let_yield(
    messages: Sequence[Message],
    untouchable: Mapping[int, str],
    tokens: CountedTexts,
    target: int,
    *,
    limit: int,
    talk: bool,
) -> dict[int, str]:
    """Return what stays whole: all but a task that takes too much, and a question that cannot fit.

    The task may take its share of all that the *limit* allows. The question yields only if the rest
    fits then. Of a picture nothing can be shown but all of it.
    """
    reasons = dict(untouchable)
    bare = _bare_cost(tokens)
    cost = sum(tokens.message(messages[index]) for index in reasons)
    places = {why: index for index, why in untouchable.items()}
    task, question = (places.get(name) for name in YIELDING)
    if question is None:  # the task is the last question, too
        task, question = None, task
    if task is not None and not messages[task].images:
        own, left = tokens.message(messages[task]), target - cost
        room = limit - cost + own + (0 if question is None else tokens.message(messages[question]))
        share = _share_of_task(messages[task], talk=talk)
        if own > share * room or left < _least_rest(messages, reasons, tokens, bare):
            del reasons[task]
            cost -= own
    if question is not None and not messages[question].images:
        without = {index: why for index, why in reasons.items() if index != question}
        own = tokens.message(messages[question])
        is_too_much = cost + _least_rest(messages, reasons, tokens, bare) > limit
        if is_too_much and cost - own + _least_rest(messages, without, tokens, bare) <= limit:
            return without
    return reasons


def _bare_cost(tokens: CountedTexts) -> int:
    """Return what a digest costs that shows nothing."""
    return tokens(_BARE_DIGEST) + MESSAGE_OVERHEAD


def _least_rest(
    messages: Sequence[Message], reasons: Mapping[int, str], tokens: CountedTexts, digest: int
) -> int:
    """Return what everything else costs: a *digest* for each stretch that is not too short."""
    turns = [message for message in messages if message.is_turn]
    stretches = groupby(turns, lambda message: message.index in reasons)
    costs = [sum(map(tokens.message, stretch)) for is_whole, stretch in stretches if not is_whole]
    return sum(cost if cost <= _SHORT_STRETCH else digest for cost in costs)


def _cost_in_place(
    messages: Sequence[Message],
    blocks: Sequence[range],
    last_words: frozenset[Key],
    reasons: Mapping[int, str],
    frames: Frames,
) -> float:
    """Return what *last_words* cost where they stand, with the calls that are tied to them."""
    texts = [frames.tokens(messages[index].parts[number].text) for index, number in last_words]
    own = {index for index, _ in last_words}
    tied = {place for index in own for block in blocks if index in block for place in block}
    around = sum(frames.cost(messages[index]) for index in tied if index not in reasons)
    return around + sum(max(0, cost - STUB_TOKENS) for cost in texts)


def _take_notes_along(messages: Sequence[Message], places: list[Place]) -> None:
    """Let a digest reach over records that no model sees, if it goes on behind them."""
    for is_turn, run in groupby(messages, lambda message: message.is_turn):
        if is_turn:
            continue
        notes = [message.index for message in run]
        around = places[max(0, notes[0] - 1)], places[min(len(places) - 1, notes[-1] + 1)]
        if around == (Place.DIGEST, Place.DIGEST):
            for index in notes:
                places[index] = Place.DIGEST


def _keep_short(
    messages: Sequence[Message],
    places: list[Place],
    reasons: dict[int, str],
    tokens: CountedTexts,
) -> None:
    """Keep whole what would cost hardly less in a digest of its own."""
    for is_digest, run in groupby(messages, lambda message: places[message.index] is Place.DIGEST):
        stretch = list(run)
        if is_digest and sum(map(tokens.message, stretch)) <= _SHORT_STRETCH:
            for message in stretch:
                places[message.index] = Place.WHOLE
                reasons.setdefault(message.index, "short_content")


def _find_answer(messages: Sequence[Message]) -> int | None:
    """Return the message with the agent's last words."""
    for message in reversed(messages):
        if message.role == "assistant" and any(message.parts[n].text for n in find_said(message)):
            return message.index
    return None


def find_said(message: Message) -> Iterator[int]:
    """Yield the numbers of the texts of *message* that somebody said: no tool, and no program."""
    is_user = message.role == "user"
    for number, part in enumerate(message.parts):
        is_result = message.is_tool_result or part.call_id
        if not is_result and (not is_user or is_typed_text(part.text)):
            yield number
