"""Long unbroken runs: asked for by the detectors of encoded data, keys and hashes."""

from __future__ import annotations

import string
from typing import Final

from refold.text.scan import RunTest

_ALPHANUMERIC: Final = string.ascii_letters + string.digits
DATA_RUN: Final = RunTest(_ALPHANUMERIC + "+/", 40)
"""Forty characters of base64: the least that counts as encoded data. A hash is such a run too."""
KEY_RUN: Final = RunTest(_ALPHANUMERIC + "_-", 20)
"""Twenty characters that a credential is made of: the least that any of them has."""
