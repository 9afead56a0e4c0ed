"""The words by which a text shows that a detector may find something.

All of them are looked for together, once for each text. A detector whose findings need certain
words has a row here with at least one word of each kind of finding, preferably a rare one.
"""

from __future__ import annotations

from typing import Final

from refold.text.scan import Vocabulary


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
REASONING: Final = _words(
    "follows conclude deduce infer implies proves qed therefore hence thus consequently "
    "accordingly means result because shows given assuming know think reason analyze consider "
    "break conclusion summarize summary reasoning proof derivation thought step"
)
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
