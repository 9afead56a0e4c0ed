"""Handles: the letters that stand-ins show, derived from what they stand for.

Five letters do, unless two folds of a view or of its conversation begin with the same ones. Without
the name of a conversation, the first stand-in of a view shows 28, so that nobody who does not have
the view can write it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from refold.messages.message import Message
from refold.messages.provenance import FOLD_PREFIX, Behind, letters_of, summary_id_of_fold
from refold.messages.wire import text_digest
from refold.notation.marks import ANCHOR_CHARS, HANDLE_CHARS
from refold.notation.spelling import Spelling

_MORE: Final = 4
"""Letters more where a handle is taken."""
MOST_CHARS: Final = 36
"""Letters of the longest handle that is recognized."""


class Handles:
    """How long the handles of one view are.

    A planner writes `handle_of` into each stand-in once, as `#letters` at the end of a mark. Where
    that turns out to be taken, `grow` makes it longer, and `refold.plan.sealing` exchanges it.
    """

    def __init__(self) -> None:
        self._sizes: dict[str, int] = {}

    def spell(self, fold: str) -> str:
        """Return the handle of a fold."""
        return letters_of(fold, self._sizes.get(fold, HANDLE_CHARS))

    def is_grown(self, fold: str) -> bool:
        """Tell whether a fold has a longer handle than usual."""
        return fold in self._sizes

    def grow(self, fold: str, *, least: int = 0, to: int = 0) -> bool:
        """Make the handle of a fold longer than *least* letters, or as long as *to*.

        Returns false if it cannot get any longer.
        """
        size = max(self._sizes.get(fold, HANDLE_CHARS), least)
        self._sizes[fold] = max(size, to) if to else min(size + _MORE, MOST_CHARS)
        return size < MOST_CHARS


def behind_of(sources: Sequence[Message]) -> Behind:
    """Return what a stand-in for *sources* stands for; a stand-in shown anew keeps its fold."""
    first = sources[0]
    if len(sources) == 1:
        if first.stands_for is not None:
            return first.stands_for
        if first.lone is None:
            first.lone = Behind.made((first.digest,), (first.id,))
        return first.lone
    folds = [source.stands_for for source in sources]
    known = [behind for behind in folds if behind is not None]
    return Behind.made(
        [s.digest if b is None else b.fold for s, b in zip(sources, folds, strict=True)],
        [source.id for source in sources],
        list(dict.fromkeys([b.fold for b in known] + [key for b in known for key in b.below])),
    )


def summary_id_of(sources: Sequence[Message]) -> str:
    """Derive the id of the stand-in for *sources*."""
    return summary_id_of_fold(behind_of(sources).fold)


def handle_of(sources: Sequence[Message]) -> str:
    """Return the handle that a mark for *sources* shows, with which a model can fetch them."""
    return letters_of(behind_of(sources).fold, HANDLE_CHARS)


def anchor_of(sources: Sequence[Message]) -> str:
    """Return a handle of *sources* that nobody can guess."""
    return letters_of(behind_of(sources).fold, ANCHOR_CHARS)


def tag_handle_of(sources: Sequence[Message], spelling: Spelling) -> str:
    """Return the handle that a stand-in shows; none where the words of tags are laid down.

    A message without an id would be shown like any other that reads the same.
    """
    is_shown = spelling.shows_handles or not sources[0].has_envelope
    return handle_of(sources) if is_shown else ""


def anchor_of_text(text: str) -> str:
    """Derive the longest handle of a text: the same text, the same handle, on every machine."""
    return letters_of(FOLD_PREFIX + text_digest(text), ANCHOR_CHARS)
