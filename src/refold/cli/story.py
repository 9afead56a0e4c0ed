"""What happened to every text of a file: the rows that `explain`, `diff` and `demo` show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from refold.cli.document import Document
from refold.cli.folding import FoldedFile
from refold.cli.words import excerpt
from refold.formats import load
from refold.report.pieces import count_pieces
from refold.report.story import Row
from refold.report.story import tell as tell_texts

_EXCERPT_CHARS: Final = 160


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
