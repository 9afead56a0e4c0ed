"""Fold messages by the rules: all messages, as `classic` does, or only long prose.

The rules decide what happens to each text; a `Folder` turns their decisions into folds: which
messages merge, and what replaces each text. `standard` leaves only prose to the rules, of the
assistant and of people; not what tools returned, what people typed for a turn, or what they pasted.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from types import MappingProxyType
from typing import Final

from refold.kinds import kind_of
from refold.messages.folds import NO_TEXTS, Fold, Outcome, Plan, kept_fold
from refold.messages.formats.base import is_note
from refold.messages.message import Message, Part
from refold.options import Depth, Options
from refold.plan.draft import Draft, Keep, Segment, Summarize, Verdict
from refold.plan.layout import Key
from refold.plan.recode import NOT_PROSE
from refold.plan.rules import RunContext, apply_rules
from refold.plan.rules.protect import protection
from refold.plan.stand_in import StandIn, StandIns
from refold.plan.text_cache import TextCache
from refold.plan.typed import MAX_TYPED_WORDS, PROSE_KINDS, is_typed_text
from refold.scan.patterns import IDEOGRAPHS

_WORD: Final = re.compile(rf"[{IDEOGRAPHS}]{{1,2}}|[^\W_{IDEOGRAPHS}]++")
"""Scripts without spaces have about two characters per word."""


class Folder:
    """Folds the messages of one draft, run by run."""

    def __init__(self, draft: Draft, context: RunContext) -> None:
        self.draft = draft
        self._context = context
        self.stand_ins = StandIns(draft, context)

    def is_kept(self, segment: Segment, reason: str) -> bool:
        """Tell whether *segment* is kept for this *reason*."""
        decision = self.draft.decision(segment)
        return decision is not None and decision.reason == reason

    def runs(self, border: int | None = None) -> Iterator[tuple[Message, ...]]:
        """Split the conversation into runs of neighbors that may share one summary.

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
        """Fold a run into one summary of all its messages, if that is shorter."""
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
            return kept_fold(message, protection(message, "", self._context) or "short_content")
        return self.fold_shown(message, self.show(message, depth))

    def show(self, message: Message, depth: Depth) -> list[StandIn]:
        """Make the stand-in for each text of *message*."""
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


def plan_by_rules(
    messages: Sequence[Message],
    options: Options,
    text_cache: TextCache,
    *,
    start: int = 0,
    hidden: frozenset[int] = frozenset(),
    pinned: Mapping[int, str] = MappingProxyType({}),
) -> Plan:
    """Let the rules decide what happens to the messages from *start* on.

    Earlier ones are folded already, and no summary crosses that border. The messages in *hidden*
    cannot be read anymore, so nothing may refer to them; those in *pinned* stay as they are, for
    the reason given.
    """
    context = replace(
        RunContext.of(messages, options, text_cache, options.recency_window), hidden=hidden
    )
    draft = Draft(messages)
    draft.pin(pinned)
    apply_rules(draft, context)
    folder = Folder(draft, context)
    plan: list[Fold] = []
    for run in folder.runs(border=start):
        if run[0].index >= start:
            plan += folder.fold_run(run, options.depth)
    return tuple(plan)


def find_pastes(messages: Sequence[Message], whole: Container[int]) -> frozenset[Key]:
    """Return the user's texts that are data: pasted, or written by a program.

    Except those of messages that stay *whole*.
    """
    return frozenset(
        (message.index, number)
        for message in messages
        if message.role == "user" and message.is_turn and message.index not in whole
        for number, part in enumerate(message.parts)
        if not message.is_result(part) and _is_pasted(part.text)
    )


def _is_pasted(text: str) -> bool:
    return is_note(text) or not (is_typed_text(text) or kind_of(text) in PROSE_KINDS)


def _is_long(text: str) -> bool:
    """Tell whether *text* has more words than people type for a turn, not counting punctuation."""
    return next(islice(_WORD.finditer(text), MAX_TYPED_WORDS, None), None) is not None


def fold_prose(
    messages: Sequence[Message],
    whole: Mapping[int, str],
    context: RunContext,
    *,
    start: int = 0,
) -> dict[int, Fold]:
    """Fold prose by the rules; map the index of its first message to each fold.

    The messages in *whole* stay as they are; those before *start* are folded already, and no
    summary crosses that border. Texts that the rules do not decide on have the reason `NOT_PROSE`.
    """
    draft = Draft(messages)
    draft.pin(whole)
    draft.decide(_leave_alone(draft))
    apply_rules(draft, context)
    folder = Folder(draft, context)
    return {
        fold.sources[0].index: fold
        for run in folder.runs(border=start)
        if run[0].index >= start and _has_prose(draft, run[0])
        for fold in folder.fold_run(run, context.options.depth)
    }


def rules_of(options: Options) -> Options:
    """Return options for the rules as `standard` uses them: copies refer to an earlier text."""
    return replace(options, profile="classic", keep_duplicate="first")


def _leave_alone(draft: Draft) -> Iterator[Verdict]:
    for message in draft.messages:
        for segment, part in zip(draft.segments_of(message), message.parts, strict=True):
            if not _is_prose(message, part):
                is_own = message.role == "user" and not message.is_result(part)
                is_own = is_own and not _is_pasted(part.text)
                yield segment, Keep(), "typed" if is_own else NOT_PROSE


def _is_prose(message: Message, part: Part) -> bool:
    """Tell whether the rules decide on *part*, a text of *message*."""
    if message.is_result(part):
        return False
    if message.role != "user":
        return True
    return _is_long(part.text) and not is_typed_text(part.text) and not _is_pasted(part.text)


def _has_prose(draft: Draft, message: Message) -> bool:
    """Tell whether the rules decided on any text of *message*."""
    decisions = (draft.decision(segment) for segment in draft.segments_of(message))
    return any(decision is not None and decision.reason != NOT_PROSE for decision in decisions)
