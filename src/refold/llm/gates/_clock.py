"""Times of the day that are said in words: noon, half past three, halb vier."""

from __future__ import annotations

import re
from functools import partial
from typing import Final

_NOON: Final = re.compile(
    r"(?<![^\W\d_])(?:noon|midday|mittags?|midi|mediodía|mezzogiorno|полдень)(?![^\W\d_])|正午|中午"
)
_MIDNIGHT: Final = re.compile(
    r"(?<![^\W\d_])(?:midnight|mitternacht|minuit|medianoche)(?![^\W\d_])|午夜"
)
HALF_DAY: Final = 12
"""Hours between a time of the morning and the same of the afternoon."""
_OFFSETS: Final = (
    (r"0\.5 past ([0-9]{1,2})(?![0-9:])", 30),
    (r"0\.5 ([0-9]{1,2})(?![0-9:])", -30),  # halb vier
    (r"0\.25 (?:past|nach) ([0-9]{1,2})(?![0-9:])", 15),
    (r"0\.25 (?:to|vor) ([0-9]{1,2})(?![0-9:])", -15),
    (r"([0-9]{1,2}) heures? et demie", 30),
    (r"([0-9]{1,2}) heures? et quart", 15),
    (r"([0-9]{1,2}) heures? moins le quart", -15),
    (r"las? ([0-9]{1,2})\.5", 30),  # las ocho y media
    (r"las? ([0-9]{1,2}) y cuarto", 15),
    (r"las? ([0-9]{1,2}) menos cuarto", -15),
    (r"(?P<minutes>[0-9]{1,2}) (?:minutes )?(?:nach|past) ([0-9]{1,2})(?![0-9:])", 1),
    (r"(?P<minutes>[0-9]{1,2}) (?:vor|minutes to) ([0-9]{1,2})(?![0-9:])", -1),
    (r"([0-9]{1,2})[点時时]半", 30),
    (r"([0-9]{1,2})(?:[点時时](?![0-9半])| o'clock)", 0),
    (r"(?:las? )?([0-9]{1,2})(?= de la (?:mañana|tarde|noche))", 0),
    (r"([0-9]{1,2}) ?h(?:eures?)?(?![\w0-9]| ?[0-9])", 0),
    (r"([0-9]{1,2})(?= ?(?:and|to|–|-|until) ?[0-9]{1,2}(?::[0-9]{2})? ?[ap]\.?m)", 0),
)
_SPOKEN: Final = tuple(
    (re.compile(rf"(?<![A-Za-z0-9_.:]){pattern}", re.IGNORECASE), minutes)
    for pattern, minutes in _OFFSETS
)


def clock_times(text: str) -> set[str]:
    """Return the times that *text*, its numbers in digits, says in words."""
    lower = text.lower()
    found = {"12:00"} if _NOON.search(lower) else set()
    if _MIDNIGHT.search(lower):
        found |= {"0:00", "24:00"}
    for pattern, minutes in _SPOKEN:
        for spoken in pattern.finditer(text):
            found |= _both(spoken, minutes)
    return found


def without_times(text: str, stated: set[str]) -> str:
    """Return *text*, its numbers in digits, without the times in words that are *stated*."""
    for pattern, minutes in _SPOKEN:
        text = pattern.sub(partial(_blank, minutes=minutes, stated=stated), text)
    return text


def _blank(spoken: re.Match[str], *, minutes: int, stated: set[str]) -> str:
    return spoken[0] if _both(spoken, minutes).isdisjoint(stated) else " "


def _both(spoken: re.Match[str], minutes: int) -> set[str]:
    """Return the times of half a day and of the other half."""
    if "minutes" in spoken.groupdict():
        minutes *= int(spoken["minutes"])
    hour = int(spoken[spoken.re.groups])
    time = hour % HALF_DAY * 60 + minutes
    clocks = (divmod(one % (2 * HALF_DAY * 60), 60) for one in (time, time + HALF_DAY * 60))
    return {f"{hours}:{rest:02}" for hours, rest in clocks}
