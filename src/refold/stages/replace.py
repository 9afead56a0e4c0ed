"""Turn decisions into a plan: which messages merge, and which text stands in for which."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from refold.model.decision import Summarize
from refold.model.depth import Depth
from refold.model.draft import Draft
from refold.model.message import Message
from refold.model.plan import NO_TEXTS, Fold, Outcome, Plan
from refold.model.segment import Segment
from refold.stages.base import Setting
from refold.stages.protect import protection
from refold.stages.stand_in import StandIns


def make_plan(draft: Draft, setting: Setting, depth: Depth) -> Plan:
    """Make the plan that *draft*'s decisions ask for."""
    folder = Folder(draft, setting)
    return tuple(fold for run in folder.runs() for fold in folder.fold_run(run, depth))


class Folder:
    """Folds the messages of one draft, run by run."""

    def __init__(self, draft: Draft, setting: Setting) -> None:
        self.draft = draft
        self._setting = setting
        self.stand_ins = StandIns(draft, setting)
        self._rows: dict[tuple[str, str, int, int], tuple[Outcome, ...]] = {}
        """Of many short messages a few rows say it all, and spare the collector the others."""

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

    def fold_run(self, run: Sequence[Message], depth: Depth) -> Iterator[Fold]:
        """Fold a run into one summary; message by message if that is not shorter."""
        merged = self._merge(run, depth) if len(run) > 1 else None
        if merged is not None:
            yield merged
        else:
            for message in run:
                yield self.fold_one(message, depth)

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
        texts: dict[int, str] | None = None
        rows: list[tuple[Outcome, ...]] = []
        for number, segment in enumerate(self.draft.segments_of(message)):
            made = self.stand_ins.for_segment(segment, depth)
            if made.text is not None:
                texts = {} if texts is None else texts
                texts[number] = made.text
            length = len(segment.text)
            after = length if made.text is None else len(made.text)
            rows.append(self._row(made.action, made.reason, length, after))
        if not rows:
            reason = protection(message, 0, self._setting) or "short_content"
            rows.append(self._row("preserved", reason, 0, 0))
        row = rows[0] if len(rows) == 1 else tuple(chain.from_iterable(rows))
        return Fold(sources=(message,), texts=texts or NO_TEXTS, outcomes=(row,))

    def _row(self, action: str, reason: str, before: int, after: int) -> tuple[Outcome, ...]:
        """Return what happened to one text; texts of the same length mostly share it."""
        key = (action, reason, before, after)
        row = self._rows.get(key)
        if row is None:
            row = self._rows[key] = (Outcome(action, reason, before, after),)
        return row


def _same_speaker(a: Message, b: Message) -> bool:
    return a.role == b.role and a.wire.get("name") == b.wire.get("name")
