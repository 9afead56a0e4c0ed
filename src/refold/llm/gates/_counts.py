"""Numbers that are written as words, in digits: two hundred and five, dreiundzwanzig, 三千六百."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from typing import Final

from refold.llm.gates._words import (
    ARTICLES,
    COMPOUND,
    FRACTIONS,
    NUMBER_WORDS,
    UNSURE,
    NumberWord,
    count_small_words,
)
from refold.scan.facts import UNITS

_LETTER: Final = r"[^\W\d_]"
_PRONOUN: Final = (
    r"(?<=this )one|(?<=that )one|(?<=the )one|(?<=each )one|(?<=every )one|(?<=any )one"
    r"|(?<=no )one|one(?= of\b| another\b| by one\b|-(?!hundred|thousand|third|quarter))"
    r"|(?<=one by )one|(?<=\bno )[^\W\d_]|double(?= (?:room|bed))|(?<=\bpour )cent|(?<=\bpor )cien"
)


def _longest_first(words: Iterable[str]) -> str:
    """Return a pattern for any of *words*."""
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))


_FACTORS: Final = _longest_first(word for word, part in NUMBER_WORDS.items() if part.is_factor)
_WORD: Final = re.compile(
    rf"(?=[{''.join(sorted({word[0] for word in NUMBER_WORDS}))}])(?<!{_LETTER})(?!{_PRONOUN})"
    rf"(?:(?P<word>{_longest_first(NUMBER_WORDS)})(?!{_LETTER})"
    rf"|(?P<parts>(?!und)(?:(?!einhalb)(?:und|{'|'.join(COMPOUND)}))++)(?P<half>einhalb)?+(?!{_LETTER}))"
    rf"|(?<![\w.,])(?P<digits>[0-9]{{1,3}}(?:[.,][0-9]{{1,2}})?)(?=[ -](?:{_FACTORS})(?!{_LETTER}))"
)
_PARTS: Final = re.compile("|".join(COMPOUND))
_JOINT: Final = re.compile(r"[ -](?:(and|y|et|e|и)[ -])?")
_LONGEST_JOINT: Final = 5
"""Characters of the longest of them: " and "."""
_HALF_MORE: Final = re.compile(rf" (?:and a half|et demie?|y medi[oa])(?!{_LETTER})")
_NEXT: Final = re.compile(rf"[ -]({_LETTER}{{1,12}}+)")
_FRACTION: Final = re.compile(
    rf"(?<!{_LETTER})(a|an|one|two|three|four|eine?[mnr]?|zwei|drei|vier|une?|deux|trois|quatre|"
    rf"una?|dos|tres|cuatro)[ -]({_longest_first(FRACTIONS)})(?!{_LETTER})"
    r"(?! (?:past|to|nach|vor) )"
)
_HALF: Final = Decimal("0.5")
_AND: Final = 100
"""*And* joins only what has room for so much: a hundred and five, but not twenty and five."""
_NAMES: Final = {"English": "en", "German": "de", "French": "fr", "Spanish": "es"}


@lru_cache(maxsize=64)  # most gates ask for the same sentences, one gate after the other
def in_digits(text: str) -> str:
    """Return *text* with the numbers that it writes as words in digits."""
    if not text.isascii():
        text = numerals_in_digits(text)
    lower = _lower(text)
    if _FRACTION.search(lower):
        text = _write_fractions(text, lower)
        lower = _lower(text)
    written: list[str] = []
    done = 0
    for number in _numbers(lower):
        written += (text[done : number.start], f"{number.value.normalize():f}")
        done = number.end
    written.append(text[done:])
    return "".join(written)


def _lower(text: str) -> str:
    """Return *text* in small letters, each in its place."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(char.lower() if len(char.lower()) == 1 else char for char in text)


def _write_fractions(text: str, lower: str) -> str:
    written: list[str] = []
    done = 0
    for found in _FRACTION.finditer(lower):
        known = NUMBER_WORDS.get(found[1])
        count = 1 if known is None else int(known.value)
        written += (text[done : found.start()], f"{count}/{FRACTIONS[found[2]]}")
        done = found.end()
    written.append(text[done:])
    return "".join(written)


@dataclass(frozen=True, slots=True)
class _Number:
    """What some words beside each other say, and where."""

    start: int
    end: int
    value: Decimal


@dataclass(frozen=True, slots=True)
class _Part:
    """One word of a number, or one part of a word."""

    word: str
    meaning: NumberWord
    start: int
    end: int
    joint: str | None = ""
    """What joins it to the part before: nothing, *and*, or `None` at the beginning."""


def _numbers(lower: str) -> Iterator[_Number]:
    own: str | None = None
    done = 0
    for row in _rows(lower):
        parts = row
        if any(part.word in UNSURE for part in row):
            own = _language(lower) if own is None else own
            parts = _without_other_words(row, own)
        first = 0
        while first < len(parts):
            value, last = _read(parts, first)
            start, end = parts[first].start, parts[last].end
            is_article = first == last and value == 1 and parts[first].word in ARTICLES
            first = last + 1
            if start < done or (is_article and not _is_measured(lower, end)):
                continue
            if (more := _HALF_MORE.match(lower, end)) is not None:
                value, end = value + _HALF, more.end()
            done = end
            yield _Number(start, end, value)


def _is_measured(lower: str, end: int) -> bool:
    follows = _NEXT.match(lower, end)
    return follows is not None and follows[1] in UNITS


def _rows(lower: str) -> Iterator[list[_Part]]:
    """Yield the parts of numbers that stand beside each other."""
    row: list[_Part] = []
    for found in _WORD.finditer(lower):
        joint = None
        if row and found.start() - row[-1].end <= _LONGEST_JOINT:
            between = _JOINT.fullmatch(lower, row[-1].end, found.start())
            joint = (between[1] or "") if between is not None else None
        if row and joint is None:
            yield row
            row = []
        row += _parts_of(found, joint)
    if row:
        yield row


def _parts_of(found: re.Match[str], joint: str | None) -> Iterator[_Part]:
    start, end = found.span()
    if found["word"]:
        yield _Part(found[0], NUMBER_WORDS[found[0]], start, end, joint)
    elif found["digits"]:
        value = Decimal(found[0].replace(",", "."))
        yield _Part(found[0], NumberWord(value, 0, False, frozenset()), start, end, joint)
    else:
        *firsts, last = _PARTS.finditer(found["parts"])
        for part in firsts:
            place = found.start() + part.end()
            yield _Part(part[0], NUMBER_WORDS[part[0]], start, place, joint)
            start, joint = place, ""
        meaning = NUMBER_WORDS[last[0]]
        if found["half"]:
            meaning = replace(meaning, value=meaning.value + _HALF)
        yield _Part(last[0], meaning, start, end, joint)


def _read(parts: list[_Part], first: int) -> tuple[Decimal, int]:
    """Return the number that begins with the part at *first*, and the place of its last part."""
    read: list[tuple[Decimal, int]] = []
    for place in range(first, len(parts)):
        part, meaning = parts[place], parts[place].meaning
        kept, before = len(read), Decimal(0)
        while meaning.is_factor and kept and read[kept - 1][0] < meaning.value:
            kept -= 1
            before += read[kept][0]
        value = (before or 1) * meaning.value
        is_too_much = kept > 0 and value >= read[kept - 1][1]
        is_apart = part.joint == "and" and bool(read) and read[-1][1] < _AND
        if place > first and (is_too_much or is_apart):
            return _sum(read), place - 1
        del read[kept:]
        read.append((value, meaning.room))
    return _sum(read), len(parts) - 1


def _sum(rooms: list[tuple[Decimal, int]]) -> Decimal:
    return sum((value for value, _ in rooms), Decimal(0))


def _without_other_words(row: list[_Part], own: str) -> list[_Part]:
    """Leave out words that are numbers, but only in other languages than *own* and the row's."""
    sure = (part.meaning.languages for part in row if part.word not in UNSURE)
    known = frozenset((own,)).union(*sure)
    return [part for part in row if part.word not in UNSURE or part.meaning.languages & known]


def _language(lower: str) -> str:
    """Name the language that most small words of a text are of, if it is plain."""
    words = Counter(re.findall(rf"{_LETTER}++", lower))
    (best, most), (_, second) = count_small_words(words).most_common(2)
    return _NAMES.get(best, "") if most > second else ""


_NUMERALS: Final = dict(zip("〇零一二三四五六七八九两兩", "0012345678922", strict=True))
_PLACES: Final = {"十": 10, "百": 100, "千": 1000}
MYRIADS: Final = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
_CHARS: Final = "".join((*_NUMERALS, *_PLACES, *MYRIADS))
_COUNTED: Final = (
    "个個名次天年月日号號条條項项倍元円块人件台点點时時分秒周週层層階社枚冊本匹回度岁歳页頁行章种種份家位"
    "场場座间間米吨箱張张封篇句段部辆輛套组組轮輪届屆期步级級成割"
)
_NUMERAL: Final = re.compile(
    rf"[{_CHARS}]{{2,24}}+|[〇零二三四五六七八九十百千两兩](?=[{_COUNTED}小公])|一(?=[月日号號时時点點周週秒]|小[时時]|分[钟鐘]|[个個ヶか]月)"
)
"""One character alone is a number only before what can be counted: 一 begins many other words."""
_NO_NUMBERS: Final = frozenset("万一 萬一 千万 千萬 万千 一一 万万 千千".split())
"""These say "in case", "by all means" or "very many", unless something countable follows."""
_VERY: Final = re.compile(r"分(?![钟鐘之の间間])")
_PART: Final = rf"[{_CHARS}]{{1,12}}+|[0-9]{{1,12}}+"
_SHARE: Final = re.compile(rf"({_PART})(?:分之|分の)({_PART})")
_HUNDREDTHS: Final = frozenset({"百", "100"})


def read_numeral(written: str) -> int:
    """Return the number that Chinese numerals spell: 二百三十 is 230."""
    total = part = digit = 0
    for char in written:
        if char in MYRIADS:
            factor, low = MYRIADS[char], part + digit
            if total < factor:  # 一万亿 multiplies what stands before it, 一亿二千万 adds to it
                total = max(total + low, 1) * factor
            else:
                total += max(low, 1) * factor
            part = digit = 0
        elif char in _PLACES:
            part, digit = part + max(digit, 1) * _PLACES[char], 0
        else:
            digit = digit * 10 + int(_NUMERALS[char])
    return total + part + digit


def numerals_in_digits(text: str) -> str:
    """Return *text* with its Chinese numerals in digits."""
    return _NUMERAL.sub(_write, _SHARE.sub(_write_share, text))


def _write(found: re.Match[str]) -> str:
    written = found[0]
    follows = found.string[found.end() : found.end() + 1]
    is_very = written == "十" and _VERY.match(found.string, found.end())
    if is_very or (written in _NO_NUMBERS and (not follows or follows not in _COUNTED)):
        return written
    return str(read_numeral(written))


def _write_share(found: re.Match[str]) -> str:
    whole, part = found.groups()
    number = part if part.isdecimal() else str(read_numeral(part))
    if whole in _HUNDREDTHS:
        return f"{number}%"
    return f"{number}/{whole if whole.isdecimal() else read_numeral(whole)}"
