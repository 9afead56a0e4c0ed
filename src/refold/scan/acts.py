"""What sentences do: ask, answer, decide, forbid, limit, explain, or only fill.

A reader of a summary misses acts first. Each is known by its words in six languages, by figures and
by identifiers; every kind counts once a sentence, so a long sentence is not better for its length.
"""

from __future__ import annotations

import re
from typing import Final

from refold.scan.act_words import (
    ACT_WORDS,
    ANSWER,
    ANSWERS,
    DUTY,
    FILLERS,
    IDENTIFIER,
    NEGATION,
    ORDER,
    ORDERS,
    PHRASES,
    REQUEST,
    UNSPACED,
    VALUE,
    WEIGHTS,
)
from refold.scan.alphabet import IDEOGRAPHS

FILLER_WORTH: Final = -6
"""Below every passage that does anything. Tuned on `bench/summaries.py`, where it is flat: from −3
to −12 the same sentences are kept, at −2 one in a thousand fewer of the right ones."""
_FORBIDDING: Final = 2
"""What a prohibition is worth beyond its no and its must."""
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*+")
_PHRASE: Final = re.compile(
    rf"(?<!\w)(?:{'|'.join(f'(?P<p{place}>{words})' for place, (_, words) in enumerate(PHRASES))})"
)
"""Whether a word begins there is asked once a character, not once a phrase."""
_PHRASE_BITS: Final = {f"p{place}": bit for place, (bit, _) in enumerate(PHRASES)}
_ASIAN: Final = re.compile(f"[{IDEOGRAPHS}]")
_ASIAN_ACT: Final = re.compile(
    "|".join(f"(?P<a{place}>{words})" for place, (_, words) in enumerate(UNSPACED))
)
_ASIAN_BITS: Final = {f"a{place}": bit for place, (bit, _) in enumerate(UNSPACED)}
_FILLER: Final = re.compile(rf"[\s>*_#\"“-]*+(?:{FILLERS})")
_DIGIT: Final = re.compile(r"[0-9]")
_IDENTIFIER: Final = re.compile(
    r"`[^`\n]+`|(?<!\w)(?:[a-z0-9]+_[a-z0-9_]+|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|[A-Z]{2,}\w*)"
    r"|(?<![\w.-])[\w.-]*+/[\w./-]+|\b\w+\.(?:py|js|ts|md|json|yaml|yml|toml|sql|txt|c|h|go|rs|sh)\b"
    r"|\w\(\)|https?://|(?<![\w-])--[a-z]"
)
_MAY_IDENTIFY: Final = re.compile(
    r"[`_/.(A-Z-](?:(?<=[`_/])|(?<=\.)\w|(?<=\()\)|(?<=-)-[a-z]|(?<=[A-Za-z][A-Z]))"
)
"""What every identifier holds one of; it begins with a set, which the engine passes over fast."""
_POLITE_ORDER: Final = re.compile(r"[a-zäöüß]+en sie(?! gerne)(?!\w)|[a-zéèêà]+ez(?:-\w+)?(?!\w)")
"""Orders of German and French by their endings: "Geben Sie", "Gardez"."""
_ANSWER_ENDS: Final = ",.:;!"
_FORBIDS: Final = NEGATION | DUTY
_FLATTERY: Final = frozenset("mistake worries problem doubt wonder idea".split())
"""What makes nothing of a "no": "no problem"."""


def act_bits(sentence: str) -> int:
    """Return what *sentence* does, one bit a kind of act; see `act_words`."""
    lower = sentence.lower()
    words = _WORD.findall(lower)
    bits = 0
    for word in words:
        bits |= ACT_WORDS.get(word, 0)
    for found in _PHRASE.finditer(lower):
        bits |= _PHRASE_BITS[found.lastgroup or ""]
    if words and words[0] in ORDERS:
        bits |= ORDER
    elif words and _POLITE_ORDER.match(lower):
        bits |= ORDER | REQUEST
    if len(words) > 1 and words[0] in ANSWERS and words[1] not in _FLATTERY:
        bits |= ANSWER * (lower[len(words[0])] in _ANSWER_ENDS)
    if not sentence.isascii() and _ASIAN.search(sentence):
        for found in _ASIAN_ACT.finditer(sentence):
            bits |= _ASIAN_BITS[found.lastgroup or ""]
    if _DIGIT.search(sentence):
        bits |= VALUE
    if _MAY_IDENTIFY.search(sentence) and _IDENTIFIER.search(sentence):
        bits |= IDENTIFIER
    return bits


def forbids(bits: int) -> bool:
    """Tell whether a sentence that does these acts forbids something."""
    return bits & _FORBIDS == _FORBIDS or bool(bits & NEGATION and bits & ORDER)


def act_worth(sentence: str) -> int:
    """Return what *sentence* is worth: the sum over its acts; less than nothing for filler."""
    bits = act_bits(sentence)
    worth = sum(weight for bit, weight in WEIGHTS.items() if bits & bit)
    if forbids(bits):
        worth += _FORBIDDING
    if _FILLER.match(sentence.lower()) and not bits & (VALUE | ANSWER | REQUEST):
        return min(worth, 2) + FILLER_WORTH
    return worth
