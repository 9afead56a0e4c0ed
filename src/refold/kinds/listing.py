"""Directory listings: `ls`, `find`, `tree`, globs; generated folders count less."""

from __future__ import annotations

import re
from typing import Final

from refold.kinds._errors import split_source
from refold.kinds._lines import END, any_of, line_pattern, line_rules, mark_lines_with
from refold.kinds.base import NOISE, Grade, Kind, Pieces, Sample

_ENTRY: Final = Grade("entry", 0.6)
_FOLDER: Final = Grade("heading", 0.5, leads=True)
_LONG_FORM: Final = r"[-dlcbps][rwxsStT-]{9}[.+@]?[ \t]"
_NAME: Final = r"[\w.@+~\[\](),=-]++"
_PATH: Final = rf"(?:[A-Za-z]:[/\\]|[/\\])?(?:{_NAME}[/\\])*+(?:{_NAME})?"

_IS_ENTRY: Final = line_pattern(
    _LONG_FORM,
    r"total [0-9]",
    r"[│| \xa0]*+(?:├──|└──|\|--|`--|\+--)",
    rf"[ \t]*+- {_NAME}/?$",
    rf"[ \t]*+(?={_PATH}:?$)[^\n]*[/.]",
)
_MARKS: Final = line_rules(
    "",
    (NOISE, any_of("total [0-9]", rf"d[rwxsStT-]{{9}}[^\n]*+(?:(?<= \.)|(?<= \.\.)){END}")),
    (_FOLDER, any_of(rf"[\w./@~-]++:{END}", r"[0-9]++ director(?:y|ies), ")),
    (_ENTRY, r"[^\n]{3}"),
)
_GENERATED: Final = re.compile(
    r"node_modules/|__pycache__|\.pytest_cache|\.pyc\b|\.DS_Store|\.git/objects"
)
_TOOLS: Final = ("glob", "list", "ls", "find_file", "tree")
_COMMAND: Final = re.compile(r"[\s\"'|;&(](?:ls|find|tree|fd|git ls-files|rg --files)(?:\s|\"|$)")


def _claims(sample: Sample) -> bool:
    if sample.tool in _TOOLS or _COMMAND.search(sample.arguments):
        return sample.share(_IS_ENTRY) >= 0.5
    lines = sample.lines
    if len(lines) < 4 or not any(_IS_ENTRY.match("\n" + lines[at]) for at in (1, -2)):
        return False  # nearly every text ends here
    return sample.share(_IS_ENTRY) >= 0.8


def split_listing(text: str) -> Pieces:
    """Cut a listing into entries."""
    marks = _MARKS(text)
    mark_lines_with(_GENERATED, text, NOISE, marks)
    return split_source(text, marks)


KIND: Final = Kind(name="listing", claims=_claims, split=split_listing)
