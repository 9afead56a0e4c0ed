"""Run the command line inside this process, with its own standard streams."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from refold.cli import main


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
