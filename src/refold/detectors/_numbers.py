"""Reading the numbers of a text: what they may be by their length and by what stands around."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from refold.detectors import _signs as signs
from refold.detectors._kinds import (
    BLANK,
    COLON,
    DIGIT,
    FOREIGN_UNIT,
    LETTER,
    LETTER_P,
    LETTER_V,
    QUESTION,
    SLASH,
    SPECIAL,
    STOP,
    foreign_kind,
)

if TYPE_CHECKING:
    from mypy_extensions import i64

_PHONE_DIGITS: Final = 10
_PHONE_END: Final = 4
"""The least digits that come last, together or with others."""
_PHONE_GAP: Final = 2
"""The most that divides one group of digits from the next."""
_STATUS_DIGITS: Final = 3
_MAX_REPLY: Final = 12
"""The most that stands between "status" and its number: " code", " is" and four signs."""
_UNITS: Final = frozenset(b"m s km kg ms ns hz mb gb tb mhz ghz".split())
_MAX_UNIT: Final = 3


@final
class Numbers:
    """What has been seen of the numbers of a text so far."""

    def __init__(self, text: str, plain: bytes, kinds: bytes) -> None:
        self.text = text
        self.plain = plain
        self.kinds = kinds
        """What each character is; the end comes last."""
        self.signs: i64 = 0
        self.steps: i64 = 0
        """How many numbers stand as those of steps do."""
        self.digits: i64 = 0
        """How many digits the last number had."""
        self.end: i64 = -1
        """Where it ended."""
        self.grouped: i64 = 0
        """How many digits it had together with those hardly divided from it."""
        self.reply_end: i64 = -_MAX_REPLY - 1
        """Where the last thing ended after which the number of an error may come."""

    def read(self, start: i64, indent: i64) -> i64:
        """Take note of the digits from *start* on, and return where they end.

        The indent of the line ends at *indent*.
        """
        kinds = self.kinds
        end: i64 = start + 1
        while kinds[end] == DIGIT:
            end += 1
        count: i64 = end - start
        before: i64 = kinds[start - 1] if start else BLANK
        after: i64 = kinds[end]
        self.grouped = count + (self.grouped if start - self.end <= _PHONE_GAP else 0)
        if count >= _PHONE_END and self.grouped >= _PHONE_DIGITS:
            self.signs |= signs.PHONE
        if count == _STATUS_DIGITS and start - self.reply_end <= _MAX_REPLY:
            self.signs |= signs.HTTP_ERROR
        if after == STOP and kinds[end + 1] == DIGIT:
            self.signs |= signs.IP_OR_SEMVER
            if before == LETTER_V:
                self.signs |= signs.VERSION_NUMBER
            elif before == SLASH:  # HTTP/1.1
                self.reply_end = end + 2
        if after in (STOP, COLON, SPECIAL) and (start == indent or self.is_step(start)):
            self.steps += 1
        if not self.signs & signs.NUMERIC_WITH_UNITS and self.has_unit(end):
            self.end_measure(start)
        self.digits = count
        self.end = end
        return end

    def is_step(self, start: i64) -> bool:
        """Tell whether the word before a number may be "step"."""
        return self.kinds[start - 1] == BLANK and self.kinds[start - 2] == LETTER_P

    def has_unit(self, end: i64) -> bool:
        """Tell whether a unit may follow a number, perhaps after a blank."""
        after: i64 = self.kinds[end]
        if after == BLANK:
            return self.is_unit(end + 1)
        if after == QUESTION:  # a unit beyond ASCII, or a blank
            return self.is_unit(end) or self.is_unit(end + 1)
        return after >= LETTER and self.is_unit(end)

    def is_unit(self, place: i64) -> bool:
        """Tell whether a unit may stand there; those that begin beyond ASCII are all alike."""
        kinds = self.kinds
        if kinds[place] == QUESTION:
            return foreign_kind(self.text, place) == FOREIGN_UNIT
        end: i64 = place
        while kinds[end] >= LETTER and end - place <= _MAX_UNIT:
            end += 1
        return self.plain[place:end].lower() in _UNITS

    def end_measure(self, start: i64) -> None:
        """Take note of a number and its unit, if the number is not part of something else.

        Its last digits begin at *start*.
        """
        plain = self.plain
        if start and plain[start - 1] in b"." and self.end == start - 1:
            start -= self.digits + 1
        if start and (self.kinds[start - 1] >= LETTER or plain[start - 1] in b"_.,"):
            return
        self.signs |= signs.NUMERIC_WITH_UNITS
