"""What a text states that can be compared letter by letter: numbers, dates, ids, addresses.

Each value has one form for all its spellings: 1,200 is 1200, 12 ms is 12ms, 14 March 2031 is
2031-03-14, and 2 pm is 14:00. Numbers in words are not read.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from refold.lazy import regex
from refold.scan.facts import MONTH, UNITS, find_values
from refold.scan.patterns import compact_iban

_MOST_DIGITS: Final = 20
"""A longer number is compared as it is written: reading it would take quadratic time."""
_NUMBER: Final = regex(r"([0-9]++(?:[.,_'’ \u00a0\u202f٬٫][0-9]++)*+)(.*)", re.DOTALL)
_GROUPS: Final = regex(r"[_'’ \u00a0\u202f٬]")
_MONEY: Final = frozenset("usd eur gbp jpy chf cny inr rub krw try 元 円".split())
_FACTORS: Final = dict(
    zip("k thousand tausend mille mil million mio mrd billion trillion 千 万 만 亿 億 억".split(),
        (3, 3, 3, 3, 3, 6, 6, 9, 9, 12, 3, 4, 4, 8, 8, 8), strict=True)
)  # fmt: skip
_MONTHS: Final = {
    prefix: number
    for number, prefixes in enumerate(
        "jan ene gen янв|feb fev fév фев|mar mär мар|apr abr avr апр|may mai mag мая|"
        "jun jui giu июн|jul lug июл|aug ago aoû авг|sep set сен|oct okt out ott окт|nov ноя|"
        "dec dez dic déc дек"
        .split("|"), start=1,
    )
    for prefix in prefixes.split()
}  # fmt: skip
_NAME_OF_MONTH: Final = regex(MONTH)
_DIGITS: Final = regex(r"[0-9]+")
_DOTTED: Final = regex(
    r"(0?[1-9]|[12][0-9]|3[01])\.(0?[1-9]|1[0-2])(?:\.([12][0-9]{3}))?"
)  # 28.02.2031
_TIME: Final = regex(r"([0-9]{1,2})(?:[^0-9]{1,3}([0-9]{2})(?::([0-9]{2}))?)?")
_LASTING: Final = str.maketrans("", "", "间間钟鐘")
"""What 3日間 and 15分钟 say more than 3日 and 15分: that it lasts."""
_TO: Final = regex(
    r" ?(?:to|and|or|of|out of|until|bis|und|oder|von|auf|statt|à|et|ou|sur|al?|y|e|→|–|-|~|至|到)"
    r" ?|[ \u00a0]"
)
_LONGEST_TO: Final = 12
"""Between numbers that share a unit, a month or thousands: 12 to 40 ms, 9–11 September, 23 400."""
_LATIN_WORD: Final = regex(r"[A-Za-z0-9_\u00c0-\u024f]+")
_NUMERAL: Final = {
    numeral: number
    for numerals, number in (
        *zip("〇一二三四五六七八九", range(10), strict=True), ("零", 0), ("两兩", 2), ("十", 10),
        ("百", 100), ("千", 1000), ("万萬", 10**4), ("亿億", 10**8),
    )
    for numeral in numerals
}  # fmt: skip
_NUMERALS: Final = regex(f"(?<![0-9])[{''.join(_NUMERAL)}]{{1,16}}")
_PER_HUNDRED: Final = regex(r"100分之([0-9]{1,3})(?![0-9])")
_CODE: Final = regex(r"\w*?[a-z][A-Z]\w*|_*[A-Za-z0-9]+_\w+")
"""Identifiers, of which every letter counts."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value as written, and the forms that stand for it in any spelling."""

    kind: str
    text: str
    forms: tuple[str, ...]
    parts: tuple[str, ...] = ()
    """What somebody may say who says less: the number without its unit, the name of a file."""


def values_of(text: str) -> list[Value]:
    """Return the values of *text*, each form once, in reading order."""
    by_form: dict[str, Value] = {}
    known: dict[str, Value] = {}
    previous: Value | None = None
    end = 0
    for kind, written in find_values(text):
        value = known.get(written) or known.setdefault(written, _READERS[kind](written))
        start = text.find(written, end)  # values come in order
        between = text[end:start] if start - end < _LONGEST_TO else ""
        if previous is not None and _TO.fullmatch(between):
            for one, other in ((previous, value), (value, previous)):
                parts = (*one.parts, *_shared(one, other, between))
                if parts != one.parts:
                    by_form[one.forms[0]] = replace(one, parts=parts)
        by_form.setdefault(value.forms[0], value)
        previous, end = value, start + len(written)
    return list(by_form.values())


def _shared(number: Value, other: Value, between: str) -> Iterable[str]:
    """Return what a bare number means beside another value."""
    bare = number.forms[0]
    if number.kind != "number" or number.parts:
        return ()
    if between.isspace():
        is_one = other.kind == "number" and len(number.text + other.text) <= 6
        return (number.text + other.text, other.text + number.text) if is_one else ()
    if other.kind == "number" and other.parts:
        return (bare + other.forms[0].removeprefix(other.parts[0]),)
    if other.kind == "date" and bare.isdecimal() and other.forms[0].count("-") > 1:
        return (f"{other.forms[0].rpartition('-')[0]}-{int(bare[:4]):02}",)
    return ()


class Stated:
    """All that a text states, to look values up in."""

    def __init__(self, text: str) -> None:
        self.values = values_of(text)
        self.words = frozenset(_LATIN_WORD.findall(text))
        stated = [*self.values, *(values_of(figures) if (figures := in_figures(text)) else ())]
        self._forms = {form for value in stated for form in (*value.forms, *value.parts)}
        self._bare = {v.forms[0] for v in stated if v.kind == "number" and not v.parts}
        self._codes = {word.casefold() for word in self.words if _CODE.fullmatch(word)}

    def has(self, value: Value) -> bool:
        """Tell whether this text states *value*, with its unit if it has one."""
        return not self._forms.isdisjoint(value.forms)

    def invented_by(self, answer: str) -> Iterator[str]:
        """Yield the kind of each value and identifier of *answer* that is not stated here."""
        for value in values_of(answer):
            if not self.has(value) and not self._may_be_meant(value):
                yield value.kind
        for word in {*_LATIN_WORD.findall(answer)} - self.words:
            if word.casefold() in self._codes or _CODE.fullmatch(word):
                yield "identifier"
        for numerals in _NUMERALS.findall(answer):
            if len(numerals) > 1 and str(_count(numerals)) not in self._forms:  # one may be a word
                yield "number"

    def _may_be_meant(self, value: Value) -> bool:
        """Tell whether a bare number of this text is meant, with what goes without saying."""
        form = value.forms[0]
        if value.kind == "time":  # by 4
            hour = form.removesuffix(":00")
            return hour.isdecimal() and not self._bare.isdisjoint((hour, str(int(hour) % 12)))
        if value.kind != "number":
            return False
        if form[0] == "-" and form[-1] == "%":  # a loss of 3 %
            return form[1:] in self._forms
        is_price = any(form.endswith(unit) for unit in _MONEY)
        numbers = value.parts or value.forms
        return "1" in numbers or (is_price and not self._bare.isdisjoint(numbers))  # 1: a, one


def in_figures(text: str) -> str:
    """Return *text* with figures for 二十 and 百分之三十; "" if it has no such numerals.

    They may be words like 一些, so they only excuse what a text states, and are not values.
    """
    figures = _NUMERALS.sub(lambda match: str(_count(match[0])), text)
    return "" if figures == text else _PER_HUNDRED.sub(r"\1%", figures)


def _count(numerals: str) -> int:
    """Read numerals as the Chinese write them: 一万二千三百 is 12300, 二〇二五 is 2025."""
    whole = thousands = digits = 0
    for numeral in numerals:
        number = _NUMERAL[numeral]
        if number < 10:
            digits = digits * 10 + number
        elif number < 10_000:
            thousands, digits = thousands + (digits or 1) * number, 0
        else:
            whole, thousands, digits = (whole + thousands + digits or 1) * number, 0, 0
    return whole + thousands + digits


def _ascii(text: str) -> str:
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text)


def _plain(number: str) -> str:
    """Write a number with a point for decimals and nothing between thousands."""
    number = _GROUPS.sub("", number).replace("٫", ".")
    point, comma = number.rfind("."), number.rfind(",")
    if point >= 0 and comma >= 0:
        last, other = (".", ",") if point > comma else (",", ".")
        return number.replace(other, "").replace(last, ".")
    is_grouped = all(len(group) == 3 for group in number.split(",")[1:])
    return number.replace(",", "" if is_grouped else ".")


def _number(written: str) -> Value:
    text = _ascii(written).replace("−", "-").lower()
    match = _NUMBER.search(text)
    assert match is not None, "a number holds a digit"
    dotted = _DOTTED.fullmatch(match[1])
    if dotted is not None and dotted[3]:
        return _date_of(written, dotted[3], int(dotted[2]), dotted[1])
    head, tail = text[: match.start()].strip(), match[2].strip(" \u00a0\u202f-")
    sign = "-" if head.startswith("-") else ""
    bare = _plain(match[1])
    whole, _, fraction = bare.partition(".")
    numbers = [sign + bare] if fraction.strip("0") else [sign + whole]  # 250.00 is 250
    names = [tail] if tail in UNITS else tail.split()
    units = [UNITS.get(name, name) for name in (*names, head.lstrip("- ")) if name]
    if units and units[0] not in UNITS and units[0][0] in _FACTORS:  # 4.5万元, but kWh
        units = [units[0][0], *filter(None, (units[0][1:],)), *units[1:]]
    if units[:1] == ["m"] and len(units) > 1:  # 2.5m euros
        units[0] = "million"
    power = _FACTORS.get(units[0]) if units else None
    if power is not None and len(fraction) <= power and len(bare) < _MOST_DIGITS:
        numbers = [sign + (whole + fraction.ljust(power, "0")).lstrip("0")]
        units = units[1:]
    elif len(fraction) == 3 or bare.count(".") > 1:
        numbers.append(sign + bare.replace(".", ""))
    unit = "".join(unit for unit in units if unit != "st").translate(_LASTING)
    if unit[:1] in {"个", "個"} and unit[1:2] not in ("", "月"):
        unit = unit[1:]  # 9个小时
    if dotted is not None and not unit:  # 28.02.
        numbers.append(f"--{int(dotted[2]):02}-{int(dotted[1]):02}")
    if len(bare) == 2 and bare[0] == "0":
        numbers.append(bare[1])
    parts = [*numbers, *(n + unit[0] for n in numbers if not unit[0].isascii())] if unit else ()
    return Value("number", written, tuple(n + unit for n in numbers), tuple(parts))  # 500円分


def _date(written: str) -> Value:
    numbers = _DIGITS.findall(written)
    name = _NAME_OF_MONTH.search(written)
    if name is None and len(numbers) > 2:
        year, month, day, *time = numbers
        value = _date_of(written, year, int(month), day)
        if len(time) < 2:
            return value
        parts = (*value.parts, *value.forms, f"{int(time[0])}:{time[1]}")
        return Value("date", written, (f"{value.forms[0]}T{':'.join(time)}",), parts)
    year = next((n for n in numbers if len(n) == 4), "")
    rest = [n for n in numbers if n != year]
    if name is None:  # 3月14日
        return _date_of(written, year, int(rest[0]), rest[1] if len(rest) > 1 else "")
    word = name[0].lower()
    month = 7 if word.startswith(("juil", "juli", "july")) else _MONTHS.get(word[:3], 0)
    return _date_of(written, year, month, rest[0] if rest else "")


def _date_of(written: str, year: str, month: int, day: str) -> Value:
    rest = f"-{month:02}" + (f"-{int(day):02}" if day else "")
    parts = [*([year, f"-{rest}"] if year else []), *([str(int(day))] if day else []), str(month)]
    return Value("date", written, (f"{year or '-'}{rest}",), tuple(parts))


def _time(written: str) -> Value:
    """Read a time of day; without am or pm, one before 12:00 may be either."""
    lower = _ascii(written).lower().replace(".", "")
    match = _TIME.match(lower)
    assert match is not None, "a time begins with its hour"
    hour, minutes = int(match[1]), match[2] or ("30" if "半" in lower else "00")
    hours = [hour, hour + 12] if hour < 12 and match[1][0] != "0" else [hour]
    if lower.endswith("m"):
        hours = [hour % 12 + 12 * lower.endswith("pm")]
    short = tuple(f"{one}:{minutes}" for one in hours)
    return Value(
        "time", written, tuple(one + f":{match[3]}" * bool(match[3]) for one in short), short
    )


def _id(written: str) -> Value:
    text = _ascii(written)
    if text.startswith("#"):
        return Value("id", written, (text,), (text[1:],))
    if re.fullmatch(r"(?:0[xX])?[0-9A-Fa-f:-]{7,}+", text):
        return Value("id", written, (text.lower(),))
    return Value("id", written, (re.sub(r"\A[vV](?=[0-9]++\.[0-9])", "", text),))


def _url(written: str) -> Value:
    scheme, mark, rest = written.partition("://")
    host, slash, path = rest.partition("/")
    base = f"{scheme}{mark}{host}".lower()
    return Value("URL", written, (f"{base}{slash}{path}".rstrip("/"),), (base, host.lower()))


def _path(written: str) -> Value:
    normal = written.rstrip("/\\").removeprefix("./") or written
    *_, folder, name = ("", *re.split(r"[/\\]", normal[-400:]))
    ends = (name, normal[-len(name) - len(folder) - 1 :]) if folder else ()
    return Value("path", written, (normal,), tuple(end for end in ends if not end.isdecimal()))


_READERS: Final[dict[str, Callable[[str], Value]]] = {
    "number": _number,
    "date": _date,
    "time": _time,
    "id": _id,
    "url": _url,
    "path": _path,
    "mail": lambda written: Value("e-mail", written, (written.lower(),)),
    "iban": lambda written: Value("id", written, (compact_iban(written),)),
}
