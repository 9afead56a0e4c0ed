"""Where each message goes: kept whole, excerpted in place, or in a digest with its neighbors.

Structure costs tokens, too: the framing of every message, the arguments of every call. Recent
messages stay in place as long as that takes no more than a share of the budget; older ones go into
digests. A tool call and its results are always treated alike.

The shares were tuned on 293 recorded cuts of agent runs, where none other are named: how well a
model that reads the view foresees the next messages (docs/benchmarks.md).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import groupby
from math import ceil
from types import MappingProxyType
from typing import Final, NamedTuple

from refold.messages.blocks import find_blocks
from refold.messages.folds import NO_CALLS
from refold.messages.handles import handle_of
from refold.messages.message import Call, Message
from refold.messages.token_count import MESSAGE_OVERHEAD, CountedTexts
from refold.messages.untouchable import find_last_words
from refold.notation.marks import Stretch, digest
from refold.plan.shorten.arguments import clip_calls, may_clip
from refold.plan.typed import is_typed_text, reads_like_words

STUB_TOKENS: Final = 12
"""About what the mark of an excerpt costs."""
SHORT_TOKENS: Final = 24
"""A text of no more tokens stays whole where its message has a place: a mark instead would save ten
tokens, and the outcome of an edit mostly fits."""
_BARE_DIGEST: Final = digest("", Stretch(99), "qxzjvkwq")
"""A digest that shows nothing; these letters take as many tokens as any handle does."""
_SHORT_STRETCH: Final = 24
"""About what a digest costs before it says much."""
_STRUCTURE_SHARE: Final = 0.6
"""What the newest turns may take to stay in place and role: a share of the budget, however large
that is, so that only the oldest stretch becomes a digest. A model continues from the shape of the
newest turns (.03 to .05 of its foresight). A fixed limit of 1,500 tokens made one digest of 30,000
tokens out of 250 messages, and read no better (101 cuts of runs of up to 24,000 tokens); it kept
.003 more of the values that are used later. With .8 or .9, values are lost.
"""
_FIRST_TURNS_TOKENS: Final = 300
_FIRST_TURNS_SHARE: Final = 0.8
_FIRST_TURNS_LEAST: Final = 120
"""Where there is little room, but at least this much, most of it goes to the newest turns: token
for token, the agent's own words and calls tell a model five times as much as results do, also of
values (each message shown alone, and left out alone). With .9, more of what people typed leaves no
trace.
"""
_SPOKEN_TOKENS: Final = 120
"""Each spoken text of the newest turns counts up to so many tokens: up to that it stays whole, and
of a longer one at least a piece is shown. With 200, a model foresees .01 more at 15 % of the
tokens, but at 30 % twice as much of what people typed leaves no trace."""
_ANSWER_SHARE: Final = 0.25
"""What the agent's last words may take to stay whole: the next turn continues from them. Without it
a model foresees .004 less at 30 % of the tokens, and twice as much costs values."""
_NEWEST_BLOCKS: Final = 2
_NEWEST_SHARE: Final = 0.1
"""Each of so many of the newest blocks may take this share of the budget for its structure."""
_WHOLE_SHARE: Final = 0.65
"""What the newest calls and their results may take to stay whole: no model has read them yet. With
.9 an answer is there, and the question is gone. With .4 a model foresees .02 more at 30 % of the
tokens, but what the agent has just asked for is cut even if it fits.
"""
_TALK_WHOLE_SHARE: Final = 0.85
"""The same in plain talk, which continues from what was said last."""
_TASK_SHARE: Final = 0.5
"""The task stays whole while it leaves half of the room to what was done about it."""
_PASTED_TASK_SHARE: Final = 0.1
"""The same for a first message that is data, such as the output of a program at its start."""
_OPENING_SHARE: Final = 0.1
"""The same for the first message of plain talk, which is seldom a task."""
_MIN_REMAINDER_SHARE: Final = 0.15
"""What is left to everything else beside the user's last words, if they allow it."""
_FRAME_SHARE: Final = 0.1
"""Where the mark of an excerpt would take more of the room, only what must has a place. A guess."""
YIELDING: Final = ("first_task", "last_user_message")
"""Reasons for which messages are untouchable only while they fit: the task is excerpted when it
takes too much, the question if it cannot fit."""


Key = tuple[int, int]
"""The index of a message and the number of one of its texts."""


class Place(Enum):
    """Where a message goes."""

    WHOLE = 0
    EXCERPT = 1
    """In place, with its calls; its texts compete."""
    DIGEST = 2
    """In a digest with its neighbors; its texts and calls compete."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The place of every message, and why those that are whole are whole."""

    places: list[Place]
    reasons: dict[int, str]
    last_words: frozenset[Key] = frozenset()
    """What the user said last beside tool results: shown whole in place."""
    recoded: frozenset[int] = frozenset()
    """The newest messages that are whole only because they are re-encoded."""
    spoken: Mapping[Key, float] = field(default_factory=dict[Key, float])
    """The spoken texts of the newest turns: whole as well, up to so many tokens."""
    calls: Mapping[int, Mapping[int, Call]] = field(default_factory=dict[int, Mapping[int, Call]])
    """Messages in place whose calls are clipped, with these calls; the newest ones may be whole
    otherwise."""

    def shows_all(self, key: Key, tokens: int) -> bool:
        """Tell whether a text of so many *tokens*, in place, is shown whole."""
        return key in self.last_words or (key in self.spoken and tokens <= self.spoken[key])


class PlaceCosts:
    """What messages cost in place, with the long arguments of their calls clipped."""

    def __init__(self, tokens: CountedTexts) -> None:
        self.tokens: Final = tokens
        self._calls: dict[int, Mapping[int, Call]] = {}
        self._measured: dict[int, tuple[float, list[int], int]] = {}

    def calls(self, message: Message) -> Mapping[int, Call]:
        """Return the calls of *message* that have long arguments, clipped, by their numbers.

        None if there is thinking beside them: it is about what the calls do.
        """
        if message.thinking or not may_clip(message):
            return NO_CALLS
        known = self._calls.get(message.index)
        if known is None:
            clipped = clip_calls(message, handle_of((message,)))
            known = {
                number: call
                for number, call in clipped.items()
                if self.tokens(call.text) < self.tokens(message.calls[number].text)
            }
            self._calls[message.index] = known
        return known

    def cost(self, message: Message, spoken_tokens: float = STUB_TOKENS) -> float:
        """Return what *message* costs in place with next to nothing of what tools returned.

        Each spoken text counts up to *spoken_tokens*, and long arguments what is left of them.
        """
        cost, spoken, saved = self._measure(message)
        for tokens in spoken:
            cost -= max(0, tokens - spoken_tokens)
        return cost - saved

    def _measure(self, message: Message) -> tuple[float, list[int], int]:
        """Return the cost without long tool results, its long spoken texts, what clipping saves."""
        known = self._measured.get(message.index)
        if known is None:
            spoken, long_spoken = set(find_spoken(message)), list[int]()
            cost: float = self.tokens.message(message)
            for number, part in enumerate(message.parts):
                tokens = self.tokens(part.text)
                if tokens <= SHORT_TOKENS:
                    continue  # stays whole in any case
                if number in spoken:
                    long_spoken.append(tokens)
                else:
                    cost -= tokens - STUB_TOKENS
            known = self._measured[message.index] = cost, long_spoken, self.saved(message)
        return known

    def saved(self, message: Message) -> int:
        """Return the tokens that clipping the calls of *message* saves."""
        return sum(
            self.tokens(message.calls[number].text) - self.tokens(call.text)
            for number, call in self.calls(message).items()
        )

    def find_calls(self, messages: Iterable[Message]) -> dict[int, Mapping[int, Call]]:
        """Return the clipped calls of all *messages* that have some."""
        return {message.index: calls for message in messages if (calls := self.calls(message))}


def lay_out(
    messages: Sequence[Message],
    untouchable: Mapping[int, str],
    tokens: CountedTexts,
    target: int,
    *,
    limit: int,
    talk: bool,
    recoded: Mapping[int, int] = MappingProxyType({}),
) -> Layout:
    """Give every message its place; in plain *talk* structure says nothing.

    Everything aims at *target*; the user's last words may take up to the *limit*. Some of the
    newest messages can be *recoded* without loss, to so many tokens.
    """
    return _LayoutMaker(messages, untouchable, tokens, target, limit, talk=talk).make(recoded)


class _Newest(NamedTuple):
    """How the newest messages fit into their room."""

    tokens: int
    recoded: frozenset[int]
    """Those that are re-encoded."""
    calls: dict[int, Mapping[int, Call]]
    """Those whose calls are clipped, with these calls."""


class _LayoutMaker:
    def __init__(
        self,
        messages: Sequence[Message],
        untouchable: Mapping[int, str],
        tokens: CountedTexts,
        target: int,
        limit: int,
        *,
        talk: bool,
    ) -> None:
        self._messages = messages
        self._untouchable = untouchable
        self._tokens = tokens
        self._target = target
        self._limit = limit
        self._talk = talk
        self._costs = PlaceCosts(tokens)
        self._blocks = find_turns(messages)
        self._digest_cost = tokens(_BARE_DIGEST) + MESSAGE_OVERHEAD
        """What a digest costs that shows nothing."""

    def make(self, recoded: Mapping[int, int]) -> Layout:
        messages, blocks, talk = self._messages, self._blocks, self._talk
        reasons = self._find_whole()
        whole = self._sum(reasons)
        left = self._target - whole
        last_words = frozenset((message.index, n) for message, n in find_last_words(messages))
        room = max(
            (1 - _MIN_REMAINDER_SHARE) * left,
            self._limit - whole - self._least_rest(reasons),
        )
        if self._cost_in_place(last_words, reasons) > room:
            last_words = frozenset()
        left -= sum(self._tokens(messages[index].parts[n].text) for index, n in last_words)

        places = [Place.WHOLE if m.index in reasons else Place.EXCERPT for m in messages]
        newest = blocks[-1] if blocks else range(0)
        most = left * _WHOLE_SHARE
        if talk:
            most = min(left * _TALK_WHOLE_SHARE, left - self._digest_cost)
        fitting = self._fit_newest([i for i in newest if i not in reasons], recoded, most)
        if fitting is not None:
            for index in newest:
                places[index] = Place.WHOLE
                reasons.setdefault(index, "newest")
            left -= fitting.tokens

        anchored = self._find_anchored(reasons, left)
        anchored.update(index for index, _ in last_words)
        spoken, old, unclipped = self._find_old(reasons, anchored, left)
        for block in old:
            for index in block:
                places[index] = Place.DIGEST
        digest_notes(messages, places)
        self._keep_short(places, reasons)
        calls = self._costs.find_calls(
            message
            for message in messages
            if places[message.index] is Place.EXCERPT and message.index not in unclipped
        )
        if fitting is None:
            return Layout(places, reasons, last_words, spoken=spoken, calls=calls)
        return Layout(places, reasons, last_words, fitting.recoded, spoken, calls | fitting.calls)

    def _sum(self, indices: Iterable[int]) -> int:
        return sum(self._tokens.message(self._messages[index]) for index in indices)

    def _find_whole(self) -> dict[int, str]:
        """Return what stays whole: all but a task that takes too much, a question that cannot fit.

        The task may take its share of all that the limit allows. The question yields only if the
        rest fits then. A picture cannot be shown in part.
        """
        messages, tokens = self._messages, self._tokens
        reasons = dict(self._untouchable)
        cost = self._sum(reasons)
        index_of = {why: index for index, why in reasons.items()}
        task, question = (index_of.get(name) for name in YIELDING)
        if question is None:  # the task is the last question, too
            task, question = None, task
        if task is not None and not messages[task].images:
            own, left = tokens.message(messages[task]), self._target - cost
            asked = 0 if question is None else tokens.message(messages[question])
            room = self._limit - cost + own + asked
            share = _OPENING_SHARE
            if not self._talk:
                share = _TASK_SHARE if reads_like_words(messages[task]) else _PASTED_TASK_SHARE
            if own > share * room or left < self._least_rest(reasons):
                del reasons[task]
                cost -= own
        if question is not None and not messages[question].images:
            without = {index: why for index, why in reasons.items() if index != question}
            is_too_much = cost + self._least_rest(reasons) > self._limit
            cost -= tokens.message(messages[question])
            if is_too_much and cost + self._least_rest(without) <= self._limit:
                return without
        return reasons

    def _least_rest(self, whole: Container[int]) -> int:
        """Return the least that everything else costs: digests, or what is shorter than one."""
        turns = [message for message in self._messages if message.is_turn]
        stretches = groupby(turns, lambda message: message.index in whole)
        costs = [
            sum(map(self._tokens.message, stretch))
            for is_whole, stretch in stretches
            if not is_whole
        ]
        return sum(cost if cost <= _SHORT_STRETCH else self._digest_cost for cost in costs)

    def _cost_in_place(self, last_words: frozenset[Key], whole: Container[int]) -> float:
        """Return what *last_words* cost in place, with the calls that are tied to them."""
        messages = self._messages
        texts = [self._tokens(messages[index].parts[n].text) for index, n in last_words]
        own = {index for index, _ in last_words}
        tied = {index for block in self._blocks if not own.isdisjoint(block) for index in block}
        around = sum(self._costs.cost(messages[i]) for i in tied if i not in whole)
        return around + sum(max(0, cost - STUB_TOKENS) for cost in texts)

    def _fit_newest(
        self, newest: Sequence[int], recoded: Mapping[int, int], most: float
    ) -> _Newest | None:
        """Return how the *newest* messages fit into *most* tokens with as few changes as possible.

        The agent knows what it wrote, but has not seen the results: its calls are clipped first.
        """
        costs, messages = self._costs, [self._messages[index] for index in newest]
        whole = {message.index: self._tokens.message(message) for message in messages}
        shorter = {index: cost for index, cost in recoded.items() if index in whole}
        own = [message for message in messages if message.index not in shorter]
        clipped = {m.index: whole[m.index] - costs.saved(m) for m in own if costs.calls(m)}
        for less in ({}, shorter, clipped, shorter | clipped):
            tokens = sum((whole | less).values())
            if tokens <= most:
                calls = costs.find_calls(message for message in own if message.index in less)
                return _Newest(tokens, frozenset(shorter.keys() & less.keys()), calls)
        return None

    def _find_anchored(self, reasons: Mapping[int, str], left: int) -> set[int]:
        """Return the messages that keep their place, if only as an excerpt.

        With very little room, excerpts that show next to nothing are a waste: only what is whole.
        """
        messages = self._messages
        anchored = {i for i in self._untouchable if i in reasons and messages[i].is_turn}
        if _FRAME_SHARE * left < STUB_TOKENS:
            return anchored
        for index, why in self._untouchable.items():
            message = messages[index]
            counts = message.is_turn and (not self._talk or why == "last_user_message")
            if counts and self._costs.cost(message) <= left * _NEWEST_SHARE:
                anchored.add(index)
        return anchored

    def _find_old(
        self, reasons: Container[int], anchored: set[int], left: int
    ) -> tuple[dict[Key, float], list[range], set[int]]:
        """Return the spoken texts of the newest turns, the old blocks, and who is not clipped.

        A block is old if there is no room for it in place, unless one of its messages is
        *anchored*. Calls are clipped only where that keeps a place: what the agent wrote tells most
        of what it does next. If all are clipped, a model foresees .02 less in coding runs at 30 %
        of the tokens, and .05 less of values.
        """
        messages, talk, costs = self._messages, self._talk, self._costs
        spoken: dict[Key, float] = {}
        old: list[range] = []
        unclipped: set[int] = set()
        room = 0.0 if talk else _room_for_structure(max(0, left))
        answer = _find_answer(messages)
        for number, block in enumerate(reversed(self._blocks)):
            own = [messages[index] for index in block if index not in reasons]
            limits = {m.index: float(_SPOKEN_TOKENS) for m in own}
            if answer in limits:
                limits[answer] = max(_SPOKEN_TOKENS, _ANSWER_SHARE * left)
            room -= sum(costs.cost(m, limits[m.index]) for m in own)
            saved = sum(map(costs.saved, own))
            if room >= saved:
                room -= saved
                unclipped.update(m.index for m in own)
            if room >= 0 or not own:
                spoken.update(((m.index, n), limits[m.index]) for m in own for n in find_spoken(m))
                continue
            cost = sum(map(costs.cost, own))
            fits = not talk and number < _NEWEST_BLOCKS and cost <= left * _NEWEST_SHARE
            is_last = number == 0 and cost + STUB_TOKENS <= (left / 3 if talk else left)
            if not (fits or is_last) and anchored.isdisjoint(block):
                old.append(block)
        return spoken, old, unclipped

    def _keep_short(self, places: list[Place], reasons: dict[int, str]) -> None:
        """Keep whole what would cost hardly less in a digest of its own."""
        in_digest = groupby(self._messages, lambda message: places[message.index] is Place.DIGEST)
        for is_digest, run in in_digest:
            stretch = list(run)
            if is_digest and sum(map(self._tokens.message, stretch)) <= _SHORT_STRETCH:
                for message in stretch:
                    places[message.index] = Place.WHOLE
                    reasons.setdefault(message.index, "short_content")


def _room_for_structure(left: int) -> float:
    """Return how many of *left* tokens may go into keeping messages in place."""
    is_enough = left >= _FIRST_TURNS_LEAST
    first = min(_FIRST_TURNS_SHARE * left, _FIRST_TURNS_TOKENS) if is_enough else 0.0
    return max(first, _STRUCTURE_SHARE * left)


def digest_notes(
    messages: Sequence[Message], places: list[Place], *, at_ends: bool = False
) -> None:
    """Let a digest absorb records that no model sees, if it continues behind them.

    With *at_ends*, also those before and after it at an end of the conversation.
    """
    for is_turn, run in groupby(messages, lambda message: message.is_turn):
        if is_turn:
            continue
        notes = [message.index for message in run]
        first, end = notes[0], notes[-1] + 1
        around = places[max(0, first - 1) : first] + places[end : end + 1]
        if set(around) == {Place.DIGEST} and (at_ends or len(around) > 1):
            places[first:end] = [Place.DIGEST] * len(notes)


def target_for_newest(
    messages: Sequence[Message], untouchable: Mapping[int, str], tokens: CountedTexts
) -> int:
    """Return the tokens for which the newest block stays whole beside what is *untouchable*."""
    blocks = find_turns(messages)
    newest = [index for index in (blocks[-1] if blocks else ()) if index not in untouchable]
    whole = sum(tokens.message(messages[index]) for index in untouchable)
    return whole + ceil(sum(tokens.message(messages[n]) for n in newest) / _WHOLE_SHARE)


def find_turns(messages: Sequence[Message]) -> list[range]:
    """Return the blocks of *messages* of which a model sees anything."""
    return [block for block in find_blocks(messages) if any(messages[i].is_turn for i in block)]


def find_movable(messages: Sequence[Message], layout: Layout) -> frozenset[int]:
    """Return the messages in place that may as well go into a digest.

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


def _find_answer(messages: Sequence[Message]) -> int | None:
    """Return the message with the agent's last words."""
    for message in reversed(messages):
        if message.role == "assistant" and any(message.parts[n].text for n in find_spoken(message)):
            return message.index
    return None


def find_spoken(message: Message) -> Iterator[int]:
    """Yield the numbers of the texts of *message* that a person or the model said.

    Not those that tools returned, and of a user's message not those that were pasted.
    """
    is_user = message.role == "user"
    for number, part in enumerate(message.parts):
        is_result = message.is_tool_result or part.call_id
        if not is_result and (not is_user or is_typed_text(part.text)):
            yield number
