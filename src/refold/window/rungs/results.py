"""Clear old results of tools: their calls stay, and a line says what was there."""

from __future__ import annotations

from typing import Any, Final

from refold.model.failure import is_failure_text
from refold.model.message import Message, Part
from refold.model.wire import clone_with
from refold.notation.gaps import size_of
from refold.notation.marks import cleared
from refold.notation.recognize import unmarked
from refold.text.truncate import cut
from refold.window.rungs.base import Rung

_MIN_CHARS: Final = 600
"""Shorter results stay: they say more than a line about them would save."""
_SHOWN_CHARS: Final = 80


def clear_results(message: Message, handle: str) -> dict[str, Any] | None:
    """Replace the long results in *message*, but none that tells of a failure."""
    texts = {part.path: _line(part.text, handle) for part in message.parts if _goes(message, part)}
    return clone_with(message.wire, texts) if texts else None


def _goes(message: Message, part: Part) -> bool:
    is_long = len(part.text) >= _MIN_CHARS
    return is_long and message.is_result(part) and not is_failure_text(part.text)


def _line(text: str, handle: str) -> str:
    start = " ".join(cut(unmarked(text), 2 * _SHOWN_CHARS).split())
    size = size_of(text, 0, len(text), least_lines=2, least_chars=0)
    return cleared(cut(start, _SHOWN_CHARS), size, handle)


RUNG: Final = Rung(name="clear_results", rewrite=clear_results, is_of_results=True)
