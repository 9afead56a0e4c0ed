"""A worker: a process that folds one request after the other, as it is told over its input.

Jobs and answers are pickled, each behind its length. The process ends when its input does.
"""

from __future__ import annotations

import logging
import pickle
import struct
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO, Final

from refold.errors import describe
from refold.server.proxy.compressing import compress, original
from refold.server.proxy.folding import Folder, Job
from refold.server.proxy.settings import Settings

LENGTH: Final = struct.Struct(">I")
_log: Final = logging.getLogger("refold.serve")


class JobError(Exception):
    """What went wrong in a worker, in words without content."""


def write_frame(stream: BinaryIO, value: object) -> None:
    """Write one message."""
    stream.write(make_frame(value))
    stream.flush()


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


def _operations(folder: Folder) -> Mapping[str, Callable[..., Any]]:
    return {
        "fold": lambda *given: folder.fold(Job(*given)),
        "retrieve": folder.retrieve,
        "rounds": folder.enter_rounds,
        "off": folder.turn_off,
        "compress": lambda *given: compress(folder, *given),
        "original": lambda *given: original(folder, *given),
        "ping": lambda: None,
    }


def main() -> None:
    """Work until the input ends."""
    source, target = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # whatever is printed must not end up among the answers
    settings: Settings = read_frame(source)
    operations = _operations(Folder(settings, time.monotonic))
    while True:
        try:
            number, name, given = read_frame(source)
        except EOFError:
            return
        answer: object
        try:
            answer = operations[name](*given)
        except Exception as error:  # noqa: BLE001 - a request must never end the worker
            answer = JobError(f"{type(error).__name__}: {describe(error)}"[:300])
        write_frame(target, (number, answer))


if __name__ == "__main__":
    main()
