"""What holds for every test: its verdict is the same on a busy machine, and in CI every time."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator
from itertools import groupby

import pytest
from hypothesis import HealthCheck, settings

from refold.native import scanner

settings.register_profile(
    "refold",
    max_examples=30,
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("thorough", settings.get_profile("refold"), max_examples=1_000)
settings.load_profile("refold")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Take what is collected from the garbage collector: 600,000 objects that stay to the end.

    It would look at all of them whenever a test asks it to collect, and many times by itself.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where the scanner is not built, let one skip per module stand for all of its comparisons."""
    if scanner is not None:
        return
    compared = [item for item in items if item.get_closest_marker("scanner")]
    left_out: set[pytest.Item] = set()
    for _, group in groupby(compared, key=lambda item: item.path):
        first, *others = group
        reason = f"no scanner built, {1 + len(others)} comparisons left out: make test-compiled"
        first.add_marker(pytest.mark.skip(reason=reason))
        left_out.update(others)
    config.hook.pytest_deselected(items=[*left_out])
    items[:] = [item for item in items if item not in left_out]
