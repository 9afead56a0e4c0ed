"""A budget: climb a finite ladder of ever shorter forms until the conversation fits.

Each rung goes through the messages from the oldest to the newest and stops as soon as the budget is
kept: summaries, tighter ones, one for the oldest stretch, beginnings. First everything outside the
recency window; then, only if that is not enough, what is inside, where rolling up comes last. The
rules run once, and every step starts from the originals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from refold.classic.compress import Folder
from refold.classic.reader import Reader, Writer
from refold.classic.rolls import roll_up, smallest_roll
from refold.classic.rules import RULES, Rule, Run, kept, recent_from
from refold.messages.blocks import find_blocks
from refold.messages.folds import Fold, Outcome, Plan, kept_fold
from refold.messages.message import Message
from refold.messages.untouchable import find_last_words
from refold.options import Depth, Options

BEGINNING: Final = 512
"""Characters of a text that the last rung but one shows: they say what it is about."""
STUB: Final = 64
"""Characters that the last one shows: hardly more than the tag itself."""
_ROLL_SHARE: Final = 10
"""A roll-up aims at a tenth of the budget, so that it can say something."""
_MAX_ROLL_ROOM: Final = 600
"""It aims at no more than so many tokens. A guess: for more, the messages themselves are better."""
_HANDLE_SLACK: Final = 4
"""Handles have the same number of letters, but not of tokens."""
_MAX_TRIES: Final = 6
"""How often the length of a beginning is corrected to the room that there is."""
_SPOKEN: Final = "said_beside_results"
"""Why the user's words beside tool results stay."""
_REFERRING: Final = frozenset({"deduped", "fuzzy_deduped", "contradicted"})
_DEPTHS: Final[tuple[Depth, ...]] = ("gentle", "moderate", "aggressive")


class Unit:
    """Messages that are folded as a whole or not at all, and what they cost as they are now."""

    __slots__ = (
        "cost", "first", "folds", "is_recent", "is_rolled", "is_untouchable", "last",
        "lost_target", "pointing_here", "run", "spoken",
    )  # fmt: skip

    def __init__(
        self, run: tuple[Message, ...], folds: tuple[Fold, ...], cost: int, *, is_recent: bool
    ) -> None:
        self.run: Final = run
        self.first: Final = run[0].index
        self.last: Final = run[-1].index
        self.folds = folds
        self.cost = cost
        self.is_recent: Final = is_recent
        self.is_untouchable = False
        self.spoken: frozenset[int] = frozenset()
        """Numbers of the texts that the user spoke beside tool results."""
        self.pointing_here: list[Unit] = []
        """Units that refer to a text in this one, and change when it does."""
        self.lost_target = False
        self.is_rolled = False
        """Whether a roll-up stands for it; then its own cost does not count."""

    @property
    def is_note(self) -> bool:
        """Whether no model ever sees it: it costs nothing and goes along with its neighbors."""
        return not self.run[0].is_turn

    @property
    def can_roll(self) -> bool:
        """Whether a roll-up may include it."""
        return self.is_note or not (self.is_untouchable or self.spoken)


class Ladder:
    """One conversation, its units, and how far down they are."""

    def __init__(
        self,
        messages: Sequence[Message],
        options: Options,
        reader: Reader,
        untouchable: Mapping[int, str],
        *,
        target: int,
        rules: Sequence[Rule] | None = None,
        writer: Writer | None = None,
    ) -> None:
        self._messages = messages
        self._options = options
        self._reader = reader
        self._tokens = reader.tokens
        self._target = target
        self._rungs: list[str] = []
        self._rolled: list[list[Unit]] = []
        run = Run(
            messages,
            options,
            reader,
            window=options.min_recency_window,
            writer=writer,
            pinned=untouchable,
        )
        self._writer = run.writer
        spoken = {(message.index, part) for message, part in find_last_words(messages)}
        for text in run.texts:
            is_pinned = text.message.index in untouchable
            if not is_pinned and (text.message.index, text.part) in spoken:
                run.verdicts[text.number] = kept(_SPOKEN)
        run.decide(RULES if rules is None else rules)
        self._folder = Folder(run)
        self._units = list(self._make_units(untouchable, spoken))
        self._unit_at = {message.index: unit for unit in self._units for message in unit.run}
        for text in run.texts:
            target_text = run.verdict(text).to
            if target_text is not None:
                unit = self._unit_at[target_text.message.index]
                unit.pointing_here.append(self._unit_at[text.message.index])
        self._total = sum([unit.cost for unit in self._units])

    def _make_units(
        self, untouchable: Mapping[int, str], spoken: set[tuple[int, int]]
    ) -> Iterator[Unit]:
        border = recent_from(self._messages, self._options.recency_window)
        for group in self._folder.groups(border=border):
            folds = [kept_fold(m, untouchable.get(m.index, "within_budget")) for m in group]
            cost = sum(map(self._tokens.message, group))
            unit = Unit(group, tuple(folds), cost, is_recent=group[0].index >= border)
            unit.is_untouchable = unit.first in untouchable
            if spoken:
                parts = range(len(group[0].parts))
                unit.spoken = frozenset(part for part in parts if (unit.first, part) in spoken)
            yield unit

    def climb(self, *, summarizes: bool = True) -> tuple[Plan, Sequence[str]]:
        """Climb until it fits, or to the top; return the plan and the names of the rungs."""
        for is_recent in (False, True):
            units = [unit for unit in self._units if unit.is_recent is is_recent]
            suffix = " (recent)" if is_recent else ""
            if not units or self._fits():
                continue
            depths = _DEPTHS[_DEPTHS.index(self._options.depth) :] if summarizes else ()
            for depth in depths:
                is_first = depth == self._options.depth
                is_tiered = self._options.budget_strategy == "tiered"
                self._summarize(units, depth, suffix, all_alike=is_tiered and is_first)
            if not self._options.force_converge:
                continue
            if not is_recent:
                self._roll(suffix)
            if summarizes:
                self._cut(units, BEGINNING, f"truncated{suffix}")
                self._cut(units, STUB, f"stub{suffix}")
            if is_recent:
                self._roll(suffix)
        return tuple(self._write()), self._rungs

    def _fits(self) -> bool:
        return self._total <= self._target

    def _take(self, unit: Unit, folds: tuple[Fold, ...], most: int | None = None) -> int:
        """Use *folds* for *unit* if they cost at most *most* tokens; return what that saves."""
        cost = sum(map(self._tokens.fold, folds))
        if most is not None and cost > most:
            return 0
        saved, unit.cost, unit.folds = unit.cost - cost, cost, folds
        return saved

    # Summaries.

    def _summarize(
        self, units: Sequence[Unit], depth: Depth, suffix: str, *, all_alike: bool
    ) -> None:
        """Summarize the oldest at *depth* until it fits, or all of them alike."""
        climbed = False
        for unit in units:
            if self._fits() and not all_alike:
                break
            # What others refer to stays readable.
            if unit.is_rolled or unit.is_untouchable or unit.pointing_here:
                continue
            folds = tuple(self._folder.fold(unit.run, depth))
            if unit.lost_target:
                folds = tuple(map(self._unrefer, folds))
            saved = self._take(unit, folds, most=unit.cost)
            climbed = climbed or saved > 0
            self._total -= saved
        if climbed:
            self._rungs.append(f"{depth}{suffix}")

    # Beginnings.

    def _cut(self, units: Sequence[Unit], chars: int, rung: str) -> None:
        """Show only the beginnings of the oldest until it fits; the last one takes what is left."""
        climbed = False
        for unit in units:
            if self._fits():
                break
            if unit.is_rolled or unit.is_untouchable:
                continue
            whole = unit.folds
            saved = self._take(unit, self._beginnings(unit, whole, chars), most=unit.cost)
            if not saved:
                continue
            climbed = True
            self._total -= saved + self._release(unit.pointing_here)
            if self._fits() and chars == BEGINNING and len(whole) == 1:
                self._lengthen(unit, whole)
        if climbed:
            self._rungs.append(rung)

    def _lengthen(self, unit: Unit, whole: tuple[Fold, ...]) -> None:
        """Let the beginnings of the unit that was cut last take the room that is left."""
        room = self._target - self._total + unit.cost
        before = sum(map(self._tokens.fold, whole))
        chars = int(sum(map(len, whole[0].texts_after)) * room / max(before, 1))
        for _ in range(_MAX_TRIES):
            if chars <= BEGINNING:
                return
            folds = self._beginnings(unit, whole, chars)
            cost = sum(map(self._tokens.fold, folds))
            if cost <= room:
                if cost > unit.cost:
                    self._total -= self._take(unit, folds)
                return
            chars = int(0.95 * chars * room / cost)

    def _beginnings(self, unit: Unit, folds: tuple[Fold, ...], chars: int) -> tuple[Fold, ...]:
        """Cut every text of *folds* that shows more than *chars* characters, if that saves."""
        cut_folds: list[Fold] = []
        for fold in folds:
            cuts: dict[int, str | None] = {}
            if len(fold.sources) == 1:
                message = fold.sources[0]
                for number, now in enumerate(fold.texts_after):
                    if len(now) <= chars or number in unit.spoken:
                        continue
                    text = message.parts[number].text
                    tag = self._folder.stand_ins.beginning(message, text, chars)
                    if tag is not None and self._tokens.count(tag) < self._tokens.count(now):
                        cuts[number] = tag
            cut_folds.append(_with_cuts(fold, cuts))
        return tuple(cut_folds)

    def _release(self, units: Sequence[Unit]) -> int:
        """Let *units* stand without the texts they refer to; return what that saves.

        Mostly below 0. Those in a roll-up change, too, since they may turn out to stay.
        """
        saved = 0
        for unit in units:
            unit.lost_target = True
            alone = self._take(unit, tuple(map(self._unrefer, unit.folds)))
            saved += 0 if unit.is_rolled else alone
        return saved

    def _unrefer(self, fold: Fold) -> Fold:
        """Replace every reference by the beginning of its text, or by all of it if shorter."""
        message = fold.sources[0]
        cuts = {
            number: self._folder.stand_ins.beginning(message, message.parts[number].text, STUB)
            for number, outcome in enumerate(fold.outcomes[0])
            if outcome.action in _REFERRING
        }
        return _with_cuts(fold, cuts)

    # Roll-ups.

    def _roll(self, suffix: str) -> None:
        """Roll up the oldest stretch, block by block, until the rest and a summary fit."""
        if self._fits():
            return
        smallest = smallest_roll(self._messages, self._reader.spelling)
        stub = self._tokens.fold(smallest) + _HANDLE_SLACK
        room = min(_MAX_ROLL_ROOM, self._target // _ROLL_SHARE)
        rest = sum([unit.cost for unit in self._units])
        stretches: list[list[Unit]] = []
        for unit in self._units:
            unit.is_rolled = False
        for block in self._rollable_blocks(includes_recent=bool(suffix)):
            if stretches and rest + max(stub * len(stretches), room) <= self._target:
                break
            between = range(stretches[-1][-1].last + 1, block[0].first) if stretches else range(0)
            notes = [self._unit_at[index] for index in between]
            if stretches and all(unit.is_note for unit in notes):
                stretches[-1] += [*notes, *block]
            else:
                stretches.append(list(block))
            for unit in block:
                unit.is_rolled = True
                rest -= unit.cost + self._release(unit.pointing_here)
        self._rolled = []
        for stretch in stretches:
            cost = sum([unit.cost for unit in stretch])
            if cost > stub:
                self._rolled.append(stretch)
                continue
            rest += cost  # a roll-up would be longer than the stretch
            for unit in stretch:
                unit.is_rolled = False
        if self._rolled:
            self._rungs.append(f"roll_up{suffix}")
        self._total = rest + stub * len(self._rolled)

    def _rollable_blocks(self, *, includes_recent: bool) -> Iterator[list[Unit]]:
        """Yield the units of each block of calls and results that may go, oldest first."""
        group: list[Unit] = []
        for block in find_blocks(self._messages):
            for index in block:
                if not group or group[-1] is not self._unit_at[index]:
                    group.append(self._unit_at[index])
            if group[-1].last > block[-1]:
                continue  # a unit of several messages is rolled up as one
            may_go = all(
                unit.can_roll and (includes_recent or not unit.is_recent) for unit in group
            )
            if may_go and not all(unit.is_note for unit in group):
                yield group
            group = []

    def _write(self) -> Iterator[Fold]:
        """Write the plan, with roll-ups that share the room that is left."""
        costs = [sum([unit.cost for unit in stretch]) for stretch in self._rolled]
        room = max(0, self._target - self._total)
        stretch_at = {unit.first: n for n, units in enumerate(self._rolled) for unit in units}
        for unit in self._units:
            number = stretch_at.get(unit.first)
            if number is None:
                yield from unit.folds
            elif self._rolled[number][0] is unit:
                sources = [message for one in self._rolled[number] for message in one.run]
                stub = self._tokens.fold(smallest_roll(sources, self._reader.spelling))
                share = room * costs[number] // max(sum(costs), 1)
                yield roll_up(sources, stub + share, self._reader, self._writer)


def _with_cuts(fold: Fold, cuts: Mapping[int, str | None]) -> Fold:
    """Replace texts of *fold* by *cuts*, by their numbers; `None` restores the original."""
    if not cuts:
        return fold
    parts = fold.sources[0].parts
    outcomes = tuple(
        [
            _cut_outcome(len(parts[number].text), cuts[number]) if number in cuts else outcome
            for number, outcome in enumerate(fold.outcomes[0])
        ]
    )
    texts = {number: text for number, text in {**fold.texts, **cuts}.items() if text is not None}
    return Fold(sources=fold.sources, texts=texts, outcomes=(outcomes,))


def _cut_outcome(chars: int, tag: str | None) -> Outcome:
    if tag is None:
        return Outcome("preserved", "reference_lost", chars, chars)
    return Outcome("truncated", "force_converge", chars, len(tag))
