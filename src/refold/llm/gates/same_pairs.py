"""Refuses an answer that gives to one what the source says of another: names and values swapped."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from refold.llm.gates._clauses import ASIAN, Clause, split_clauses, stems_of
from refold.llm.gates._counts import in_digits
from refold.llm.gates._languages import FUNCTION_WORDS
from refold.llm.gates._values import SLASHED, read_values
from refold.llm.gates.base import WORD, Gate, Refusal, Source
from refold.llm.gates.facts_present import is_code
from refold.llm.gates.known_names import TITLED
from refold.llm.gates.same_language import may_be_german
from refold.scan.alphabet import LOWER, UPPER
from refold.scan.facts import DIGIT, MONTH, NUMBER, UNITS

_UNIT: Final = r"(?: ?[A-Za-z%°$€£¥µ]{1,12}+|[兆万亿億元円个個人件次天日年度]{1,2}+)?"
_ONE: Final = rf"[0-9]{{1,2}}:[0-9]{{2}}|{NUMBER}"
_FIGURE: Final = rf"(?<![{DIGIT}A-Za-z_.,'’٬٫])[$€£¥]?({_ONE}){_UNIT}"
_TO: Final = r"(?: | ?(?:to|auf|à|a|→|->|=>|bis|hasta|升到|降到|到|至|から) ?){1,3}"
_FROM_TO: Final = re.compile(rf"(?<!to ){_FIGURE}{_TO}[$€£¥]?({_ONE})")
"""Two values of which the first became the second."""
_TO_FROM: Final = re.compile(
    rf"{_FIGURE}(?: [a-z]+){{0,2}}?[,(]{{0,2}} ?\(?(?:instead of|rather than|up from|down from|"
    rf"from|"
    rf"compared (?:to|with)|before:|previously|vorher|bisher|statt|au lieu de|contre|en lugar de|"
    rf"frente a)"
    rf":? [$€£¥]?({_ONE})"
)
"""Two of which the second became the first."""
_BETWEEN: Final = re.compile(
    rf"\b(?:from|von|de|da) ([{UPPER}][{LOWER}]++) (?:to|nach|à|a|para) ([{UPPER}][{LOWER}]++)"
)
"""Two places, of which the first comes first."""
_FULL_NAME: Final = re.compile(rf"(?<!\w)([{UPPER}][{LOWER}]++) ([{UPPER}][{LOWER}]++)(?!\w)")
_ACTING: Final = re.compile(
    rf"(?<!\w)([{UPPER}][{LOWER}]++) (?:still |also |then |already |now )?"
    r"(?:will|has|had|can|must|should|did|does|takes?|a [a-z]+é|ha [a-z]+do|será|[a-z]{2,}(?:ed|"
    r"s|ará|rá)) "
)
"""A name alone, before what somebody does."""
_CHINESE_NAME: Final = re.compile(
    r"(?<![\u3400-\u9fff])(?:由|让|请|"
    r"和)?([王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾"
    r"萧田董袁潘蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎"
    r"贺顾毛郝龚邵万钱严覃武戴莫孔向汤][\u4e00-\u9fff]{1,2}?)"
    r"(?=已|把|将|接手|转|做|负责|说|会|要|签|写|认为|提出|同意|确认|检查|决定|批准|更新|联系|"
    r"安排|处理|修改|设计|测试|准备|审核|跟进|管理|来|去|在|也|先|事先|之前)"
)
"""A usual family name, where a clause begins, before what somebody does."""
_TITLES: Final = frozenset({"frau", "herr", "herrn"})
_UNITS: Final = stems_of(" ".join(UNITS))
_IN_BRACKETS: Final = re.compile(rf"\(([{UPPER}][{LOWER}]++)[),]")
_TIME: Final = re.compile(rf"{MONTH}|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|[A-Z][a-z]+tags?")
_FOR: Final = re.compile(r"\b(?:for|für|pour|para) \w+")
"""Who gets something does not do it."""
_LATIN: Final = re.compile(r"(?<![A-Za-z0-9_])[A-Za-z][A-Za-z]{2,}(?![A-Za-z0-9_])")
"""A word in Latin letters inside of a text that is not."""
_MOST_NAMES: Final = 60
"""It keeps the work linear."""
_KIND: Final = re.compile(r"[0-9]+")
_LEAST_EXCHANGED: Final = 3
_ALIKE: Final = 2
"""Two clauses speak of the same thing if they have so many words in common."""


def _check(source: Source, answer: str) -> Refusal | None:
    swapped = next(_swapped(source, answer), None)
    if swapped is None:
        return None
    why = f"the source says it of another: {swapped.strip()[:80]!r}"
    return Refusal(gate="same_pairs", why=why, is_false=True)


def _swapped(source: Source, answer: str) -> Iterator[str]:
    ours = _changes(source.text)
    for first, second in _changes(answer):
        if (second, first) in ours and (first, second) not in ours:
            yield f"{first} -> {second}"
    named = _Named(source)
    clauses = split_clauses(answer)
    said = Counter(stem for clause in clauses for stem in clause.stems)
    for clause in clauses:
        yield from _deeds_of_another(source, clause, named)
        yield from _exchanged(source, clause, said)
        yield from _values_of_another(source, clause)


def _changes(text: str) -> set[tuple[str, str]]:
    """Return which values became which."""
    digits = in_digits(text)
    turned = _TO_FROM.findall(digits)
    found = {pair for pair in _FROM_TO.findall(digits) if pair not in turned}
    return found | {(old, new) for new, old in turned} | set(_BETWEEN.findall(digits))


class _Named:
    """Tells whom and what a clause names, of all that a source names."""

    def __init__(self, source: Source) -> None:
        self._has_large_nouns = may_be_german(source.text)
        self._names: dict[str, str] = {}
        for name in islice(dict.fromkeys(self._find(source)), _MOST_NAMES):
            for word in WORD.findall(name):
                if word.lower() not in FUNCTION_WORDS and not _TIME.fullmatch(word):
                    self._names.setdefault(word, name)
        self._asian = [name for name in self._names if name[0] >= "\u3400"]
        self._owners = list(self._find_owners(source.clauses.clauses))

    def _find(self, source: Source) -> Iterator[str]:
        """Yield names: of two words, with a title, before what they do, inside of sentences."""
        text = source.text
        yield from map(" ".join, _FULL_NAME.findall(text))
        yield from (next(filter(None, titled.groups())) for titled in TITLED.finditer(text))
        yield from _CHINESE_NAME.findall(text)
        if ASIAN.search(text):
            yield from _LATIN.findall(text)
        elif not self._has_large_nouns:
            small = {word for word in WORD.findall(text) if word.islower()}
            yield from (name for name in _ACTING.findall(text) if name.lower() not in small)
            yield from (name for name in source.facts.names if not is_code(name))
            yield from _IN_BRACKETS.findall(text)

    def _find_owners(self, clauses: Sequence[Clause]) -> Iterator[frozenset[str]]:
        owners: frozenset[str] = frozenset()
        for clause in clauses:
            owners = self.names_in(clause.text) or (owners if clause.goes_on else frozenset())
            yield owners

    def names_in(self, text: str) -> frozenset[str]:
        """Return whom *text* names."""
        words = {self._names[word] for word in WORD.findall(text) if word in self._names}
        if ASIAN.search(text):
            words |= {self._names[word] for word in _LATIN.findall(text) if word in self._names}
            words |= {self._names[name] for name in self._asian if name in text}
        return frozenset(words)

    def owners_of(self, place: int) -> frozenset[str]:
        """Return of whom a clause of the source speaks: the one before it may say it."""
        return self._owners[place]

    def deed(self, clause: Clause) -> frozenset[str]:
        """Return what *clause* says of whom it names: its stems without names."""
        words = WORD.findall(clause.text)
        if self._has_large_nouns:
            words = [word for word in words if word in self._names or word.lower() in _TITLES]
        names = frozenset().union(*(stems_of(w.lower()) for w in words if w[:1].isupper()))
        return clause.stems - names.union(*(stems_of(name.lower()) for name in self._names))


def _deeds_of_another(source: Source, clause: Clause, named: _Named) -> Iterator[str]:
    """Yield *clause* if what is most like it in the source is said of somebody else alone."""
    ours = named.names_in(_FOR.sub(" ", clause.text))
    if len(ours) != 1:
        return
    stems = named.deed(clause)
    best, is_other = 0, False
    for place, common in source.clauses.overlaps(stems).items():
        said = source.clauses.clauses[place]
        if said.vague != clause.vague or said.is_denied != clause.is_denied:
            continue
        theirs = named.owners_of(place)
        if common > best:
            best, is_other = common, bool(theirs) and not theirs & ours
        elif common == best and (not theirs or theirs & ours):
            is_other = False
    if is_other and best >= min(_ALIKE, len(stems)):
        yield clause.text


def _exchanged(source: Source, clause: Clause, said: Counter[str]) -> Iterator[str]:
    """Yield *clause* if it is one of the source but for a word that has changed places."""
    clauses, overlaps = source.clauses.clauses, source.clauses.overlaps(clause.stems)
    if any(clause.stems <= clauses[place].sentence for place in overlaps):
        return
    for place, common in overlaps.items():
        theirs = clauses[place]
        if common == len(clause.stems) - 1 == len(theirs.stems) - 1:
            new, old = clause.stems - theirs.stems, theirs.stems - clause.stems
            is_new = new.isdisjoint(source.clauses.stems) and common >= _LEAST_EXCHANGED
            is_swap = new <= source.clauses.stems and all(said[stem] for stem in old)
            if (is_new and not clause.values) or (is_swap and common >= _ALIKE):
                yield clause.text


def _values_of_another(source: Source, clause: Clause) -> Iterator[str]:
    """Yield *clause* if what it says of its values the source says of others of their kind."""
    stems = clause.stems - _UNITS
    overlaps = source.clauses.overlaps(stems) if clause.values else {}
    if not overlaps:
        return
    near: dict[str, int] = {}
    for place, common in overlaps.items():
        for form in source.clauses.clauses[place].values:
            near[form] = max(common, near.get(form, 0))
    rivals: dict[str, int] = {}
    for form, common in near.items():
        if form not in clause.values:
            kind = _KIND.sub("#", form)
            rivals[kind] = max(common, rivals.get(kind, 0))
    most = max(rivals.values(), default=0)
    for value in read_values(SLASHED.sub(" ", clause.text)):
        forms = (value.normal, *value.parts, *value.others)
        own = max(near.get(form, 0) for form in forms)
        rival = rivals.get(_KIND.sub("#", value.normal), 0)
        if rival >= own + (1 if own == 0 else _ALIKE) or (own == 0 and most >= _ALIKE):
            yield clause.text


GATE: Final = Gate("same_pairs", _check)
