"""Say what tools returned in fewer tokens; nothing is left out."""

from __future__ import annotations

from typing import Any, Final

from refold.agent.deterministic import say_shorter
from refold.model.message import Message
from refold.model.wire import clone_with
from refold.notation.marks import reformatted
from refold.notation.notes import mark_json
from refold.notation.recognize import is_marked
from refold.text.json_text import is_json
from refold.tokens.estimate import estimate_tokens
from refold.window.rungs.base import Rung


def recode_results(message: Message, handle: str) -> dict[str, Any] | None:
    """Say every result in *message* in fewer tokens: the same values, in the same order.

    An estimate is good enough to choose the form; whoever climbs the ladder counts what it saves.
    """
    if not message.is_tool_result or message.provenance is not None:
        return None
    texts = {
        part.path: noted
        for part in message.parts
        if not is_marked(part.text)
        and (short := say_shorter(part.text, estimate_tokens)) is not None
        and len(noted := _note(short, handle)) < len(part.text)
    }
    return clone_with(message.wire, texts) if texts else None


def _note(short: str, handle: str) -> str:
    """Say how to get the text as it was; JSON stays JSON."""
    if is_json(short):
        return mark_json(short, handle) if handle else short
    return reformatted(short, handle)


RUNG: Final = Rung(name="lossless", rewrite=recode_results, is_of_results=True)
