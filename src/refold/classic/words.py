"""The words that some row of a table asks for: a text is looked through for all of them at once."""

from __future__ import annotations

from typing import Final

Words = frozenset[bytes]


def words_of(listed: str) -> Words:
    """Return the words in *listed*, as the tables hold them."""
    return frozenset(listed.encode().split())


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
CHAIN_WORDS: Final = LABEL_WORDS | words_of(
    "follows conclude deduce infer implies proves qed therefore hence thus consequently "
    "accordingly means result because shows given assuming know think reason analyze consider "
    "break summarize summary"
)
"""One of these stands in every phrase and label."""
ORDINALS: Final = words_of("first firstly second secondly third thirdly")

# Failures and terms of contracts.

FAILURES: Final = (
    *("execution failed", "authentication failed", "authentication error"),
    *("authorization failed", "authorization denied", "connection refused"),
    *("connection timeout", "connection timed out", "permission denied"),
)
LEGAL_TERMS: Final = ("shall", "may not", "notwithstanding", "whereas", "hereby")

# Emphasis and inference raise the score of a sentence.

EMPHATIC: Final = (
    *("importantly", "note that", "however", "critical", "crucial", "essential", "significant"),
    *("notably", "key point", "in particular", "specifically", "must", "require", "required"),
    *("requires", "never", "always"),
)
INFERRING: Final = (
    *("therefore", "hence", "thus", "consequently", "accordingly", "it follows that"),
    *("we can conclude", "we can deduce", "we can infer", "this implies that"),
    *("this proves that", "this means that", "as a result", "given that", "in conclusion"),
)
STRESS_WORDS: Final = words_of(
    "importantly note however critical crucial essential significant notably key particular "
    "specifically must require required requires never always therefore hence thus consequently "
    "accordingly follows conclude deduce infer implies proves means result given conclusion"
)
"""One of these stands in every phrase of both lists."""

# Importance: words with which a message decides, corrects or constrains.

DECISIVE: Final = words_of("must should require required requires always never instead")
DECISION_WORDS: Final = words_of("do don rather approach solution fix answer decide decided we")
"""Words of the phrases that decide as well."""
CORRECTIVE: Final = words_of("actually correction disregard")
CORRECTION_WORDS: Final = words_of("no not scratch ignore wait sorry instead")
CONSTRAINING: Final = words_of(
    "constraint limitation boundary deadline blocker requirement prerequisite dependency"
)
COMPATIBILITY_WORDS: Final = words_of("breaking backward backwards")
SIGNAL_WORDS: Final = words_of(
    "actually correction no instead rather scratch disregard ignore don dont not wait sorry wrong "
    "let"
)
"""Words of the phrases that correct what was said before."""

TELLING: Final[Words] = frozenset[bytes]().union(
    SQL_STRONG_WORDS,
    SQL_COUNTED_WORDS,
    CHAIN_WORDS,
    ORDINALS,
    words_of("analysis http status"),
    words_of(" ".join(phrase.split()[0] for phrase in (*FAILURES, *LEGAL_TERMS))),
    STRESS_WORDS,
    DECISIVE,
    DECISION_WORDS,
    CORRECTIVE,
    CORRECTION_WORDS,
    CONSTRAINING,
    COMPATIBILITY_WORDS,
    SIGNAL_WORDS,
)
"""Every word that any table asks for."""
