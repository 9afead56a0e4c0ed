"""A budget: climb a finite ladder of ever shorter forms until the conversation fits.

Each rung goes through the messages from the oldest to the newest and stops as soon as the budget is
kept: summaries, tighter ones, one for the oldest stretch, beginnings. First everything outside the
recency window; then, only if that is not enough, what is inside, where rolling up comes last. The
rules run once, and every step starts from the originals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from refold.classic.compress import Folder
from refold.classic.rolls import roll_up, smallest_roll
from refold.classic.rules import Rule, Run, kept, recent_from
from refold.messages.blocks import find_blocks
from refold.messages.folds import Fold, Outcome, Plan, kept_fold
from refold.messages.message import Message
from refold.messages.untouchable import find_last_words
from refold.options import Depth
from refold.scan.structure import is_json

BEGINNING: Final = 512  # characters of a text that say what it is about
_BEGINNING_TOKENS: Final = 200  # what such a beginning may cost
STUB: Final = 64  # characters of one that is hardly more than its tag
_ROLL_SHARE: Final = 10  # a roll-up aims at a tenth of the budget, so that it can say something
_MAX_ROLL_ROOM: Final = 600
"""It aims at no more than so many tokens. A guess: for more, the messages themselves are better."""
_HANDLE_SLACK: Final = 4  # handles have the same number of letters, but not of tokens
_MAX_TRIES: Final = 6  # how often the length of a beginning is corrected to the room that there is
_SPOKEN: Final = "said_beside_results"  # why the user's words beside tool results stay
_REFERRING: Final = frozenset({"deduped", "fuzzy_deduped", "contradicted"})
_DEPTHS: Final[tuple[Depth, ...]] = ("gentle", "moderate", "aggressive")


@dataclass(slots=True, eq=False)
class Unit:
    """Messages that are folded as a whole or not at all, and what they cost as they are now."""

    run: Final[tuple[Message, ...]]
    folds: tuple[Fold, ...]
    cost: int
    is_recent: Final[bool]
    is_untouchable: Final[bool]
    spoken: Final[frozenset[int]]
    """Numbers of the texts that the user spoke beside tool results."""
    pointing_here: list[Unit] = field(default_factory=list["Unit"])
    """Units that refer to a text in this one, and change when it does."""
    lost_target: bool = False
    is_settled: bool = False
    """Whether its summary is the same at every depth: it was made, and no text has one."""
    is_rolled: bool = False
    """Whether a roll-up stands for it; then its own cost does not count."""

    @property
    def is_note(self) -> bool:
        """Whether no model ever sees it: it costs nothing and goes along with its neighbors."""
        return not self.run[0].is_turn


class Ladder:
    """One conversation, its units, and how far down they are."""

    def __init__(self, run: Run, rules: Sequence[Rule], target: int) -> None:
        self._run = run
        self._tokens = run.reader.tokens
        self._target = target
        self._rungs: list[str] = []
        self._rolled: list[list[Unit]] = []
        spoken = {(message.index, part) for message, part in find_last_words(run.messages)}
        for text in run.texts:
            place = text.message.index
            if place not in run.pinned and (place, text.part) in spoken:
                text.verdict = kept(_SPOKEN)
        run.decide(rules)
        self._folder = Folder(run)
        self._units: list[Unit] = []
        border = recent_from(run.messages, run.options.recency_window)
        for group in self._folder.groups(border=border):
            first = group[0].index
            folds = [kept_fold(m, run.pinned.get(m.index, "within_budget")) for m in group]
            cost = sum(map(self._tokens.message, group))
            parts = range(len(group[0].parts)) if spoken else ()
            here = frozenset([part for part in parts if (first, part) in spoken])
            unit = Unit(group, tuple(folds), cost, first >= border, first in run.pinned, here)
            self._units.append(unit)
        self._unit_at = {message.index: unit for unit in self._units for message in unit.run}
        for text in run.texts:
            if text.verdict is not None and text.verdict.to is not None:
                unit = self._unit_at[text.verdict.to.message.index]
                unit.pointing_here.append(self._unit_at[text.message.index])
        self._total = sum([unit.cost for unit in self._units])

    def climb(self, *, summarizes: bool = True) -> tuple[Plan, Sequence[str]]:
        """Climb until it fits, or to the top; return the plan and the names of the rungs."""
        options = self._run.options
        for is_recent in (False, True):
            units = [unit for unit in self._units if unit.is_recent is is_recent]
            suffix = " (recent)" if is_recent else ""
            if not units or self._fits():
                continue
            depths = _DEPTHS[_DEPTHS.index(options.depth) :] if summarizes else ()
            for depth in depths:
                all_alike = options.budget_strategy == "tiered" and depth == options.depth
                self._summarize(units, depth, suffix, all_alike=all_alike)
            if not options.force_converge:
                continue
            if not is_recent:
                # Where shorter data is enough, no summary of it and its neighbors is needed.
                data = [unit for unit in units if summarizes and self._is_data(unit)]
                least = _BEGINNING_TOKENS * len(data)
                if sum([unit.cost for unit in data]) - least >= self._total - self._target:
                    self._cut(data, BEGINNING, f"truncated{suffix}")
                self._roll(suffix)
            if summarizes:
                self._cut(units, BEGINNING, f"truncated{suffix}")
                self._cut(units, STUB, f"stub{suffix}")
            if is_recent:
                self._roll(suffix)
        return tuple(self._write()), self._rungs

    def _is_data(self, unit: Unit) -> bool:
        """Tell whether *unit* is one JSON text that may be cut."""
        parts = unit.run[0].parts
        is_one = len(unit.run) == len(parts) == 1 and unit.folds[0].is_kept
        is_long = is_one and unit.cost > _BEGINNING_TOKENS and not unit.is_untouchable
        return is_long and not self._fits() and is_json(parts[0].text)

    def _fits(self) -> bool:
        return self._total <= self._target

    def _take(self, unit: Unit, folds: tuple[Fold, ...], most: int | None = None) -> int:
        """Use *folds* for *unit* if they cost at most *most* tokens; return what that saves."""
        cost = sum(map(self._tokens.fold, folds))
        if most is not None and cost > most:
            return 0
        saved, unit.cost, unit.folds = unit.cost - cost, cost, folds
        return saved

    def _summarize(
        self, units: Sequence[Unit], depth: Depth, suffix: str, *, all_alike: bool
    ) -> None:
        """Summarize the oldest at *depth* until it fits, or all of them alike."""
        before = self._total
        for unit in units:
            if self._fits() and not all_alike:
                break
            # What others refer to stays readable.
            if unit.is_rolled or unit.is_untouchable or unit.is_settled or unit.pointing_here:
                continue
            folds = tuple(self._folder.fold(unit.run, depth))
            unit.is_settled = len(unit.run) == 1 and self._folder.is_fixed(unit.run[0])
            if unit.lost_target:
                folds = tuple(map(self._unrefer, folds))
            self._total -= self._take(unit, folds, most=unit.cost)
        if self._total < before:
            self._rungs.append(f"{depth}{suffix}")

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
            message = fold.sources[0]
            for number, now in enumerate(fold.texts_after if len(fold.sources) == 1 else ()):
                if len(now) <= chars or number in unit.spoken:
                    continue
                text = message.parts[number].text
                tag = self._folder.beginning(message, text, chars)
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
            number: self._folder.beginning(message, message.parts[number].text, STUB)
            for number, outcome in enumerate(fold.outcomes[0])
            if outcome.action in _REFERRING
        }
        return _with_cuts(fold, cuts)

    def _roll(self, suffix: str) -> None:
        """Roll up the oldest stretch, block by block, until the rest and a summary fit."""
        if self._fits():
            return
        smallest = smallest_roll(self._run.messages, self._run.reader.spelling)
        stub = self._tokens.fold(smallest) + _HANDLE_SLACK
        room = min(_MAX_ROLL_ROOM, self._target // _ROLL_SHARE)
        rest = sum([unit.cost for unit in self._units])
        stretches: list[list[Unit]] = []
        for unit in self._units:
            unit.is_rolled = False
        for block in self._rollable_blocks(includes_recent=bool(suffix)):
            if stretches and rest + max(stub * len(stretches), room) <= self._target:
                break
            first = block[0].run[0].index
            last = stretches[-1][-1].run[-1].index if stretches else first
            notes = [self._unit_at[index] for index in range(last + 1, first)]
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
        for block in find_blocks(self._run.messages):
            for index in block:
                if not group or group[-1] is not self._unit_at[index]:
                    group.append(self._unit_at[index])
            if group[-1].run[-1].index > block[-1]:
                continue  # a unit of several messages is rolled up as one
            may_go = all(
                (unit.is_note or not (unit.is_untouchable or unit.spoken))
                and (includes_recent or not unit.is_recent)
                for unit in group
            )
            if may_go and not all(unit.is_note for unit in group):
                yield group
            group = []

    def _write(self) -> Iterator[Fold]:
        """Write the plan, with roll-ups that share the room that is left."""
        costs = [sum([unit.cost for unit in stretch]) for stretch in self._rolled]
        room = max(0, self._target - self._total)
        number_of = {unit: n for n, units in enumerate(self._rolled) for unit in units}
        for unit in self._units:
            number = number_of.get(unit)
            if number is None:
                yield from unit.folds
            elif self._rolled[number][0] is unit:
                sources = [message for one in self._rolled[number] for message in one.run]
                stub = self._tokens.fold(smallest_roll(sources, self._run.reader.spelling))
                share = room * costs[number] // max(sum(costs), 1)
                yield roll_up(sources, stub + share, self._run.reader, self._run.write)


def _with_cuts(fold: Fold, cuts: Mapping[int, str | None]) -> Fold:
    """Replace texts of *fold* by *cuts*, by their numbers; `None` restores the original."""
    if not cuts:
        return fold
    row = list(fold.outcomes[0])
    for number, tag in cuts.items():
        chars = len(fold.sources[0].parts[number].text)
        row[number] = (
            Outcome("preserved", "reference_lost", chars, chars)
            if tag is None
            else Outcome("truncated", "force_converge", chars, len(tag))
        )
    texts = {number: text for number, text in {**fold.texts, **cuts}.items() if text is not None}
    return Fold(sources=fold.sources, texts=texts, outcomes=(tuple(row),))
