"""Fold a file only to look at it: what `show`, `diff`, `explain` and `stats` have in common."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, TypeVar

from refold.cli.budget import Share, set_budget
from refold.cli.document import Document
from refold.cli.folding import FoldedFile, fold_file
from refold.cli.io import read_document
from refold.cli.options import (
    conversation_option,
    file_argument,
    fold_options,
    known_option,
    make_options,
)
from refold.cli.originals import open_for_looking
from refold.cli.progress import working
from refold.options import Options

_Command = TypeVar("_Command", bound=Callable[..., Any])


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
