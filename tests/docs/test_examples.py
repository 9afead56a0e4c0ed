"""Every example in the README and the docs runs, in order, and shows what it really prints.

The blocks of a page share one namespace and one empty directory. A `text` block right below a
`python` block is its output. A `console` block with `$ refold …` holds commands and their output.
In shown output `...` stands for anything: alone on a line for any lines, else for any characters.
A block for a framework that is not installed is left out; `make test-integrations` runs them all.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from refold.cli import main
from tests.integrations.given import given_to
from tests.patience import FOR_EVER

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FRAMEWORK = re.compile(r"^from (refold\.integrations\.(\w+)) import", re.MULTILINE)
CONVERSATION = [
    {"role": "user", "content": "Why did last night's import stop?"},
    {"role": "assistant", "content": "An empty date in row 817 of data/orders.csv. " * 20},
    {"role": "user", "content": "Treat it as unknown, please."},
]
"""What `messages` are where a page does not say."""
PACKAGE = re.compile(
    r"^(?:import|from) (daft|dask|datasets|datatrove|polars|pyarrow|pyspark|ray|zstandard)\b",
    re.MULTILINE,
)
"""What the recipes for data engines need; `make test-batch` has all of it."""
SHELL = re.compile(r"[|&;<>$*?`()]")
"""What a shell would read."""
LINK = re.compile(r"\]\((?!https?://|#)([^)#\s]+)")


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    line: int
    """Number of its first line in the page."""
    follows: bool
    """Whether only blank lines stand between the block before and this one."""


def blocks_of(page: str) -> Iterator[Block]:
    end = 0
    for found in BLOCK.finditer(page):
        line = page.count("\n", 0, found.start(2)) + 1
        yield Block(found[1], found[2], line, not page[end : found.start()].strip())
        end = found.end()


def matches(shown: str, real: str) -> bool:
    """Compare line by line without trailing blanks; `...` stands for anything."""
    pieces = []
    for line in shown.strip("\n").splitlines():
        if line.strip() == "...":
            pieces.append(r"(?:.*\n)*?")
        else:
            pieces.append(".*?".join(map(re.escape, line.rstrip().split("..."))) + r"\n")
    lines = [line.rstrip() for line in real.strip("\n").splitlines()]
    return re.fullmatch("".join(pieces), "".join(f"{line}\n" for line in lines)) is not None


def run_python(block: Block, page: Path, names: dict[str, Any]) -> str:
    out = io.StringIO()
    source = "\n" * (block.line - 1) + block.text  # so that a traceback names the page's line
    with redirect_stdout(out):
        exec(compile(source, str(page), "exec"), names)
    return out.getvalue()


def may_run(block: Block) -> bool:
    """Tell whether the framework or data engine that a block is for is installed."""
    if not all(find_spec(found[1]) for found in PACKAGE.finditer(block.text)):
        return False
    try:
        return all(import_module(found[1]) for found in FRAMEWORK.finditer(block.text))
    except ImportError:
        return False


def commands_of(block: Block) -> list[tuple[str, str]]:
    """Cut a console block into commands and the output shown below each."""
    first, *pieces = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
    assert not first.strip(), f"line {block.line}: output without a command"
    parted = [re.match(r"((?:.*\\\n)*.*)\n?([\s\S]*)", piece) for piece in pieces]
    return [(found[1], found[2]) for found in parted if found]


def run_command(command: str) -> str:
    """Run a command in a shell, or in this process if it is one of ours and needs no shell."""
    if command.startswith("refold ") and not SHELL.search(command):
        out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        with redirect_stdout(out), redirect_stderr(out):
            code = main(shlex.split(command.replace("\\\n", " "))[1:])
        out.seek(0)
        output = out.read()
    else:
        done = subprocess.run(
            command,
            shell=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=FOR_EVER,
            check=False,
        )
        code, output = done.returncode, done.stdout.decode()
    assert code == 0, f"$ {command}\n{output}"
    return output


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "USERPROFILE", "LOCALAPPDATA", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path))  # where originals are kept by default
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "a key that nobody uses")
    monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")
    for name, value in (("COLUMNS", "80"), ("NO_COLOR", "1"), ("PYTHONUTF8", "1")):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    names: dict[str, Any] = {"__name__": "example", "messages": [*CONVERSATION]}
    printed: str | None = None
    for block in blocks_of(page.read_text(encoding="utf-8")):
        where = f"{page.name}, line {block.line}"
        if block.language == "text" and block.follows and printed is not None:
            assert matches(block.text, printed), f"{where}: it really prints\n{printed}"
        printed = None
        if block.language == "python" and may_run(block):
            framework = FRAMEWORK.search(block.text)
            if framework is not None:
                names.update(given_to(framework[2]))
            printed = run_python(block, page, names)
        elif block.language == "console" and "$ refold" in block.text and os.name != "nt":
            for command, shown in commands_of(block):
                real = run_command(command)
                assert matches(shown, real), f"{where}: $ {command}\nreally prints\n{real}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize(
    ("shown", "real", "expected"),
    [
        ("a\n", "a\n", True),
        ("a\n", "b\n", False),
        ("a\n...\nd\n", "a\nb\nc\nd\n", True),
        ("a\n...\nd\n", "a\nd\n", True),
        ("a\n...\n", "b\n", False),
        ("took ... ms\n", "took 12 ms\n", True),
        ("", "said something\n", False),
        ("", "", True),
    ],
)
def test_output_is_compared(shown: str, real: str, expected: bool) -> None:
    assert matches(shown, real) is expected
