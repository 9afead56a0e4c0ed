"""The command line: one file per command, loaded when the command is run."""

from __future__ import annotations

import codecs
import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from typing import Final, TextIO

import click

import refold
from refold.errors import BudgetError, RefoldError

COMMANDS: Final[Mapping[str, str]] = {
    "compress": "refold.cli.compress",
    "uncompress": "refold.cli.uncompress",
    "show": "refold.cli.show",
    "diff": "refold.cli.diff",
    "explain": "refold.cli.explain",
    "report": "refold.cli.report",
    "retrieve": "refold.cli.retrieve",
    "watch": "refold.cli.watch",
    "stats": "refold.cli.stats",
    "count": "refold.cli.count",
    "store": "refold.cli.store",
    "batch": "refold.cli.batch",
    "serve": "refold.cli.serve",
    "demo": "refold.cli.demo",
    "hook": "refold.cli.hook",
    "install": "refold.cli.install",
    "uninstall": "refold.cli.uninstall",
    "doctor": "refold.cli.doctor",
    "mcp": "refold.cli.mcp",
    "wrap": "refold.cli.wrap",
}
"""Each command and the module that defines it as `command`, in the order of the help."""

_OK: Final = 0
_ERROR: Final = 1
MISSING: Final = 3
_OVER_BUDGET: Final = 4
SET_ASIDE: Final = 5
_INTERRUPTED: Final = 130
"""Exit codes: 2 is click's for wrong usage, and 130 is what shells use for an interrupt."""

_EXIT_CODES: Final = """\b
Exit codes: 0 fine; 1 bad input or another error; 2 wrong usage;
3 some originals are missing; 4 over budget; 5 records of a batch were set
aside; 130 interrupted."""

_EPILOG: Final = f"""\b
Examples:
  refold demo
  refold compress chat.jsonl -o small.jsonl
  refold uncompress small.jsonl -o chat.jsonl
  refold show chat.jsonl --budget 30%
  refold diff chat.jsonl --budget 30%
  refold explain chat.jsonl
  refold report session.jsonl -o report.html
  refold stats chat.jsonl
  refold count chat.jsonl --model gpt-5
  refold batch chats/ folded --budget 8000
  refold serve
  refold compress chat.json --json | refold uncompress -

\b
Files: a JSON list of messages, an object with "messages", JSON lines, session
files of Claude Code and Codex, and what compress --json writes.

{_EXIT_CODES}"""


class _Commands(click.Group):
    """Imports the module of a command only when that command, or the list of all, is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in the order of the table."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, loading its module; its help ends with the exit codes."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(COMMANDS[cmd_name]).command
        if not (command.epilog or "").endswith(_EXIT_CODES):
            command.epilog = f"{command.epilog}\n\n{_EXIT_CODES}"
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; for an unknown name, suggest the nearest one."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            near = get_close_matches(name.lower(), COMMANDS, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            ctx.fail(f"No such command {name!r}.{hint}")
        return super().resolve_command(ctx, args)


@click.command(
    cls=_Commands, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(refold.__version__, prog_name="refold", message="%(prog)s %(version)s")
def cli() -> None:
    """Fold long LLM conversations small, and unfold them again byte for byte."""


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    _replace_closed_streams()
    never_fail_to_print(sys.stdout, sys.stderr)
    try:
        code = cli.main(args=args, prog_name="refold", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except RefoldError as error:
        from refold.cli.terminal import clean  # an error may quote data

        click.echo(f"refold: {clean(str(error))}", err=True)
        return _OVER_BUDGET if isinstance(error, BudgetError) else _ERROR
    except (click.Abort, KeyboardInterrupt):
        click.echo("refold: interrupted", err=True)
        return _INTERRUPTED
    except OSError as error:
        # Errors of other files are reported where they are opened, so this is standard output.
        # Without this, Python would report the error again when it flushes the stream at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):  # else the reader of our output is gone
            with suppress(OSError):
                click.echo(f"refold: cannot write to standard output: {error.strerror}", err=True)
        return _ERROR
    return code if isinstance(code, int) else _OK


def _replace_closed_streams() -> None:
    """Replace streams that the shell closed, which are `None` in Python, by ones that fail on use.

    Messages to a closed standard error are lost.
    """
    if sys.stdin is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_WRONLY))
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


_HANDLER: Final = "refold.plain"
_PLAIN: Final = str.maketrans("…→←–—−─│█░·×±✓✗", "~><----|#.*x+v!")
"""Each is as wide as the character that it replaces, so that columns stay aligned."""


def never_fail_to_print(*streams: TextIO) -> None:
    """Let *streams* print a plain character or a question mark for what they cannot encode."""
    codecs.register_error(_HANDLER, _replace)
    for stream in streams:
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors=_HANDLER)


def _replace(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    plain = error.object[error.start : error.end].translate(_PLAIN)
    return plain.encode("ascii", "replace").decode("ascii"), error.end
