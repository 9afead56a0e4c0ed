"""Refuses an answer that weakens or turns a limit: at least for at most, "only" left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from refold.llm.gates._clauses import stems_of
from refold.llm.gates._counts import in_digits
from refold.llm.gates._limits import limits_of
from refold.llm.gates._values import read_values
from refold.llm.gates.base import Gate, Refusal, Source
from refold.scan.facts import find_no, pieces

_OPPOSED: Final = {
    "most": {"least", "above", "about", "not below"},
    "least": {"most", "below", "about", "not above"},
    "below": {"above", "above?", "least"},
    "above": {"below", "below?", "most"},
    "below?": {"above", "above?"},
    "above?": {"below", "below?"},
    "not above": {"least", "above", "about", "not below"},
    "not below": {"most", "below", "about", "not above"},
    "not before": {"not after"},
    "not after": {"not before"},
    "before": {"after", "earliest"},
    "after": {"before", "latest"},
    "earliest": {"latest", "before"},
    "latest": {"earliest", "after"},
}
_STRONG: Final = frozenset({"most", "least", "above", "below", "not above", "not below"})
"""A value that the source only states with one of these is not said without any."""
_ADDED: Final = frozenset({"least", "below"})
"""A value that the source states without a limit is not said with one of these."""
_ONLY: Final = re.compile(
    r"(?<!\w)(?:only(?! after| then| now)|solely|exclusively|unless|provided|as long as|sofern|"
    r"vorausgesetzt|"
    r"siempre que|à condition|except(?:ions?|ed|ing)?|nur|ausschließlich|außer|"
    r"es sei denn|seulement|seule?s?|uniquement|sauf|à moins|solo|sólo|solamente|únicamente|"
    r"únic[oa]s?|salvo|"
    r"excepto|excepté|a menos)(?!\w)"
    r"|只有|只能|仅|除外|除了|除非|限定|限り|だけ|のみ|以外|(?<=対象)外"
)
_AS_GOOD: Final = re.compile(
    rf"{_ONLY.pattern}|(?<!\w)(?:just|if|when|provided|otherwise|but|limited|alone|nobody else|"
    r"other than|apart from|without|ohne|sans|sin|wenn|falls|sofern|(?<!überall )sonst(?! auch)|"
    r"allein|lediglich|"
    r"ausgenommen|si|sinon|ne|quand|hors|exclue?s?|si no|cuando)(?!\w)"
    r"|才|如果|場合|限り|しか|除|就不|则不"
)
_ANY: Final = re.compile(
    r"\b(?:any(?:one|body)|every(?:one|body)|all|whoever|jeder|alle[nr]?|tous|toutes|chacun|"
    r"todos|todas|"
    r"cualquier\w*)\b|所有|全部|任何|谁都|全員|誰でも|すべて|全会員"
)
"""What is said of all is not only of some."""
_SHARED: Final = 2
_EXCEPT: Final = re.compile(
    r"\b(?:unless|except|sauf|à moins|außer|es sei denn|salvo|excepto|a menos)|除|以外"
)
"""After these a no is not the other way to say it, as it is of *only*."""
_CONJUNCTION: Final = re.compile(r"\s*+(?:(?:but|and|aber|und|mais|et|pero|y|但|但是)\s*+)?+")
"""All that stands before a word that begins its clause."""
_REACH: Final = 80
"""A word restricts what stands no farther from it in its clause, in characters."""
_MOST: Final = 300
"""Restrictions, and sentences of an answer, that are looked at: it keeps the work linear."""
_MENTIONED: Final = 0.6
"""The share of what a restriction is about that an answer must mention to have to keep it."""


def _check(source: Source, answer: str) -> Refusal | None:
    turned = next(_turned_limits(source, answer), None) or next(_lost_only(source, answer), None)
    if turned is None:
        return None
    return Refusal(gate="limits_kept", why=f"it weakens or turns: {turned[:80]!r}", is_false=True)


def _turned_limits(source: Source, answer: str) -> Iterator[str]:
    """Yield values that the answer limits the other way round, or no longer."""
    told = limits_of(answer)
    for value in read_values(in_digits(answer)):
        forms = (value.normal, *value.others)
        ours = set().union(*(source.limits.get(form, ()) for form in forms))
        theirs = told.get(value.normal, {""})
        for name in ours - {""}:
            opposed = theirs & _OPPOSED.get(name, set())
            if opposed and name not in theirs and not ours & opposed:
                yield value.text
        if ours == {""} and theirs <= _ADDED:
            yield value.text
        if ours & _STRONG and "" not in ours and theirs == {""}:
            yield value.text


def _lost_only(source: Source, answer: str) -> Iterator[str]:
    """Yield what the source restricts and the answer does not."""
    told = [(piece.lower(), stems_of(piece.lower())) for piece in islice(pieces(answer), _MOST)]
    said: frozenset[str] = frozenset().union(*(stems for _, stems in told))
    for restricted, stems in islice(_restrictions(source.text), _MOST) if told else ():
        is_any = any(_ANY.search(text) and len(stems & theirs) >= _SHARED for text, theirs in told)
        if not is_any and len(stems & said) < max(2, _MENTIONED * len(stems)):
            continue
        most = max(len(stems & theirs) for _, theirs in told)
        best = [text for text, theirs in told if len(stems & theirs) == most]
        is_only = _EXCEPT.search(restricted) is None
        if not any(_AS_GOOD.search(text) or (is_only and find_no(text)) for text in best):
            yield restricted


def _restrictions(text: str) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield what *text* restricts, each once, and what it is about."""
    seen: set[frozenset[str]] = set()
    for piece in pieces(text):
        lower = piece.lower()
        for word in _ONLY.finditer(lower):
            restricted = _restricted_by(lower, word.start())
            stems = stems_of(_AS_GOOD.sub(" ", restricted))
            if stems not in seen:
                seen.add(stems)
                yield restricted, stems


def _restricted_by(lower: str, place: int) -> str:
    """Return what the word at *place* restricts: its clause, or the one before as well."""
    start = _clause_start(lower, place)
    if _CONJUNCTION.fullmatch(lower, start, place) and start:
        start = _clause_start(lower, start - 1)
    ends = [end for mark in ",，、;；" if (end := lower.find(mark, place, place + _REACH)) >= 0]
    return lower[start : min(ends, default=place + _REACH)]


def _clause_start(lower: str, place: int) -> int:
    """Return where the clause at *place* begins, or how far a word there reaches back."""
    low = max(0, place - _REACH)
    start = max(lower.rfind(mark, low, place) for mark in ",，、;；:：")
    return start + 1 if start >= 0 else low


GATE: Final = Gate("limits_kept", _check)
