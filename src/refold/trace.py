"""The trace of a fold: what happened to each text, down to its pieces, and why."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from refold.lazy import Lazy
from refold.model.piece import Piece
from refold.model.plan import NO_PIECES


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceEntry:
    """What happened to one text of one message, and why."""

    message_id: str
    message_index: int
    part: int
    """Which text of the message: 0 for a string content, else the number of the text part."""
    action: str
    """preserved, compressed, deduped, fuzzy_deduped, contradicted, code_split, truncated; with
    the profiles `standard` and `lossless` also recoded, excerpted or digested."""
    reason: str
    input_chars: int
    output_chars: int
    shown: str | None = None
    """What a digest that stands for several messages says of this one."""
    account: Lazy[tuple[Piece, ...]] = field(default=NO_PIECES, repr=False)
    """Its pieces, as soon as somebody asks for them."""

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """What was kept and what was dropped, piece by piece, and why; none if it was not cut.

        They tile the text that competed: with the profile `standard` a tool result may have been
        said shorter before. Those of a digest are those of all texts and calls of the message.
        """
        return self.account.get()

    def to_dict(self) -> dict[str, Any]:
        """Spell it as JSON-ready data, without its pieces."""
        names = [one.name for one in fields(self) if one.name != "account"]
        return {name: getattr(self, name) for name in names}
