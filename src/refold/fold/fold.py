"""Fold a conversation into a token budget: the whole way, from messages to a plan.

    read → cut → rate → lay out → choose → write

A conversation is texts, a text is pieces, each with a price and a worth. Nothing is decided after
`choose`, nothing is written before `write`; what the view costs is counted, at most a few times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from refold.fold.asked import ask
from refold.fold.choose import Choice, choose
from refold.fold.cut import cut
from refold.fold.lay_out import SPOKEN, Layout, find_costs, lay_out, lay_out_least
from refold.fold.pieces import Place, Reading, Room, Text, Voice
from refold.fold.rate import Index, Weights, rate
from refold.fold.talk import is_talk
from refold.fold.texts import SYSTEM, read
from refold.fold.write import Writer
from refold.messages.folds import Plan, kept_fold
from refold.messages.message import Message
from refold.messages.token_count import MESSAGE_OVERHEAD, CountedTexts, count_plan
from refold.notation import marks

_LEANS: Final = (1.0, 0.5, 0.01, 0.0)
"""How much of the newest turns stands in its place: less where even that does not fit, or leaves
no room for what is asked; then the newest results alone, and nothing."""
_ROUNDS: Final = 12
_REFILLS: Final = 2
"""How often the view is made shorter, and how often what room is left is filled up."""
_KNOWN: Final = 5
"""What the system prompt says is worth so much less."""
_SHORT: Final = 28
"""Tokens of a result that stays whole in its place."""


class Folder:
    """Folds one conversation to any number of budgets; what it read of it is shared by them."""

    def __init__(
        self,
        messages: Sequence[Message],
        untouchable: Mapping[int, str],
        tokens: CountedTexts,
        *,
        explains: bool = False,
        weights: Weights | None = None,
    ) -> None:
        self._messages, self._untouchable, self._tokens = messages, untouchable, tokens
        self._explains, self._weights = explains, weights
        self._cost = sum(map(tokens.message, messages))
        self._reading: Reading | None = None
        self._runs: dict[tuple[int, int], tuple[int, str, int, int]] = {}
        self._worth: dict[float, list[int]] = {}
        """Share of all tokens → the worth of each item."""

    def fold(self, target: int, limit: int) -> Plan:
        """Return a plan of at most *target* tokens; what must stay may take up to *limit*."""
        if self._cost <= target:
            return tuple(
                kept_fold(m, self._untouchable.get(m.index, "within_budget"))
                for m in self._messages
            )
        reading = self._read()
        room = self._room(target, limit)
        best: Plan | None = None
        for lean in _LEANS if reading.fixed < target else ():
            if best is not None and not lean and reading.texts[-1].voice is Voice.TOOL:
                break  # what the agent is after is a guess, what its tools returned last is not
            layout = lay_out(reading, self._untouchable, room, lean)
            plan, is_answered = self._fill(layout, room, target)
            if plan is not None and is_answered:
                return plan
            best = best or plan  # turns in place have left no room for what is asked
        if best is not None:
            return best
        for keeps_question in (True, False):
            layout = lay_out_least(reading, self._untouchable, keeps_question=keeps_question)
            plan, _ = self._fill(layout, room, limit)
            if plan is not None:
                return plan
        layout = lay_out_least(reading, self._untouchable, keeps_question=True, keeps_task=True)
        plan, _ = self._writer(self._choice(layout, room)).write(layout, is_bare=True)
        return plan

    def _read(self) -> Reading:
        """Read the conversation once: nothing of this depends on a budget."""
        if self._reading is None:
            messages, tokens = self._messages, self._tokens
            texts = read(messages, tokens)
            talk = is_talk(texts)
            pieces = cut(texts, is_talk=talk)
            self._index = Index(is_talk=talk)
            self._index.add(texts, pieces)
            self._question = ask(texts, pieces, self._index)
            instructions = [part.text for m in messages if m.role in SYSTEM for part in m.parts]
            self._known = [row for text in instructions for row in set(self._index.rows_in(text))]
            whole, shape = find_costs(messages, texts, tokens, self._untouchable)
            fixed = sum(whole[m.index] for m in messages if m.role in SYSTEM)
            names = list(self._index.row), self._index.shape
            bare = tokens(marks.digest("", 20, "kdbfq")) + MESSAGE_OVERHEAD
            self._reading = Reading(
                messages, texts, pieces, whole, shape, fixed, bare, talk, *names
            )
        return self._reading

    def _room(self, target: int, limit: int) -> Room:
        fixed = self._read().fixed
        full = target - fixed
        return Room(target, limit, full, max(0.0, min(1.0, full / max(1, self._cost - fixed))))

    def _choice(self, layout: Layout, room: Room) -> Choice:
        reading = self._read()
        for text in reading.texts:
            text.place = layout.places[text.message]
            if text.place is Place.EXCERPT and _stays(text):
                text.place = Place.WHOLE
        worth = self._worth.get(room.share)
        if worth is None:
            worth = rate(self._index, reading.texts, room.share, self._weights)
            for row in self._known:
                worth[row] //= _KNOWN
            self._worth[room.share] = worth
        return Choice(reading, worth)

    def _writer(self, choice: Choice) -> Writer:
        runs = self._runs
        return Writer(self._messages, choice, self._tokens, runs, explains=self._explains)

    def _fill(self, layout: Layout, room: Room, most: int) -> tuple[Plan | None, bool]:
        """Choose, write and count until the view fits and its room is used; `None` if it cannot.

        Also returns whether it shows what answers the question best. What stays anyway may take
        *most* tokens; nothing is added to it beyond the target.
        """
        choice = self._choice(layout, room)
        writer = self._writer(choice)
        _, used = writer.write(layout, is_bare=True)
        if used > most:
            return None, False
        target = max(room.target, used)
        choose(choice, self._question, target - used, room, layout)
        choice.close_gaps()
        plan, used = writer.write(layout)
        for attempt in range(_ROUNDS):
            if used > target:
                over = (used - target) * (1.05 + 0.15 * attempt) + 1
                while choice.chosen and over > 0:
                    over -= choice.drop_last()
                if not choice.chosen:
                    break
            elif attempt < _REFILLS and target - used > 8:
                before = len(choice.chosen)
                choice.spend(choice.open, target - used, "worth")
                if len(choice.chosen) == before:
                    break
            else:
                break
            plan, used = writer.write(layout)
        while used > target and choice.chosen:
            for _ in range(1 + len(choice.chosen) // 8):
                choice.drop_last()
            plan, used = writer.write(layout)
        if used > target:
            plan, used = writer.write(layout, is_bare=True)
        is_answered = all(
            n in choice.taken or choice.texts[choice.pieces[n].text].place is Place.WHOLE
            for n in self._question.ranked[:1]
        )
        return (plan if count_plan(plan, self._tokens) <= target else None), is_answered


def _stays(text: Text) -> bool:
    """Tell whether a text stays whole in its place: calls, short results, most words."""
    if text.is_call or text.tokens <= _SHORT:
        return True
    return text.voice in (Voice.USER, Voice.ASSISTANT) and text.tokens <= SPOKEN
