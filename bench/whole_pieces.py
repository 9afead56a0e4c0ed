"""Where the pieces of a shortened text begin and end: between words, cells and strings, or inside.

A shortened text is taken apart at its gaps, stand-in marks and line ends, whatever notation wrote
them, and each fragment is looked up in the texts that went in. A fragment whose every place there
begins or ends inside a word, a cell of a table or a JSON string is a fault. Texts are looked up as
they went in, re-encoded without loss, and opened: a long text inside of JSON without its quotes,
line by line. What cannot be found is said in the engine's own words; it is counted apart.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from records import calls_of, values_in
from refold.codecs import records
from refold.fold.texts import spell_call
from refold.messages.message import Call
from typed import text_of

_GAP: Final = re.compile(
    r"\[[^\[\]\n]{0,160}#[\w-]{3,}\]"  # a stand-in with its handle
    r"|\[…[^\]\n]{0,40}\]"
    r"|(?:\b\d+ ?)?…(?: ?(?:\d[\d,.]*|about)[^…\n]{0,40}…)?"  # …, 24 …, … 37 lines …
)
_LABEL: Final = re.compile(r"\s*(?:\w+: )?[\w.-]+ (?=\{)|\s*[\w./ -]{1,40}?(?::(?: |\Z)| → )")
"""Who said it or what was called, before an excerpt."""
_NUMBER: Final = re.compile(r"\s*\d{1,7}(?:[→\t:|]|\Z)")
_MIN_CHARS: Final = 4
"""Shorter fragments are found anywhere, and say nothing."""
_PLACES: Final = 40
"""How many places of a fragment are looked at; a clean one is mostly the first."""
_IDEOGRAPH: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_STRING: Final = re.compile(r'"(?:[^"\\\n]|\\.)*+"')
_LINE: Final = re.compile(r"[^\n]+")
_JSON_START: Final = re.compile(r"\s*[\[{]")
_PLAIN_JSON: Final = re.compile(r"(?:JSON lines )?[\[{]")
"""How JSON begins after it was re-encoded."""
_BLOCK: Final = re.compile(r"=<<(END|STOP|EOF|FIN)\n")
"""What begins a text in it that stands there as it is."""
_BLANKS: Final = 3
"""More of them for each comma are in prose with amounts like $1,350; commands have options."""
_LONG_TEXT: Final = 160
"""Characters; a text in JSON that is longer, or has several lines, may be shown in parts."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fragment that begins or ends where nothing does."""

    inside: str
    """word, cell or string"""
    edge: str
    """begins or ends"""
    fragment: str


@dataclass(slots=True)
class Tally:
    """What was found in one view."""

    fragments: int = 0
    unknown: int = 0
    """Fragments that are in no text that went in."""
    faults: list[Fault] = field(default_factory=list)


class Originals:
    """Every text that went in, joined, with the places where strings and table lines are."""

    def __init__(self, messages: Sequence[Mapping[str, Any]]) -> None:
        shown = [text for message in messages for text in _texts(message)]
        self.whole = frozenset(shown)
        calls = [call for message in messages for call in calls_of(message)]
        raw = [arguments for _, _, arguments in calls]
        spelled = [spell_call(Call(id_, name, arguments)) for id_, name, arguments in calls]
        documents = [value for text in shown for value in _documents(text)]
        shorter = [form for text in shown for form in _shorter_forms(text)]
        texts = list(dict.fromkeys([*shown, *raw, *documents, *spelled, *shorter]))
        self._text = "\n".join(texts)
        lines = self._text.split("\n")
        self._lines = frozenset(one.strip() for line in lines for one in (line, _unnumbered(line)))
        self._json: list[int] = []
        """Where texts of JSON start and end, by turns."""
        self._strings: dict[int, list[int]] = {}
        """By where a line starts: where its strings start and end, by turns."""
        start = 0
        made = frozenset(shorter)
        for text in texts:
            if text in made:
                self._json += (start + place for place in _plain_json(text))
            elif _JSON_START.match(text) and _is_json(text):
                self._json += (start, start + len(text))
            start += len(text) + 1

    def is_whole_line(self, fragment: str) -> bool:
        """Tell whether it is a line of a text from beginning to end, whoever wrote its number."""
        return fragment in self._lines or _unnumbered(fragment).strip() in self._lines

    def look_up(self, fragment: str) -> tuple[bool, Fault | None]:
        """Return whether *fragment* is there at all, and what is wrong with its best place."""
        fault: Fault | None = None
        is_enabled = False
        for start in islice(self._places(fragment), _PLACES):
            is_enabled = True
            fault = self._fault_at(start, start + len(fragment), fragment)
            if fault is None:
                break
        return is_enabled, fault

    def _places(self, fragment: str) -> Iterator[int]:
        start = self._text.find(fragment)
        while start >= 0:
            yield start
            start = self._text.find(fragment, start + 1)

    def _fault_at(self, start: int, end: int, fragment: str) -> Fault | None:
        for place, edge in ((start, "begins"), (end, "ends")):
            inside = self._inside(place)
            if inside:
                return Fault(inside, edge, fragment)
        return None

    def _inside(self, place: int) -> str:
        """Name what the place between two characters is inside of; empty if nothing."""
        text = self._text
        before, after = text[place - 1 : place], text[place : place + 1]
        if not before or not after or "\n" in (before, after):
            return ""
        start = text.rfind("\n", 0, place) + 1
        end = text.find("\n", place)
        line = text[start : end if end >= 0 else len(text)]
        if self._is_json_at(place) and self._is_in_string(line, start, place - start):
            return "string"
        if before.isalnum() and after.isalnum() and not _IDEOGRAPH.search(before + after):
            return "word"
        return "cell" if self._is_in_cell(line, start, place - start) else ""

    def _is_json_at(self, place: int) -> bool:
        return bisect_right(self._json, place) % 2 == 1

    def _is_in_string(self, line: str, start: int, place: int) -> bool:
        if start not in self._strings:
            spans = (match.span() for match in _STRING.finditer(line))
            # From behind the opening to before the closing quote.
            self._strings[start] = [at for opening, end in spans for at in (opening + 1, end)]
        return bisect_right(self._strings[start], place) % 2 == 1

    def _is_in_cell(self, line: str, start: int, place: int) -> bool:
        """Tell whether a place on a line of a table is neither beside a separator nor at an end."""
        separator = _separator_of(line)
        if not separator:
            return False
        above = self._text[self._text.rfind("\n", 0, max(0, start - 1)) + 1 : max(0, start - 1)]
        below = _LINE.match(self._text, start + len(line) + 1)
        count = line.count(separator)
        neighbours = (above, below[0] if below else "")
        if not any(near.count(separator) == count for near in neighbours):
            return False
        before, after = line[:place].rstrip(" "), line[place:].lstrip(" ")
        return bool(before and after) and separator not in (before[-1], after[0])


def check_pieces(originals: Originals, view: Sequence[Mapping[str, Any]]) -> Tally:
    """Look up every fragment of the texts of *view* that did not go in as they are."""
    tally = Tally()
    for message in view:
        for text in _texts(message):
            if text in originals.whole:
                continue
            for fragment in _fragments(text, originals):
                _check(fragment, originals, tally)
    return tally


def _check(fragment: str, originals: Originals, tally: Tally) -> None:
    tally.fragments += 1
    is_enabled, fault = originals.look_up(fragment)
    if not is_enabled:
        rest = _LABEL.sub("", fragment, count=1).strip()
        if not rest or originals.is_whole_line(rest):
            return
        if len(rest) >= _MIN_CHARS:
            is_enabled, fault = originals.look_up(rest)
    tally.unknown += not is_enabled
    if fault is not None:
        tally.faults.append(fault)


def _fragments(text: str, originals: Originals) -> Iterator[str]:
    """Yield what stands between gaps and line ends; whole lines of an original are no fragments."""
    for line in text.split("\n"):
        if originals.is_whole_line(line.strip()):
            continue
        for piece in _GAP.split(line):
            fragment = piece.strip()
            is_telling = len(fragment) >= _MIN_CHARS and any(map(str.isalnum, fragment))
            if is_telling and not originals.is_whole_line(fragment):
                yield fragment


def _unnumbered(line: str) -> str:
    number = _NUMBER.match(line)
    return line[number.end() :] if number else line


def _separator_of(line: str) -> str:
    """Return what parts the cells of a line, if it looks like one of a table."""
    if line.count("|") >= 2:
        return "|"
    if len(list(filter(str.strip, line.split("\t")))) >= 3:  # more than indentation
        return "\t"
    commas = line.count(",")
    is_prose = any(map(line.__contains__, (", ", " --"))) or line.count(" ") > _BLANKS * commas
    return "," if commas >= 2 and not is_prose else ""


def _texts(message: Mapping[str, Any]) -> Iterator[str]:
    """Yield the text of a message, and those among the arguments of its calls."""
    if text := text_of(message):
        yield text
    for _, _, arguments in calls_of(message):
        yield from (value for value in values_in(arguments) if value and isinstance(value, str))


def _documents(text: str) -> Iterator[str]:
    """Yield the long strings in a JSON text: a view may show parts of them without escapes."""
    if _JSON_START.match(text):
        for value in values_in(text):
            if isinstance(value, str) and ("\n" in value or len(value) > _LONG_TEXT):
                yield value


def _shorter_forms(text: str) -> Iterator[str]:
    """Yield what the engine makes of *text* before it shows parts of it."""
    shorter = records.encode(text)
    if shorter is not None:
        yield shorter


def _plain_json(text: str) -> Iterator[int]:
    """Yield where re-encoded JSON begins and ends, by turns; texts between `<<END` are none."""
    if not _PLAIN_JSON.match(text):
        return
    place = 0
    while block := _BLOCK.search(text, place):
        end = text.find(f"\n{block[1]}", block.end())
        if end < 0:
            break
        yield from (place, block.end())
        place = end
    yield from (place, len(text))


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
