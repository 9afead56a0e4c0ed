"""Refuses an answer with a number, id, address, path or quotation that its source does not have.

The numbers of a list that counts its own lines are free; a number that the source writes as a word
may be written with digits, and the other way round.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from refold.llm.gates._clock import clock_times, without_times
from refold.llm.gates._counts import in_digits
from refold.llm.gates._values import SLASHED, SPACED, Value, read_values, slashed_forms
from refold.llm.gates.base import WORD, Gate, Refusal, Source, some
from refold.llm.gates.facts_present import inside, is_code, is_quoted
from refold.scan.facts import find_quotes

_PATH: Final = re.compile(r"(?<![\w/.-])\w[\w.-]*+(?:/[\w.-]*\w)++")
"""Words joined by slashes: a path or not, the source has to say them so."""
_MARKED: Final = re.compile(
    r"(?<![A-Za-z0-9_.-])[A-Za-z0-9][A-Za-z0-9_-]*+(?:\.[A-Za-z0-9][A-Za-z0-9_-]*+)++"
    r"|(?<!\w)(?:--|[@$#])(?=[^\W\d])[\w-]++|(?<!\w)[a-f]{7,40}+(?!\w)"
    r"|[²³¹¼-¾\u2070-\u2089\u2150-\u2189①-⒛⓪-⓿❶-➓㈠-㈩㊀-㊉]++"
)
"""Names of hosts and modules, flags, handles, hashes without a digit, numbers without one: what can
only be compared letter by letter."""
_PLAIN_WORD: Final = re.compile(r"[A-Za-z0-9_\u00c0-\u024f]+|[^\WA-Za-z0-9_\u00c0-\u024f]+")
"""A word; in Chinese and Japanese, what is written in Latin letters is one."""
_HOUR: Final = re.compile(r"([0-9]{1,2}):00")
_BARE: Final = re.compile(r"[0-9.]++")
_NUMERALS: Final = "〇一二三四五六七八九十"
_MEASURED: Final = re.compile(r"(-?)([0-9]++(?:\.[0-9]++)?)([^0-9]*+)")
_GIVEN: Final = frozenset("usd eur gbp chf jpy cny inr 元 円 ° °c °f 台 年 家".split())
"""Units that go without saying."""
_ONE: Final = re.compile(r"(?<!\w)(?:one|single|an?|eine?[mnrs]?|une?|un[ao]?)(?!\w)|一")


class _Said:
    """What a source says, to look it up.

    Sets: looking each quotation up in the text takes long if there are thousands.
    """

    def __init__(self, source: Source) -> None:
        text = source.text
        self.quotes = {inside(quote) for quote in source.facts.quotes}
        self.spaced = " ".join(text.split())
        self.words = frozenset(_PLAIN_WORD.findall(text))
        self.paths = frozenset(_PATH.findall(text.replace("./", "")))
        self.identifiers = {name.casefold() for name in source.facts.names if is_code(name)}
        normal = [value.normal for value in source.values]
        hosts = [value for value in normal if "://" in value or "@" in value]
        self.marks = {mark for said in (text, *hosts) for mark in _marked(said)}
        """Names, hosts and numbers letter by letter; the case of hosts does not count."""
        self.bare = {value for value in normal if _BARE.fullmatch(value)}
        """The numbers without a unit."""
        self.measured = {found[2] for value in normal if (found := _MEASURED.fullmatch(value))}
        """The numbers, with or without one."""
        self.numerals = {str(_NUMERALS.find(char)) for char in text if char in _NUMERALS}
        """What may be numbers in Chinese characters: 三楼."""


def _check(source: Source, answer: str) -> Refusal | None:
    invented = list(dict.fromkeys(_invented(source, answer)))
    if not invented:
        return None
    return Refusal(f"the source does not say {some(invented)}")


def _invented(source: Source, answer: str) -> Iterator[str]:
    answer = _as_in(source, answer)
    written = {value.normal for value in read_values(answer)}
    for value in read_values(without_times(in_digits(answer), source.stated)):
        is_one = value.normal == "1" and "1" not in written  # the other one: hardly ever a count
        if not value.is_stated(source.stated) and not is_one and not _may_be_meant(source, value):
            yield value.text
    spoken = clock_times(in_digits(answer))
    if spoken and spoken.isdisjoint(source.stated):
        yield min(spoken)
    said = source.once(_Said)
    for quote in dict.fromkeys(find_quotes(answer)):
        if not is_quoted(quote, said.quotes, said.spaced):
            yield quote
    for path in _PATH.findall(answer):
        if path not in said.paths and not (path[0].isdigit() and _is_per(source, path)):
            yield path
    yield from (mark for mark in _marked(answer) if mark not in said.marks)
    for word in dict.fromkeys(_PLAIN_WORD.findall(answer)):
        # Of an identifier every letter counts, the case too: `userId` is not `userid`.
        is_name = word.casefold() in said.identifiers or is_code(word)
        if is_name and word not in source.spelled and word not in said.words:
            yield word


def _is_per(source: Source, path: str) -> bool:
    """Tell whether a slash stands between words of the source: 9/14, 35/night."""
    return source.words.issuperset(WORD.findall(path.casefold()))


def _may_be_meant(source: Source, value: Value) -> bool:
    """Tell whether a number of the source is meant that gets a unit, or loses its sign.

    A number without a unit may be a price, or in degrees, or a full hour.
    """
    said = source.once(_Said)
    hour = _HOUR.fullmatch(value.normal)
    if hour is not None:
        return not said.bare.isdisjoint((hour[1], str(int(hour[1]) % 12)))
    measured = _MEASURED.fullmatch(value.normal)
    if measured is None:
        return False
    sign, number, unit = measured.groups()
    if sign:
        return unit == "%" and number + unit in source.stated
    if number == "1" and (not unit or unit in _GIVEN):
        return _ONE.search(source.folded) is not None
    if not unit:
        return number in said.numerals
    is_bare = number in said.bare or (number in source.stated and number not in said.measured)
    return is_bare and (unit in _GIVEN or value.text.endswith(f"{number}s"))


def _as_in(source: Source, answer: str) -> str:
    """Take out the dates and fractions that the source has in another form, join thousands."""

    def blank(found: re.Match[str]) -> str:
        return found[0] if slashed_forms(found[0]).isdisjoint(source.stated) else " "

    def join(found: re.Match[str]) -> str:
        joined = found[0].replace(" ", "")
        is_other = joined in source.stated and found[0] not in source.text
        return joined if is_other else found[0]

    return SPACED.sub(join, SLASHED.sub(blank, answer))


def _marked(text: str) -> Iterator[str]:
    """Yield what has to be said letter by letter; names joined by dots only if they end in one."""
    for found in _MARKED.finditer(text):
        _, dot, end = found[0].rpartition(".")
        if not dot or (len(end) > 1 and end.isalpha() and end.islower()):
            yield found[0]


GATE: Final = Gate("nothing_invented", _check)
