"""Commands on the pages that no test runs: programs, targets, extras and options exist."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import click
import pytest

from refold.cli import COMMANDS, load_command
from tests.docs.test_examples import PAGES, ROOT, blocks_of

INLINE = re.compile(r"`((?:refold|make|pip install|python bench/)[^`]+)`")
EXTRA = re.compile(r"refold\[([\w,-]+)\]|\.\[([\w,-]+)\]")
TARGETS = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
EXTRAS = set(
    tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
)


def commands_on(page: Path) -> list[str]:
    """Return the lines of `sh` blocks and the commands inside of sentences."""
    text = page.read_text(encoding="utf-8")
    lines = [
        line for b in blocks_of(text) if b.language == "sh" for line in b.text.splitlines() if line
    ]
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return lines + [" ".join(found.split()) for found in INLINE.findall(prose)]


def fault_of(line: str) -> str | None:
    """Say what of a command does not exist."""
    words = shlex.split(line, comments=True)
    while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
        words.pop(0)
    match words:
        case ["refold", name, *rest] if name.isalpha():
            return _unknown_option(name, rest)
        case ["make", target, *_] if target not in TARGETS:
            return f"no target {target}"
        case ["python", script, *options]:
            path = ROOT / script
            if not path.exists():
                return f"no file {script}"
            source = path.read_text(encoding="utf-8")
            return next((o for o in options if o.startswith("--") and o not in source), None)
        case ["pip", "install", *_]:
            named = [one for found in EXTRA.findall(line) for one in "".join(found).split(",")]
            return next((one for one in named if one not in EXTRAS), None)
    return None


def _unknown_option(name: str, words: list[str]) -> str | None:
    if name not in COMMANDS:
        return f"no command {name}"
    command: click.Command = load_command(name)
    if isinstance(command, click.Group):
        if not words or words[0] not in command.commands:
            return None if not words else f"no command {name} {words[0]}"
        command = command.commands[words[0]]
    known = {option for parameter in command.params for option in parameter.opts} | {"--help"}
    asked = words[: words.index("--")] if "--" in words else words
    return next((word for word in asked if word.startswith("--") and word not in known), None)


@pytest.mark.parametrize(
    "page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.relative_to(ROOT).as_posix()
)
def test_commands_exist(page: Path) -> None:
    faults = {line: fault for line in commands_on(page) if (fault := fault_of(line))}
    assert not faults


@pytest.mark.parametrize(
    "line",
    [
        "make cake",
        "refold fnord",
        "refold show a --fnord",
        "refold store fnord",
        "python bench/fnord.py",
        "python bench/loop.py --fnord",
        "pip install 'refold[fnord]'",
    ],
)
def test_what_does_not_exist_is_noticed(line: str) -> None:
    assert fault_of(line)
