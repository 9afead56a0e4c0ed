"""What a fold has worked out is gone when it is done: nothing waits for the garbage collector."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "bench"))

from generate import generate
from refold import compress
from refold.options import Profile

MESSAGES = generate(0.03, 7)


@pytest.mark.parametrize("budget", [None, 2_000])
@pytest.mark.parametrize("profile", ["standard", "lossless", "classic"])
def test_nothing_of_ours_is_left_in_a_circle(profile: Profile, budget: int | None) -> None:
    compress(MESSAGES, profile=profile, token_budget=budget)  # what is made once is made
    gc.freeze()  # what there is by now is not looked at
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        result = compress(MESSAGES, profile=profile, token_budget=budget)
        gc.collect()
        left = {type(thing) for thing in gc.garbage if type(thing).__module__.startswith("refold")}
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert result.messages
    assert not left
