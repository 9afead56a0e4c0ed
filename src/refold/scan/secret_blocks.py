"""Secrets of more than one word: private keys, seed phrases, columns of tables, lists of codes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from refold.scan.runs import Span, has_digit
from refold.scan.secret_names import Grade, Name
from refold.scan.secret_values import Link, can_be_secret

_ARMOR: Final = re.compile(
    r"-{4,5} ?(?P<edge>BEGIN|END) [A-Z0-9 ]{0,40}?PRIVATE KEY(?: BLOCK)? ?-{4,5}"
    r"|(?P<putty>PuTTY-User-Key-File-[0-9]:|^Private-Lines: [0-9]+$)",
    re.MULTILINE,
)
_BREAK: Final = r"(?:\s|\\[nrt]|[\"'+,])"
_ARMOR_BODY: Final = re.compile(
    rf"(?:{_BREAK}*+(?:[A-Za-z][A-Za-z-]{{2,20}}: ?[^\n\\]{{1,80}}+|=?[A-Za-z0-9+/=]{{12,}}+))++"
    rf"(?:{_BREAK}++=?[A-Za-z0-9+/=]{{1,64}}+(?![\w ]))?"
)
_BASE64_LINE: Final = re.compile(r"[\s\"'>|│]*=?[A-Za-z0-9+/=]{1,100}[\s\"',+|│]*")
_VAULT: Final = re.compile(
    r"\$ANSIBLE_VAULT;[^\n]{0,80}+\n(?P<body>(?:[ \t]*+[0-9a-f]{8,}+[ \t]*+(?:\r?\n|$))++)"
    r"|-{4,5} ?BEGIN OpenVPN Static key V1 ?-{4,5}\s++(?P<static>(?:[0-9a-f]{16,}+\s*+)++)"
)
_PHRASE: Final = re.compile(
    r"(?=[a-z0-9])(?<![\w’.-])"  # said once more: most places are ruled out before the repeat
    r"(?:(?<![\w’.-])(?<!\w')(?:[0-9]{1,2}+[.)]? ?)?[a-z]{3,8}+(?!\w|['’]\w|-)"
    r"(?:[\"'],\s{0,20}+[\"']|[ \t]*+[,\n]?[ \t]*+))++"
)
"""Short words in a row, as many as there are: so none of them is read twice."""
_MIN_WORDS: Final = 12
_MIN_PHRASE: Final = _MIN_WORDS * 3 + _MIN_WORDS - 1
"""The words of the shortest phrase, and its characters: what stands between them counts."""
_IN_PHRASE: Final = bytes(
    ord("a") if byte in b"abcdefghijklmnopqrstuvwxyz"
    else ord(" ") if byte in b" \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f,\"'0123456789.)?"
    else ord("!")
    for byte in range(256)
)  # fmt: skip
"""Maps what may stand between the words of a phrase to blanks; beyond ASCII that is a `?`."""
_NO_PHRASE: Final = (b"a" * 9, b" a ", b" aa ")
"""What is too long or too short to be a word of a phrase, where every letter is an a."""
_LONG_ROW: Final = re.compile(rb"![^!]{%d,}+" % _MIN_PHRASE)
"""A row that is long enough for a phrase, and the end of the one before."""
_PHRASE_SIZES: Final = frozenset({12, 15, 18, 21, 24})
_RARE_SIZES: Final = frozenset({13, 20, 25, 33})
"""Of Monero and SLIP 39: only where a text mentions them, because lists of words are as long."""
_SEED_TALK: Final = re.compile(r"seed|mnemonic|phrase|wallet|recovery|shamir|\bshare\b", re.I)
_SEED_NEAR: Final = 80
"""How far before a phrase a text mentions it: about a line. A guess."""
_BEFORE_SEED: Final = frozenset({"phrase", "mnemonic", "words", "seed"})
_LETTERS: Final = re.compile("[a-z]+")
_NO_SEED: Final = frozenset(
    "the and for are was were not but from with have has had his her him its our their them they "
    "what when where which who how why all also any been can could did does doing done each else "
    "get got into just like made make more most much must now off one out over same see she should "
    "some such than that then there these this those through too two use used using very want "
    "way well will would you your yes test tests file files run import class def none true false "
    "line lines list text data code name value error string number new old set let var function "
    "return print null int str git npm pip cat grep sed echo sudo make bash".split()
) - frozenset(
    "all also any can cat code course echo error false file have into just like line list make "
    "more must name number off old one over print return run same set such test text that then "
    "there they this true two use used very want way what when where will you".split()
)
"""Words that every sentence has and the list of seed words (BIP 39) does not."""
_CELLS: Final = re.compile(r"[ \t]*(?:[|│┃,;\t]|[ ]{2,})[ \t]*")
_RULER: Final = re.compile(r"[ \t|│┃┼├┤┌┐└┘╔╗╚╝╠╣╬═║╪╞╡┬┴+:=─━-]++$", re.MULTILINE)
_NO_HEADING: Final = re.compile(r"[0-9(=.{<?!]")
_QUOTES: Final = "\"'` "
_MAX_HEADING: Final = 32
_MAX_ROW: Final = 400
"""Characters of a heading and of a row: more is a sentence, or no table. Guesses."""


def find_private_keys(text: str) -> Iterator[Span]:
    """Yield whole blocks; of one whose start or end is missing, what looks like a key."""
    if "$ANSIBLE_VAULT" in text or "Static key" in text:
        for vault in _VAULT.finditer(text):
            yield vault.span(vault.lastgroup or 0)
    if "PRIVATE KEY" not in text and "PuTTY" not in text and "Private-Lines" not in text:
        return
    opening: re.Match[str] | None = None
    done = 0
    for edge in _ARMOR.finditer(text):
        if edge["edge"] == "END":
            yield (opening.start(), edge.end()) if opening else _unopened(text, done, edge)
            opening = None
            done = edge.end()
            continue
        yield from _unclosed(text, opening, edge.start())
        opening = edge
        done = edge.end()
    yield from _unclosed(text, opening, len(text))


def _unclosed(text: str, opening: re.Match[str] | None, most: int) -> Iterator[Span]:
    body = None if opening is None else _ARMOR_BODY.match(text, opening.end(), most)
    if opening is not None and body is not None:
        yield opening.start(), body.end()


def _unopened(text: str, least: int, closing: re.Match[str]) -> Span:
    """Return the lines of a key before its end, back to *least*."""
    start = end = closing.start()
    while end > least:
        line = text.rfind("\n", least, end - 1) + 1 or least
        if end - line > 200 or not _BASE64_LINE.fullmatch(text, line, end):
            break
        start = end = line
    return (start, closing.end()) if start < closing.start() else (start, start)


def find_seed_phrases(text: str, plain: bytes) -> Iterator[Span]:
    """Yield rows of 12 to 24 short words in which no sentence is to be found.

    *plain* is the text as bytes: by these, all but rows of so many short words are ruled out many
    times faster than by the pattern.
    """
    for start, end in _long_rows(b"!" + plain.translate(_IN_PHRASE)):
        # What follows a word decides whether it is one: two characters more are looked at.
        for found in _PHRASE.finditer(text, start, end + 2):
            if found.end() - found.start() >= _MIN_PHRASE:
                yield from _phrase_in(text, *found.span())


def _long_rows(marked: bytes) -> Iterator[Span]:
    """Yield where rows of words begin and end that are enough for a phrase."""
    for found in _LONG_ROW.finditer(marked):
        row = found[0]
        for other in _NO_PHRASE:
            row = row.replace(other, b"!" * len(other))
        for part in _LONG_ROW.finditer(row):
            if len(part[0].split()) >= _MIN_WORDS:
                yield found.start() + part.start(), found.start() + part.end() - 1


def _phrase_in(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield what is a phrase of the short words from *start* to *end*."""
    words = list(_LETTERS.finditer(text, start, end))
    said = [n for n, word in enumerate(words, 1) if word[0] in _BEFORE_SEED]
    words = words[said[-1] if said and said[-1] < 6 else 0 :]
    shown = {word[0] for word in words}
    before = max(0, start - _SEED_NEAR)
    is_rare = len(words) in _RARE_SIZES
    if (
        (len(words) in _PHRASE_SIZES or is_rare)
        and (not is_rare or _SEED_TALK.search(text, before, words[0].start()))
        and _NO_SEED.isdisjoint(shown)
        and len(words) - len(shown) < 2
    ):
        yield words[0].start(), words[-1].end()


def find_columns(text: str, names: Iterable[Name]) -> Iterator[Span]:
    """Yield the cells below headings that are *names*, in tables of all kinds."""
    heading = done = 0
    for name in names:
        is_inside = heading < name.start < done
        if is_inside or name.grade < Grade.SECRET:
            continue
        start = text.rfind("\n", max(0, name.start - _MAX_ROW), name.start) + 1
        end = _line_end(text, start)
        cells = _cells(text, start, end)
        column = next((n for n, (_, b) in enumerate(cells) if b >= name.end), None)
        if column is None or not _is_heading(text, cells, column, name):
            continue
        heading = done = end
        for row in _rows(text, end + 1, len(cells)):
            a, b = row[column]
            value = text[a:b].strip(_QUOTES)
            done = b
            link = Link.SAID if name.is_common else Link.LOOSE  # tests pass, too
            if can_be_secret(value, name.grade, link):
                place = text.index(value, a)
                yield place, place + len(value)


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start, start + _MAX_ROW)
    return end if end >= 0 else min(len(text), start + _MAX_ROW)


def _cells(text: str, start: int, end: int) -> list[Span]:
    """Cut a line into its cells, whatever stands between them."""
    cells: list[Span] = []
    for found in _CELLS.finditer(text, start, end):
        cells.append((start, found.start()))
        start = found.end()
    return [*cells, (start, end)]


def _is_heading(text: str, cells: Sequence[Span], column: int, name: Name) -> bool:
    """Return whether *cells* are headings, and one of them is nothing but what *name* says."""
    line = text[cells[0][0] : cells[-1][1]]
    filled = [b - a for a, b in cells if a < b]
    if len(filled) < 2 or max(filled) > _MAX_HEADING or _NO_HEADING.search(line):
        return False
    return name.end >= cells[column][1] - 2


def _rows(text: str, start: int, width: int) -> Iterator[list[Span]]:
    """Yield the lines below, as long as they have as many cells; rulers are passed over."""
    while start < len(text):
        end = _line_end(text, start)
        row = _cells(text, start, end)
        if _RULER.match(text, start, end) is None:
            if len(row) != width:
                return
            yield row
        start = end + 1


_CODES: Final = re.compile(r"(?:code|código|codice|codici|код|コード|码|코드)\w{0,3}$", re.I)
_BEFORE_CODES: Final = re.compile(r"[^\n:：]{0,60}+[:：]?[ \t]*+")
_CODE: Final = re.compile(
    r"[\s,;|•*\"'`-]{0,12}+(?:[0-9]{1,2}[.)][ \t]*+)?"
    r"(?P<code>(?:[0-9]{3,5} [0-9]{3,5}|[A-Za-z0-9]{3,16}+(?:-[A-Za-z0-9]{3,16}+){0,4}+))"
    r"(?![^\s,;|\"'`.])"
)
_GROUPED_CODE: Final = re.compile(r"(?<![\w-])[A-Za-z0-9]{4,6}-[A-Za-z0-9]{4,6}(?![\w-])")
_MAX_LINE: Final = 400
_MAX_CODES: Final = 32
"""What is read of a line and of a list; services give 8 to 16 codes. It bounds the time."""
_GROUPS: Final = re.compile(
    r"(?<![\w-])(?:[A-Z0-9]{4,6}[ -]){2,12}[A-Z0-9]{4,6}(?![\w-])"
    r"|(?<![\w-])(?:[a-z0-9]{4}[ -]){3,12}[a-z0-9]{4}(?![\w-])"
)
_ALL_DIGITS: Final = re.compile(r"(?<![\w-])(?:[0-9]{4,6}[ -]){3,12}[0-9]{4,6}(?![\w-])")
_MIXED: Final = re.compile("[A-Za-z][0-9]|[0-9][A-Za-z]")
_MAX_GAP: Final = 60
"""How far behind its word a key in groups begins: within a sentence. A guess."""
_ANSWER: Final = re.compile(
    r"[^\n?？]{0,60}+[?？][^\n]{0,8}+\n{1,2}+[ \t>*-]{0,4}+(?:[\w. ]{1,24}: ?)?"
    r"[\"'`]?(?P<value>[!-~]{6,80}+)[\"'`]?[ \t]*+(?:\n|$)"
)
"""A question for the secret, and the next line, which says nothing else."""


def find_in_lists(text: str, names: Iterable[Name]) -> Iterator[Span]:
    """Yield the parts of secrets that one of *names* announces."""
    done = 0
    for name in names:
        if name.start < done:
            continue
        spans = [*_groups(text, name)]
        if name.grade >= Grade.CODE:
            spans += [*_codes(text, name), *_codes_before(text, name), *_answers(text, name)]
        yield from spans
        done = max([done, *(end for _, end in spans)])


def _codes(text: str, name: Name) -> Iterator[Span]:
    """Yield the codes of "recovery codes: …", in a line or in lines."""
    if not _CODES.search(text, name.start, name.end):
        return
    before = _BEFORE_CODES.match(text, name.end)
    place = name.end if before is None else before.end()
    for _ in range(_MAX_CODES):
        found = _CODE.match(text, place)
        if found is None or not (has_digit(found["code"]) and len(found["code"]) >= 6):
            return
        yield found.span("code")
        place = found.end()


def _codes_before(text: str, name: Name) -> Iterator[Span]:
    """Yield the codes of a line that says what they are at its end."""
    if not _CODES.search(text, name.start, name.end) or text[name.end - 1] != "s":
        return
    start = max(0, name.start - _MAX_LINE)
    start = text.rfind("\n", start, name.start) + 1 or start
    if text.find("-", start, name.start) < 0:
        return
    for found in _GROUPED_CODE.finditer(text, start, name.start):
        if has_digit(found[0]):
            yield found.span()


def _groups(text: str, name: Name) -> Iterator[Span]:
    """Yield a key that is spelled in groups: `ABCD EFGH IJKL MNOP`."""
    stop = name.end + _MAX_GAP + 64
    if not has_digit(text[name.end : stop]):
        return
    for found in islice(_GROUPS.finditer(text, name.end, stop), 1):
        is_near = found.start() - name.end <= _MAX_GAP
        if is_near and name.grade >= Grade.CODE and _MIXED.search(found[0]):
            yield found.span()
    digits = _ALL_DIGITS.search(text, name.end, stop)
    if digits is not None and digits.start() - name.end <= _MAX_GAP // 4:
        yield digits.span()


def _answers(text: str, name: Name) -> Iterator[Span]:
    found = _ANSWER.match(text, name.end)
    if found is not None and can_be_secret(found["value"], name.grade, Link.SAID):
        yield found.span("value")
