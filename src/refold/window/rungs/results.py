"""Clear old results of tools: their calls stay, and a line says what was there."""

from __future__ import annotations

from typing import Any, Final

from refold.model.failure import is_failure_text
from refold.model.message import Message, Part
from refold.model.wire import clone_with
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
    lines, start = text.count("\n") + 1, " ".join(cut(text, 2 * _SHOWN_CHARS).split())
    size = f"{lines} lines, {len(text)} chars" if lines > 1 else f"{len(text)} chars"
    end = f" | #{handle}]" if handle else "]"
    return f"[cce:cleared — {size}: {cut(start, _SHOWN_CHARS)} …{end}"


RUNG: Final = Rung(name="clear_results", rewrite=clear_results, is_of_results=True)
