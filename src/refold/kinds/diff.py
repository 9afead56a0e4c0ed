"""Diffs: changed lines count more than the context around them, headers name the file."""

from __future__ import annotations

from typing import Final

from refold.kinds._errors import split_source
from refold.kinds._lines import any_of, line_pattern, line_rules
from refold.kinds.base import HEADING, NOISE, Grade, Kind, Pieces, Sample
from refold.rows import Needs

_NAMED: Final = Grade("heading", 1.5, leads=True)
"""Which file is changed."""
_CHANGED: Final = Grade("changed", 1.5)
_HUNK: Final = Grade("hunk", 1.2)
_CONTEXT: Final = Grade("context", 0.5, room=120)

_FILE: Final = any_of(
    r"diff --git ", r"\+\+\+ [^\n]", r"\*\*\* (?:Update|Add|Delete) File: ", r"Index: "
)
_HEADER: Final = line_pattern(_FILE, r"@@ -[0-9,]++ \+[0-9,]++ @@")
_MARKS: Final = line_rules(
    "",
    (_NAMED, _FILE),
    (HEADING, any_of("rename ", "commit ")),
    (_HUNK, "@@"),
    (
        NOISE,
        any_of(
            r"index [0-9a-f]|new file mode|deleted file|similarity |old mode|new mode",
            r"\\ No newline|={20}",
        ),
    ),
    (_CONTEXT, r"--- [^\n]|[ \t][^\n]"),
    (_CHANGED, r"[+-][^\n]"),
)


def _claims(sample: Sample) -> bool:
    return sample.count(_HEADER) >= 2 and sample.has("@@ -", "diff --git ", " File: ")


def split_diff(text: str) -> Pieces:
    """Cut a diff into headers, hunk heads, changed lines and context."""
    return split_source(text, _MARKS(text))


KIND: Final = Kind(name="diff", claims=_claims, needs=Needs(_HEADER), split=split_diff)
