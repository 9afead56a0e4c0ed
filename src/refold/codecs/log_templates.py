"""Log lines that differ in numbers, ids and names: the words once, then a row for each line.

    [A| ×3 from 10:00:01 to 10:00:09: 2031-05-02 10:00:{} INFO {} took job {} in {} ms]
    A|01 worker-3 7f31 15
    2031-05-02 10:00:04 WARN queue is full
    A|07 worker-1 7f35 240
    A|09 worker-3 7f36 18

Every line stays in its place. The template stands above the first of its lines, with how many they
are and, if they have any, the times of the first and the last; a row fills its gaps in order. Lines
that only begin with the same words have the rest in the last gap.

Entries of a log are grouped by their dates and by their words without digits. Groups that differ in
one of these become a single one with a gap in its place, if this is shorter than to announce them
all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Final

from refold.codecs.base import Codec, spell_count, unreadable
from refold.rows import Needs

_HEADING: Final = re.compile(r"\[([A-Z])\| ×[\d+]+(?: from \S+ to \S+)?: (.*)\]")
_MINUTE: Final = re.compile(r"((\d?\d:)[0-5]\d:)[0-5]\d")
_BEGINNINGS: Final = (6, 5, 4, 3)
"""How many words may stand before what an entry says: its time, host, program, level."""
_MIN_SAVED: Final = 16
"""How many characters each row must save: more than a date, which is left out more simply."""
GAP: Final = "{}"
MIN_LINES: Final = 3
"""A template is announced on a line of its own, so that two entries save nothing."""
_HEADING_CHARS: Final = 32
"""About how many characters stand around a template where it is announced."""
_ROUNDS: Final = 3
"""So many words without digits may vary in a group."""
_SAMPLE: Final = 500
"""Among so many groups some must be alike, or it is not tried with all."""
_MAX_BEFORE: Final = 80
"""So many characters may stand before the end of the time in an entry."""

_AFTER_HOUR: Final = r":[0-5]\d:[0-5]\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"
_MINUTES: Final = re.compile(r":[0-5]\d:[0-5]\d")
_BARE: Final = re.compile(r"\d{6} (\d{6}) ")
"""A date and a time as Hadoop writes them."""
_UPTIME: Final = re.compile(r"\[ *(\d{1,8}\.\d{3,9})\] ")
"""The seconds since a machine was started, as Linux writes them."""
_LEVEL: Final = re.compile(
    r"\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b"
    r"|\[(?:trace|debug|info|notice|warn|warning|error|fatal|critical)\]|level="
)
"""How an entry without a time begins."""
_BELOW: Final = re.compile(
    rf"\n(?=[0-9\[TDINWEFCl])(?:{_BARE.pattern}|{_UPTIME.pattern}|{_LEVEL.pattern})"
)
HAS_ENTRIES: Final = Needs((_MINUTES, _BELOW))
"""Two looks that begin with a character each are far quicker than one that begins with either."""
_TIME: Final = re.compile(rf"(?<!\d)\d?\d{_AFTER_HOUR}")
_NO_ENTRY: Final = re.compile(r"\[again ×|\{(?!\"?[@\w]{1,20}\"?[=:]\"?\d{4}-\d\d-\d\d[T ]\d\d:)")
"""Repeats of the line above, and records that do not begin with their time."""
_BREAKS: Final = r"\s=,;()\[\]{}\"'<>|"
_REST: Final = rf"[^:{_BREAKS}]*+(?::++[^:{_BREAKS}]++)*+"
_WORD: Final = re.compile(
    rf"((?!T\d\d:)[^\d:{_BREAKS}]{_REST}"
    rf"|\d\d(?:\d\d-\d\d-\d\d(?=T\d\d:)|/[A-Z][a-z]{{2}}/\d{{4}}(?=:\d\d:)|{_AFTER_HOUR})"
    rf"|\d{_REST}|\{{\}})"
)
"""What stands between breaks: a name, a path, an address; a date before a time; a time.

What reads like a gap is a word, too: it is shown as a gap that each row fills with itself.
"""
_DATE: Final = re.compile(r"\d{4}[-/]\d\d[-/]\d\d|\d\d/[A-Z][a-z]{2}/\d{4}")
_DIGITS: Final = frozenset("0123456789")


class Entry:
    """A line of a log, cut into its words, which stand at odd places, and what is between them."""

    __slots__ = ("pieces", "place")

    def __init__(self, place: int, pieces: list[str]) -> None:
        self.place: Final = place
        """Which line it is."""
        self.pieces: Final = pieces

    def cut(self, end: int) -> Entry:
        """Take everything from the piece *end* on as one word."""
        return Entry(self.place, [*self.pieces[:end], "".join(self.pieces[end:]), ""])


class Group:
    """Entries with the same pieces but for the gaps."""

    __slots__ = ("entries", "pieces", "size")

    def __init__(self, pieces: list[str], entries: list[Entry]) -> None:
        self.pieces: Final = pieces
        """With a gap for each word that is not the same in all entries, or has digits."""
        self.entries: Final = entries
        self.size: Final = sum(map(len, pieces))


_Offer = tuple[int, int, list[Group]]
"""What is saved if groups become one, and which of their pieces becomes a gap."""


class _Words(dict[str, str]):
    """What stands for each word in a group: itself, or a gap if it has digits and is no date."""

    def __missing__(self, word: str) -> str:
        stays = _DIGITS.isdisjoint(word) or _DATE.fullmatch(word)
        shown = self[word] = word if stays else GAP
        return shown


def has_entries(text: str) -> bool:
    """Return, after a cheap test, whether *text* may have enough entries."""
    return len(_MINUTES.findall(text)) >= MIN_LINES or _BELOW.search(text) is not None


def read_entries(lines: Iterable[str]) -> list[Entry]:
    """Return the entries among *lines*: those that have a time, or begin with a level."""
    return [
        Entry(place, _WORD.split(line))
        for place, line in enumerate(lines)
        if (time_of(line) or _LEVEL.match(line)) and not _NO_ENTRY.match(line)
    ]


def time_of(line: str) -> str | None:
    """Return the time near the beginning of *line*, if there is one."""
    time = _TIME.search(line, 0, _MAX_BEFORE) or _BARE.match(line) or _UPTIME.match(line)
    return time[time.lastindex or 0] if time else None


def group_alike(entries: Iterable[Entry]) -> list[Group]:
    """Group *entries* that differ in words with digits, and in a few others."""
    groups = [Group(pieces, alike) for pieces, alike in _by_words(entries)]
    for _ in range(_ROUNDS):
        offers = _find_offers(groups)
        if not offers:
            break
        groups = _merge(groups, offers)
    return [group for group in groups if len(group.entries) >= MIN_LINES]


def group_beginnings(entries: Iterable[Entry], count: int) -> list[Group]:
    """Group *entries* whose first *count* words differ in those with digits; the rest is a gap."""
    end = 2 * count + 1
    return [
        Group([*pieces, GAP, ""], [entry.cut(end) for entry in alike])
        for pieces, alike in _by_words((entry for entry in entries if len(entry.pieces) > end), end)
        if len(alike) >= MIN_LINES
    ]


def with_company(entries: Iterable[Entry], count: int) -> list[Entry]:
    """Return those *entries* with whose first *count* words others begin, too."""
    sorts = _by_words(entries, 2 * count + 1)
    return [entry for _, alike in sorts if len(alike) >= MIN_LINES for entry in alike]


def _by_words(
    entries: Iterable[Entry], end: int | None = None
) -> Iterable[tuple[list[str], list[Entry]]]:
    """Sort *entries* by their pieces up to *end*, with gaps for all words that have digits."""
    shown = _Words()
    sorts: dict[str, tuple[list[str], list[Entry]]] = {}
    for entry in entries:
        pieces = entry.pieces[:end]
        pieces[1::2] = map(shown.__getitem__, pieces[1::2])
        known = sorts.setdefault("".join(pieces), (pieces, []))
        if len(known[0]) == len(pieces):
            known[1].append(entry)
    return sorts.values()


def _find_offers(groups: list[Group]) -> list[_Offer]:
    """Return which groups differ in a single word and are shorter as one, the best first."""
    some = groups[:: len(groups) // _SAMPLE + 1]
    if len(some) < len(groups) and not _find_offers(some):
        return []  # many lines, and nothing in common: no log is like that
    offers = [
        (gain, at, alike) for at, alike in _find_alike(groups) if (gain := _gain(alike, at)) > 0
    ]
    offers.sort(key=lambda offer: offer[0], reverse=True)
    return offers


def _find_alike(groups: list[Group]) -> Iterable[tuple[int, list[Group]]]:
    """Return which groups may differ in a single piece, and in which: all others add up alike."""
    first: dict[int, int] = {}
    alike: dict[int, tuple[int, list[Group]]] = {}
    for number, group in enumerate(groups):
        marks = list(map(hash, enumerate(group.pieces[1::2])))
        whole = sum(marks, hash(tuple(group.pieces[::2])))
        for word, mark in enumerate(marks):
            other = first.setdefault(whole - mark, number)
            if other != number:
                found = alike.setdefault(whole - mark, (2 * word + 1, [groups[other]]))
                found[1].append(group)
    return alike.values()


def _merge(groups: list[Group], offers: Iterable[_Offer]) -> list[Group]:
    """Make one of groups wherever that is still offered, from the best offer on."""
    merged: dict[int, Group] = {}
    gone: set[int] = set()
    for _, at, alike in offers:
        left = [group for group in alike if id(group) not in gone]
        like = [group for group in left if _is_like(group, left[0], at)]
        if len(like) > 1 and _gain(like, at) > 0:
            gone.update(map(id, like))
            merged[id(like[0])] = _united(like, at)
    kept = (group for group in groups if id(group) in merged or id(group) not in gone)
    return [merged.get(id(group), group) for group in kept]


def _is_like(group: Group, other: Group, at: int) -> bool:
    """Return whether two groups differ in the piece *at* alone, as the sums of their hashes say."""
    ours, theirs = group.pieces, other.pieces
    return ours[:at] == theirs[:at] and ours[at + 1 :] == theirs[at + 1 :]


def _gain(groups: list[Group], at: int) -> int:
    """Return about how many characters are saved if *groups* become one with a gap *at*."""
    saved = -groups[0].size - _HEADING_CHARS
    for group in groups:
        count, word = len(group.entries), group.pieces[at]
        # A group that is too small for a template is written out, about half of it in vain.
        saved += group.size + _HEADING_CHARS if count >= MIN_LINES else count * group.size // 2
        saved -= 0 if word == GAP else count * (len(word) + 1)
    return saved


def _united(groups: list[Group], at: int) -> Group:
    pieces = groups[0].pieces.copy()
    pieces[at] = GAP
    entries = [entry for group in groups for entry in group.entries]
    entries.sort(key=lambda entry: entry.place)
    return Group(pieces, entries)


@dataclass(frozen=True, slots=True)
class _Template:
    """What some lines share, and what each has of its own."""

    heading: str
    """The line above the first row, without its letter."""
    rows: list[str]
    places: list[int]
    saved: int
    """How many characters fewer it takes than the lines, beyond what each row must save."""


def _template(group: Group, lines: Sequence[str]) -> _Template:
    entries, pieces = group.entries, group.pieces.copy()
    own: list[list[str]] = []
    for at, piece in enumerate(pieces):
        if piece == GAP:
            column = [entry.pieces[at] for entry in entries]
            pieces[at] = shown = _shown(column)
            if shown.endswith(GAP):
                lifted = len(shown) - len(GAP)
                own.append([value[lifted:] for value in column] if lifted else column)
    rows = list(map(" ".join, zip(*own, strict=True))) or [""] * len(entries)
    places = [entry.place for entry in entries]
    first, last = (time_of(lines[places[end]]) for end in (0, -1))
    when = f" from {first} to {last}" if first and last else ""
    heading = f"| ×{spell_count(len(rows))}{when}: {''.join(pieces)}]"
    before = sum(len(lines[place]) for place in places)
    after = len(heading) + sum(map(len, rows)) + _MIN_SAVED * len(rows)
    return _Template(heading, rows, places, before - after)


def _shown(column: Sequence[str]) -> str:
    """Return what a template says in place of *column*: a gap, unless all are the same.

    The hour and the minute that all share stand before the gap. Only times are ever cut; everything
    else can be searched for as it was.
    """
    least, most = min(column), max(column)
    if least == most and GAP not in least:
        return least
    time = _MINUTE.match(least)
    lifted = filter(most.startswith, time.groups()) if time else iter(())
    return next(lifted, "") + GAP


def _encode(text: str) -> str | None:
    lines = text.split("\n")
    if any(line[1:2] == "|" and line[0] in ascii_uppercase for line in lines):
        return None  # it would be taken for a row
    templates = sorted(_find_templates(lines), key=lambda template: template.saved, reverse=True)
    return _written(lines, templates[: len(ascii_uppercase)]) if templates else None


def _find_templates(lines: Sequence[str]) -> list[_Template]:
    """Return templates of whole lines, and of how the others begin, the longest beginning first."""
    entries = read_entries(lines)
    found = _worthwhile(group_alike(entries), lines)
    left = with_company(_without(entries, found), _BEGINNINGS[-1])
    for count in _BEGINNINGS:
        more = _worthwhile(group_beginnings(left, count), lines)
        left = _without(left, more)
        found += more
    return found


def _worthwhile(groups: Iterable[Group], lines: Sequence[str]) -> list[_Template]:
    return [template for group in groups if (template := _template(group, lines)).saved > 0]


def _without(entries: Iterable[Entry], templates: Iterable[_Template]) -> list[Entry]:
    """Return the *entries* that none of *templates* is for."""
    done = {place for template in templates for place in template.places}
    return [entry for entry in entries if entry.place not in done]


def _written(lines: list[str], templates: list[_Template]) -> str:
    out = lines.copy()
    in_order = sorted(templates, key=lambda template: template.places[0])
    for letter, template in zip(ascii_uppercase, in_order, strict=False):
        for place, row in zip(template.places, template.rows, strict=True):
            out[place] = f"{letter}|{row}"
        first = template.places[0]
        out[first] = f"[{letter}{template.heading}\n{out[first]}"
    return "\n".join(out)


def _decode(text: str) -> str:
    out: list[str] = []
    known: dict[str, list[str]] = {}
    for line in text.split("\n"):
        heading = _HEADING.fullmatch(line) if line[2:3] == "|" else None
        if heading:
            known[heading[1]] = heading[2].split(GAP)
        elif line[1:2] == "|" and line[0] in known:
            out.append(_filled(known[line[0]], line))
        else:
            out.append(line)
    return "\n".join(out)


def _filled(between: list[str], line: str) -> str:
    """Return the line that a row stands for."""
    gaps = len(between) - 1
    values = line[2:].split(" ", gaps - 1) if gaps else line[2:].split()
    if len(values) != gaps:
        raise unreadable(CODEC.name, line)
    pieces = [between[0]]
    for value, after in zip(values, between[1:], strict=True):
        pieces += (value, after)
    return "".join(pieces)


CODEC: Final = Codec(
    name="log_templates",
    encode=_encode,
    decode=_decode,
    needs=HAS_ENTRIES,
    sees=has_entries,
    reads_in_parts=False,
)
