"""Write the JSON that tools returned without the white space between its values."""

from __future__ import annotations

from typing import Any, Final

from refold.agent.deterministic import pack
from refold.agent.json_cut import note_in_json
from refold.model.message import Message
from refold.model.wire import clone_with
from refold.window.rungs.base import Rung


def pack_results(message: Message, handle: str) -> dict[str, Any] | None:
    """Pack every result in *message* that is JSON; the same values, in the same order."""
    if not message.is_tool_result:
        return None
    texts = {
        part.path: note_in_json(packed, f"cce:packed | #{handle}") if handle else packed
        for part in message.parts
        if (packed := pack(part.text)) is not None and len(packed) < len(part.text)
    }
    return clone_with(message.wire, texts) if texts else None


RUNG: Final = Rung(name="lossless", rewrite=pack_results, is_of_results=True)
