"""The words that languages make their numbers of, from zero into the millions."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Final


@dataclass(frozen=True, slots=True)
class NumberWord:
    """A part of a number, and the languages that have it."""

    value: Decimal
    room: int
    """What follows it is smaller than this: 10 behind *twenty*, 0 behind *five*."""
    is_factor: bool
    """Whether it multiplies what stands before it: hundred, thousand, dozen."""
    languages: frozenset[str]


_Entry = tuple[str, str, int, int]
"""A language, a word of it, its value, and the room behind it."""


def _row(language: str, first: int, words: str, step: int = 1, room: int = 0) -> list[_Entry]:
    """Return the words for *first* and what follows in steps, spellings apart by slashes."""
    return [
        (language, spelling, first + place * step, room)
        for place, spellings in enumerate(words.split())
        for spelling in spellings.split("/")
    ]


_GERMAN_ONES: Final = "ein zwei drei vier fünf sechs sieben acht neun".split()
_GERMAN_TENS: Final = (
    "zwanzig dreißig/dreissig vierzig fünfzig sechzig siebzig achtzig neunzig".split()
)
_ADDED: Final[list[_Entry]] = [
    *_row("en", 0, "zero one two three four five six seven eight nine ten eleven twelve"),
    *_row("en", 13, "thirteen fourteen fifteen sixteen seventeen eighteen nineteen"),
    *_row("en", 20, "twenty thirty forty fifty sixty seventy eighty ninety", 10, 10),
    *_row("en", 3, "third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"),
    *_row("en", 13, "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"),
    *_row("en", 20, "twentieth thirtieth fortieth fiftieth sixtieth", 10),
    *_row("en", 2, "twice/double/doubled/doubling thrice/tripled"),
    *_row("de", 0, "null eins zwei/zwo drei vier fünf sechs sieben acht neun zehn elf zwölf"),
    *_row("de", 13, "dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn"),
    *(
        ("de", f"{one}und{spelling}", 10 * ten + number, 0)
        for ten, tens in enumerate(_GERMAN_TENS, start=2)
        for spelling in tens.split("/")
        for number, one in enumerate(_GERMAN_ONES, start=1)
    ),
    *_row("de", 20, " ".join(_GERMAN_TENS), 10),
    *_row("de", 1, "ein/eine/einen/einem/einer"),
    *_row("de", 2, "zweimal/doppelt/verdoppelt dreimal viermal fünfmal"),
    *(
        ("de", stem + ending, number, 0)
        for number, stem in enumerate(
            "zwei drit vier fünf sechs sieb ach neun zehn elf zwölf".split(), start=2
        )
        for ending in ("te", "ten", "ter", "tes", "tem")
    ),
    *_row("fr", 0, "zéro un/une deux trois quatre cinq six sept huit neuf dix onze douze"),
    *_row("fr", 13, "treize quatorze quinze seize dix-sept dix-huit dix-neuf"),
    *_row("fr", 20, "vingt trente quarante cinquante", 10, 10),
    *_row("fr", 60, "soixante quatre-vingt/quatre-vingts", 20, 20),
    *_row("fr", 70, "septante huitante/octante nonante", 10, 10),
    *_row("fr", 2, "doublé/deuxième troisième quatrième cinquième sixième septième huitième"),
    *_row("fr", 9, "neuvième dixième onzième douzième"),
    *_row("es", 0, "cero uno/una/un dos tres cuatro cinco seis siete ocho nueve diez once doce"),
    *_row("es", 13, "trece catorce quince dieciséis diecisiete dieciocho diecinueve veinte"),
    *_row("es", 21, "veintiuno/veintiuna/veintiún veintidós veintitrés veinticuatro veinticinco"),
    *_row("es", 26, "veintiséis veintisiete veintiocho veintinueve"),
    *_row("es", 30, "treinta cuarenta cincuenta sesenta setenta ochenta noventa", 10, 10),
    *_row("es", 100, "ciento", room=100),
    *_row("es", 200, "doscientos/doscientas trescientos/trescientas", 100, 100),
    *_row("es", 400, "cuatrocientos/cuatrocientas quinientos/quinientas", 100, 100),
    *_row("es", 600, "seiscientos/seiscientas setecientos/setecientas", 100, 100),
    *_row("es", 800, "ochocientos/ochocientas novecientos/novecientas", 100, 100),
    *_row("es", 2, "doble tercer/tercero/tercera"),
    *_row("es", 5, "quinto/quinta sexto/sexta séptimo/séptima octavo/octava noveno/novena"),
    *_row("it", 3, "tre quattro cinque"),
    *_row("it", 7, "sette"),
    *_row("it", 10, "dieci undici dodici"),
    *_row("it", 20, "venti trenta quaranta cinquanta sessanta settanta ottanta novanta", 10, 10),
    *_row("pt", 2, "dois/duas três quatro cinco seis sete oito nove dez onze doze"),
    *_row("pt", 20, "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa", 10, 10),
    *_row("nl", 2, "twee drie vier vijf zes zeven acht negen tien"),
    *_row("nl", 20, "twintig dertig veertig vijftig zestig zeventig tachtig negentig", 10),
    *_row("pl", 2, "dwa/dwie trzy cztery pięć sześć siedem osiem dziewięć dziesięć"),
    *_row("tr", 2, "iki üç dört beş altı yedi sekiz dokuz"),
    *_row("ru", 2, "два/две/двое/дважды три/трижды четыре пять шесть семь восемь девять десять"),
    *_row("ru", 11, "одиннадцать двенадцать"),
    *_row("ru", 20, "двадцать тридцать сорок пятьдесят шестьдесят семьдесят", 10, 10),
    *_row("ru", 80, "восемьдесят девяносто", 10, 10),
]
_FACTORS: Final = (
    ("en", 12, "dozen dozens"),
    ("de", 12, "dutzend"),
    ("fr", 12, "douzaine"),
    ("es", 12, "docena"),
    ("ru", 12, "дюжина"),
    ("en", 100, "hundred hundreds hundredth"),
    ("de", 100, "hundert hunderte"),
    ("fr", 100, "cent cents centaines"),
    ("es", 100, "cien cientos"),
    ("it", 100, "cento"),
    ("nl", 100, "honderd"),
    ("ru", 100, "сто сотни"),
    ("en", 1000, "thousand thousands thousandth"),
    ("de", 1000, "tausend tausende"),
    ("fr", 1000, "mille milliers"),
    ("es", 1000, "mil miles"),
    ("nl", 1000, "duizend"),
    ("ru", 1000, "тысяча тысячи тысяч"),
    ("en", 10**6, "million millions"),
    ("de", 10**6, "million millionen"),
    ("fr", 10**6, "million millions"),
    ("es", 10**6, "millón millones"),
    ("pt", 10**6, "milhão milhões"),
    ("ru", 10**6, "миллион миллиона миллионов"),
    ("en", 10**9, "billion billions"),
    ("de", 10**9, "milliarde milliarden"),
    ("fr", 10**9, "milliard milliards"),
    ("ru", 10**9, "миллиард миллиарда"),
)
_HALVES: Final = {
    "en": "half halved halves halving",
    "de": "hälfte halb halbe halben",
    "fr": "moitié",
    "es": "mitad",
    "pt": "metade",
    "ru": "половина половину",
}
_QUARTERS: Final = {"en": "quarter", "de": "viertel", "fr": "quart", "ru": "четверть"}


def _make_words() -> dict[str, NumberWord]:
    entries = [
        *((language, word, Decimal(value), room, False) for language, word, value, room in _ADDED),
        *(
            (language, word, Decimal(factor), factor, True)
            for language, factor, words in _FACTORS
            for word in words.split()
        ),
        *(
            (language, word, Decimal(share), 0, False)
            for share, table in (("0.5", _HALVES), ("0.25", _QUARTERS))
            for language, words in table.items()
            for word in words.split()
        ),
    ]
    found: dict[str, NumberWord] = {}
    for language, word, value, room, is_factor in entries:
        known = found.get(word)
        languages = (known.languages if known is not None else frozenset()) | {language}
        found[word] = NumberWord(value, room, is_factor, languages)
    return found


WORDS: Final = _make_words()
"""Every part of a number by its word."""
UNSURE: Final = frozenset("dos once quince neuf sept elf cent cents null".split())
"""Words that mean something else in another language; they count in a text of their own, or beside
another number word of it."""
ARTICLES: Final = frozenset("un une una uno ein eine einen einem einer".split())
"""These are numbers only within one, and before a unit."""
FRACTIONS: Final = {
    word: parts
    for parts, words in {
        3: "third thirds drittel tiers tercio tercios",
        4: "quarter quarters viertel quart quarts cuarto cuartos fourths",
        5: "fifth fifths fünftel cinquième cinquièmes quinto quintos",
        8: "eighth eighths achtel huitième huitièmes octavo octavos",
        10: "tenth tenths zehntel dixième dixièmes décimo décimos",
    }.items()
    for word in words.split()
}
"""Parts of a whole, behind how many of them."""
COMPOUND: Final = tuple(
    sorted(
        {
            *(
                f"{one}und{spelling}"
                for tens in _GERMAN_TENS
                for spelling in tens.split("/")
                for one in _GERMAN_ONES
            ),
            *" ".join(_GERMAN_TENS).replace("/", " ").split(),
            *_GERMAN_ONES,
            *"eins zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn".split(),
            *"neunzehn hundert tausend".split(),
        },
        key=lambda word: (-len(word), word),
    )
)
"""The parts that German writes together, the longest first."""
