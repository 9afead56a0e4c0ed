"""One look at a text that tells which detectors may find something in it.

The scanner does here what the gates of the detectors do, all at once, and never rules out a finding
either. Without a scanner, the gates are asked.
"""

from __future__ import annotations

from refold.detectors._kinds import FOREIGN_KINDS, KINDS
from refold.detectors._signs import ALWAYS
from refold.detectors._terms import TERMS
from refold.native import Scanner


def look(text: str, scanner: Scanner) -> int:
    """Return the signs of all detectors that may find something in *text*."""
    return scanner.look(text, KINDS, FOREIGN_KINDS, TERMS.slots, TERMS.rows) | ALWAYS
