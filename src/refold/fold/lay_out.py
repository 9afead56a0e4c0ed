"""Decide where each message stands: whole, in its place as an excerpt, or in a digest."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from refold.fold.people import is_insert
from refold.fold.pieces import Kind, Place, Reading, Room, Text, Voice
from refold.messages.blocks import find_blocks
from refold.messages.message import Message
from refold.messages.token_count import CountedTexts
from refold.messages.untouchable import find_last_words

YIELDING: Final = ("first_task", "last_user_message")
"""Why messages stay whole while they fit, and are excerpted where they do not."""
_TASK: Final = 0.33
_TASK_PART: Final = 0.15
"""Of the room: how a longer task begins, and what it forbids."""
_FAIR: Final = 0.3
"""Where a smaller share of all tokens fits, it is up to twice as much."""
_TASK_WIDE: Final = 0.5
_SHORT_TASK: Final = 60
"""The share of the room that the task may take whole, and where half of everything fits; so many
tokens wherever there is room."""
_OPENING: Final = 0.1
"""The same for the first message of plain talk, which is seldom a task."""
_NEWEST: Final = 0.85
_TALK_NEWEST: Final = 0.3
"""The same in plain talk, of which the newest words are no more than others."""
_SMALL_ROOM: Final = 600
"""In a room of so many tokens the newest results may take all but a mark."""
_NEWEST_SMALL: Final = 0.4
_TAIL: Final = 0.4
_SLACK: Final = 0.1
"""Of the room: the newest turns whole, and so much more for the turn that passes it."""
_CALL: Final = 90
_LINE: Final = 28
SPOKEN: Final = 400
"""Tokens of a call, of a line of a result and of words that are shown whole in shape."""


_REFORMATTED: Final = 8
"""Tokens of the mark of data in another spelling."""


@dataclass(slots=True)
class Layout:
    """Where each message stands, and why those that stay whole do."""

    places: list[Place]
    reasons: dict[int, str]
    blocks: list[range]
    task: int = -1
    """The index of the task, if it is shown in part."""
    task_part: float = _TASK_PART
    """Of the room: what of the task is shown."""


def find_costs(
    messages: Sequence[Message],
    texts: Sequence[Text],
    tokens: CountedTexts,
    untouchable: Container[int],
) -> tuple[list[int], list[float]]:
    """Return what each message costs, whole and in shape, and note what records save."""
    whole = [tokens.message(message) for message in messages]
    shape = [float(cost) for cost in whole]
    for message in messages:
        shape[message.index] -= sum(tokens(part.text) for part in message.parts)
        shape[message.index] -= sum(tokens(call.text) for call in message.calls)
    for text in texts:
        most = {Voice.CALL: _CALL * 1.2, Voice.TOOL: _LINE}.get(text.voice, SPOKEN)
        shape[text.message] += min(text.tokens, most)
        if text.kind is Kind.RECORDS and not (text.is_file or text.message in untouchable):
            plain = tokens(messages[text.message].parts[text.part].text)
            text.saves = max(0, plain - text.tokens - _REFORMATTED)
            whole[text.message] -= text.saves
    return whole, shape


def lay_out(reading: Reading, untouchable: Mapping[int, str], room: Room, lean: float) -> Layout:
    """Lay out messages for a *room*; the less *lean*, the more goes into digests."""
    messages = reading.messages
    reasons = {
        index: why
        for index, why in untouchable.items()
        if why not in YIELDING or messages[index].images or messages[index].opaque
    }
    places = [Place.WHOLE if m.index in reasons else Place.DIGEST for m in messages]
    layout = Layout(places, reasons, find_blocks(messages))
    left: float = room.target - sum(reading.whole[index] for index in reasons)
    used, task = _place_question(layout, reading, left, room)
    left -= task
    lean = 0.0 if reading.is_talk else lean
    tail = lean * _TAIL * left
    is_new = True
    for block in reversed(layout.blocks):
        rest = [i for i in block if i not in reasons]
        need = sum(reading.whole[i] for i in rest)
        if is_new and rest and (lean or reading.is_talk):
            most = _NEWEST * left if left > _SMALL_ROOM else left - reading.bare
            most = _TALK_NEWEST * left if reading.is_talk else most
            used += _place_newest(layout, reading, rest, left, most - used)
            is_new = messages[block[0]].role == "user"
            continue
        if not rest or not messages[block[0]].is_turn:
            continue
        is_new = False
        if used >= tail or used + need > tail + _SLACK * left:
            break
        _keep(layout, rest, "newest_turns")
        used += need
    _keep_ties(layout, messages)
    return layout


def lay_out_least(
    reading: Reading,
    untouchable: Mapping[int, str],
    *,
    keeps_question: bool,
    keeps_task: bool = False,
) -> Layout:
    """Put everything that may go there into digests; what no budget may change stays in place."""
    messages = reading.messages
    reasons = {
        index: why
        for index, why in untouchable.items()
        if why not in YIELDING
        or messages[index].images
        or messages[index].opaque
        or (keeps_question and why == "last_user_message")
        or (keeps_task and why == "first_task")
    }
    places = [Place.WHOLE if m.index in reasons else Place.DIGEST for m in messages]
    for message, _ in find_last_words(messages) if keeps_question else ():
        if places[message.index] is Place.DIGEST:
            places[message.index] = Place.EXCERPT
    layout = Layout(places, reasons, find_blocks(messages))
    layout.task = next((n for n in _find_users(reading)[:1] if places[n] is Place.DIGEST), -1)
    _keep_ties(layout, messages)
    return layout


def _keep(layout: Layout, indices: Sequence[int], why: str) -> None:
    for index in indices:
        layout.places[index] = Place.WHOLE
        layout.reasons[index] = why


def _place_question(
    layout: Layout, reading: Reading, left: float, room: Room
) -> tuple[float, float]:
    """Keep the user's last words, and the task unless it takes too much; return what both cost."""
    users = _find_users(reading)
    if not users:
        return 0.0, 0.0
    task, question = users[0], users[-1]
    used = spent = 0.0
    is_asked = question != task or question == len(layout.places) - 1
    is_asked = is_asked and question not in layout.reasons
    is_small = reading.whole[question] + reading.bare <= left + room.limit - room.target
    if reading.is_talk:
        is_small = reading.whole[question] <= _TALK_NEWEST * left
    if is_asked and is_small:
        _keep(layout, [question], "last_user_message")
        used += reading.whole[question]
    elif (
        is_asked
        and reading.messages[question].is_tool_result
        and reading.shape[question] + reading.bare <= left
    ):
        layout.places[question] = Place.EXCERPT  # the words stay, the results beside them may go
    if task not in layout.reasons:
        share = _OPENING if reading.is_talk else min(_TASK_WIDE, max(_TASK, room.share))
        if question == task and not reading.is_talk:  # all that the user said
            share = _TASK_WIDE
        layout.task_part = _TASK_PART * min(2.0, max(1.0, _FAIR / max(room.share, 0.01)))
        most = share * (left - used)
        if not reading.is_talk:
            most = max(most, min(_SHORT_TASK, left - used - reading.bare))
        if reading.whole[task] <= most:
            _keep(layout, [task], "first_task")
            spent = reading.whole[task]
        else:
            layout.task = task
            spent = min(reading.whole[task], layout.task_part * max(0.0, left - used))
    return used, spent


def _find_users(reading: Reading) -> list[int]:
    """Return the messages with words of the user's own; the first one is the task."""
    return [t.message for t in reading.texts if t.voice is Voice.USER and not is_insert(t.text)]


def _place_newest(
    layout: Layout, reading: Reading, rest: Sequence[int], room: float, left: float
) -> float:
    """Keep what came since the assistant last spoke whole; of what is too long, show the best."""
    whole, shape = reading.whole, reading.shape
    need = sum(whole[i] for i in rest)
    if need <= left:
        _keep(layout, rest, "newest")
        return need
    spent = 0.0
    if sum(shape[i] for i in rest) >= _NEWEST * room:
        return 0.0
    for i in sorted(rest, key=lambda i: (whole[i], i)):
        is_small = spent + whole[i] <= _NEWEST_SMALL * room or whole[i] < 40
        if is_small:
            _keep(layout, [i], "newest")
        else:
            layout.places[i] = Place.EXCERPT
        spent += whole[i] if is_small else shape[i]
    return max(0.0, 0.6 * room, spent)


def _keep_ties(layout: Layout, messages: Sequence[Message]) -> None:
    """Let what is tied to a message in place stand in its place, too.

    Records that no model sees go into the digest that continues after them.
    """
    places = layout.places
    for is_turn, run in groupby(messages, lambda message: message.is_turn):
        notes = [] if is_turn else [message.index for message in run]
        is_within = notes and notes[0] and notes[-1] + 1 < len(places)
        if is_within and {places[notes[0] - 1], places[notes[-1] + 1]} == {Place.DIGEST}:
            for index in notes:
                places[index] = Place.DIGEST
    for block in layout.blocks:
        if len(block) > 1 and any(places[i] is not Place.DIGEST for i in block):
            for i in block:
                if places[i] is Place.DIGEST:
                    places[i] = Place.EXCERPT
