"""English as the tables read it: the words that some row asks for, SQL, and arguments.

A text is looked through for all of these words at once, and for more only if it has some of them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeVar

from refold.lazy import regex

if TYPE_CHECKING:
    from refold.classic.texts import View

T = TypeVar("T")
Words = frozenset[bytes]
_COMMON: Final = frozenset({"that", "the", "this", "which", "will", "with"})


def words_of(listed: str) -> Words:
    """Return the words in *listed*, as the tables hold them."""
    return frozenset(listed.encode().split())


class Phrases:
    """Phrases in lower case, each known by a word: a text without that is not searched for it."""

    def __init__(self, *phrases: str) -> None:
        self._all: Final = [(_key_word(phrase), phrase) for phrase in phrases]
        self.words: Final[Words] = frozenset([word for word, _ in self._all])

    def seen_in(self, view: View) -> list[str]:
        """Return the phrases that a text has."""
        if self.words.isdisjoint(view.words):
            return []
        seen = [phrase for word, phrase in self._all if word in view.words]
        return [phrase for phrase in seen if has_phrase(view.lower, [phrase])]


def _key_word(phrase: str) -> bytes:
    """Return the longest word of *phrase* that is not in every text."""
    words: list[str] = re.findall(r"\w+", phrase)
    return max((word for word in words if word not in _COMMON), key=len).encode()


def has_phrase(lower: str, phrases: Sequence[str]) -> bool:
    """Tell whether one of *phrases* stands in a text as words of its own, all in lower case."""
    for phrase in phrases:
        at = lower.find(phrase)
        while at >= 0:
            end = at + len(phrase)
            if not (is_letter(lower[at - 1 : at]) or is_letter(lower[end : end + 1])):
                return True
            at = lower.find(phrase, at + 1)
    return False


def is_letter(character: str) -> bool:
    """Tell whether a word goes on with this *character*; "" is none."""
    return character.isalnum() or character == "_"


# SQL: one strong keyword is enough; of the others it takes three, a weak one among them.

_STRONG: Final = frozenset(
    "GROUP BY|ORDER BY|PRIMARY KEY|FOREIGN KEY|NOT NULL|ON CONFLICT|WITH RECURSIVE|INNER JOIN|"
    "LEFT JOIN|RIGHT JOIN|CROSS JOIN|FULL JOIN|NATURAL JOIN|RETURNING|CONSTRAINT|CASCADE|INTEGER|"
    "BOOLEAN|TRUNCATE|UPSERT|VARCHAR".split("|")
)
_WEAK: Final = frozenset(
    "WHERE JOIN HAVING UNION DISTINCT OFFSET VALUES MERGE GRANT REVOKE CURSOR DECLARE PROCEDURE "
    "TRIGGER".split()
)
_OTHER: Final = frozenset(
    "SELECT FROM INSERT INTO UPDATE SET DELETE CREATE ALTER DROP LIMIT FETCH SCHEMA VIEW".split()
)
_STRONG_WORDS: Final = words_of(
    "returning constraint cascade integer boolean truncate upsert varchar group order key null "
    "conflict recursive join"
)
"""One of these stands in every strong keyword, and in few other texts."""
_WEAK_WORDS: Final = words_of(" ".join(_WEAK).lower())
_SQL_WORDS: Final = _STRONG_WORDS | _WEAK_WORDS | words_of(" ".join(_OTHER).lower())
_MIN_KEYWORDS: Final = 3  # the contract's
_S, _S0, _NAME = r"\s{1,8}+", r"\s{0,8}+", r"[\w.\"`\[\]]{1,128}+"
# Longer alternatives first, so that the JOIN of a LEFT JOIN is not a keyword of its own.
_LONGEST_FIRST: Final = sorted(sorted(_STRONG | _WEAK | _OTHER), key=len, reverse=True)
_KEYWORD: Final = regex(rf"(?:{'|'.join(_LONGEST_FIRST)})(?!\w)".replace(" ", _S))
# These read lower-cased text. What comes before a first word is left to a look behind, so that `re`
# can skip to that word.
_UNMISTAKABLE: Final = regex(
    r"varchar(?<!\wvarchar)(?!\w)"
    rf"|primary{_S}key(?!\w)(?! (?:to|for|in|of)\b)"  # English has a "primary key to success"
    rf"|foreign{_S}key(?!\w)|recursive(?<=with\srecursive)(?!\w)"
    r"|join(?:(?<=inner\sjoin)|(?<=left\sjoin)|(?<=right\sjoin)|(?<=cross\sjoin)|(?<=full\sjoin)"
    r"|(?<=natural\sjoin)|(?<=outer\sjoin))(?!\w)"
)
"""What no one writes in plain English, whatever the case."""
_SHAPE: Final = regex(
    rf"insert{_S}into{_S}{_NAME}{_S0}(?:\(|values\b|select\b)"
    rf"|create{_S}(?:or{_S}replace{_S}|temp(?:orary)?{_S}|unique{_S})?"
    rf"(?:table|view|index|schema|trigger|procedure|function){_S}"
    rf"(?:if{_S}not{_S}exists{_S})?{_NAME}{_S0}(?:\(|as\s|on\s)"
    rf"|table(?:(?<=alter\stable)|(?<=drop\stable)|(?<=truncate\stable)){_S}"
    rf"(?:if{_S}exists{_S})?{_NAME}"
    rf"|update{_S}{_NAME}{_S}set{_S}{_NAME}{_S0}=|values{_S0}\((?={_S0}['\"0-9?:%$])"
    rf"|select{_S}(?:distinct{_S})?(?:\*|[\w.]{{1,64}}+\()"
    rf"|from{_S}{_NAME}(?:{_S}(?:as{_S})?\w{{1,64}}+)??{_S}"
    rf"(?:(?:order|group){_S}by{_S}{_NAME}|limit{_S}[0-9]"
    rf"|join{_S}{_NAME}(?:{_S}\w{{1,64}}+)??{_S}(?:on|using)\b)"
    rf"|(?:where(?<!\wwhere)|having(?<!\whaving)){_S}(?:not{_S})?{_NAME}(?:\([^()\n]{{0,80}}+\))?"
    rf"{_S0}(?:[=<>]|!=|like{_S0}'|in{_S0}\(|between{_S}['0-9]|is{_S}(?:not{_S})?null\b)"
)
"""How SQL puts its words; English uses the same ones in other company."""
_VERBS: Final = ("select", "insert", "update", "delete", "create", "alter", "drop", "merge")


def is_sql(view: View) -> bool:
    """Tell whether a text has SQL in it."""
    seen = view.words & _SQL_WORDS
    if not _is_enough(seen, _STRONG_WORDS, _WEAK_WORDS):
        return False
    capitals = [word for word in seen if word.upper() in view.plain]
    if _is_enough(capitals, _STRONG_WORDS, _WEAK_WORDS) and _has_keywords(view.text):
        return True
    lower = view.lower
    if _UNMISTAKABLE.search(lower):
        return True
    if any(verb in lower for verb in _VERBS) and _SHAPE.search(lower):
        return _has_keywords(view.text.upper())
    return False


def _has_keywords(text: str) -> bool:
    keywords = {
        " ".join(keyword[0].split())
        for keyword in _KEYWORD.finditer(text)
        if not (keyword.start() and is_letter(text[keyword.start() - 1]))
    }
    return _is_enough(keywords, _STRONG, _WEAK)


def _is_enough(seen: Collection[T], strong: frozenset[T], weak: frozenset[T]) -> bool:
    return not strong.isdisjoint(seen) or (len(seen) >= _MIN_KEYWORDS and not weak.isdisjoint(seen))


# Arguments: one conclusive phrase is enough; of connectives and markers it takes three.

_CONCLUDING: Final = (
    *("it follows that", "we can conclude", "we can deduce", "we can infer"),
    *("this implies that", "this proves that"),
)
CONCLUSIVE: Final = Phrases(*_CONCLUDING, "qed")
CONNECTIVES: Final = Phrases(
    *("therefore", "hence", "thus", "consequently", "accordingly", "this means that"),
    *("as a result", "because of this", "which implies", "which means", "which shows"),
    *("given that", "assuming that", "since we know"),
)
MARKERS: Final = Phrases(
    *("let me think", "let me reason", "let me analyze", "let's consider"),
    *("let's break this down", "in conclusion", "to summarize", "in summary"),
)
LABEL_WORDS: Final = words_of("reasoning conclusion proof derivation thought step")
ORDINALS: Final = words_of("first firstly second secondly third thirdly")
_MIN_MARKERS: Final = 3  # phrases that make an argument if none does so alone
_MIN_STEPS: Final = 3  # numbered lines that make one together with such a phrase
# These read lower-cased text after a line feed.
_LABEL: Final = regex(
    r"\n[ \t]*+(?:reasoning|conclusion|proof|derivation|chain of thought|step[ -]by[ -]step)"
    r"\s{0,8}+:"
)
# "Analysis:" heads a report as often as an argument: it needs a connective beside it.
_MILD_LABEL: Final = regex(r"\n[ \t]*+analysis\s{0,8}+:")
_NUMBERED: Final = regex(r"\n[ \t]*+(?:step [0-9]{1,9}+[:.)]|[0-9]{1,9}+[.)](?=\s))")


def is_argument(view: View) -> bool:
    """Tell whether a text argues step by step."""
    if not view.text.isascii() and "∴" in view.text:
        return True
    if CONCLUSIVE.seen_in(view):
        return True
    if view.has_any(LABEL_WORDS) and ":" in view.text and _LABEL.search(f"\n{view.lower}"):
        return True
    connectives = len(CONNECTIVES.seen_in(view))
    markers = connectives + len(MARKERS.seen_in(view))
    if not markers:
        return False
    # First, second, third tell a story as well as an argument: together they count once.
    if markers + view.has_any(ORDINALS) >= _MIN_MARKERS:
        return True
    lines = f"\n{view.lower}"
    if connectives and b"analysis" in view.words and _MILD_LABEL.search(lines):
        return True
    return len(list(islice(_NUMBERED.finditer(lines), _MIN_STEPS))) == _MIN_STEPS


# Failures, terms of contracts, and what raises the score of a sentence.

FAILURES: Final = (
    *("execution failed", "authentication failed", "authentication error"),
    *("authorization failed", "authorization denied", "connection refused"),
    *("connection timeout", "connection timed out", "permission denied"),
)
LEGAL_TERMS: Final = ("shall", "may not", "notwithstanding", "whereas", "hereby")
EMPHATIC: Final = Phrases(
    *("importantly", "note that", "however", "critical", "crucial", "essential", "significant"),
    *("notably", "key point", "in particular", "specifically", "must", "require", "required"),
    *("requires", "never", "always"),
)
INFERRING: Final = Phrases(
    *("therefore", "hence", "thus", "consequently", "accordingly", "given that", "in conclusion"),
    *("this means that", "as a result", *_CONCLUDING),
)

# Importance: words with which a message decides, corrects or constrains.

DECISIVE: Final = words_of("must should require required requires always never instead")
DECISIONS: Final = Phrases(
    *("do not", "don't", "don’t", "rather than", "the approach is", "the solution is"),
    *("the fix is", "the answer is", "decide to", "decided to"),
    *(f"{we} {act}" for we in ("we'll", "we’ll", "we will") for act in ("go with", "use")),
    *("we'll implement", "we’ll implement", "we will implement"),
)
CORRECTIVE: Final = words_of("actually correction disregard")
CORRECTION_WORDS: Final = words_of("no not scratch ignore wait sorry instead")
CONSTRAINING: Final = words_of(
    "constraint limitation boundary deadline blocker requirement prerequisite dependency"
)
COMPATIBILITY_WORDS: Final = words_of("breaking backward backwards")
WEIGHTY_WORDS: Final = DECISIVE.union(
    *(DECISIONS.words, CORRECTIVE, CORRECTION_WORDS, CONSTRAINING, COMPATIBILITY_WORDS)
)
SIGNAL_WORDS: Final = CORRECTIVE | CORRECTION_WORDS | words_of("rather don dont wrong let")

TELLING: Final[Words] = frozenset[bytes]().union(
    *(_SQL_WORDS, LABEL_WORDS, ORDINALS),
    *(words_of("analysis http status"), Phrases(*FAILURES, *LEGAL_TERMS).words),
    *(each.words for each in (CONCLUSIVE, CONNECTIVES, MARKERS, EMPHATIC, INFERRING)),
    *(WEIGHTY_WORDS, SIGNAL_WORDS),
)
"""Every word that any table asks for."""
