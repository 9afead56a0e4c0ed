"""Climb a finite ladder until the conversation fits: summarize, tighten, roll up, truncate.

Each rung goes through the messages from the oldest to the newest and stops as soon as the budget is
kept. First everything outside the recency window; then, only if that is not enough, what is inside,
where rolling up comes last, because the latest messages are worth more one by one. Every step
starts from the originals and uses cached token counts: the rules run once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from refold.messages.blocks import find_blocks
from refold.messages.folds import Fold, Plan
from refold.messages.message import Message
from refold.messages.untouchable import find_last_words
from refold.plan.by_rules import Folder
from refold.plan.draft import Draft, Keep
from refold.plan.ladder.rollup import roll_up, smallest_roll
from refold.plan.ladder.unit import SPOKEN, Level, Unit, make_units
from refold.plan.profiles import BudgetTask, Fitter
from refold.plan.rules import RunContext, apply_rules

_ROLL_SHARE: Final = 10
"""A roll-up aims at a tenth of the budget, so that it can say something."""
_MAX_ROLL_ROOM: Final = 600
"""It aims at no more than so many tokens. A guess: for more, the messages themselves are better."""
_HANDLE_SLACK: Final = 4
"""Handles have the same number of letters, but not of tokens."""


def climb(task: BudgetTask) -> Fitter:
    """Climb until the target is reached, or to the top."""
    levels = Level.shortening(task.options.depth)
    return lambda target, _: _Ladder(task, target, levels).climb()


def roll_up_oldest(task: BudgetTask) -> Fitter:
    """Roll up the oldest stretch into one summary, and shorten no message by itself."""
    return lambda target, _: _Ladder(task, target, ()).climb()


class _Ladder:
    def __init__(self, task: BudgetTask, target: int, levels: Sequence[Level]) -> None:
        messages, options, text_cache = task.messages, task.options, task.text_cache
        self._messages = messages
        self._options = options
        self._text_cache = text_cache
        self._tokens = task.tokens
        self._target = target
        self._rungs: list[str] = []
        self._rolled: list[list[Unit]] = []
        self._summaries = [level for level in levels if not level.is_lossy]
        self._cuts = [level for level in levels if level.is_lossy]
        context = RunContext.of(messages, options, text_cache, options.min_recency_window)
        draft = Draft(messages)
        draft.pin(task.untouchable)
        draft.decide(
            (draft.segments_of(message)[number], Keep(), SPOKEN)
            for message, number in find_last_words(messages)
        )
        apply_rules(draft, context)
        recent_from = RunContext.of(
            messages, options, text_cache, options.recency_window
        ).recent_from
        self._units = make_units(
            Folder(draft, context), draft, task.untouchable, recent_from, self._tokens
        )
        self._unit_at = {message.index: unit for unit in self._units for message in unit.run}
        self._total = sum(unit.cost for unit in self._units)

    def climb(self) -> tuple[Plan, Sequence[str]]:
        """Climb until it fits, or to the top."""
        for is_recent in (False, True):
            self._climb_part([unit for unit in self._units if unit.is_recent is is_recent])
        return tuple(self._write(self._rolled)), self._rungs

    def _climb_part(self, units: Sequence[Unit]) -> None:
        """Climb with the older or with the recent part of the conversation."""
        if not units or self._fits():
            return
        suffix = " (recent)" if units[0].is_recent else ""
        is_tiered = self._options.budget_strategy == "tiered"
        for number, level in enumerate(self._summaries):
            self._lower(units, level, suffix, all_alike=is_tiered and number == 0)
        if not self._options.force_converge:
            return
        if not suffix:
            self._roll(suffix)
        for level in self._cuts:
            self._lower(units, level, suffix)
        if suffix:
            self._roll(suffix)

    def _fits(self) -> bool:
        return self._total <= self._target

    def _lower(
        self, units: Sequence[Unit], level: Level, suffix: str, *, all_alike: bool = False
    ) -> None:
        """Lower units to *level*, the oldest first, until the target is reached."""
        climbed = False
        for unit in units:
            if self._fits() and not all_alike:
                break
            if unit.is_rolled:
                continue
            saved = unit.lower(level)
            climbed = climbed or saved > 0
            if saved and level.is_lossy:
                saved += _release(unit.pointing_here)
            self._total -= saved
        if climbed:
            self._rungs.append(level.name.lower() + suffix)

    def _roll(self, suffix: str) -> None:
        """Roll up the oldest stretch, block by block, until the rest and a summary fit."""
        if self._fits():
            return
        stub = (
            self._tokens.fold(smallest_roll(self._messages, self._text_cache.spelling))
            + _HANDLE_SLACK
        )
        room = min(_MAX_ROLL_ROOM, self._target // _ROLL_SHARE)
        rest = sum(unit.cost for unit in self._units)
        stretches: list[list[Unit]] = []
        for unit in self._units:
            unit.is_rolled = False
        for block in self._rollable_blocks(includes_recent=bool(suffix)):
            if stretches and rest + max(stub * len(stretches), room) <= self._target:
                break
            notes = self._notes_between(stretches[-1][-1], block[0]) if stretches else None
            if notes is None:
                stretches.append(list(block))
            else:
                stretches[-1] += [*notes, *block]
            for unit in block:
                unit.is_rolled = True
                rest -= unit.cost + _release(unit.pointing_here)
        self._rolled = []
        for stretch in stretches:
            cost = sum(unit.cost for unit in stretch)
            if cost > stub:
                self._rolled.append(stretch)
                continue
            rest += cost  # a stub would be longer than the stretch
            for unit in stretch:
                unit.is_rolled = False
        if self._rolled:
            self._rungs.append("roll_up" + suffix)
        self._total = rest + stub * len(self._rolled)

    def _notes_between(self, before: Unit, after: Unit) -> list[Unit] | None:
        """Return the units between two others if no model sees any of them, else `None`."""
        between = [self._unit_at[index] for index in range(before.last + 1, after.first)]
        return between if all(unit.is_note for unit in between) else None

    def _rollable_blocks(self, *, includes_recent: bool) -> Iterator[list[Unit]]:
        """Yield the units of each block that may be rolled up, oldest first."""
        group: list[Unit] = []
        for block in find_blocks(self._messages):
            for index in block:
                if not group or group[-1] is not self._unit_at[index]:
                    group.append(self._unit_at[index])
            if group[-1].last > block[-1]:
                continue  # a run of several messages is rolled up as one
            may_go = all(u.can_roll and (includes_recent or not u.is_recent) for u in group)
            if may_go and not all(unit.is_note for unit in group):
                yield group
            group = []

    def _write(self, rolled: list[list[Unit]]) -> Iterator[Fold]:
        """Write the plan, with roll-ups that share the room that is left."""
        costs = [sum(unit.cost for unit in stretch) for stretch in rolled]
        room = self._target - self._total
        in_stretch = {id(unit): number for number, s in enumerate(rolled) for unit in s}
        written: set[int] = set()
        for unit in self._units:
            number = in_stretch.get(id(unit))
            if number is None:
                yield from unit.folds
            elif number not in written:
                written.add(number)
                sources = _sources(rolled[number])
                stub = self._tokens.fold(smallest_roll(sources, self._text_cache.spelling))
                share = max(0, room) * costs[number] // max(sum(costs), 1)
                yield roll_up(sources, stub + share, self._text_cache)


def _release(units: Sequence[Unit]) -> int:
    """Let *units* stand without the texts they refer to; return the tokens saved, usually below 0.

    This includes units in a roll-up, which may turn out to stay; they save nothing there.
    """
    saved = 0
    for unit in units:
        own = unit.release()
        if not unit.is_rolled:
            saved += own
    return saved


def _sources(stretch: Sequence[Unit]) -> list[Message]:
    return [message for unit in stretch for message in unit.run]
