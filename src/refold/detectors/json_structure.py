"""Sees a text that starts as JSON: an object with a quoted key, or an array of values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from refold.detectors.base import Detector, Span
from refold.scan.view import TextView

_START: Final = re.compile(
    r"""\s*+(?:
        \{\s*+"
      | \[\s*+(?:
            "
          | \{\s*+["}]
          | \[\s*+["\[{\]0-9-]
          # Numbers alone end the text or are cut off: "[1] see there" is a citation.
          | -?[0-9][0-9.eE+\-]*+\s*+(?:
                \]\s*+\Z
              | ,[0-9.eE+\-,\s]*+(?:\]\s*+\Z|\Z|["\[{]|null|true|false)
            )
        )
    )""",
    re.VERBOSE,
)


def _find(view: TextView) -> Iterator[Span]:
    if _START.match(view.text):
        yield 0, len(view.text)


DETECTOR: Final = Detector(reason="json_structure", hard=True, find=_find)
