"""What compilers and package managers print: diagnostics matter, progress does not."""

from __future__ import annotations

import re
from heapq import merge
from operator import attrgetter
from typing import Final

from refold.kinds._errors import find_in_output, find_starts, settle
from refold.kinds._lines import any_of, line_pattern, line_rules, tile
from refold.kinds.base import BAD_SUMMARY, DETAIL, EVIDENCE, NOISE, SUMMARY, Kind, Pieces, Sample
from refold.rows import Needs

_SURE_STEP: Final = any_of(
    r"(?:Compiling|Checking|Building|Downloaded|Documenting|Fresh) [\w-]++ v[0-9]",  # cargo
    r"make(?:\[[0-9]++\])?: ",
    r"(?:gcc|g\+\+|cc|clang|clang\+\+|ar|ld) -",
    r"\[ *[0-9]{1,3}%\]|\[[0-9]++/[0-9]++\]",  # cmake, ninja, webpack
    r"npm (?:notice|warn|WARN|ERR!|error)|added [0-9]++ packages|> [\w@/.-]++ (?:build|test|lint)",
    r"Collecting |Requirement already |Using cached |Successfully (?:installed|built) ",  # pip
    r"\[(?:INFO|WARNING|ERROR)\]|> Task :|Download(?:ing|ed) from ",  # maven, gradle
    r"(?:Get|Hit|Fetched):?[0-9 ]|Unpacking |Setting up |Selecting previously ",  # apt
)
_STEP: Final = any_of(
    _SURE_STEP,
    r"(?:Compiling|Building|Downloading|Installing|Updating|Fetching|Resolving|Linking)\b",
    r"(?:Preparing|Reading|Obtaining|Uninstalling|Attempting|Cloning into|Found existing)\b",
    r"(?:Stored in|Created (?:wheel|temporary)|remote: |Receiving |Progress|━)",
    r"(?:copying|creating|adding|writing|running|reading) \S",  # setuptools
)
_SUMMARY: Final = r"Finished |Done in |✨|✓ built|BUILD SUCC|Successfully (?:installed|built) "
_BAD_SUMMARY: Final = any_of(
    r"error: (?:could not compile|aborting)|Found [1-9][0-9]*+ error|BUILD FAIL",
    r"(?:✖ )?[1-9][0-9]*+ (?:errors?|warnings?|problems?)\b",
)
_AT: Final = r"--> \S"
"""Where an error is, on a line of its own."""
_AROUND: Final = (
    r"(?:[0-9]*+ ?\||= (?:note|help)|note: |help: |\^|[^\s:]++:[0-9]++:[0-9]++: note: )"
)
_PLACE: Final = r"[^\s:(\"'][^\n:(\"']{0,200}+:[0-9]++:[0-9]++: "
_LINT: Final = r"(?:\[[\w-]++\] )?[A-Z]{1,4}[0-9]{3,5}\b"
_BARE: Final = re.compile(
    rf"\n{_PLACE}(?:(?P<warning>{_LINT})|(?P<error>(?!(?:note|info|warning|error|fatal)\b)\S))"
)
"""A diagnostic without a severity: those of linters have a number, Go's are errors."""
_IS_BARE: Final = line_pattern(rf"{_PLACE}\S")
_HAS_PLACE: Final = re.compile(r":[0-9]++:[0-9]++: ")
_IS_STEP: Final = line_pattern(rf"[ \t]*+(?=[BCDFGHRSU>\[acglmn]){_SURE_STEP}")
_NEEDS: Final = Needs(("error", "warning", "-->", "note", _HAS_PLACE, _IS_STEP))
"""Every diagnostic with a severity has one of the first four."""
_IS_STEP_OR_DIAGNOSTIC: Final = line_pattern(
    r"[^\s:(][^\n:(]{0,200}+"
    r"(?::[0-9]++(?::[0-9]++)?: (?:fatal )?(?:error|warning|note)\b"
    r"|\([0-9]++,[0-9]++\): (?:error|warning) )",
    r"(?:error|warning)(?:\[[A-Z]?[0-9]{3,5}\])?: ",
    r"[\w+./-]{1,200}+: (?:fatal )?(?:error|warning): ",
    r"[^\S\n]++--> \S",
    r"[ \t]++[0-9]++:[0-9]++ ++(?:error|warning) ++\S",  # eslint
    rf"[ \t]*+{_SURE_STEP}",
)
_MARKS: Final = line_rules(
    r"[ \t]*+",
    (BAD_SUMMARY, _BAD_SUMMARY),
    (SUMMARY, _SUMMARY),
    (NOISE, _STEP),
    (EVIDENCE, _AT),
    (DETAIL, _AROUND),
)


def _claims(sample: Sample) -> bool:
    steps = sample.count(_IS_STEP_OR_DIAGNOSTIC)
    if _HAS_PLACE.search(sample.block) and not sample.was_search:
        steps = max(steps, sample.count(_IS_BARE))
    return steps >= 2 and steps >= 0.3 * len(sample.lines)


def split_build(text: str) -> Pieces:
    """Cut the output of a build into diagnostics, progress and summary."""
    marks = _MARKS(text)
    errors = merge(find_in_output(text), find_starts(_BARE, text), key=attrgetter("place"))
    return tile(text, marks, settle(text, errors, marks))


KIND: Final = Kind(name="build_output", claims=_claims, needs=_NEEDS, split=split_build)
