"""Turn decisions into a plan: which messages merge, and which text stands in for which."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from refold.messages.message import Message
from refold.plan.decision import Depth, Summarize
from refold.plan.draft import Draft, Segment
from refold.plan.fold import NO_TEXTS, Fold, Outcome, Plan, kept_fold
from refold.plan.rules.base import RunContext
from refold.plan.rules.protect import protection
from refold.plan.stand_in import StandIn, StandIns


def make_plan(draft: Draft, context: RunContext, depth: Depth) -> Plan:
    """Make the plan that *draft*'s decisions ask for."""
    folder = Folder(draft, context)
    plan: list[Fold] = []
    for run in folder.runs():
        plan += folder.fold_run(run, depth)
    return tuple(plan)


class Folder:
    """Folds the messages of one draft, run by run."""

    def __init__(self, draft: Draft, context: RunContext) -> None:
        self.draft = draft
        self._setting = context
        self.stand_ins = StandIns(draft, context)

    def is_kept(self, segment: Segment, reason: str) -> bool:
        """Tell whether *segment* is kept for exactly that reason."""
        decision = self.draft.decision(segment)
        return decision is not None and decision.reason == reason

    def runs(self, border: int | None = None) -> Iterator[tuple[Message, ...]]:
        """Cut the conversation into runs of neighbours that may share one summary.

        No run crosses *border*, the index of a message.
        """
        run: list[Message] = []
        for message in self.draft.messages:
            merges = self._can_merge(message)
            goes_on = merges and message.index != border
            if run and not (goes_on and _same_speaker(run[0], message)):
                yield tuple(run)
                run = []
            run.append(message)
            if not merges:
                yield tuple(run)
                run = []
        if run:
            yield tuple(run)

    def fold_run(self, run: Sequence[Message], depth: Depth) -> list[Fold]:
        """Fold a run into one summary; message by message if that is not shorter."""
        merged = self._merge(run, depth) if len(run) > 1 else None
        if merged is not None:
            return [merged]
        return [self.fold_one(message, depth) for message in run]

    def _can_merge(self, message: Message) -> bool:
        if len(message.parts) != 1:
            return False
        decision = self.draft.decision(self.draft.segments_of(message)[0])
        is_summarized = decision is not None and type(decision.action) is Summarize
        return is_summarized and message.sole_part is not None

    def _merge(self, run: Sequence[Message], depth: Depth) -> Fold | None:
        """Fold a run into one summary that speaks for each of its messages, if that is shorter."""
        texts = [message.parts[0].text for message in run]
        tag = self.stand_ins.summary(texts, run, depth)
        if tag is None:
            return None
        share = int(len(tag) / len(run) + 0.5)
        rows = tuple(
            (Outcome("compressed", "merged_compressed", len(text), share),) for text in texts
        )
        return Fold(sources=tuple(run), texts={0: tag}, outcomes=rows)

    def fold_one(self, message: Message, depth: Depth) -> Fold:
        """Replace the texts of one message, each where that makes it shorter."""
        if not message.parts:
            return kept_fold(message, protection(message, "", self._setting) or "short_content")
        return self.fold_shown(message, self.show(message, depth))

    def show(self, message: Message, depth: Depth) -> list[StandIn]:
        """Make what stands in for each text of *message*."""
        make = self.stand_ins.for_segment
        return [make(segment, depth) for segment in self.draft.segments_of(message)]

    def fold_shown(self, message: Message, shown_for: Sequence[StandIn]) -> Fold:
        """Replace each text of *message* by what is *shown_for* it."""
        texts: dict[int, str] = {}
        row: list[Outcome] = []
        for number, made in enumerate(shown_for):
            chars = shown = len(message.parts[number].text)
            if made.text is not None:
                texts[number] = made.text
                shown = len(made.text)
            row.append(Outcome(made.action, made.reason, chars, shown))
        return Fold(sources=(message,), texts=texts or NO_TEXTS, outcomes=(tuple(row),))


def _same_speaker(a: Message, b: Message) -> bool:
    return a.role == b.role and a.wire.get("name") == b.wire.get("name")
