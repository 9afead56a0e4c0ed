"""Aligned text tables for the bench scripts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def draw(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table with numbers aligned to the right and words to the left."""
    body = list(rows)
    cells = [list(header), *([_spell(cell) for cell in row] for row in body)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    to_right = [
        bool(body) and all(not isinstance(row[column], str) for row in body)
        for column in range(len(header))
    ]
    lines = [
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, to_right, strict=True)
        ).rstrip()
        for row in cells
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def _spell(cell: object) -> str:
    if isinstance(cell, float):
        return f"{cell:,.2f}"
    return f"{cell:,}" if isinstance(cell, int) else str(cell)


def share(part: int, whole: int) -> str:
    """Spell a share as a percentage; nothing of nothing is a dash."""
    return f"{100 * part / whole:.1f}%" if whole else "–"
