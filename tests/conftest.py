"""What holds for every test: its verdict is the same on a busy machine, and in CI every time."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# All talk is plain HTTP on loopback, but every client reads the certificates that are trusted: one
# of nobody is read in 0.4 ms, those of the world in 18, and that a thousand times.
os.environ["SSL_CERT_FILE"] = str(Path(__file__).with_name("nobody.pem"))

settings.register_profile(
    "refold",
    max_examples=5,
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("campaign", settings.get_profile("refold"), max_examples=40)
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
        gc.set_threshold(20_000, 20, 20)  # tests leave little; to look for it took 3 % of the time
        gc.enable()
