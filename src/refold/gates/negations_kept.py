"""Refuses an answer that leaves out what its source denies or forbids, or moves the "no" of it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from refold.gates._number_words import WORDS
from refold.gates._numerals import numerals_in_digits
from refold.gates.base import Gate, Refusal, Source, some
from refold.gates.same_language import FUNCTION_WORDS
from refold.text.facts import find_no, pieces

_WORD: Final = re.compile(
    r"(?P<pair>[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2})|[^\W\d_\u3040-\u30ff\u3400-\u9fff]{3,}+"
)
_PAIR: Final = re.compile(r"(?=([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2}))")
_STEM: Final = 5
"""So many letters of a word tell it from others, whatever its ending."""
_WINDOW: Final = 60
"""A "no" concerns the words within so many characters of it, in its own clause."""
_WINDOW_BEFORE: Final = 30
_CLAUSE: Final = re.compile(
    r"[,:()\[\]，、：（）—–]|\b(?:but|however|although|while|whereas|aber|sondern|jedoch|obwohl|mais|"
    r"cependant|pero|sino|aunque|mas|porém|ma|però|maar|echter|но|однако|хотя|ale|ama|fakat)\b|但"
)
"""Where the reach of a "no" ends."""
_JOINED: Final = re.compile(r"\b(?:and|und|et|y|e|en|и|i|ve|och|so|then|dann)\b")
"""Where it may begin as well."""
# Other ways to say no. They do for an answer; in a source they forbid nothing by themselves.
_AS_GOOD: Final = re.compile(
    r"\b(?:avoid|forb[ia]d|prohibit|refus|reject|declin|den(?:y|ied|ies)|fail|unable|lack|missing|"
    r"exclud|limited to|disallow|disabl|instead of|rather than|absent|impossib|unsupported|"
    r"un(?:available|authorized|changed|affected|approved|finished|known)|in(?:valid|complete)|"
    r"off.limits|verm(?:ei|ie)d|verb(?:ie|o)t|fehl(?:t|en)\b|unmöglich|at (?:most|least)|"
    r"unless|es sei denn|à moins|a menos que|no longer|free\b|gratis|frei\b|kostenlos|gratuit|"
    r"ab(?:ge)?lehn|verweiger|untersag|rejet|"
    r"rechaz|deneg|"
    r"mindestens|höchstens|au moins|al menos|au plus|como máximo|évit|interdi|impossible|"
    r"refusé|evit|prohib|proib|"
    r"imposs[ií]|vieta|невозмож|запре|избега|отказ|verbied|vermijd)"
    r"|避免|拒绝|最多|至多|至少|尚未|否决|免费|却下|無料|避け|だめ|無し|なし|회피|불가|वर्जित|مستحيل|ممنوع|يمنع|تجنب"
)
# A clause with one of these says neither a plain yes nor a plain no: "only admins may".
_NEARLY: Final = re.compile(
    r"[?？]\s*$|(?<![\w.,:])(?:0|zero|null|cero|whether|if|ob|wenn|falls|si|если|ли|only|unless|"
    r"except|(?<!sign )(?<!signed )off|too|less|fewer|yet|still|pending|open|outstanding|closed|"
    r"broken|down|lost|gone|ended|expired|"
    r"removed|deleted|cancell?ed|dropped|(?:(?<=to )|(?<=must ))stop|stop(?:s|ped)|"
    r"halt(?:s|ed)?|skipped|blocked|wait|await|otherwise|hardly|barely|"
    r"rarely|seldom|nur|erst|außer|aus|noch|offen|seulement|sauf|encore|s[oó]lo|salvo|aún|todavía|"
    r"só|apenas|ainda|soltanto|ancora|только|пока|кроме|ещё|alleen|nog)(?![\w:]|[.,]\d)"
    r"|\b(?:un(?:touched|used|signed|tested|solved|paid|clear)|remain)|如果|是否|只|仅|除了|还|まだ|のみ|だけ|만|아직"
)
_FORWARD: Final = frozenset("without ohne sans sin sem senza zonder без بدون".split())
"""These reach forward only: "skip rows without a date" denies neither the skipping nor the rows."""
_AUXILIARY: Final = frozenset(
    "all any some just very even also ever does did can could may might must should shall would "
    "will had been being please yet still already noch schon bereits encore déjà todavía aún ya "
    "only just more than kann darf muss müssen sollen dürfen können "
    "mehr nur als plus seulement solo sólo más únicamente "
    "soll wird werden wurde wurden worden haben hatte hat sein war waren kannst darfst peut doit "
    "faut "
    "fait été puede debe debería fue pode deve foi può essere moet kan mag zou может должен должна "
    "должно должны нужно можно быть был была были".split()
)
"""Words that help others; of themselves they say nothing that could be denied."""


def _check(source: Source, answer: str) -> Refusal | None:
    clauses = source.facts.negations
    theirs = _Said.read(answer)
    turned = theirs.denies_what(_Said.read(source.text)) if theirs.says_no else ""
    inverted = [clause for clause in clauses if theirs.affirms(clause)]
    lost = [clause for clause in clauses if theirs.lacks(clause)]
    if turned or inverted:
        why = (
            f"the answer says the opposite of the source: {some([turned, *inverted][not turned :])}"
        )
    elif lost:
        why = f"the answer lost the no of: {some(lost)}"
    else:
        return None
    return Refusal(
        gate="negations_kept",
        why=why,
        missing=tuple(dict.fromkeys(inverted + lost)),
        is_false=bool(turned or inverted),
    )


def lost_negations(source: Source, answer: str) -> list[str]:
    """Return the sentences of *source* whose no *answer* does not say."""
    theirs = _Said.read(answer)
    return [clause for clause in source.facts.negations if theirs.lacks(clause)]


@dataclass
class _Said:
    """The stems of what a text says: with a no, nearly with one, or plainly."""

    denied: set[str] = field(default_factory=set)
    beside_no: set[str] = field(default_factory=set)
    """What stands in a sentence with a no, within its reach or not."""
    hedged: set[str] = field(default_factory=set)
    affirmed: set[str] = field(default_factory=set)
    clauses: list[str] = field(default_factory=list)
    """Those that have a no, as far as it reaches."""
    says_no: bool = False

    @classmethod
    def read(cls, text: str) -> _Said:
        said = cls()
        for piece in pieces(numerals_in_digits(text)):
            lower = piece.lower()
            reaches = _reaches(lower, find_no(lower))
            said.clauses += (lower[start:end] for start, end in reaches)
            reaches += _reaches(lower, list(_AS_GOOD.finditer(lower)))
            if reaches:
                said.says_no = True
                said.beside_no.update(_all_stems(lower))
            nearly = _reaches(lower, list(_NEARLY.finditer(lower)))
            for stems, spans in (
                (said.denied, reaches),
                (said.hedged, nearly),
                (said.affirmed, _outside(lower, reaches + nearly)),
            ):
                for start, end in spans:
                    stems.update(_all_stems(lower[start:end]))
        return said

    @cached_property
    def plain(self) -> set[str]:
        """What is affirmed and never denied."""
        return self.affirmed - self.denied - self.hedged

    @cached_property
    def mentioned(self) -> set[str]:
        """All that it speaks of."""
        return self.affirmed | self.denied | self.hedged

    def denies_what(self, other: _Said) -> str:
        """Return a clause that denies what *other* plainly says, if there is one."""
        return next((clause for clause in self.clauses if _turns(clause, other)), "")

    def affirms(self, sentence: str) -> bool:
        """Tell whether it plainly says what *sentence* denies."""
        lower = numerals_in_digits(sentence).lower()
        reaches = _reaches(lower, find_no(lower))
        return any(_is_most(lower[start:end], self.plain) for start, end in reaches)

    def lacks(self, sentence: str) -> bool:
        """Tell whether it does not say the no of *sentence*.

        A subject of which it says both yes and no must be denied for the most part.
        """
        if not self.says_no:
            return True
        lower = numerals_in_digits(sentence).lower()
        subject = {
            stem
            for start, end in _reaches(lower, find_no(lower))
            for stem in _stems(lower[start:end])
        }
        denials = len(subject & self.beside_no)
        mentions = len(subject & self.mentioned)
        is_mentioned = mentions * 2 >= min(4, len(subject))
        return bool(subject) and (not is_mentioned or denials * 2 <= mentions)


def _turns(clause: str, other: _Said) -> bool:
    """Tell whether *clause*, with a no, is mostly what *other* says plainly.

    Not if *other* denies the same: what stands first behind the no.
    """
    if not _is_most(clause, other.plain):
        return False
    no = next(iter(find_no(clause)), None)
    denied = next(_stems(clause[no.end() :]), None) if no is not None else None
    return denied not in other.denied


def _is_most(clause: str, known: set[str]) -> bool:
    stems = set(_stems(clause))
    return len(stems & known) * 2 > len(stems)


def _reaches(lower: str, negations: list[re.Match[str]]) -> list[tuple[int, int]]:
    """Return how far each "no" of a sentence reaches: its clause, or around it if that is empty."""
    if not negations:
        return []
    ends = [found.span() for found in _CLAUSE.finditer(lower)]
    starts = sorted([end for _, end in ends] + [found.end() for found in _JOINED.finditer(lower)])
    stops = [start for start, _ in ends]
    found: list[tuple[int, int]] = []
    for word in negations:
        low = _word_start(lower, max(0, word.start() - _WINDOW_BEFORE))
        high = min(len(lower), word.end() + _WINDOW)
        place = bisect_right(starts, word.start())
        start = max(low, starts[place - 1]) if place else low
        if word[0] in _FORWARD:
            start = word.start()
        place = bisect_left(stops, word.end())
        end = min(high, stops[place]) if place < len(stops) else high
        others = (one[0] for one in _WORD.finditer(lower, start, end))
        is_empty = all(find_no(other) for other in others)
        found.append((low, high) if is_empty else (start, end))
    return found


def _outside(lower: str, reaches: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the parts of a sentence that no reach covers."""
    place = 0
    for start, end in sorted(reaches):
        if start > place:
            yield place, start
        place = max(place, end)
    yield place, len(lower)


def _word_start(text: str, start: int) -> int:
    """Move back, a few letters at most, to where the word at *start* begins."""
    low = max(0, start - 20)
    cut = text.rfind(" ", low, start)
    return cut + 1 if cut >= 0 else (0 if low == 0 else start)


def _stems(lower: str) -> Iterator[str]:
    for found in _WORD.finditer(lower):
        word = found[0]
        if word not in FUNCTION_WORDS and word not in _AUXILIARY and not find_no(word):
            number = WORDS.get(word)
            yield str(number.value) if number is not None else word[:_STEM].removesuffix("s")


def _all_stems(lower: str) -> Iterator[str]:
    """Yield the stems, and of scripts without blanks the pairs at every place."""
    yield from _stems(lower)
    for found in _PAIR.finditer(lower):
        yield found[1]


GATE: Final = Gate("negations_kept", _check)
