"""Refuses an answer that weakens or turns a limit: at least for at most.

Other gates read from here which words restrict a statement, and which values became which.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from refold.llm.gates._counts import in_digits
from refold.llm.gates._values import read_values
from refold.llm.gates.base import Gate, Refusal, Source
from refold.notation.recognize import KEPT_LINE
from refold.scan.facts import DIGIT, NUMBER, find_no, pieces
from refold.scan.patterns import LOWER, UPPER

_LIMITS: Final = {
    "most": (
        r"≤|<=|at most|at the most|up to|no more than|not more than|no longer than|max\.?|"
        r"maxim(?:um|al)\w*|not exceed\w*|limited to|höchstens|allenfalls|bis zu(?!\w)|nicht mehr "
        r"als|au (?:maximum|plus)|(?:como|cuando) (?:máximo|mucho)|a lo sumo|máxim[oa]|最多|不超过|"
        r"最大|至多|最长|多くても|多くとも|以下|以内|(?<=[円元人名件個台枚字点])まで"
    ),
    "least": (
        r"≥|>=|at least|min\.?|no less than|not less than|no fewer than|minim(?:um|al)\w*|or more|"
        r"mindestens|wenigstens|au (?:minimum|moins)|al menos|como mínimo|por lo menos|mínim[oa]|"
        r"至少|最低|最少|不少于|少なくとも|以上"
    ),
    "below": (
        r"<(?!=)|under|below|unter|(?:less|fewer|lighter|shorter|lower|smaller|younger|cheaper) "
        r"than|(?:weniger|leichter|kürzer|niedriger|kleiner) als|moins de|inférieure? à|menos de|"
        r"inferior(?:es)? a|低于|少于|未満"
    ),
    "above": (
        r">(?!=)|over(?! (?:the|this|that|these|a)(?!\w))|above|exceed\w*|(?:more|heavier|longer|"
        r"higher|larger|bigger|greater|older) than|beyond|über|(?:mehr|schwerer|länger|höher|"
        r"größer) als|plus de|supérieure? à|más de|superior(?:es)? a|super[ae]n?|高于|超过|多于"
    ),
    "before": r"before|by|until|no later than|vor|bis|avant|jusqu['’]?(?:à|au|en)|antes de|hasta"
    r"|之前|までに|前に",
    "after": r"after|not before|nach|après|después de|tras|之后|以降",
    "earliest": r"at the earliest|earliest|frühestens|au plus tôt|como pronto|最早|早くても",
    "latest": r"at the latest|latest|spätestens|au plus tard|a más tardar|最晚|最迟|遅くとも",
    "about": r"about|around|roughly|approximately|nearly|almost|etwa|ungefähr|rund|environ|près de"
    r"|aproximadamente|casi|unos|大约|大概|約|およそ",
}
_SHORT: Final = re.compile(r"(?i:\b(min|max)\. (?=[0-9]))")
"""Its point ends no sentence."""
_LETTER: Final = r"[^\W\d_\u3040-\u9fff]"
"""Of a script with blanks between words."""
LIMIT: Final = re.compile(
    rf"(?<!{_LETTER})(?:"
    + "|".join(rf"(?P<{name}>{words})" for name, words in _LIMITS.items())
    + rf")(?!(?<![<>=≤≥]){_LETTER})"
)
_REACH_BEFORE: Final = 24
_REACH_BEHIND: Final = 20
_REACH_APART: Final = 30
"""A limit concerns a value that stands no farther from it, in characters."""

_UNTOLD_BY_NO: Final = frozenset({"before", "after"})
"""Not before March is after it: with a no, these say nothing by themselves."""
_TURNED_BY_NO: Final = {"above": "not above", "below": "not below"}
"""What may not rise by more than two rises by two at most. With the no behind it, it may be turned
or not, and its name has a question mark: more than 900 may not come in."""
_FIGURE: Final = re.compile(r"[0-9]")
_IN_FRONT: Final = frozenset(
    (
        *_UNTOLD_BY_NO,
        "not before",
        "not after",
        *_TURNED_BY_NO,
        *_TURNED_BY_NO.values(),
        "above?",
        "below?",
    )
)
_LEAST_ASIAN: Final = "\u3040"
"""Before, after, above and below stand in front of a value, but behind it in these scripts."""
_APART: Final = re.compile(r"[,;，](?!\d)")
ONLY: Final = re.compile(
    r"(?<!\w)(?:only(?! after| then| now)|solely|exclusively|unless|provided|as long as|sofern|"
    r"vorausgesetzt|siempre que|à condition|except(?:ions?|ed|ing)?|nur|ausschließlich|außer|es "
    r"sei denn|seulement|seule?s?|uniquement|sauf|à moins|solo|sólo|solamente|únicamente|"
    r"únic[oa]s?|salvo|excepto|excepté|a menos)(?!\w)"
    r"|只有|只能|仅|除外|除了|除非|限定|限り|だけ|のみ|以外|(?<=対象)外"
)
AS_GOOD: Final = re.compile(
    rf"{ONLY.pattern}|(?<!\w)(?:just|if|when|provided|otherwise|but|limited|alone|nobody else|"
    r"other than|apart from|without|ohne|sans|sin|wenn|falls|sofern|(?<!überall )sonst(?! auch)|"
    r"allein|lediglich|ausgenommen|si|sinon|ne|quand|hors|exclue?s?|si no|cuando)(?!\w)"
    r"|才|如果|場合|限り|しか|除|就不|则不"
)
"""Words that say as much of something, or more."""

_UNIT: Final = r"(?: ?[A-Za-z%°$€£¥µ]{1,12}+|[兆万亿億元円个個人件次天日年度]{1,2}+)?"
_ONE: Final = rf"[0-9]{{1,2}}:[0-9]{{2}}|{NUMBER}"
_AMOUNT: Final = rf"(?<![{DIGIT}A-Za-z_.,'’٬٫])[$€£¥]?({_ONE}){_UNIT}"
_TO: Final = r"(?: | ?(?:to|auf|à|a|→|->|=>|bis|hasta|升到|降到|到|至|から) ?){1,3}"
_FROM_TO: Final = re.compile(rf"(?<!to ){_AMOUNT}{_TO}[$€£¥]?({_ONE})")
"""Two values of which the first became the second."""
_TO_FROM: Final = re.compile(
    rf"{_AMOUNT}(?: [^\W\d_]++){{0,2}}?[,(]{{0,2}} ?\(?(?:instead of|rather than|up from|down from|"
    r"from|compared (?:to|with)|before:|previously|vorher|bisher|statt|au lieu de|contre|"
    rf"en lugar de|frente a):? [$€£¥]?({_ONE})"
)
"""Two of which the second became the first."""
_BETWEEN: Final = re.compile(
    rf"\b(?:from|von|de|da) ([{UPPER}][{LOWER}]++) (?:to|nach|à|a|para) ([{UPPER}][{LOWER}]++)"
)
"""Two places, of which the first comes first."""
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


def _check(source: Source, answer: str) -> Refusal | None:
    turned = next(_turned_limits(source, KEPT_LINE.sub("", answer)), None)
    if turned is None:
        return None
    return Refusal(f"it weakens or turns: {turned[:80]!r}", is_false=True)


def _turned_limits(source: Source, answer: str) -> Iterator[str]:
    """Yield values that the answer limits the other way round, or no longer."""
    told, known = _limits_of(answer), source.once(_limits_of_source)
    for value in read_values(in_digits(answer)):
        forms = (value.normal, *value.others)
        ours = set().union(*(known.get(form, ()) for form in forms))
        theirs = told.get(value.normal, {""})
        for name in ours - {""}:
            opposed = theirs & _OPPOSED.get(name, set())
            if opposed and name not in theirs and not ours & opposed:
                yield value.text
        if ours == {""} and theirs <= _ADDED:
            yield value.text
        if ours & _STRONG and "" not in ours and theirs == {""}:
            yield value.text


def _limits_of_source(source: Source) -> dict[str, set[str]]:
    return _limits_of(source.text)


def _limits_of(text: str) -> dict[str, set[str]]:
    """Map each value of *text* to the limits beside it; "" stands for a place with none."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for piece in pieces(_SHORT.sub(r"\1 ", in_digits(text))):
        for clause in _clauses(piece):
            for forms, limits in _limits_in(clause):
                for form in forms:
                    found[form] |= limits or {""}
    return dict(found)


def _clauses(piece: str) -> Iterator[list[str]]:
    """Yield the parts of a sentence; one without a figure belongs to the part before."""
    parts: list[str] = []
    for part in _APART.split(piece):
        if parts and _FIGURE.search(part):
            yield parts
            parts = []
        parts.append(part)
    yield parts


def _limits_in(parts: list[str]) -> Iterator[tuple[tuple[str, ...], set[str]]]:
    """Yield the forms of each value of a clause, and the limits that concern it."""
    values = read_values(parts[0])
    if not values:
        return
    lower = parts[0].lower()
    spans: list[tuple[int, int]] = []
    end = 0
    for value in values:
        start = max(lower.find(value.text.lower(), end), 0)
        end = start + len(value.text)
        spans.append((start, end))
    found: list[set[str]] = [set() for _ in values]
    for start, end, name in _named_limits(lower):
        place = _nearest(spans, start, end)
        is_before = name in _IN_FRONT and lower[start] < _LEAST_ASIAN
        if place is not None and (spans[place][0] >= end or not is_before):
            found[place].add(name)
    if not found[-1] and len(lower) - spans[-1][1] <= _REACH_APART:
        found[-1].update(_behind(parts[1:]))
    for value, limits in zip(values, found, strict=True):
        yield (value.normal, *value.parts, *value.others), limits


def _behind(parts: list[str]) -> Iterator[str]:
    """Yield the limit that follows behind a comma: 140 a day, at most."""
    for part in parts[:1]:
        lower = part.lower()
        for _, end, name in _named_limits(lower):
            if end == len(lower.rstrip(" .")) and name.removeprefix("not ") not in _UNTOLD_BY_NO:
                yield name


def _named_limits(lower: str) -> Iterator[tuple[int, int, str]]:
    """Yield where each limit of a clause stands, and its name; a no before it turns it."""
    first_no = next((no.start() for no in find_no(lower)), None)
    for limit in LIMIT.finditer(lower):
        name = limit.lastgroup or ""
        if first_no is not None:
            if name in _UNTOLD_BY_NO:
                name = f"not {name}"
            if name in _TURNED_BY_NO:
                name = _TURNED_BY_NO[name] if first_no < limit.start() else f"{name}?"
        yield limit.start(), limit.end(), name


def _nearest(spans: list[tuple[int, int]], start: int, end: int) -> int | None:
    """Return the place of the value that is nearest to a limit, the one behind it if both are."""
    place = bisect_left(spans, (start, start))
    best, least = None, _REACH_BEFORE + 1
    if place < len(spans) and 0 <= spans[place][0] - end < least:
        best, least = place, spans[place][0] - end
    if place and 0 <= start - spans[place - 1][1] < min(least, _REACH_BEHIND + 1):
        best = place - 1
    return best


def changes_in(text: str) -> set[tuple[str, str]]:
    """Return which values became which."""
    digits = in_digits(text)
    turned = _TO_FROM.findall(digits)
    found = {pair for pair in _FROM_TO.findall(digits) if pair not in turned}
    return found | {(old, new) for new, old in turned} | set(_BETWEEN.findall(digits))


GATE: Final = Gate("limits_kept", _check)
