"""Long unbroken runs of characters: where encoded data, hashes and keys can be."""

from __future__ import annotations

import string
from typing import Final

from refold.scan.plain_bytes import RunTest

Span = tuple[int, int]
"""Where something begins and ends in a text."""

_ALPHANUMERIC: Final = string.ascii_letters + string.digits
KEY_LENGTH: Final = 20
"""An access key of AWS has 20 characters; shorter runs are mostly names of things."""
KEY_RUN: Final = RunTest(_ALPHANUMERIC + "_-", KEY_LENGTH)
"""Characters that a credential is made of, the least that any of them has."""
