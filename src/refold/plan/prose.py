"""What is said, by the rules: long prose of the assistant, and long prose that people wrote.

Whatever else there is stays out of their hands: what tools returned, what people typed for a turn,
and what they pasted.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from refold.kinds import kind_of
from refold.messages.formats.base import is_note
from refold.messages.message import Message, Part
from refold.options import Options
from refold.plan.draft import Draft, Keep, Verdict
from refold.plan.fold import Fold
from refold.plan.layout import Key
from refold.plan.recode import NOT_SAID
from refold.plan.replace import Folder
from refold.plan.rules import RunContext, apply_rules
from refold.plan.typed import MAX_TYPED_WORDS, PROSE_KINDS, is_typed_text
from refold.scan.patterns import IDEOGRAPHS

_WORD: Final = re.compile(rf"[{IDEOGRAPHS}]{{1,2}}|[^\W_{IDEOGRAPHS}]++")
"""Scripts without blanks have about two characters a word."""


def find_pastes(messages: Sequence[Message], whole: Container[int]) -> frozenset[Key]:
    """Return the texts of the user's that are data: what was pasted, what a program wrote.

    None of the messages that stay *whole*.
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
    """Tell whether *text* has more words than people type for a turn; signs are none."""
    return next(islice(_WORD.finditer(text), MAX_TYPED_WORDS, None), None) is not None


def fold_prose(
    messages: Sequence[Message],
    whole: Mapping[int, str],
    context: RunContext,
    *,
    start: int = 0,
) -> dict[int, Fold]:
    """Fold what is said by the rules; map the index of the first message to each fold.

    The messages in *whole* stay as they are; those before *start* are dealt with, and no summary
    reaches over that border. A text that the rules have no say in is `NOT_SAID`.
    """
    draft = Draft(messages)
    draft.pin(whole)
    draft.decide(_leave_alone(draft))
    apply_rules(draft, context)
    folder = Folder(draft, context)
    return {
        fold.sources[0].index: fold
        for run in folder.runs(border=start)
        if run[0].index >= start and _is_said(draft, run[0])
        for fold in folder.fold_run(run, context.options.depth)
    }


def rules_of(options: Options) -> Options:
    """Return the rules as the profile uses them: a copy refers to what was said before it."""
    return replace(options, profile="classic", keep_duplicate="first")


def _leave_alone(draft: Draft) -> Iterator[Verdict]:
    for message in draft.messages:
        for segment, part in zip(draft.segments_of(message), message.parts, strict=True):
            if not _is_prose(message, part):
                is_own = message.role == "user" and not message.is_result(part)
                is_own = is_own and not _is_pasted(part.text)
                yield segment, Keep(), "typed" if is_own else NOT_SAID


def _is_prose(message: Message, part: Part) -> bool:
    """Tell whether the rules decide on *part*, one of the texts of *message*."""
    if message.is_result(part):
        return False
    if message.role != "user":
        return True
    return _is_long(part.text) and not is_typed_text(part.text) and not _is_pasted(part.text)


def _is_said(draft: Draft, message: Message) -> bool:
    """Tell whether the rules decided on any text of *message*."""
    decisions = (draft.decision(segment) for segment in draft.segments_of(message))
    return any(decision is not None and decision.reason != NOT_SAID for decision in decisions)
