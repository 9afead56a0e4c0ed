"""Numbers spelled in six languages, as their grammars have it; below a thousand million."""

from __future__ import annotations

from collections.abc import Callable

_ENGLISH = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen".split()
)
_ENGLISH_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_GERMAN = (
    "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn "
    "sechzehn siebzehn achtzehn neunzehn".split()
)
_GERMAN_TENS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()
_FRENCH = (
    "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize "
    "dix-sept dix-huit dix-neuf".split()
)
_FRENCH_TENS = "vingt trente quarante cinquante soixante soixante quatre-vingt quatre-vingt".split()
_SPANISH = (
    "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince "
    "dieciséis diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro "
    "veinticinco veintiséis veintisiete veintiocho veintinueve".split()
)
_SPANISH_TENS = "treinta cuarenta cincuenta sesenta setenta ochenta noventa".split()
_SPANISH_HUNDREDS = (
    "ciento doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos "
    "novecientos".split()
)
_HAN = "零一二三四五六七八九"


def english(number: int) -> str:
    """Two hundred and five thousand and forty-two."""
    for factor, word in ((10**6, "million"), (1000, "thousand")):
        if number >= factor:
            high, low = divmod(number, factor)
            rest = f" {'and ' * (low < 100)}{english(low)}" if low else ""
            return f"{english(high)} {word}{rest}"
    if number >= 100:
        high, low = divmod(number, 100)
        return f"{_ENGLISH[high]} hundred" + (f" and {english(low)}" if low else "")
    if number < 20:
        return _ENGLISH[number]
    ten, one = divmod(number, 10)
    return _ENGLISH_TENS[ten - 2] + (f"-{_ENGLISH[one]}" if one else "")


def german(number: int) -> str:
    """Zweihundertfünftausendzweiundvierzig."""
    if number >= 10**6:
        high, low = divmod(number, 10**6)
        head = "eine Million" if high == 1 else f"{german(high)} Millionen"
        return head + (f" {german(low)}" if low else "")
    for factor, word in ((1000, "tausend"), (100, "hundert")):
        if number >= factor:
            high, low = divmod(number, factor)
            return (
                german(high).removesuffix("s" * (high % 100 == 1))
                + word
                + (german(low) if low else "")
            )
    if number < 20:
        return _GERMAN[number] + "s" * (number == 1)
    ten, one = divmod(number, 10)
    return (f"{_GERMAN[one]}und" if one else "") + _GERMAN_TENS[ten - 2]


def french(number: int) -> str:
    """Deux cent cinq mille quarante-deux."""
    if number >= 10**6:
        high, low = divmod(number, 10**6)
        return f"{french(high)} million{'s' * (high > 1)}" + (f" {french(low)}" if low else "")
    if number >= 1000:
        high, low = divmod(number, 1000)
        head = f"{french(high)} mille" if high > 1 else "mille"
        return head + (f" {french(low)}" if low else "")
    if number >= 100:
        high, low = divmod(number, 100)
        head = f"{_FRENCH[high]} cent" if high > 1 else "cent"
        return f"{head} {french(low)}" if low else head + "s" * (high > 1)
    if number < 20:
        return _FRENCH[number]
    ten, one = divmod(number, 10)
    if ten in (7, 9):
        one += 10
    if not one:
        return _FRENCH_TENS[ten - 2] + "s" * (ten == 8)
    joint = " et " if one in (1, 11) and ten < 8 else "-"
    return _FRENCH_TENS[ten - 2] + joint + _FRENCH[one]


def spanish(number: int) -> str:
    """Doscientos cinco mil cuarenta y dos."""
    if number >= 10**6:
        high, low = divmod(number, 10**6)
        head = "un millón" if high == 1 else f"{spanish(high)} millones"
        return head + (f" {spanish(low)}" if low else "")
    if number >= 1000:
        high, low = divmod(number, 1000)
        head = f"{spanish(high)} mil" if high > 1 else "mil"
        return head + (f" {spanish(low)}" if low else "")
    if number >= 100:
        high, low = divmod(number, 100)
        return (
            f"{_SPANISH_HUNDREDS[high - 1]} {spanish(low)}"
            if low
            else ("cien" if high == 1 else _SPANISH_HUNDREDS[high - 1])
        )
    if number < 30:
        return _SPANISH[number]
    ten, one = divmod(number, 10)
    return _SPANISH_TENS[ten - 3] + (f" y {_SPANISH[one]}" if one else "")


def chinese(number: int) -> str:
    """二十万五千零四十二."""
    return _han(number, myriads="亿万", has_one=True)


def japanese(number: int) -> str:
    """二十万五千四十二."""
    return _han(number, myriads="億万", has_one=False)


def _han(number: int, *, myriads: str, has_one: bool) -> str:
    if not number:
        return _HAN[0]
    written = ""
    zero = False
    for factor, myriad in ((10**8, myriads[0]), (10**4, myriads[1]), (1, "")):
        group, number = divmod(number, factor)
        if group:
            if has_one and written and (zero or group < 1000):
                written += _HAN[0]
            written += _han_group(group, has_one=has_one) + myriad
        zero = bool(written) and not group
    return written


def _han_group(group: int, *, has_one: bool) -> str:
    written = ""
    for place, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit, group = divmod(group, place)
        if digit:
            is_silent = digit == 1 and name and not has_one
            written += ("" if is_silent else _HAN[digit]) + name
        elif has_one and written and group and not written.endswith(_HAN[0]):
            written += _HAN[0]
    return written


SPELLERS: dict[str, tuple[Callable[[int], str], str]] = {
    "English": (english, "{} boxes"),
    "German": (german, "Es sind {} Kisten, und das ist nicht alles"),
    "French": (french, "Il y a {} caisses et ce n'est pas tout pour nous"),
    "Spanish": (spanish, "Son {} cajas y es lo que hay por el momento"),
    "Chinese": (chinese, "一共{}个箱子"),
    "Japanese": (japanese, "箱は{}個です"),
}
"""How each language spells a number, and a sentence to say it in."""
