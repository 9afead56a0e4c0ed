"""Cutting prose into passages: sentences, headings, items of lists, none of them cut open.

A passage knows what it cannot be without: a heading that introduces it, or the sentence that its
"it" or "therefore" speaks of.
"""

from __future__ import annotations

import re
from typing import Final

from refold.scan.sentence_rules import is_list_line
from refold.scan.sentences import Span, sentence_spans

_MOST_JOINED: Final = 4
"""What is not closed after so many sentences was hardly opened: an apostrophe, a smiley."""
_PAIRS: Final = (("(", ")"), ("[", "]"), ("“", "”"), ("«", "»"), ("「", "」"), ("（", "）"))
_TWINS: Final = ('"', "`", "**")
_TAG: Final = re.compile(r"<(/?)[A-Za-z][\w:-]{0,40}(?:\s[^<>\n]{0,200})?(/?)>")
_ONLY_MARKUP: Final = re.compile(r"(?:<[^<>\n]{1,200}>|[\s#*_=|>~+:-])*+")
_LONG_HEADING: Final = 80
"""What is longer and ends in a colon is a sentence. From 60 to 120 `bench/summaries.py` gives the
same."""
_STANDS_FOR: Final = re.compile(
    # Pronouns and connectives that need the sentence before; a noun behind them would not.
    r"(?:it|they|them|he|she|this|these|those|that|both|either|neither|such|therefore|thus|hence|"
    r"otherwise|instead|so|then|without (?:it|them|that)|because of (?:it|that|this)|"
    r"er|sie|es|das|dies|diese[rs]?|deshalb|daher|sonst|ohne (?:ihn|sie|es)|dadurch|damit|"
    r"il|elle|ils|elles|cela|ça|ceci|c['’]est|sinon|sans (?:lui|elle|cela)|donc|"
    r"ella|ello|ellos|eso|esto|por eso|si no|sin (?:él|ella|ello)|así)(?!\w)"
    r"|它|他们|她|这|那(?!里)|所以|否则|因此|それ|これ|そのため|そうでなければ|その|彼",
    re.IGNORECASE,
)
_PRONOUN: Final = re.compile(
    r"(?:(?:and|but|so) )?(?:it|they|he|she) (?!is (?:not )?(?:clear|possible|time|worth))"
    r"|(?:et |mais )?(?:ils|elles) |(?:y |pero )?(?:ellos|ellas) ",
    re.IGNORECASE,
)
"""A subject that only the sentence before names, whatever else is said."""
_MANY_WORDS: Final = 12
"""Of a sentence that opens with one; with more, two sentences take too much room (`bench/gold`)."""
_OWN_CONTENT: Final = re.compile(r"[0-9`_/]|\w\.\w|[a-z][A-Z]|[A-Z]{2}")
"""Figures and identifiers can be understood without the sentence before."""
_FEW_WORDS: Final = 6
"""Of a sentence that begins with what stands for something else. Tuned on `bench/summaries.py`:
with 9 the acts kept fall from 96.1 to 94.8 %, with 3 they are 96.4 % and summaries have pronouns
without their nouns."""
_FEW_ASIAN: Final = 12
"""A sentence of more words, or characters of a script without blanks, says what it is about."""


class Passage:
    """One sentence, heading or item, as it may stand in a summary; read-only but for `needs`."""

    __slots__ = ("gap", "is_heading", "is_item", "is_markup", "needs", "paragraph", "text")

    def __init__(
        self,
        text: str,
        paragraph: int,
        gap: str,
        *,
        is_heading: bool,
        is_item: bool,
        is_markup: bool,
    ) -> None:
        self.text: Final = text
        self.paragraph: Final = paragraph
        self.gap: Final = gap
        """What stands between it and the passage before: nothing, a blank, or a line break."""
        self.is_heading: Final = is_heading
        self.is_item: Final = is_item
        self.is_markup: Final = is_markup
        """Whether there is nothing in it but tags, rules and the like."""
        self.needs = -1
        """The place of the passage that it cannot be without, if any."""


def read_passages(text: str) -> list[Passage]:
    """Cut *text* into passages, in reading order."""
    passages: list[Passage] = []
    spans = sentence_spans(text)
    place = end_before = 0
    while place < len(spans):
        start, _, paragraph = spans[place]
        feed = text.rfind("\n", end_before, start)
        begins_line = feed >= 0 or not end_before
        line = max(feed + 1, end_before)
        is_listed = begins_line and is_list_line(text, line, spans[place][1])
        last = _line_end(text, spans, place) if is_listed else _closing(text, spans, place)
        end = spans[last][1]
        passages.append(
            Passage(
                _unwrapped(text[start:end]),
                paragraph,
                "\n" if feed >= 0 else " " if start > end_before > 0 else "",
                is_heading=begins_line and _is_heading(text, start, end),
                is_item=is_listed and text[start] not in "#|>",
                is_markup=_ONLY_MARKUP.fullmatch(text, start, end) is not None,
            )
        )
        end_before = end
        place = last + 1
    _link(passages)
    return passages


def _unwrapped(said: str) -> str:
    return " ".join(said.split()) if "\n" in said else said


def _is_heading(text: str, start: int, end: int) -> bool:
    """Tell whether a line is a heading: `# Title`, `**Title**`, or what ends with a colon."""
    if end - start > _LONG_HEADING or text[end : end + 3].strip(" \t")[:1] not in ("", "\n", "\r"):
        return False
    said = text[start:end]
    if said.startswith("#") or (said.startswith("**") and said.endswith("**")):
        return True
    return said.rstrip("*_ ").endswith((":", "："))


def _line_end(text: str, spans: list[Span], place: int) -> int:
    """Return the last sentence of the line that begins with the one at *place*."""
    last = place
    while last + 1 < len(spans) and text.find("\n", spans[last][1], spans[last + 1][0]) < 0:
        last += 1
    return last


def _closing(text: str, spans: list[Span], place: int) -> int:
    """Return the sentence that closes what the one at *place* opens; if none does, itself."""
    start, end, paragraph = spans[place]
    if _is_open(text[start:end]) and not _ONLY_MARKUP.fullmatch(text, start, end):
        for ahead in range(place + 1, min(place + _MOST_JOINED, len(spans))):
            if spans[ahead][2] != paragraph:
                break
            if not _is_open(text[start : spans[ahead][1]]):
                return ahead
    return place


def _is_open(said: str) -> bool:
    """Tell whether a quotation, a bracket, code or a tag is opened in *said* and not closed."""
    for opening, closing in _PAIRS:
        if opening in said and said.count(opening) > said.count(closing):
            return True
    for twin in _TWINS:
        if twin in said and said.count(twin) % 2:
            return True
    if "<" not in said:
        return False
    depth = 0
    for tag in _TAG.finditer(said):
        depth += 0 if tag[2] else -1 if tag[1] else 1
    return depth > 0


def closers(said: str) -> str:
    """Return what would close the quotations, brackets and code that *said* leaves open."""
    found = [closing for opening, closing in _PAIRS if said.count(opening) > said.count(closing)]
    found += [twin for twin in _TWINS if said.count(twin) % 2]
    return "".join(reversed(found))


def _link(passages: list[Passage]) -> None:
    """Note what each passage needs: its heading, or what its first words stand for."""
    heading = lead = -1
    for place, passage in enumerate(passages):
        if passage.is_heading:
            heading = lead = place
            continue
        if passage.is_item:
            passage.needs = lead
        elif heading == place - 1 and heading >= 0:
            passage.needs = heading
        elif not passage.is_markup:
            lead = -1
            if place and stands_for_another(passage.text):
                passage.needs = place - 1


def stands_for_another(said: str) -> bool:
    """Tell whether a sentence cannot be understood without the one before: "It failed again."."""
    words = said.count(" ") + 1
    if _PRONOUN.match(said) is not None and words < _MANY_WORDS:
        return True
    if _STANDS_FOR.match(said) is None or _OWN_CONTENT.search(said):
        return False
    return words < _FEW_WORDS if said.isascii() or words > 1 else len(said) < _FEW_ASIAN
