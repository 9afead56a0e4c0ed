"""What a model has to know to read the notation, in three sentences."""

from __future__ import annotations

from typing import Final

from refold.notation.gaps import gap, said_times
from refold.notation.marks import Stretch, digest, excerpt, reformatted, show_handle

_HANDLE: Final = "kdbfq"
EXAMPLE: Final = show_handle(_HANDLE)
"""A handle as a model sees it."""
_LEGEND: Final = (
    f"Parts of this conversation are shortened to save room: {excerpt('', 12, _HANDLE)} or "
    f"{excerpt('', 0, _HANDLE)} stands above the pieces that are shown of one text, "
    f"{digest('…', Stretch(24), _HANDLE).splitlines()[0]} above those of a stretch of messages, "
    f"and {reformatted('', _HANDLE)} above the same data in another form, with nothing left out. "
    f"Between the pieces, {gap('37 lines')} says how much is left out, a bare … stands for a bit, "
    f"and{said_times(41)} behind a line for how often it was said. "
    f"Letters behind a # such as {EXAMPLE} are no value of the conversation but a handle with "
    "which the whole text can be fetched; these marks are not yours to write."
)


def legend() -> str:
    """Return the three sentences that explain to a model how shortened views are written.

    They are meant for a system prompt. `retrieve_tool` says the same in its description.
    """
    return _LEGEND
