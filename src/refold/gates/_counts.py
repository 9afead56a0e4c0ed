"""Numbers that are written as words: three, forty-two, two hundred and five."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from refold.text.facts import UNITS

_HUNDRED: Final = 100
_THOUSAND: Final = 1000
COUNTS: Final = {
    word: number
    for number, words in {
        "0": "zero cero nula",
        "0.5": "half halved halves halving hälfte halb halbe moitié mitad metade половина половину",
        "0.25": "quarter viertel quart cuarto четверть",
        "1": "one eins один",
        "2": "two twice double doubled doubling zwei zweimal doppelt verdoppelt deux doublé doble "
        "dois duas twee dwa dwie två iki два две дважды двое 两",
        "3": "three third thrice tripled drei dreimal trois tres três drie trzy üç три трижды",
        "4": "four fourth vier viermal quatre cuatro quattro quatro cztery fyra dört четыре",
        "5": "five fifth fünf fünfmal cinq cinco cinque vijf pięć beş пять",
        "6": "six sixth sechs seis zes sześć altı шесть",
        "7": "seven seventh sieben siete sette sete zeven siedem yedi семь",
        "8": "eight eighth acht huit ocho oito osiem sekiz восемь",
        "9": "nine ninth neun nueve nove negen dziewięć dokuz девять",
        "10": "ten tenth zehn diez dieci tien dziesięć десять",
        "11": "eleven eleventh onze undici одиннадцать",
        "12": "twelve twelfth dozen dozens zwölf dutzend dutzende douze douzaine dodici doze "
        "docena twaalf двенадцать дюжина",
        "13": "thirteen dreizehn treize trece",
        "14": "fourteen vierzehn quatorze catorce",
        "15": "fifteen fünfzehn quinze пятнадцать",
        "16": "sixteen sechzehn dieciséis",
        "17": "seventeen siebzehn diecisiete",
        "18": "eighteen achtzehn dieciocho",
        "19": "nineteen neunzehn diecinueve",
        "20": "twenty zwanzig vingt veinte vinte venti twintig dwadzieścia yirmi двадцать",
        "30": "thirty dreißig trente treinta trinta trenta dertig trzydzieści otuz тридцать",
        "40": "forty vierzig quarante cuarenta quarenta quaranta veertig сорок",
        "50": "fifty fünfzig cinquante cincuenta cinquenta cinquanta vijftig пятьдесят",
        "60": "sixty sechzig soixante sesenta sessenta sessanta zestig шестьдесят",
        "70": "seventy siebzig setenta settanta zeventig семьдесят",
        "80": "eighty achtzig ochenta oitenta ottanta tachtig восемьдесят",
        "90": "ninety neunzig noventa novanta negentig девяносто",
        "100": "hundred hundreds hundert hunderte cien cientos centaines cento honderd сто сотни",
        "1000": "thousand thousands tausend tausende mille milliers duizend тысяча тысячи",
        "1000000": "million millions millionen millones milhões miljoen миллион миллиона миллионов",
        "1000000000": "billion billions milliarde milliarden milliard миллиард миллиарда",
    }.items()
    for word in words.split()
} | {
    f"{ones}und{tens}": str(int(ten) + one)
    for ten, tens in zip(
        range(20, 100, 10),
        "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split(),
        strict=True,
    )
    for one, ones in enumerate("ein zwei drei vier fünf sechs sieben acht neun".split(), start=1)
}
"""A count may be written as a word in one text and as a number in the other. Words that mean
something else in another language (due, dos, elf, neuf, otto, quince) are no counts."""
_PRONOUN: Final = (
    r"(?<=this )one|(?<=that )one|(?<=the )one|(?<=each )one|(?<=every )one|(?<=any )one"
    r"|(?<=no )one|one(?= of\b| another\b| by one\b|-)|(?<=one by )one"
)
_COUNT: Final = re.compile(
    rf"(?=[{''.join(sorted({word[0] for word in COUNTS}))}])(?<![^\W\d_])(?!{_PRONOUN})"
    rf"(?:{'|'.join(sorted(COUNTS, key=lambda word: (-len(word), word)))})(?![^\W\d_])"
)
_JOINT: Final = re.compile(r"[ -](?:(?:and|y|et|e)[ -])?")
_NEXT: Final = re.compile(r"[ -]([^\W\d_]{1,12}+)")


_NUMERAL: Final = re.compile(
    r"[〇零一二三四五六七八九十百千万亿億两]{2,12}+|[二三四五六七八九十两]"
    r"(?=[个個名次天年月日条項项倍元人件台])"
)
_NUMERALS: Final = dict(zip("〇零一二三四五六七八九两", "001234567892", strict=True))
_PLACES: Final = {"十": 10, "百": 100, "千": 1000}
_MYRIADS: Final = {"万": 10**4, "亿": 10**8, "億": 10**8}
_COUNTED: Final = "个個名次天年月日条項项倍元円人件台"


def _read_numeral(written: str) -> int:
    """Return the number that Chinese numerals spell: 二百三十 is 230."""
    total = part = digit = 0
    for char in written:
        if char in _MYRIADS:
            total, part, digit = total + max(part + digit, 1) * _MYRIADS[char], 0, 0
        elif char in _PLACES:
            part, digit = part + max(digit, 1) * _PLACES[char], 0
        else:
            digit = digit * 10 + int(_NUMERALS[char])
    return total + part + digit


def _find_numerals(text: str) -> Iterator[tuple[str, str, str]]:
    for found in _NUMERAL.finditer(text):
        after = text[found.end() : found.end() + 1]
        yield found[0], str(_read_numeral(found[0])), after if after in _COUNTED else ""


def find_counts(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield the counts that *text* writes as words: as written, in digits, and the unit if any."""
    if not text.isascii():
        yield from _find_numerals(text)
    lower = text.lower()
    for row in _rows(lower):
        counts = [COUNTS[word[0]] for word in row]
        total = _total(counts)
        if total is not None:
            unit = _NEXT.match(lower, row[-1].end())
            written = lower[row[0].start() : row[-1].end()]
            yield written, total, UNITS.get(unit[1], "") if unit is not None else ""
        else:  # several beside each other
            yield from ((word[0], count, "") for word, count in zip(row, counts, strict=True))


def _rows(lower: str) -> Iterator[list[re.Match[str]]]:
    """Yield the number words that stand beside each other."""
    row: list[re.Match[str]] = []
    for word in _COUNT.finditer(lower):
        if row and not _JOINT.fullmatch(lower, row[-1].end(), word.start()):
            yield row
            row = []
        row.append(word)
    if row:
        yield row


def _total(counts: list[str]) -> str | None:
    """Return what number words say together, "two hundred and five"; `None` if they do not."""
    if len(counts) == 1:
        return counts[0]
    total, part, least = 0, 0, _HUNDRED
    for count in counts:
        number = int(count) if count.isdecimal() else 0
        if number >= _THOUSAND and part:
            total, part, least = total + part * number, 0, _HUNDRED
        elif number == _HUNDRED and 0 < part < _HUNDRED:
            part, least = part * number, _HUNDRED
        elif 0 < number < least and (number < 10 or not part % _HUNDRED):
            part, least = part + number, 10 if number >= 20 else 0
        else:
            return None
    return str(total + part)
