"""When figures of a whole text are not those of prose."""

from __future__ import annotations

from typing import Final

MIN_LINES: Final = 4
_MAX_VARIATION: Final = 1.2
"""Standard deviation over mean."""
_MAX_SPECIAL: Final = 0.15


def lengths_vary(lines: int, total: int, squares: int) -> bool:
    """Tell it from the number of lines, the sum of their lengths and the sum of the squares."""
    # deviation > limit × mean, both sides squared and multiplied by the number of lines, squared.
    spread = lines * squares - total * total
    return lines >= MIN_LINES and spread > _MAX_VARIATION**2 * total * total


def is_mostly_signs(special: int, size: int) -> bool:
    """Tell it from the number of special characters and the number of all."""
    return special > _MAX_SPECIAL * size
