"""Long unbroken runs: asked for by the detectors of encoded data, keys and hashes."""

from __future__ import annotations

from refold.text.runs import ANY_RUN, DATA_RUN, KEY_RUN
from refold.text.view import TextView


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
        notes.has_long_run = ANY_RUN.holds(view.plain)
    return notes.has_long_run
