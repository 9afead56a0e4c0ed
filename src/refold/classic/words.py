"""The words that some row of a table asks for: a text is looked through for all of them at once."""

from __future__ import annotations

import re
from typing import Final

Words = frozenset[bytes]
_COMMON: Final = frozenset({"that", "the", "this", "which", "will", "with"})


def words_of(listed: str) -> Words:
    """Return the words in *listed*, as the tables hold them."""
    return frozenset(listed.encode().split())


def key_word(phrase: str) -> bytes:
    """Return the longest word of *phrase* that is not in every text."""
    words: list[str] = re.findall(r"\w+", phrase)
    return max((word for word in words if word not in _COMMON), key=len).encode()


def key_words(*phrases: str) -> Words:
    """Return a word of each phrase: where there is none of them, none of the phrases stands."""
    return frozenset(map(key_word, phrases))


# SQL: one strong keyword is enough; of the others it takes three, a weak one among them.

SQL_STRONG: Final = frozenset(
    "GROUP BY|ORDER BY|PRIMARY KEY|FOREIGN KEY|NOT NULL|ON CONFLICT|WITH RECURSIVE|INNER JOIN|"
    "LEFT JOIN|RIGHT JOIN|CROSS JOIN|FULL JOIN|NATURAL JOIN|RETURNING|CONSTRAINT|CASCADE|INTEGER|"
    "BOOLEAN|TRUNCATE|UPSERT|VARCHAR".split("|")
)
SQL_WEAK: Final = frozenset(
    "WHERE JOIN HAVING UNION DISTINCT OFFSET VALUES MERGE GRANT REVOKE CURSOR DECLARE PROCEDURE "
    "TRIGGER".split()
)
SQL_OTHER: Final = frozenset(
    "SELECT FROM INSERT INTO UPDATE SET DELETE CREATE ALTER DROP LIMIT FETCH SCHEMA VIEW".split()
)
SQL_STRONG_WORDS: Final = words_of(
    "returning constraint cascade integer boolean truncate upsert varchar group order key null "
    "conflict recursive join"
)
"""One of these stands in every strong keyword, and in few other texts."""
SQL_WEAK_WORDS: Final = words_of(" ".join(SQL_WEAK).lower())
SQL_COUNTED_WORDS: Final = SQL_WEAK_WORDS | words_of(" ".join(SQL_OTHER).lower())

# Arguments: one conclusive phrase is enough; of connectives and markers it takes three.

CONCLUSIVE: Final = (
    *("it follows that", "we can conclude", "we can deduce", "we can infer"),
    *("this implies that", "this proves that", "qed"),
)
CONNECTIVES: Final = (
    *("therefore", "hence", "thus", "consequently", "accordingly", "this means that"),
    *("as a result", "because of this", "which implies", "which means", "which shows"),
    *("given that", "assuming that", "since we know"),
)
MARKERS: Final = (
    *("let me think", "let me reason", "let me analyze", "let's consider"),
    *("let's break this down", "in conclusion", "to summarize", "in summary"),
)
LABEL_WORDS: Final = words_of("reasoning conclusion proof derivation thought step")
CHAIN_WORDS: Final = LABEL_WORDS | key_words(*CONCLUSIVE, *CONNECTIVES, *MARKERS)
ORDINALS: Final = words_of("first firstly second secondly third thirdly")

# Failures, terms of contracts, and what raises the score of a sentence.

FAILURES: Final = (
    *("execution failed", "authentication failed", "authentication error"),
    *("authorization failed", "authorization denied", "connection refused"),
    *("connection timeout", "connection timed out", "permission denied"),
)
LEGAL_TERMS: Final = ("shall", "may not", "notwithstanding", "whereas", "hereby")
EMPHATIC: Final = (
    *("importantly", "note that", "however", "critical", "crucial", "essential", "significant"),
    *("notably", "key point", "in particular", "specifically", "must", "require", "required"),
    *("requires", "never", "always"),
)
INFERRING: Final = (
    *("therefore", "hence", "thus", "consequently", "accordingly", "given that", "in conclusion"),
    *("this means that", "as a result", *CONCLUSIVE[:-1]),
)
STRESS_WORDS: Final = key_words(*EMPHATIC, *INFERRING)

# Importance: words with which a message decides, corrects or constrains.

DECISIVE: Final = words_of("must should require required requires always never instead")
DECISIONS: Final = (
    *("do not", "don't", "don’t", "rather than", "the approach is", "the solution is"),
    *("the fix is", "the answer is", "decide to", "decided to"),
    *(f"{we} {act}" for we in ("we'll", "we’ll", "we will") for act in ("go with", "use")),
    *("we'll implement", "we’ll implement", "we will implement"),
)
DECISION_WORDS: Final = key_words(*DECISIONS)
CORRECTIVE: Final = words_of("actually correction disregard")
CORRECTION_WORDS: Final = words_of("no not scratch ignore wait sorry instead")
CONSTRAINING: Final = words_of(
    "constraint limitation boundary deadline blocker requirement prerequisite dependency"
)
COMPATIBILITY_WORDS: Final = words_of("breaking backward backwards")
SIGNAL_WORDS: Final = CORRECTIVE | CORRECTION_WORDS | words_of("rather don dont wrong let")

TELLING: Final[Words] = frozenset[bytes]().union(
    *(SQL_STRONG_WORDS, SQL_COUNTED_WORDS, CHAIN_WORDS, ORDINALS, words_of("analysis http status")),
    *(key_words(*FAILURES, *LEGAL_TERMS), STRESS_WORDS, DECISIVE, DECISION_WORDS),
    *(CONSTRAINING, COMPATIBILITY_WORDS, SIGNAL_WORDS),
)
"""Every word that any table asks for."""
