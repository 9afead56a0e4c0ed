"""The counter of a window manager: it remembers, and an estimate learns."""

from __future__ import annotations

from refold.agent.counting import RememberingCounter
from refold.tokens.choose import CalibratedCounter, is_estimate
from refold.tokens.counter import TokenCounter


def remembering(counter: TokenCounter) -> TokenCounter:
    """Let *counter* remember; an estimate also learns from what providers report."""
    if isinstance(counter, CalibratedCounter):
        return counter  # its counts change as it learns, so they must not be kept
    kept = RememberingCounter(counter)
    return CalibratedCounter(kept) if is_estimate(counter) else kept
