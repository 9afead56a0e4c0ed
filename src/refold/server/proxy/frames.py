"""How the proxy and its workers talk: pickled messages, each behind its length."""

from __future__ import annotations

import pickle
import struct
from typing import Any, BinaryIO, Final

LENGTH: Final = struct.Struct(">I")


def make_frame(value: object) -> bytes:
    """Spell one message."""
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    return LENGTH.pack(len(data)) + data


def read_frame(stream: BinaryIO) -> Any:
    """Read one message; `EOFError` at the end."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    return pickle.loads(stream.read(LENGTH.unpack(head)[0]))
