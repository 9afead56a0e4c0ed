"""Commands on a terminal or a pipe: reading what they write, and interrupting them."""

from __future__ import annotations

import os

LISTENING = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("refold", run_name="__main__", alter_sys=True)
"""
"""Runs refold so that it can be interrupted, even if these tests run where nothing can be."""


def read_until(descriptor: int, wanted: bytes) -> None:
    seen = b""
    while wanted not in seen:
        data = read(descriptor)
        assert data, f"it ended without {wanted!r}: {seen!r}"
        assert len(seen) < 1_000_000, f"it goes on without {wanted!r}: {seen[-500:]!r}"
        seen += data


def read_to_the_end(descriptor: int) -> bytes:
    return b"".join(iter(lambda: read(descriptor), b""))


def read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65_536)
    except OSError:  # how a terminal says that the other end is gone
        return b""
