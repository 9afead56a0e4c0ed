"""Read what a command writes to a terminal or a pipe."""

from __future__ import annotations

import os


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
