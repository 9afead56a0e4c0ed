"""When two values are the same: 1,200 and 1200, 12 ms and 12ms, 14 March 2031 and 2031-03-14."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Final

from refold.llm.gates._clock import HALF_DAY, clock_times
from refold.llm.gates._counts import MYRIADS, in_digits
from refold.llm.gates._words import NUMBER_WORDS
from refold.scan.facts import DIGIT, LIST_LABEL, MONTH, NUMBER, UNITS, find_values
from refold.scan.patterns import compact_iban


@dataclass(frozen=True, slots=True)
class Value:
    """A value as written, a form that is the same for all spellings, and what it includes."""

    text: str
    normal: str
    parts: tuple[str, ...] = ()
    """Normal forms of what it also says: 12 of 12 ms, the year of a date, the name of a file."""
    others: tuple[str, ...] = ()
    """Normal forms of the same value in other units or with other separators."""

    def is_stated(self, stated: set[str]) -> bool:
        """Tell whether a text that states all these states this value, in whatever form."""
        return self.normal in stated or not stated.isdisjoint(self.others)


@lru_cache(maxsize=64)  # most gates ask for the same sentences, one gate after the other
def read_values(text: str) -> tuple[Value, ...]:
    """Return the values of *text*, each normal form once, in reading order."""
    found: dict[str, Value] = {}
    for kind, written in find_values(text):
        value = _READERS[kind](written)
        found.setdefault(value.normal, value)
    return tuple(found.values())


def values_in(text: str) -> set[str]:
    """Return all that *text* states: its values, their parts, counts written as words."""
    return stated_by(text, read_values(text))


def stated_by(text: str, values: tuple[Value, ...]) -> set[str]:
    """Return what `values_in` does, of a text whose *values* are known."""
    found = _forms(values)
    digits = in_digits(text)
    if digits != text:
        found |= _forms(read_values(digits))
    for first, unit in _RANGE.findall(digits):
        found.add(_plain(_ascii_digits(first)) + UNITS.get(unit.lower(), unit.lower()))
    if _SINGLE.search(text):
        found.add("1")
    found |= clock_times(digits)
    for whole, unit, rest in _PRICE.findall(digits):
        found.add(f"{whole}.{rest}{UNITS[unit.lower()]}")
    found.update(spaced[0].replace(" ", "") for spaced in SPACED.finditer(text))
    found |= _days(digits)
    for slashed in SLASHED.finditer(digits):
        found.update(slashed_forms(slashed[0]))
    for shares in _SHARES:
        if shares & found:
            found |= shares
    return found


def _forms(values: tuple[Value, ...]) -> set[str]:
    return {form for value in values for form in (value.normal, *value.parts, *value.others)}


def slashed_forms(written: str) -> set[str]:
    """Return what 7/4 or 12.11. may say: a date, the day first or the month, or a fraction."""
    first, second, *years = map(int, _DIGITS.findall(written))
    found = {f"{first}/{second}"}
    for day, month in ((first, second), (second, first)):
        if 1 <= month <= _MONTHS_A_YEAR and 1 <= day <= _DAYS_A_MONTH:
            found.add(f"--{month:02}-{day:02}")
            found.update(f"{year % 2000 + 2000}-{month:02}-{day:02}" for year in years)
    return found


def _days(digits: str) -> set[str]:
    """Return both ends of each stretch of days: 9 to 11 September, September 9-11."""
    found: set[str] = set()
    for days in _DAYS.findall(digits):
        month = _date(days).normal[:-3]
        found.update(f"{month}-{int(day):02}" for day in _DIGITS.findall(days))
        found.update(_DIGITS.findall(days))
    return found


def list_labels(text: str) -> set[str]:
    """Return the numbers of list items: they may be cited, but do not state anything."""
    return {label[1] for label in LIST_LABEL.finditer(text)}


_DAY: Final = r"[0-9]{1,2}(?:st|nd|rd|th|\.)?"
_TO_DAY: Final = r" ?(?:to|until|and|bis|und|au|al|et|y|-|–) ?"
_DAYS: Final = re.compile(
    rf"(?<![\w.])(?:{_DAY}{_TO_DAY}{_DAY} (?:of |de )?{MONTH}|{MONTH} {_DAY}{_TO_DAY}{_DAY}(?!\w))"
)
_LONG_NUMBER: Final = 20
"""Digits; nobody counts that far, and Python refuses to read very long ones."""
_SINGLE: Final = re.compile(r"\b(?:single|einzige[mnrs]?|seule?|únic[oa]|unic[oa]|sol[oa])\b", re.I)
_RANGE: Final = re.compile(
    rf"(?<![{DIGIT}][\u00a0\u202f])"  # within a number that has blanks: each part reads to its end
    rf"(?<![{DIGIT}A-Za-z_.,'’٬٫])({NUMBER}) ?(?:to|and|or|of|out of|bis|und|auf|von|statt|"
    rf"instead of|à|et|a|y|de|sur|→|–|-) ?{NUMBER}"
    r" ?([A-Za-z%°]{1,12}+)"
)
"""Two numbers with one unit behind them: 12 to 40 ms."""
_SHARES: Final = (
    frozenset({"0.5", "50%", "1/2"}),
    frozenset({"0.25", "25%", "1/4"}),
    frozenset({"0.75", "75%", "3/4"}),
    frozenset({"0.2", "20%", "1/5"}),
    frozenset({"0.1", "10%", "1/10"}),
)
SLASHED: Final = re.compile(
    r"(?<![\w/.])[0-9]{1,2}/[0-9]{1,2}(?:/(?:20)?[0-9]{2})?(?![\w/])"
    r"|(?<![\w/.,])(?:0?[1-9]|[12][0-9]|3[01])\.(?:0?[1-9]|1[0-2])\.(?!\w)"
)
"""A date in figures without a year or with a short one, or a fraction."""
SPACED: Final = re.compile(r"(?<![\w.,])[0-9]{1,3}(?: [0-9]{3}){1,4}+(?![\w.,]?[0-9])")
"""Thousands apart by blanks, if one number is meant."""
_PRICE: Final = re.compile(r"(?i:(?<![\w.,])([0-9]{1,6}) (euros?|dollars?) ([0-9]{2})(?!\w))")
"""Three euros fifty."""
_ASIAN_TIME: Final = re.compile(r"([0-9]{1,2})[時时点點](半|([0-9]{1,2})分)?")
_MONTHS_A_YEAR: Final = 12
_DAYS_A_MONTH: Final = 31
"""More is no date."""
_NUMBER: Final = re.compile(rf"({NUMBER})(.*)", re.DOTALL)
_POINT_THOUSANDS: Final = re.compile(r"-?[0-9]{1,3}(?:\.[0-9]{3})+")
_DECIMAL: Final = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_BASE_UNITS: Final = {
    unit: (base, factor)
    for base, units in {
        "s": "ns 0.000000001 µs 0.000001 ms 0.001 s 1 min 60 h 3600 d 86400 week 604800",
        "b": "b 1 kb 1000 mb 1000000 gb 1000000000 tb 1000000000000",
        "m": "mm 0.001 cm 0.01 m 1 km 1000",
        "g": "mg 0.001 g 1 kg 1000",
        "l": "ml 0.001 l 1",
        "month": "month 1 year 12",
    }.items()
    for unit, factor in zip(units.split()[::2], units.split()[1::2], strict=True)
}
"""By which a measure is multiplied to be one in the base unit of its kind."""
_THOUSANDS: Final = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+")
_FACTORS: Final = {
    **{word: part.value for word, part in NUMBER_WORDS.items() if part.is_factor},
    **{"k": Decimal(10**3), "mio": Decimal(10**6), "mrd": Decimal(10**9), "bn": Decimal(10**9)},
    **{"trillion": Decimal(10**12), "mln": Decimal(10**6)},
}
_POWERS: Final = {"百": 100, "千": 1000, **MYRIADS, "만": 10**4, "억": 10**8}
_MULTIPLIED: Final = re.compile(rf"([{''.join(_POWERS)}]++)(.*)")
_LASTING: Final = str.maketrans("", "", "間间钟鐘")
"""What 3日間 and 15分钟 say more than 3日 and 15分: that it lasts."""
_HEX: Final = re.compile(r"(?:0[xX])?[0-9A-Fa-f:-]{7,}+")
_VERSION: Final = re.compile(r"[vV](?=[0-9]++\.[0-9])")
_MONTHS: Final = {
    prefix: number
    for number, prefixes in enumerate(
        (
            *("jan ene gen янв", "feb fev fév фев", "mar mär мар", "apr abr avr апр"),
            *("may mai mag мая", "jun jui giu июн", "jul lug июл", "aug ago aoû авг"),
            *("sep set сен", "oct okt out ott окт", "nov ноя", "dec dez dic déc дек"),
        ),
        start=1,
    )
    for prefix in prefixes.split()
}
_DOTTED_DATE: Final = re.compile(r"(0?[1-9]|[12][0-9]|3[01])\.(0?[1-9]|1[0-2])\.([12][0-9]{3})")
_ISO: Final = re.compile(r"([0-9]{4})-[0-9]{2}-[0-9]{2}")
_DIGITS: Final = re.compile(r"[0-9]+")
_WORD: Final = re.compile(r"[^\W\d_]{3,}")


def _number(written: str) -> Value:
    text = _ascii_digits(written).replace("−", "-").lower()
    found = _NUMBER.search(text)
    if found is None:  # pragma: no cover - a number holds a number
        return Value(written, text)
    head = text[: found.start()].strip(" ")
    sign = "-" if head.startswith("-") else ""
    before, after = head.lstrip("-").strip(), found[2].strip(" \u00a0\u202f-")
    names = [after] if after in UNITS else after.split()
    units = [_one_unit(name) for name in (*names, before) if name]
    unit = "".join(name for name in units if name != "st")
    bare = sign + _plain(found[1])
    dotted = _DOTTED_DATE.fullmatch(text)
    if dotted is not None:
        day, month, year = dotted.groups()
        return _date_value(written, year, int(month), day)
    if not unit:
        return Value(written, bare, others=_other_numbers(bare))
    if len(units) > 1 and units[0] == "m":  # 2.5m euros
        units[0] = "million"
        unit = "".join(units)
    factor, rest = _scale(units)
    if factor is not None:
        is_short = len(bare) < _LONG_NUMBER and _DECIMAL.fullmatch(bare) is not None
        scaled = f"{(Decimal(bare) * factor).normalize():f}" if is_short else ""
        return Value(written, bare + unit, (), (scaled + rest, scaled) if scaled else ())
    others = (*(number + unit for number in _other_numbers(bare)), *_in_base_unit(bare, unit))
    if unit == "x":  # 3x and thrice
        others = (*others, bare)
    return Value(written, bare + unit, (bare,), others)


def _one_unit(name: str) -> str:
    """Return the spelling that stands for all of a unit: 3日 for 3日間, 9小时 for 9个小时."""
    plain = UNITS.get(name, name).translate(_LASTING) or name
    is_counted = plain[0] in "个個" and plain[1:2] not in ("", "月")
    return plain[1:] if is_counted else plain


def _scale(units: list[str]) -> tuple[Decimal | None, str]:
    """Return by what the units multiply a number, if they do, and what is left of them."""
    myriads = _MULTIPLIED.fullmatch(units[0])
    if myriads is not None:
        factor = Decimal(1)
        for char in myriads[1][:4]:
            factor *= _POWERS[char]
        return factor, "".join((myriads[2], *units[1:]))
    return _FACTORS.get(units[0]), "".join(units[1:])


def _other_numbers(number: str) -> tuple[str, ...]:
    """Return how else a number may be meant: 1.200 is 1200 in half of the languages."""
    return (number.replace(".", ""),) if _POINT_THOUSANDS.fullmatch(number) else ()


def _in_base_unit(number: str, unit: str) -> tuple[str, ...]:
    """Return a measure in the unit of its kind: 1.5 min and 90 s are the same."""
    known = _BASE_UNITS.get(unit)
    if known is None or len(number) > _LONG_NUMBER or not _DECIMAL.fullmatch(number):
        return ()
    base, factor = known
    return (f"={(Decimal(number) * Decimal(factor)).normalize():f}{base}",)


def _plain(number: str) -> str:
    """Write a number with a point for decimals and nothing between thousands."""
    number = re.sub(r"[_'’ \u00a0\u202f٬]", "", number).replace("٫", ".")
    point, comma = number.rfind("."), number.rfind(",")
    if comma < 0:
        return number
    if point >= 0:
        return (
            number.replace(",", "") if point > comma else number.replace(".", "").replace(",", ".")
        )
    return number.replace(",", "" if _THOUSANDS.fullmatch(number) else ".")


def _ascii_digits(text: str) -> str:
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text)


def _date(written: str) -> Value:
    iso = _ISO.match(written)
    if iso:
        time = written[11:].rstrip("Z")
        yearless = f"--{iso[0][5:]}"
        return Value(
            written,
            written,
            (iso[1], yearless, iso[0], *((_clock(time), _clock(time[:5])) if time else ())),
        )
    numbers = _DIGITS.findall(written)
    word = _WORD.search(written)
    if word is not None:
        name = word[0].lower()
        month = 7 if name.startswith(("juil", "juli", "july")) else _MONTHS.get(name[:3], 0)
        year = next((n for n in numbers if len(n) == 4), "")
        day = next((n for n in numbers if len(n) < 3), "")
    else:
        year = numbers.pop(0) if len(numbers[0]) == 4 else ""
        month, day = int(numbers[0]), numbers[1] if len(numbers) > 1 else ""
    return _date_value(written, year, month, day)


def _date_value(written: str, year: str, month: int, day: str) -> Value:
    rest = f"-{month:02}" + (f"-{int(day):02}" if day else "")
    return Value(written, f"{year or '-'}{rest}", (year, f"-{rest}") if year else ())


def _clock(time: str) -> str:
    """Return a time as `_time` does: without a zero in front."""
    return time.removeprefix("0")


def _time(written: str) -> Value:
    asian = _ASIAN_TIME.fullmatch(written)
    if asian is not None:
        hour, minutes = int(asian[1]), "30" if asian[2] == "半" else f"{int(asian[3] or 0):02}"
        other = (f"{hour + 12}:{minutes}",) if hour < HALF_DAY else ()  # which half is said before
        return Value(written, f"{hour}:{minutes}", (), other)
    normal = re.sub(r"[ .](?=[ .]?[apm])|\.$| uhr$", "", written.lower())
    clock = re.sub(r" ?h ?", ":", normal.rstrip("apm"))
    hours, _, rest = clock.partition(":")
    minutes = rest[:2] or "00"
    hour = int(hours)
    if normal.endswith("m"):
        hour = hour % 12 + 12 * normal.endswith("pm")
    return Value(written, f"{hour}:{rest or '00'}", (f"{hour}:{minutes}",))


def _id(written: str) -> Value:
    text = _ascii_digits(written)
    if text.startswith("#"):
        return Value(written, text, (text[1:],))
    if _HEX.fullmatch(text):
        return Value(written, text.lower())
    return Value(written, _VERSION.sub("", text))


def _url(written: str) -> Value:
    scheme, mark, rest = written.partition("://")
    host, slash, path = rest.partition("/")
    base = f"{scheme}{mark}{host}".lower()
    return Value(written, f"{base}{slash}{path}".rstrip("/"), (base,))


def _path(written: str) -> Value:
    normal = written.rstrip("/\\").removeprefix("./") or written
    steps = re.split(r"[/\\]", normal)
    ends = (steps[-1], normal[-len(steps[-1]) - len(steps[-2]) - 1 :]) if len(steps) > 1 else ()
    return Value(written, normal, tuple(end for end in ends if not end.isdecimal()))


def _mail(written: str) -> Value:
    return Value(written, written.lower())


def _iban(written: str) -> Value:
    return Value(written, compact_iban(written))


_READERS: Final = {
    "number": _number,
    "date": _date,
    "time": _time,
    "id": _id,
    "iban": _iban,
    "url": _url,
    "path": _path,
    "mail": _mail,
}
