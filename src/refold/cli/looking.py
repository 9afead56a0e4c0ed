"""Fold a file only to look at it, and tell what happened to every text of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from refold.cli.document import Document
from refold.cli.folding import FoldedFile, fold_file
from refold.cli.io import read_document
from refold.cli.options import (
    Share,
    conversation_option,
    file_argument,
    fold_options,
    known_option,
    make_options,
    set_budget,
)
from refold.cli.originals import open_for_looking
from refold.cli.terminal import working
from refold.cli.words import excerpt
from refold.messages.formats import load
from refold.options import Options
from refold.report.pieces import count_pieces
from refold.report.story import Row
from refold.report.story import tell as tell_texts

_Command = TypeVar("_Command", bound=Callable[..., Any])
_EXCERPT_CHARS: Final = 160
"""How much `--json` shows of a text unless it is asked for all: two lines of a terminal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A file and its fold; neither the file nor a store has changed."""

    document: Document
    folded: FoldedFile
    options: Options


def look_options(command: _Command) -> _Command:
    """Give *command* a file, and the options that say how to fold it; for `fold_to_look`."""
    return file_argument(fold_options(known_option(conversation_option(command))))


def fold_to_look(
    *,
    file: str,
    store: str | None,
    conversation: str | None,
    budget: int | Share | None,
    trace: bool | None = None,
    **choices: Any,
) -> Look:
    """Fold *file* as the command line says, with a trace if that is asked for."""
    options = make_options(**choices, trace=trace)
    document = read_document(file, conversation)
    options = set_budget(options, budget, document)
    with ExitStack() as stack, working("folding", chars=len(document.text())) as progress:
        known = open_for_looking(document, file, store, stack)
        folded = fold_file(document, options, known, progress)
    return Look(document=document, folded=folded, options=options)


def tell(document: Document, folded: FoldedFile, format_name: str) -> Iterator[Row]:
    """Yield one row per text, in the order of the conversation; needs a trace in the result."""
    before = load(document.messages, format_name=format_name)
    after = load(folded.document.messages, format_name=format_name) if before else ()
    for row in tell_texts(before, after, folded.places, folded.result.decisions):
        yield replace(row, line=document.items[row.index].line)


def spell_row(row: Row, *, full: bool, with_pieces: bool) -> dict[str, Any]:
    """Spell a row as JSON-ready data; whole texts and pieces only if asked for."""
    shown: dict[str, Any] = {"before": row.before, "after": row.after}
    if not full:
        shown = {name: excerpt(text, _EXCERPT_CHARS) for name, text in shown.items()}
    if row.pieces:
        kept, dropped = count_pieces(row.pieces)
        shown |= {"kept": kept.to_dict(), "dropped": dropped.to_dict()}
        if with_pieces:
            shown["pieces"] = [piece._asdict() for piece in row.pieces]
    return {
        "message_index": row.index,
        "part": row.part,
        "message_id": row.id,
        "line": row.line,
        "role": row.role,
        "is_turn": row.is_turn,
        "decision": row.action,
        "reason": row.reason,
        "chars_before": row.chars_before,
        "chars_after": row.chars_after,
        **shown,
    }
