"""A worker: a process that folds one request after the other, as it is told over its input.

It ends when its input does.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from refold.conversation.session import Session
from refold.errors import JobError, describe
from refold.server.proxy.compressing import compress, original
from refold.server.proxy.folding import Folder
from refold.server.proxy.request import make_frame, read_frame
from refold.server.proxy.settings import Settings


def _operations(folder: Folder) -> Mapping[str, Callable[..., Any]]:
    return {
        "fold": folder.fold,
        "retrieve": folder.retrieve,
        "rounds": folder.enter_rounds,
        "off": folder.turn_off,
        "look": folder.look,
        "compress": lambda *given: compress(folder, *given),
        "original": lambda *given: original(folder, *given),
        "ping": lambda: None,
    }


def warm_up() -> None:
    """Load what folding needs, so that the first request does not wait for it past its deadline."""
    log = "\n".join(f"10:00:{n:02} INFO worker {n} took {7 * n} ms" for n in range(200))
    call = {"type": "tool_use", "id": "c", "name": "read_log", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "c", "content": log}
    session = Session(token_budget=2_000, thinking="append")
    session.append({"role": "user", "content": "Why?"})
    session.append({"role": "assistant", "content": [call]})
    session.append({"role": "user", "content": [result]})
    session.view()


def main() -> None:
    """Work until the input ends."""
    source, target = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # whatever is printed must not end up among the answers
    settings: Settings = read_frame(source)
    warm_up()
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
            answer = JobError(describe(error))
        target.write(make_frame((number, answer)))
        target.flush()


if __name__ == "__main__":
    main()
