"""Long unbroken runs: asked for by the detectors of encoded data, keys and hashes."""

from __future__ import annotations

import string
from typing import Final

from refold.text.scan import RunTest
from refold.text.view import TextView

_ALPHANUMERIC: Final = string.ascii_letters + string.digits
KEY_LENGTH: Final = 20
DATA_LENGTH: Final = 40
DATA_RUN: Final = RunTest(_ALPHANUMERIC + "+/", DATA_LENGTH)
"""Characters of base64, the least that counts as encoded data. A hash is such a run too."""
KEY_RUN: Final = RunTest(_ALPHANUMERIC + "_-", KEY_LENGTH)
"""Characters that a credential is made of, the least that any of them has."""
_ANY_RUN: Final = RunTest(_ALPHANUMERIC + "+/_-", KEY_LENGTH)


def may_have_data(view: TextView) -> bool:
    """Tell whether there is a run long enough to be encoded data or a hash."""
    return _has_any(view) and DATA_RUN.holds(view.plain)


def may_have_key(view: TextView) -> bool:
    """Tell whether there is a run long enough to be a credential."""
    return _has_any(view) and KEY_RUN.holds(view.plain)


def _has_any(view: TextView) -> bool:
    """Tell in one go for both that there is none, which is so in most texts."""
    notes = view.notes
    if notes.has_long_run is None:
        notes.has_long_run = _ANY_RUN.holds(view.plain)
    return notes.has_long_run
