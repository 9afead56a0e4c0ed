"""The limits that a text sets to its values: at most, at least, before, about."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from refold.gates._values import read_values
from refold.text.facts import find_no, pieces

_LIMITS: Final = {
    "most": (
        r"at most|at the most|up to|no more than|not more than|maximum|not exceed\w*|höchstens|"
        r"bis zu(?!\w)|maximal|au (?:maximum|plus)|como máximo|a lo sumo|最多|不超过|最大|至多"
    ),
    "least": (
        r"at least|no less than|not less than|minimum|mindestens|wenigstens|au (?:minimum|moins)|"
        r"al menos|como mínimo|至少|最低|最少|少なくとも"
    ),
    "below": r"under|below|less than|fewer than|unter|weniger als|moins de|menos de|低于|未満|以下",
    "above": r"over|above|more than|über|mehr als|plus de|más de|高于|超过|以上",
    "before": r"before|by|until|no later than|vor|bis|avant|jusqu['’]?(?:à|au|en)|antes de|hasta"
    r"|之前|までに|前に",
    "after": r"after|not before|nach|après|después de|tras|之后|以降",
    "about": r"about|around|roughly|approximately|nearly|almost|etwa|ungefähr|rund|environ|près de"
    r"|aproximadamente|casi|unos|大约|大概|約|およそ",
}
_LETTER: Final = r"[^\W\d_\u3040-\u9fff]"
"""Of a script with blanks between words."""
_LIMIT: Final = re.compile(
    rf"(?<!{_LETTER})(?:"
    + "|".join(rf"(?P<{name}>{words})" for name, words in _LIMITS.items())
    + rf")(?!{_LETTER})"
)
_REACH_BEFORE: Final = 24
_REACH_BEHIND: Final = 14
"""A limit concerns a value that stands no farther from it, in characters."""

_NEAREST: Final = 3
"""So many limits on either side may concern a value."""
_TURNED_BY_NO: Final = frozenset({"before", "after"})
"""Not before March is after it: with a no, these say nothing by themselves."""
_APART: Final = re.compile(r"[,;，](?!\d)")


def limits_of(text: str) -> dict[str, set[str]]:
    """Map each value of *text* to the limits beside it; "" stands for a place with none."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for piece in pieces(text):
        for clause in _APART.split(piece):
            for forms, limits in _limits_in(clause):
                for form in forms:
                    found[form] |= limits or {""}
    return dict(found)


def _limits_in(clause: str) -> Iterator[tuple[tuple[str, ...], set[str]]]:
    """Yield the forms of each value of a clause, and the limits that are near it."""
    lower = clause.lower()
    skipped = _TURNED_BY_NO if find_no(lower) else frozenset[str]()
    limits = [
        (limit.start(), limit.end(), limit.lastgroup or "")
        for limit in _LIMIT.finditer(lower)
        if limit.lastgroup not in skipped
    ]
    starts = [start for start, _, _ in limits]
    end = 0
    for value in read_values(clause):
        start = max(lower.find(value.text.lower(), end), 0)
        end = start + len(value.text)
        place = bisect_left(starts, start)
        near = {
            name
            for first, last, name in limits[max(0, place - _NEAREST) : place + _NEAREST]
            if 0 <= start - last <= _REACH_BEFORE or 0 <= first - end <= _REACH_BEHIND
        }
        yield (value.normal, *value.parts, *value.others), near
