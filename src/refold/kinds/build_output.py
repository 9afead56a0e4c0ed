"""What compilers and package managers print: diagnostics matter, progress does not."""

from __future__ import annotations

from typing import Final

from refold.kinds._rules import any_of, line_pattern, line_rules
from refold.kinds._sample import Sample
from refold.kinds._trouble import split_output
from refold.kinds.base import DETAIL, NOISE, SUMMARY, Kind, Pieces

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
_SUMMARY: Final = any_of(
    r"Finished |Done in |✨|✓ built|BUILD (?:SUCC|FAIL)|Successfully (?:installed|built) ",
    r"error: (?:could not compile|aborting)|Found [0-9]++ error",
    r"(?:✖ )?[0-9]++ (?:errors?|warnings?|problems?)\b",
)
_AROUND: Final = (
    r"(?:--> |[0-9]*+ ?\||= (?:note|help)|note: |help: |\^|[^\s:]++:[0-9]++:[0-9]++: note: )"
)
_IS_BUILD: Final = line_pattern(
    r"[^\s:(][^\n:(]{0,200}+"
    r"(?::[0-9]++(?::[0-9]++)?: (?:fatal )?(?:error|warning|note)\b"
    r"|\([0-9]++,[0-9]++\): (?:error|warning) )",
    r"(?:error|warning)(?:\[[A-Z]?[0-9]{3,5}\])?: ",
    r"[\w+./-]{1,200}+: (?:fatal )?(?:error|warning): ",
    r"[^\S\n]++--> \S",
    rf"[ \t]*+{_SURE_STEP}",
)
_MARKS: Final = line_rules(r"[ \t]*+", (SUMMARY, _SUMMARY), (NOISE, _STEP), (DETAIL, _AROUND))


def _claims(sample: Sample) -> bool:
    told = sample.count(_IS_BUILD)
    return told >= 2 and told >= 0.3 * len(sample.lines)


def split_build(text: str) -> Pieces:
    """Cut the output of a build into diagnostics, progress and summary."""
    return split_output(text, _MARKS(text))


KIND: Final = Kind(name="build_output", claims=_claims, split=split_build)
