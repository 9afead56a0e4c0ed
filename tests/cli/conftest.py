"""Run the command line inside this process, with its own standard streams."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from refold.cli import main
from tests.plan.runs import call, source_code


@dataclass(frozen=True)
class Run:
    code: int
    out: bytes
    err: str


Refold = Callable[..., Run]


@pytest.fixture
def refold(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Refold:
    monkeypatch.chdir(tmp_path)
    for name in ("FORCE_COLOR", "NO_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)

    def run(*args: object, stdin: bytes = b"") -> Run:
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            code = main([str(arg) for arg in args])
        out.flush()
        err.flush()
        return Run(code, _bytes(out), _bytes(err).decode())

    return run


def _bytes(stream: io.TextIOWrapper) -> bytes:
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue()


@pytest.fixture
def file(refold: Refold) -> Path:
    """An agent that reads ten files, of which the last has an error."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Fix the queue."}]
    for n in range(9):
        messages += call(n, "read_file", {"path": f"src/mod{n}.py"}, source_code(n))
    failed = f"{source_code(9)}\nError: the queue src/mod3.py is full"
    messages += [*call(9, "run", {}, failed), {"role": "user", "content": "And now?"}]
    path = Path("work.json").absolute()
    path.write_text(json.dumps(messages), encoding="utf-8")
    return path
