"""The sign of each detector: one bit that says that a text may hold what it looks for.

All signs of a text are one number. Where the package is compiled, one look finds all of them, see
`refold.detectors._look`; interpreted, each detector's gate is asked in its turn.
"""

from __future__ import annotations

from typing import Final

CODE_FENCE: Final = 1 << 0
INDENTED_CODE: Final = 1 << 1
LATEX_MATH: Final = 1 << 2
UNICODE_MATH: Final = 1 << 3
JSON_STRUCTURE: Final = 1 << 4
YAML_STRUCTURE: Final = 1 << 5
VERSE_PATTERN: Final = 1 << 6
HIGH_LINE_LENGTH_VARIANCE: Final = 1 << 7
HIGH_SPECIAL_CHAR_RATIO: Final = 1 << 8
SQL_CONTENT: Final = 1 << 9
API_KEY: Final = 1 << 10
REASONING_CHAIN: Final = 1 << 11
URL: Final = 1 << 12
EMAIL: Final = 1 << 13
PHONE: Final = 1 << 14
VERSION_NUMBER: Final = 1 << 15
HASH_OR_SHA: Final = 1 << 16
BASE64_CONTENT: Final = 1 << 17
FILE_PATH: Final = 1 << 18
IP_OR_SEMVER: Final = 1 << 19
QUOTED_KEY: Final = 1 << 20
LEGAL_TERM: Final = 1 << 21
DIRECT_QUOTE: Final = 1 << 22
NUMERIC_WITH_UNITS: Final = 1 << 23
ERROR_TRACEBACK: Final = 1 << 24
HTTP_ERROR: Final = 1 << 25
FAILURE_SIGNATURE: Final = 1 << 26
ALWAYS: Final = 1 << 30
"""Set for every text: the sign of a detector that has none of its own."""
