"""The scripted model in a process of its own: `python -m tests.server_process 429 empty`.

It says where it listens, follows its script, and ends when its input does, saying how often it was
asked.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.model_server import (
    Behaviour,
    ModelServer,
    breaks_off,
    broken,
    hallucinates,
    is_empty,
    is_injected,
    rambles,
    rate_limited,
    refuses,
    slow,
)

BEHAVIOURS: dict[str, Behaviour] = {
    "slow": slow(0.2),
    "429": rate_limited("0.1"),
    "500": broken(500),
    "truncated": breaks_off,
    "empty": is_empty,
    "refusal": refuses,
    "longer": rambles,
    "hallucinating": hallucinates,
    "injected": is_injected,
}


class ServerProcess:
    """A server under way, and what it said at its end."""

    def __init__(self, process: subprocess.Popen[str], openai_url: str) -> None:
        self.pid = process.pid
        self.openai_url = openai_url
        self.times_asked = 0


@contextmanager
def start_server(*script: str) -> Iterator[ServerProcess]:
    """Run a server that behaves as *script* says, and well after that."""
    command = [sys.executable, "-m", "tests.server_process", *script]
    root = Path(__file__).parent.parent
    with subprocess.Popen(
        command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        server = ServerProcess(process, process.stdout.readline().strip())
        try:
            yield server
        finally:
            process.stdin.close()
            server.times_asked = int(process.stdout.readline())


def main(names: list[str]) -> None:
    """Serve until standard input ends."""
    with ModelServer(*(BEHAVIOURS[name] for name in names)) as server:
        print(server.openai_url, flush=True)
        sys.stdin.read()
        print(len(server.asked), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
