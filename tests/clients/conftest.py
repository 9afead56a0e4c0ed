"""One agent in a home and a folder of its own, with a scripted provider."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from refold.server.originals import counts_beside, read_counts
from tests.clients.scripted import write_logs
from tests.clients.upstream import Upstream, results_of, serving
from tests.patience import FOR_EVER

REFOLD = (sys.executable, "-m", "refold")


@dataclass(frozen=True)
class Agent:
    """A user's machine: nothing on it but what the test has put there."""

    home: Path
    work: Path
    upstream: Upstream
    extra: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def env(self) -> dict[str, str]:
        return {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "PYTHONPATH": ":".join(sys.path),
            "ANTHROPIC_API_KEY": "sk-ant-fake",
            "ANTHROPIC_BASE_URL": self.upstream.url,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "OPENAI_API_KEY": "sk-fake",
            "OPENAI_BASE_URL": f"{self.upstream.url}/v1",
            # What has to start takes as long as it takes.
            "MCP_CONNECT_TIMEOUT_MS": "600000",
            "MCP_TIMEOUT": "600000",
            "REFOLD_FOLD_MS": "600000",
            **self.extra,
        }

    def write_logs(self, lines: int) -> None:
        write_logs(self.work, lines)

    def run(self, *command: object, **env: str) -> subprocess.CompletedProcess[str]:
        """Run a program to its end, in the folder with the logs."""
        return subprocess.run(
            [str(word) for word in command],
            env={**self.env, **env},
            cwd=self.work,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=FOR_EVER,
            check=True,
        )

    def refold(self, *arguments: object) -> str:
        return self.run(*REFOLD, *arguments).stdout

    @contextmanager
    def proxy(self, *options: str) -> Iterator[str]:
        """Run `refold serve`, and lend its address."""
        command = [*REFOLD, "serve", "--port", "0", *options]
        names = ("REFOLD_ANTHROPIC_URL", "REFOLD_OPENAI_URL")
        env = {**self.env, **dict.fromkeys(names, self.upstream.url)}
        with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            try:
                yield server.stdout.readline().removeprefix("listening on ").strip()
            finally:
                server.terminate()

    @property
    def counts(self) -> dict[str, int]:
        return read_counts(counts_beside(self.home / ".local" / "share" / "refold" / "refold.db"))

    @property
    def shown(self) -> float:
        """How much of the logs the last request had, as a share."""
        logs = sum(len(path.read_text()) for path in self.work.glob("*.log"))
        return sum(map(len, results_of(self.upstream.requests[-1]))) / logs


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Agent]:
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    with serving() as upstream:
        yield Agent(home, work, upstream)
