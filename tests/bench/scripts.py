"""Run the scripts of `bench/` as a command line would."""

from __future__ import annotations

import io
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from tests.patience import FOR_EVER

BENCH = Path(__file__).parents[2] / "bench"
sys.path.append(str(BENCH))


class Done(NamedTuple):
    """What is left of a command."""

    returncode: int
    stdout: str
    stderr: str


def run(script: str, *arguments: str) -> Done:
    """Run the `main` of a script in this process, which saves the time that starting one takes."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = import_module(script.removesuffix(".py")).main(arguments)
        except SystemExit as stopped:  # argparse: --help, or an argument that is wrong
            code = stopped.code
    return Done(code or 0, out.getvalue(), err.getvalue())


def start(script: str, *arguments: str) -> Done:
    """Run a script that has processes of its own in one of its own, too."""
    done = subprocess.run(
        [sys.executable, str(BENCH / script), *arguments],
        capture_output=True,
        text=True,
        timeout=FOR_EVER,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)
