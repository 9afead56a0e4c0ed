"""What was kept and what was dropped of a text: summed up, and in runs of pieces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from refold.model.piece import Piece
from refold.report.words import PIECES

_NAMED: Final = 6
"""How many values or messages a reason names at most."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How much was kept or dropped, and the tokens by the reason for it, most first."""

    lines: int
    tokens: int
    reasons: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Spell it as JSON-ready data."""
        return {"lines": self.lines, "tokens": self.tokens, "reasons": self.reasons}


def count_pieces(pieces: Sequence[Piece]) -> tuple[Tally, Tally]:
    """Count what is kept and what is dropped; a line of which anything is kept is kept."""
    kept = [piece for piece in pieces if piece.is_kept]
    dropped = [piece for piece in pieces if not piece.is_kept]
    lines = _lines(kept)
    return _tally(kept, len(lines)), _tally(dropped, len(_lines(dropped) - lines))


def _tally(pieces: Sequence[Piece], lines: int) -> Tally:
    tokens: Counter[str] = Counter()
    for piece in pieces:
        tokens[_family(piece)] += piece.tokens
    return Tally(lines, tokens.total(), dict(tokens.most_common()))


def _lines(pieces: Sequence[Piece]) -> set[tuple[int | None, int]]:
    return {
        (piece.part, line)
        for piece in pieces
        for line in range(piece.first_line, piece.last_line + 1)
    }


def _family(piece: Piece) -> str:
    return piece.reason.partition(":")[0]


def sum_up(pieces: Sequence[Piece]) -> list[str]:
    """Say how much was kept and how much was dropped, and why."""
    kept, dropped = count_pieces(pieces)
    if kept.reasons and dropped.reasons:
        lines, tokens = kept.lines + dropped.lines, kept.tokens + dropped.tokens
        amount = f"{kept.lines:,} of {_count(lines, 'line')}, {kept.tokens:,} of {tokens:,} tokens"
        return [f"kept {amount}{_why(kept)}", f"dropped {_amount(dropped)}"]
    if kept.reasons:
        return [f"kept all {_amount(kept)}"]
    return [f"dropped all {_amount(dropped)}"] if dropped.reasons else []


def _amount(tally: Tally) -> str:
    lines = f"{_count(tally.lines, 'line')}, " if tally.lines else ""
    return f"{lines}{_count(tally.tokens, 'token')}{_why(tally)}"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _why(tally: Tally) -> str:
    reasons = [f"{_short(reason)} {tokens:,}" for reason, tokens in tally.reasons.items()]
    return f": {', '.join(reasons)}"


def _short(reason: str) -> str:
    return PIECES[reason][0] if reason in PIECES else reason.replace("_", " ")


def find_runs(pieces: Sequence[Piece]) -> Iterator[list[Piece]]:
    """Join neighbours of a text that were kept, or dropped, for the same kind of reason."""
    for _, run in groupby(pieces, lambda piece: (piece.part, piece.is_kept, _family(piece))):
        yield list(run)


def run_words(run: Sequence[Piece]) -> str:
    """Say why a run of pieces was kept or dropped."""
    reason = _family(run[0])
    short, words = PIECES.get(reason, (_short(reason), ""))
    if "{}" not in words:
        return words or short
    about = [name for piece in run for name in piece.reason.partition(":")[2].split(",") if name]
    sign = "#" if reason == "said_elsewhere" else ""  # it names messages
    names = [sign + name for name in dict.fromkeys(about)]
    more = ", …" if len(names) > _NAMED else ""
    return words.format(", ".join(names[:_NAMED])) + more if names else short
