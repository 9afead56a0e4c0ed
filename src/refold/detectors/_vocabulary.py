"""The words by which a text shows that a detector may find something.

All of them are looked for together, once for each text. A detector whose findings need certain
words has a row here with at least one word of each kind of finding, preferably a rare one.
"""

from __future__ import annotations

from typing import Final

from refold.text.scan import Vocabulary
from refold.text.view import TextView


def _words(text: str) -> frozenset[bytes]:
    return frozenset(text.encode().split())


SQL_STRONG: Final = _words(
    "returning constraint cascade integer boolean truncate upsert varchar group order key null "
    "conflict recursive join"
)
"""One of these stands in everything that is SQL by itself, such as GROUP BY and NOT NULL."""
SQL_WEAK: Final = _words(
    "where join having union distinct offset values merge grant revoke cursor declare procedure "
    "trigger"
)
SQL_OTHER: Final = _words(
    "select from insert into update set delete create alter drop limit fetch schema view"
)
MIN_KEYWORDS: Final = 3
"""How many words it takes that are not SQL by themselves, a weak one among them."""

REASONING: Final = _words(
    "follows conclude deduce infer implies proves qed therefore hence thus consequently "
    "accordingly means result because shows given assuming know think reason analyze consider "
    "break conclusion summarize summary reasoning proof derivation thought step"
)
MIN_MARKERS: Final = 3
"""How many phrases make an argument of which none does so by itself."""
MIN_STEPS: Final = 3
"""How many numbered lines make one together with such a phrase."""
ORDINALS: Final = _words("first firstly second secondly third thirdly")
ANALYSIS: Final = _words("analysis")
FAILURE: Final = _words("execution authentication authorization connection permission")
LEGAL: Final = _words("shall may notwithstanding whereas hereby")
TRACEBACK: Final = _words("traceback exception at")
STATUS: Final = _words("status")
VERSION: Final = _words("version")

VOCABULARY: Final = Vocabulary(
    frozenset().union(
        SQL_STRONG,
        SQL_WEAK,
        SQL_OTHER,
        REASONING,
        ORDINALS,
        ANALYSIS,
        FAILURE,
        LEGAL,
        TRACEBACK,
        STATUS,
        VERSION,
    )
)


def seen_in(view: TextView) -> frozenset[bytes]:
    """Return the words of the vocabulary that stand in the text, looked for once."""
    notes = view.notes
    if notes.seen is None:
        notes.seen = VOCABULARY.seen_in(view.text, view.plain)
    return notes.seen
