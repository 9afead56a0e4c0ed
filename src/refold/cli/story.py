"""What happened to every text of a file: the rows that `explain` and `demo` show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from refold.cli.document import Document
from refold.cli.folding import FoldedFile
from refold.cli.pieces import count_pieces
from refold.cli.words import excerpt
from refold.formats import load
from refold.model.message import Message
from refold.model.piece import Piece
from refold.trace import TraceEntry

_EXCERPT_CHARS = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One text before and after, with the decision on it and why."""

    index: int
    part: int
    id: str
    role: str
    action: str
    reason: str
    before: str
    after: str
    chars_before: int
    chars_after: int
    line: int
    is_turn: bool
    """False for records of a session file that no model sees."""
    entry: TraceEntry

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """What became of each piece of the text, if it was cut into some; told when asked for."""
        return self.entry.pieces

    def to_dict(self, *, full: bool, with_pieces: bool) -> dict[str, Any]:
        """Spell it as JSON-ready data; whole texts and pieces only if asked for."""
        shown: dict[str, Any] = {"before": self.before, "after": self.after}
        if not full:
            shown = {name: excerpt(text, _EXCERPT_CHARS) for name, text in shown.items()}
        if self.pieces:
            kept, dropped = count_pieces(self.pieces)
            shown |= {"kept": kept.to_dict(), "dropped": dropped.to_dict()}
            if with_pieces:
                shown["pieces"] = [piece._asdict() for piece in self.pieces]
        return {
            "message_index": self.index,
            "part": self.part,
            "message_id": self.id,
            "line": self.line,
            "role": self.role,
            "is_turn": self.is_turn,
            "decision": self.action,
            "reason": self.reason,
            "chars_before": self.chars_before,
            "chars_after": self.chars_after,
            **shown,
        }


def _after(entry: TraceEntry, target: Message) -> str:
    """Return what is shown in the place of a text."""
    if entry.shown is not None:
        return entry.shown
    return target.parts[entry.part].text if target.parts else ""


def tell(document: Document, folded: FoldedFile, format_name: str) -> Iterator[Row]:
    """Yield one row per text, in the order of the conversation; needs a trace in the result."""
    before = load(document.messages, format_name=format_name)
    after = load(folded.document.messages, format_name=format_name) if before else ()
    place_of = [place for place, sources in enumerate(folded.sources) for _ in range(len(sources))]
    for entry in folded.result.decisions:
        source = before[entry.message_index]
        target = after[place_of[entry.message_index]]
        yield Row(
            index=entry.message_index,
            part=entry.part,
            id=entry.message_id,
            role=source.role,
            action=entry.action,
            reason=entry.reason,
            before=source.parts[entry.part].text if source.parts else "",
            after=_after(entry, target),
            chars_before=entry.input_chars,
            chars_after=entry.output_chars,
            line=document.items[entry.message_index].line,
            is_turn=source.is_turn,
            entry=entry,
        )
