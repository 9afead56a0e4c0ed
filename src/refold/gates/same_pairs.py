"""Refuses an answer that gives to one what the source says of another: names and values swapped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from refold.gates._clauses import Clause, split_clauses, stems_of
from refold.gates._counts import in_digits
from refold.gates._languages import FUNCTION_WORDS
from refold.gates._values import SLASHED, read_values
from refold.gates.base import WORD, Gate, Refusal, Source
from refold.gates.known_names import TITLED
from refold.gates.same_language import may_be_german
from refold.text.alphabet import LOWER, UPPER
from refold.text.facts import DIGIT, NUMBER

_UNIT: Final = r"(?: ?[A-Za-z%°$€£¥µ]{1,8}+|[兆万亿億元円个個人件次天日年度]{1,2}+)?"
_TO: Final = r"(?: | ?(?:to|auf|à|a|→|->|=>|bis|hasta|升到|降到|到|至|から) ?){1,3}"
_FROM_TO: Final = re.compile(rf"(?<![{DIGIT}A-Za-z_.,'’٬٫])({NUMBER}){_UNIT}{_TO}({NUMBER})")
"""Two values of which the first became the second."""
_FULL_NAME: Final = re.compile(rf"(?<!\w)([{UPPER}][{LOWER}]++) ([{UPPER}][{LOWER}]++)(?!\w)")
_ACTING: Final = re.compile(
    rf"(?<!\w)([{UPPER}][{LOWER}]++) (?:will|has|had|can|must|should|[a-z]{{2,}}(?:ed|s)) "
)
"""A name alone, before what somebody does."""
_CHINESE_NAME: Final = re.compile(
    r"(?<![\u3400-\u9fff])(?:由|让|请|和)?([王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾"
    r"萧田董袁潘蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎"
    r"贺顾毛郝龚邵万钱严覃武戴莫孔向汤][\u4e00-\u9fff]{1,2}?)"
    r"(?=已|把|将|负责|说|会|要|签|写|认为|提出|同意|确认|检查|决定|批准|更新|联系|安排|处理|修改|设计|测试|准备|审核|跟进|管理|来|去|在|也|先|事先|之前)"
)
"""A usual family name, where a clause begins, before what somebody does."""
_TITLES: Final = frozenset({"frau", "herr", "herrn"})
_MOST_PEOPLE: Final = 40
"""It keeps the work linear."""
_KIND: Final = re.compile(r"[0-9]+")
_ALIKE: Final = 2
"""Two clauses speak of the same thing if they have so many words in common."""


def _check(source: Source, answer: str) -> Refusal | None:
    swapped = next(_swapped(source, answer), None)
    if swapped is None:
        return None
    why = f"the source says it of another: {swapped.strip()[:80]!r}"
    return Refusal(gate="same_pairs", why=why, is_false=True)


def _swapped(source: Source, answer: str) -> Iterator[str]:
    ours = set(_FROM_TO.findall(in_digits(source.text)))
    for first, second in _FROM_TO.findall(in_digits(answer)):
        if (second, first) in ours and (first, second) not in ours:
            yield f"{first} -> {second}"
    has_large_nouns = may_be_german(source.text)
    people = _people(source.text, has_large_nouns=has_large_nouns)
    for clause in split_clauses(answer):
        named = _named(clause.text, people)
        if len(named) == 1:
            stems = _deed(clause, named, has_large_nouns=has_large_nouns)
            if _is_of_another(source, stems, people, named):
                yield clause.text
        yield from _values_of_another(source, clause)


def _people(text: str, *, has_large_nouns: bool) -> tuple[str, ...]:
    """Return those whom *text* names: by both names the last, by title, or by what they do."""
    found = [
        last
        for first, last in _FULL_NAME.findall(text)
        if first.lower() not in FUNCTION_WORDS and last.lower() not in FUNCTION_WORDS
    ]
    found += (next(filter(None, titled.groups())) for titled in TITLED.finditer(text))
    found += _CHINESE_NAME.findall(text)
    if not has_large_nouns:
        small = {word for word in WORD.findall(text) if word.islower()}
        single = (name for name in _ACTING.findall(text) if name not in FUNCTION_WORDS)
        found += (
            name
            for name in single
            if name.lower() not in small and name.lower() not in FUNCTION_WORDS
        )
    return tuple(dict.fromkeys(found))[:_MOST_PEOPLE]


def _named(text: str, people: tuple[str, ...]) -> set[str]:
    words = set(WORD.findall(text))
    return {name for name in people if name in words or (name[0] >= "\u3400" and name in text)}


def _deed(clause: Clause, named: set[str], *, has_large_nouns: bool) -> frozenset[str]:
    """Return what *clause* says of whom it names: its stems without names."""
    words = WORD.findall(clause.text)
    if has_large_nouns:
        words = [word for word in words if word in named or word.lower() in _TITLES]
    names = {word[:4].lower() for word in words if word[:1].isupper()}
    return (clause.stems - names).difference(*(stems_of(name) for name in named))


def _is_of_another(
    source: Source, stems: frozenset[str], people: tuple[str, ...], named: set[str]
) -> bool:
    """Tell whether what is most like *stems* in the source is said of somebody else alone."""
    best, is_other = 0, False
    for place, common in source.clauses.overlaps(stems).items():
        who = _named(source.clauses.clauses[place].text, people)
        if common > best:
            best, is_other = common, bool(who) and not who & named
        elif common == best and (not who or who & named):
            is_other = False
    return is_other and best >= min(_ALIKE, len(stems))


def _values_of_another(source: Source, clause: Clause) -> Iterator[str]:
    """Yield *clause* if the source states its values elsewhere, and others where it says this."""
    if not clause.values or not clause.stems:
        return
    overlaps = source.clauses.overlaps(clause.stems)
    most = max(overlaps.values(), default=0)
    if most < _ALIKE:
        return
    best = [source.clauses.clauses[place] for place, common in overlaps.items() if common == most]
    if not all(one.values for one in best):
        return
    stated = set().union(*(one.values for one in best))
    near = stated.union(*(source.clauses.clauses[place].values for place in overlaps))
    if clause.values.isdisjoint(near) or _is_exchanged(clause, near, stated - clause.values):
        yield clause.text


def _is_exchanged(clause: Clause, near: set[str], untold: set[str]) -> bool:
    """Tell whether a value of *clause* stands in the place of one of its kind."""
    kinds = {_KIND.sub("#", form) for form in untold}
    return any(
        near.isdisjoint((value.normal, *value.parts, *value.others))
        and _KIND.sub("#", value.normal) in kinds
        for value in read_values(SLASHED.sub(" ", clause.text))
    )


GATE: Final = Gate("same_pairs", _check)
