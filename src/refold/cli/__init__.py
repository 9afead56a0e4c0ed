"""The command line: the table of commands, whose modules are loaded when a command is run."""

from __future__ import annotations

import codecs
import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, TextIO

import click

import refold
from refold.errors import BudgetError, RefoldError
from refold.gone import GONE_FLAGS

COMMANDS: Final[Mapping[str, tuple[str, str]]] = {
    "compress": ("compress", "Fold a conversation file, and keep its originals."),
    "uncompress": ("compress", "Unfold a file to the bytes it had before it was folded."),
    "show": ("views", "Read the folded conversation as a model does."),
    "diff": ("views", "Show what a fold changes, before and after."),
    "explain": ("views", "Explain what a fold does to every message, and why."),
    "report": ("views", "Write one page that shows what a fold keeps, drops, and why."),
    "retrieve": ("compress", "Fetch the text of a handle, or search all originals."),
    "watch": ("watch", "Follow sessions as they grow: tokens, costs, possible savings."),
    "stats": ("views", "Show the figures of a fold: tokens and what happened."),
    "count": ("views", "Count tokens by role and by kind of content."),
    "store": ("store", "Count, verify, copy and clear what is in a store of originals."),
    "batch": ("batch", "Fold files of many conversations, or unfold them."),
    "serve": ("server", "Run a proxy that folds requests to a provider."),
    "demo": ("demo", "Fold a session that comes with refold, and unfold it again."),
    "hook": ("server", "Run a hook of a coding agent; the agent calls this."),
    "install": ("server", "Set up a coding agent to use refold; can be undone."),
    "uninstall": ("server", "Restore the settings of coding agents byte for byte."),
    "doctor": ("server", "Check what is set up for coding agents."),
    "mcp": ("server", "Serve originals, shortening and counts over MCP."),
    "wrap": ("server", "Run a program with a proxy of its own; show what was saved."),
}
"""Each command, the module that has it, and its line in the help, which loads none of them."""

_ERROR: Final = 1
MISSING: Final = 3
_OVER_BUDGET: Final = 4
SET_ASIDE: Final = 5
_INTERRUPTED: Final = 130
"""Exit codes: 2 is click's for wrong usage, and 130 is what shells use for an interrupt."""
EXIT_CODES: Final = """\
Exit codes: 0 fine; 1 bad input or another error; 2 wrong usage;
3 some originals are missing; 4 over budget; 5 records of a batch were set
aside; 130 interrupted."""

_EPILOG: Final = f"""\b
Examples:
  refold demo
  refold show chat.jsonl --budget 30%
  refold compress chat.jsonl -o small.jsonl --budget 30%
  refold uncompress small.jsonl -o chat.jsonl
  refold report session.jsonl
  refold serve

\b
FILE is a JSON list of messages, an object with "messages", JSON lines, a
session file of Claude Code or Codex, or what compress --json writes; plain,
.gz or .zst; - is standard input.

\b
Completion: eval "$(_REFOLD_COMPLETE=bash_source refold)" in ~/.bashrc, with
zsh_source in ~/.zshrc; for fish: _REFOLD_COMPLETE=fish_source refold | source

\b
{EXIT_CODES}"""


def load_command(name: str) -> click.Command:
    """Import the module of a command, and return it."""
    module = importlib.import_module(f"refold.cli.{COMMANDS[name][0]}")
    command: click.Command = getattr(module, f"{name}_command")
    return command


class _Unloaded(click.Command):
    """Stands for a command in the help; its module is imported when it is run or completed."""

    def make_context(self, *args: Any, **settings: Any) -> click.Context:
        """Begin to run the command itself."""
        return load_command(str(self.name)).make_context(*args, **settings)


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in the order of the table."""
        del ctx
        return list(COMMANDS)


cli = _Commands(
    "refold",
    [_Unloaded(name, short_help=line) for name, (_, line) in COMMANDS.items()],
    help="Fold long LLM conversations to fit a budget; unfold them byte for byte.",
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
)
click.version_option(refold.__version__, message="%(prog)s %(version)s")(cli)


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    _replace_closed_streams()
    never_fail_to_print(sys.stdout, sys.stderr)
    try:
        code = cli.main(args=args, prog_name="refold", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        if isinstance(error, click.NoSuchOption) and error.option_name in GONE_FLAGS:
            why = f"{error.option_name} is gone: {GONE_FLAGS[error.option_name]}"
            error = click.UsageError(why, error.ctx)
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
    return code if isinstance(code, int) else 0


def _replace_closed_streams() -> None:
    """Replace streams that the shell closed, which are `None` in Python, by ones that fail on use.

    Messages to a closed standard error are lost.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            flags = os.O_RDONLY if name == "stdout" else os.O_WRONLY
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, os.fdopen(os.open(os.devnull, flags), mode))


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
