"""Prose in `standard` without a budget: the rules of `classic` for what the assistant wrote."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace

from refold.classic.compress import Folder
from refold.classic.rules import RULES, Run, kept
from refold.fold.people import is_prose, is_typed
from refold.messages.folds import Fold
from refold.messages.formats.base import is_note
from refold.messages.message import Message, Part
from refold.options import Options
from refold.plan.recode import NOT_PROSE, Key
from refold.plan.text_cache import TextCache


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
    return is_note(text) or not (is_typed(text) or is_prose(text))


def fold_prose(
    messages: Sequence[Message],
    whole: Mapping[int, str],
    options: Options,
    text_cache: TextCache,
    *,
    start: int = 0,
    hidden: frozenset[int] = frozenset(),
) -> dict[int, Fold]:
    """Fold prose by the rules; map the index of its first message to each fold.

    The messages in *whole* stay as they are; those before *start* are folded already, and no
    summary crosses that border. Texts that the rules do not decide on have the reason `NOT_PROSE`.
    """
    # Copies refer to an earlier text, so what was sent before stays.
    by_rules = replace(options, profile="classic", keep_duplicate="first")
    run = Run(
        messages,
        by_rules,
        text_cache.reader,
        window=options.recency_window,
        writer=text_cache,
        pinned=whole,
        hidden=hidden,
        shortens_beside_calls=True,
    )
    for text in run.texts:
        part = text.message.parts[text.part]
        if text.message.index not in whole and not _is_prose(text.message, part):
            run.verdicts[text.number] = kept(_reason(text.message, part))
    run.decide(RULES if text_cache.tables.rules is None else text_cache.tables.rules)
    folder = Folder(run)
    return {
        fold.sources[0].index: fold
        for group in folder.groups(border=start)
        if group[0].index >= start and _has_prose(run, group[0])
        for fold in folder.fold(group, options.depth)
    }


def _reason(message: Message, part: Part) -> str:
    is_own = message.role == "user" and not message.is_result(part)
    return "typed" if is_own and not _is_pasted(part.text) else NOT_PROSE


def _is_prose(message: Message, part: Part) -> bool:
    """Tell whether the rules decide on *part*: what a person typed is never touched."""
    return message.role != "user" and not message.is_result(part)


def _has_prose(run: Run, message: Message) -> bool:
    """Tell whether the rules decided on any text of *message*."""
    return any(run.verdict(text).reason != NOT_PROSE for text in run.of(message))
