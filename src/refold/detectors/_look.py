"""One look at a text that tells which detectors may find something in it.

This does what the gates of the detectors do, all at once, and never rules out a finding either. It
reads the text in one loop, which only a compiler makes fast; interpreted, the gates are asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from refold.detectors import _signs as signs
from refold.detectors import _terms as terms
from refold.detectors._kinds import AT, COLON, DOLLAR, QUOTE, SLASH, TICK, TILDE
from refold.detectors._measures import is_mostly_signs, lengths_vary
from refold.detectors._reading import Reading
from refold.detectors._vocabulary import MIN_KEYWORDS, MIN_MARKERS, MIN_STEPS
from refold.text.scan import plain_bytes, undisguised
from refold.text.view import UNKNOWN, TextView

if TYPE_CHECKING:
    from mypy_extensions import i64


def signs_of(view: TextView) -> int:
    """Return the signs of all detectors that may find something in the text, looked for once."""
    notes = view.notes
    if notes.signs == UNKNOWN:
        notes.signs = look(view.text, view.plain)
    return notes.signs


def look(text: str, plain: bytes) -> int:
    """Return the signs of *text*; *plain* is the text as bytes."""
    if not plain:
        return 0
    reading = Reading(text, plain)
    reading.read()
    if reading.has_disguise:
        plainer = Reading(text, plain_bytes(undisguised(text)))
        plainer.read()
        reading.words |= plainer.words
    told = reading.signs | reading.numbers.signs
    return told | _by_characters(reading) | _by_words(reading) | _by_measures(reading)


def _by_characters(reading: Reading) -> i64:
    present, text = reading.present, reading.text
    found: i64 = 0
    if present & (1 << TICK | 1 << TILDE) and ("```" in text or "~~~" in text):
        found |= signs.CODE_FENCE
    if present & 1 << DOLLAR:
        found |= signs.LATEX_MATH
    if present & 1 << AT:
        found |= signs.EMAIL
    if present & 1 << SLASH:
        found |= signs.FILE_PATH
    if present & 1 << QUOTE:
        found |= signs.QUOTED_KEY | signs.DIRECT_QUOTE
    first = text[0]
    if first in "{[" or first.isspace():
        found |= signs.JSON_STRUCTURE
    return found


def _by_words(reading: Reading) -> i64:
    words = reading.words
    found: i64 = 0
    if not words:
        return found
    if words & terms.FAILURE:
        found |= signs.FAILURE_SIGNATURE
    if words & terms.LEGAL:
        found |= signs.LEGAL_TERM
    if words & (terms.CRASH | terms.FRAME):
        found |= signs.ERROR_TRACEBACK
    if words & terms.VERSION and reading.numbers.digits:
        found |= signs.VERSION_NUMBER
    if words & terms.STRONG or (
        words & terms.WEAK and _count(words & terms.COUNTED) >= MIN_KEYWORDS
    ):
        found |= signs.SQL_CONTENT
    if _may_argue(reading):
        found |= signs.REASONING_CHAIN
    return found


def _may_argue(reading: Reading) -> bool:
    words = reading.words
    if words & (terms.CONCLUSIVE | terms.LABEL):
        return True
    markers = _count(words & terms.MARKERS)
    if not markers:
        return False
    if words & terms.ORDINAL:
        markers += 1
    has_label = words & terms.ANALYSIS and reading.present & 1 << COLON
    return bool(markers >= MIN_MARKERS or has_label or reading.numbers.steps >= MIN_STEPS)


def _by_measures(reading: Reading) -> i64:
    found: i64 = 0
    if is_mostly_signs(reading.special, reading.size):
        found |= signs.HIGH_SPECIAL_CHAR_RATIO
    breaks = reading.breaks
    if breaks and lengths_vary(breaks + 1, reading.size - breaks, reading.squares):
        found |= signs.HIGH_LINE_LENGTH_VARIANCE
    return found


def _count(bits: int) -> int:
    return bits.bit_count()
