"""Counting signs where a great many capitals may begin the name of an error: A.B.C.D and so on.

The pattern looks for the end of that name from each of them: it would read a long word many times.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from refold.scoring.sentence_features import (
    BEFORE_SIGN,
    ERROR_ENDS,
    LONGEST_UNIT,
    OTHER_SIGN,
    PLACE_OR_STATUS,
    WEIGHTS,
)

_NOT_DOTTED: Final = re.compile(r"[^\w.]")


@cache
def _signs() -> re.Pattern[str]:
    """Return the pattern of signs, in which any capital may begin an error; it is seldom needed."""
    capital = "(?P<capital>(?=[A-Z]))"
    rest = f"(?:{OTHER_SIGN}|(?(capital)[A-Z]|(?!)))"
    return re.compile(f"{BEFORE_SIGN}(?:{PLACE_OR_STATUS}|{capital}?+{rest})")


def count_crowded_signs(text: str, start: int, end: int) -> int:
    """Return what `count_signs` returns, in linear time whatever the text is.

    Capitals with nothing but word characters and dots between them would begin the same error.
    """
    limit = end + LONGEST_UNIT
    points = 0
    place = dotted = start
    is_error = False
    while (found := _signs().search(text, place, limit)) is not None and found.start() < end:
        place = found.end()
        if found["capital"] is not None:
            if found.start() >= dotted:
                after = _NOT_DOTTED.search(text, place, limit)
                dotted = limit if after is None else after.start()
                is_error = (
                    after is not None and after[0] == ":" and text.endswith(ERROR_ENDS, 0, dotted)
                )
            if is_error:
                points += WEIGHTS["error"]
                place = dotted
                continue
        points += WEIGHTS.get(found.lastgroup or "", 0)
    return points
