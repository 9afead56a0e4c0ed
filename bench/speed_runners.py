"""Processes that `bench/speed.py` measures: Pythons with the package, peers, and imports."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final, Self

from generate import Messages

_WORKER: Final = Path(__file__).with_name("speed_worker.py")
_IMPORTS: Final[Mapping[str, str]] = {
    "import refold": "import refold",
    "import, ready to fold": "import refold; refold.compress",
}


class Form:
    """A Python with the package, warmed up on one corpus."""

    def __init__(self, name: str, python: str, corpus: Path, *options: str) -> None:
        self.name = name
        self._command = [python, str(_WORKER), str(corpus), *options]
        self.seconds: dict[str, list[float]] = {}
        """What each run of each job took; bytes where it is about memory."""
        self.cpu: dict[str, list[float]] = {}
        """The seconds of CPU time of each, with what is around it."""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._answer()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def run(self, job: str) -> None:
        """Have a job done once more."""
        assert self._process.stdin is not None
        self._process.stdin.write(job + "\n")
        self._process.stdin.flush()
        answer = self._answer()
        self.seconds.setdefault(job, []).append(answer["seconds"])
        self.cpu.setdefault(job, []).append(answer["cpu"])

    def milliseconds(self, job: str) -> list[float]:
        """Return what each run of *job* took."""
        return [1000 * seconds for seconds in self.seconds[job]]

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"{self._command[0]} gave up; see above")
        return json.loads(line)


class Peer:
    """Another compressor: a command that reads messages and writes JSON."""

    def __init__(self, command: str, conversations: list[Messages], *, cpu: bool) -> None:
        self._command = shlex.split(command)
        self._cpu = cpu
        self._inputs = [json.dumps(messages) for messages in conversations]
        self.seconds: list[float] = []

    def run(self) -> None:
        """Have every conversation folded once more; the time to start is not counted."""
        start = self._time("[]")
        spent = sum(self._time(messages) - start for messages in self._inputs)
        self.seconds.append(max(spent, 1e-6))

    def _time(self, messages: str) -> float:
        began = _now(cpu=self._cpu)
        done = subprocess.run(
            self._command, input=messages, capture_output=True, text=True, check=False
        )
        seconds = _now(cpu=self._cpu) - began
        if done.returncode:
            raise SystemExit(f"the peer failed: {done.stderr.strip()[-500:]}")
        json.loads(done.stdout)
        return seconds


def count_instructions(python: str, corpus: Path, jobs: Sequence[str]) -> dict[str, int]:
    """Return the instructions that one run of each job takes beside starting and warming up.

    Counted by `perf` where the processor lets it, else by `valgrind`, which is some fifty times as
    slow as the job; nothing where there is neither.
    """
    count = next((way for way in (_by_perf, _by_valgrind) if way([python, "-c", ""], "")), None)
    if count is None:
        return {}
    command = [python, str(_WORKER), str(corpus)]
    idle = count(command, "")
    return {job: max(0, count(command, f"{job}\n") - idle) for job in jobs}


def _by_perf(command: Sequence[str], given: str) -> int:
    return _counted(
        ["perf", "stat", "-x", ",", "-e", "instructions:u", *command],
        given,
        re.compile(r"^(\d+),[^,\n]*,instructions", re.MULTILINE),
    )


def _by_valgrind(command: Sequence[str], given: str) -> int:
    quiet = ["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    found = re.compile(r"I\s+refs:\s+([\d,]+)")
    return _counted(["valgrind", *quiet, *command], given, found)


def _counted(command: Sequence[str], given: str, pattern: re.Pattern[str]) -> int:
    """Run *command*, and return the number that *pattern* finds in what it says at the end."""
    try:
        done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return 0
    found = pattern.search(done.stderr)
    return int(found[1].replace(",", "")) if found and not done.returncode else 0


def time_imports(python: str, runs: int, *, cpu: bool) -> dict[str, list[float]]:
    """Return the milliseconds that importing takes beyond a bare Python, run by run."""
    found: dict[str, list[float]] = {name: [] for name in _IMPORTS}
    for _ in range(runs):
        for name, code in _IMPORTS.items():
            bare = median(_start(python, "pass", cpu=cpu) for _ in range(3))
            ready = median(_start(python, code, cpu=cpu) for _ in range(3))
            found[name].append(1000 * (ready - bare))
    return found


def _start(python: str, code: str, *, cpu: bool) -> float:
    began = _now(cpu=cpu)
    subprocess.run([python, "-c", code], check=True)
    return _now(cpu=cpu) - began


def _now(*, cpu: bool) -> float:
    """Return the time of day, or the CPU time of all processes that have ended."""
    if not cpu:
        return time.perf_counter()
    import resource  # not everywhere

    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime
