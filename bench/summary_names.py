"""Fold recorded answers one by one and look at what their summaries name, and what they save.

Openers and labels are entities of one word whose capital is due to its place alone. Of the
addresses and paths that no sentence of the summary says, the list should name nearly all.

examples:
  python bench/summary_names.py ../shared/data --cap 40
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from records import parse_with_files, parser_for, read_records
from refold import compress
from table import draw, share

_NAMED: Final = "\nAlso named: "
_SHORTENED: Final = re.compile(r"\[shortened [^\]]*\]\n")
_ADDRESS: Final = re.compile(r"https?://[^\s<>\"'`)\]|*]+")
_PATH: Final = re.compile(r"(?<![\w/.:@-])(?:~?/|\.{1,2}/)?(?:[\w.-]+/)+[\w-]+\.[A-Za-z]\w{0,4}\b")
_WORD: Final = re.compile(r"[A-Z][a-z]+")
_BEFORE_OPENER: Final = re.compile(
    r"(?:^|(?<!Mr)(?<!Ms)(?<!Mrs)(?<!Dr)\.|[!?:;…\n\"'“(*#>|•–—-])[ \t*_`\"'“(]*\Z"
)
_ASIAN: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


@dataclass(slots=True)
class Tally:
    """Figures of one group of files."""

    texts: int = 0
    folded: int = 0
    entities: int = 0
    openers: int = 0
    repeated: int = 0
    places: int = 0
    places_named: int = 0
    tokens_before: int = 0
    tokens_after: int = 0

    def add(self, text: str) -> None:
        """Fold *text* and count what became of it."""
        talk = [
            {"role": "user", "content": "Go on."},
            {"role": "assistant", "content": text},
            {"role": "user", "content": "Thanks."},
        ]
        result = compress(talk, recency_window=1)
        self.texts += 1
        self.tokens_before += result.tokens_before
        self.tokens_after += result.tokens_after
        shown = str(result.messages[1]["content"])
        mark = _SHORTENED.match(shown)
        if mark is None:
            return
        self.folded += 1
        body, _, named = shown[mark.end() :].partition(_NAMED)
        names = named.split(", ") if named else []
        self.entities += len(names)
        self.openers += sum(is_opener(name, text) for name in names)
        self.repeated += sum(name in body for name in names)
        dropped = [place for place in places_in(text) if place not in body]
        self.places += len(dropped)
        self.places_named += sum(place in named for place in dropped)


def places_in(text: str) -> list[str]:
    """Return the addresses and paths of *text*, each once."""
    urls = [url.rstrip(".,;:!?") for url in _ADDRESS.findall(text)]
    return list(dict.fromkeys([*urls, *_PATH.findall(_ADDRESS.sub(" ", text))]))


def is_opener(name: str, text: str) -> bool:
    """Tell whether *name* is a word that has its capital from its place, or a label."""
    if not _WORD.fullmatch(name):
        return False
    if re.search(rf"\b{name.lower()}\b", text):
        return True
    places = [found.start() for found in re.finditer(rf"\b{name}\b(?!:)", text)]
    return all(_BEFORE_OPENER.search(text[max(0, place - 8) : place]) for place in places)


def answers(files: Sequence[Path], cap: int | None) -> Iterator[tuple[str, str]]:
    """Yield each distinct answer of an assistant in plain text, with its source."""
    seen: set[str] = set()
    for record in read_records(files, cap):
        for message in record.messages:
            text = message.get("content")
            if message.get("role") != "assistant" or not isinstance(text, str):
                continue
            if text not in seen:
                seen.add(text)
                yield record.source, text


def main(argv: Sequence[str] | None = None) -> int:
    """Print a row for each source and one for all."""
    arguments, files = parse_with_files(parser_for(__doc__), argv)
    tallies: defaultdict[str, Tally] = defaultdict(Tally)
    for source, text in answers(files, arguments.cap):
        script = "Chinese, Japanese" if _ASIAN.search(text) else "Latin"
        for group in (source, f"all, {script}", "all"):
            tallies[group].add(text)
    head = ["answers of", "texts", "folded", "entities", "openers", "repeated", "places", "named"]
    rows = [
        [
            group,
            tally.texts,
            tally.folded,
            tally.entities,
            share(tally.openers, tally.entities),
            share(tally.repeated, tally.entities),
            tally.places,
            share(tally.places_named, tally.places),
            share(tally.tokens_before - tally.tokens_after, tally.tokens_before),
        ]
        for group, tally in sorted(tallies.items())
        if tally.folded
    ]
    print(draw([*head, "saved"], rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
