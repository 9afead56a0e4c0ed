"""A run of messages on the ladder: its level, and what it costs there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Final, Self

from refold.messages.folds import Fold, Outcome, kept_fold
from refold.messages.message import Message
from refold.messages.token_count import CountedTexts
from refold.options import Depth
from refold.plan.by_rules import Folder
from refold.plan.draft import Decision, Draft, Refer, Supersede
from refold.plan.stand_in import StandIn

SPOKEN: Final = "said_beside_results"
"""The reason for keeping the user's words beside tool results."""


class Level(Enum):
    """How much of a message is left, from all of it to a stub."""

    KEPT = 0
    GENTLE = 1
    MODERATE = 2
    AGGRESSIVE = 3
    TRUNCATED = 4
    STUB = 5

    @property
    def is_lossy(self) -> bool:
        """Whether this level also truncates texts that were kept for their structure."""
        return self.value >= Level.TRUNCATED.value

    @classmethod
    def shortening(cls, start: Depth) -> Sequence[Self]:
        """Return the levels to go through, from the given depth on."""
        first = cls[start.upper()]
        return [level for level in cls if level.value >= first.value]


_DEPTHS: Final[Mapping[Level, Depth]] = {
    Level.GENTLE: "gentle",
    Level.MODERATE: "moderate",
    Level.AGGRESSIVE: "aggressive",
}
_CHARS_SHOWN: Final[Mapping[Level, int]] = {Level.TRUNCATED: 512, Level.STUB: 64}
"""Characters of each text that the last two levels show. Guesses: the beginning of an answer says
what it is about, and 64 characters are hardly more than the mark itself."""


class Unit:
    """A run of messages that is folded as a whole or not at all."""

    def __init__(
        self,
        run: tuple[Message, ...],
        folder: Folder,
        tokens: CountedTexts,
        *,
        is_untouchable: bool,
        is_recent: bool,
        reasons: Mapping[int, str],
    ) -> None:
        self.run = run
        self.first, self.last = run[0].index, run[-1].index
        self.is_untouchable = is_untouchable
        self.is_recent = is_recent
        self.pointing_here: list[Unit] = []
        """Units that refer to a text in this one, and change when it does."""
        self.is_rolled = False
        """Whether a roll-up stands for it; then its own cost does not count."""
        self._folder = folder
        self._tokens = tokens
        self._is_simple = len(run) == len(run[0].parts) == 1 and run[0].is_turn
        self._level = Level.KEPT
        self._lost_target = False
        self._spoken = frozenset(
            number
            for number, segment in enumerate(folder.draft.segments_of(run[0]))
            if folder.is_kept(segment, SPOKEN)
        )
        self._folds = tuple(
            [kept_fold(message, reasons.get(message.index, "within_budget")) for message in run]
        )
        self._shown: StandIn | None = None
        """The latest stand-in for the only text of the only message, not yet written as a fold."""
        self.cost = sum(map(tokens.message, run))

    @property
    def folds(self) -> tuple[Fold, ...]:
        """The folds of the run. Most steps are only priced, so folds are made on access."""
        if self._shown is not None:
            self._folds = (self._folder.fold_shown(self.run[0], [self._shown]),)
            self._shown = None
        return self._folds

    @property
    def is_note(self) -> bool:
        """Whether no model ever sees it: it costs nothing and goes along with its neighbors."""
        return not self.run[0].is_turn

    @property
    def can_roll(self) -> bool:
        """Whether a roll-up may include it."""
        return self.is_note or not (self.is_untouchable or self._spoken)

    def lower(self, level: Level) -> int:
        """Go down to *level* if that saves tokens; return how many it saves."""
        if self.is_untouchable or level.value <= self._level.value:
            return 0
        depth = _DEPTHS.get(level)
        if depth is None:
            folds = tuple([self._truncate(fold, _CHARS_SHOWN[level]) for fold in self.folds])
        elif self.pointing_here:
            return 0
        elif self._is_simple and not self._lost_target:
            self._level = level
            return self._show(self._folder.show(self.run[0], depth)[0])
        else:
            folds = tuple(self._folder.fold_run(self.run, depth))
            if self._lost_target:
                folds = tuple(map(self._unrefer, folds))
        self._level = level
        return self._take(folds, most=self.cost)

    def _show(self, made: StandIn) -> int:
        """Show *made* for the only text if that saves tokens; return how many it saves."""
        whole, tokens = self.run[0], self._tokens
        cost = tokens.message(whole)
        if made.text is not None:
            cost += tokens.count(made.text) - tokens.count(whole.parts[0].text)
        if cost > self.cost:
            return 0
        saved, self.cost, self._shown = self.cost - cost, cost, made
        return saved

    def release(self) -> int:
        """Drop the reference to another text; return the tokens saved, usually below 0."""
        self._lost_target = True
        return self._take(tuple(map(self._unrefer, self.folds)))

    def _take(self, folds: tuple[Fold, ...], most: int | None = None) -> int:
        """Use *folds* if they cost at most *most* tokens; return the tokens saved."""
        cost = sum(map(self._tokens.fold, folds))
        if most is not None and cost > most:
            return 0
        before, self.cost, self._folds, self._shown = self.cost, cost, folds, None
        return before - cost

    def _truncate(self, fold: Fold, chars: int) -> Fold:
        """Truncate every text that shows more than *chars* characters, if that saves tokens."""
        if len(fold.sources) > 1:
            return fold
        cuts = {
            number: tag
            for number, (part, shown) in enumerate(
                zip(fold.sources[0].parts, fold.texts_after, strict=True)
            )
            if len(shown) > chars
            and number not in self._spoken
            and (tag := self._folder.stand_ins.truncated(fold.sources[0], part.text, chars))
            is not None
            and self._tokens(tag) < self._tokens(shown)
        }
        return _with_cuts(fold, cuts)

    def _unrefer(self, fold: Fold) -> Fold:
        """Replace every reference by the beginning of its text, or by all of it if shorter."""
        cuts = {
            number: self._stub(fold.sources[0], number)
            for number, outcome in enumerate(fold.outcomes[0])
            if outcome.action in ("deduped", "fuzzy_deduped", "contradicted")
        }
        return _with_cuts(fold, cuts)

    def _stub(self, message: Message, number: int) -> str | None:
        text = message.parts[number].text
        return self._folder.stand_ins.truncated(message, text, _CHARS_SHOWN[Level.STUB])


def _with_cuts(fold: Fold, cuts: Mapping[int, str | None]) -> Fold:
    """Replace texts of *fold* by *cuts*, by their numbers; `None` restores the original."""
    if not cuts:
        return fold
    parts = fold.sources[0].parts
    outcomes = tuple(
        _cut_outcome(len(parts[number].text), cuts[number]) if number in cuts else outcome
        for number, outcome in enumerate(fold.outcomes[0])
    )
    texts = {number: text for number, text in {**fold.texts, **cuts}.items() if text is not None}
    return Fold(sources=fold.sources, texts=texts, outcomes=(outcomes,))


def _cut_outcome(chars: int, tag: str | None) -> Outcome:
    if tag is None:
        return Outcome("preserved", "reference_lost", chars, chars)
    return Outcome("truncated", "force_converge", chars, len(tag))


def make_units(
    folder: Folder,
    draft: Draft,
    untouchable: Mapping[int, str],
    recent_from: int,
    tokens: CountedTexts,
) -> list[Unit]:
    """Split the conversation into units, and link each to those that refer to it."""
    units = [
        Unit(
            run,
            folder,
            tokens,
            is_untouchable=run[0].index in untouchable,
            is_recent=run[0].index >= recent_from,
            reasons=untouchable,
        )
        for run in folder.runs(border=recent_from)
    ]
    unit_at = {message.index: unit for unit in units for message in unit.run}
    for segment in draft.segments:
        target = _target_of(draft.decision(segment))
        if target is not None:
            holder = unit_at[draft.segments[target].message.index]
            holder.pointing_here.append(unit_at[segment.message.index])
    return units


def _target_of(decision: Decision | None) -> int | None:
    """Return the number of the segment that a decision refers to, if it does."""
    match decision.action if decision else None:
        case Refer(to=target):
            return target
        case Supersede(by=target):
            return target
        case _:
            return None
