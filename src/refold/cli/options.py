"""The options that commands share, and the one way from them to a fold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from typing import Any, Final, TypeVar, get_args

import click

from refold.cli.folding import FoldedFile, fold_file, opened
from refold.errors import BudgetError, ConfigError
from refold.messages.formats import format_names
from refold.options import Options, Profile
from refold.result import Result

_Command = TypeVar("_Command", bound=Callable[..., Any])

_WORDS: Final = {
    **dict.fromkeys(("true", "yes", "on", "1"), True),
    **dict.fromkeys(("false", "no", "off", "0"), False),
}
_FORMATS: Final = ("auto", *format_names())
_ADDRESSES: Final = "an SQLite file, or postgresql://..., redis://..., s3://... and the like"

file_argument = click.argument("file", metavar="FILE|-")
out_option = click.option(
    "-o", "--output", "out", metavar="OUT", help="Write here instead of standard output."
)
store_option = click.option(
    "--store", metavar="STORE", help=f"Keep the originals here: {_ADDRESSES}."
)
known_option = click.option(
    "--store", metavar="STORE", help=f"Where the originals are: {_ADDRESSES}."
)


def _read_budget(value: str) -> int | str:
    """Parse `8000`; `Options` checks anything else, such as `50%`."""
    try:
        Options(token_budget=int(value) if value.isdecimal() else value)  # type: ignore[arg-type]
    except ConfigError as error:
        raise click.BadParameter(
            f"{value!r} is neither a number of tokens, such as 8000, "
            "nor a share of those that FILE has, such as 50%"
        ) from error
    return int(value) if value.isdecimal() else value


def _check_conversation(_: click.Context, __: click.Parameter, name: str | None) -> str | None:
    if name == "":
        raise click.BadParameter("the name is empty; leave the option out for none")
    return name


conversation_option = click.option(
    "--conversation",
    metavar="NAME",
    callback=_check_conversation,
    help="Keep or look up the originals under this name, apart from all others in a shared store.",
)
format_option = click.option(
    "--format",
    "format",
    type=click.Choice(_FORMATS),
    metavar="FORMAT",
    help=f"Format of the messages, recognized by default: {', '.join(_FORMATS)}.",
)
set_option = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="OPTION=VALUE",
    help="Set any option of refold.Options; may be repeated.",
)
profile_option = click.option(
    "--profile",
    type=click.Choice(get_args(Profile)),
    help="standard (default): made for agents, with or without --budget; lossless: only "
    "re-encodes; classic: the same rules for all messages.",
)
model_option = click.option(
    "--model", metavar="NAME", help="Count tokens the way this model does, such as gpt-5."
)
budget_option = click.option(
    "--budget",
    "token_budget",
    type=_read_budget,
    metavar="TOKENS",
    help="Fit into this many tokens, such as 8000, or into a share of the file's, such as 50%.",
)


def fold_options(command: _Command) -> _Command:
    """Add the options for folding to *command*; their values go to `make_options`."""
    command = profile_option(model_option(command))
    return format_option(set_option(budget_option(command)))


def make_options(settings: Sequence[str], **fixed: Any) -> Options:
    """Build `Options` from the command line; raise `UsageError` for anything wrong.

    *settings* are those of `--set`. An option such as `--profile` must not contradict them.
    """
    chosen: dict[str, Any] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name:
            raise click.UsageError(
                f"--set takes option=value, got {setting!r}; for example --set recency_window=6"
            )
        value = _read(name, text)
        # A comma may belong to an expression, so each one has a --set of its own.
        chosen[name] = (*chosen.get(name, ()), text) if name == "preserve_patterns" else value
    for name, value in fixed.items():
        if value is not None and chosen.setdefault(name, value) != value:
            flag = name.removeprefix("token_")
            raise click.UsageError(
                f"--{flag} {value} and --set {name}={chosen[name]} contradict each other; "
                "give one of them"
            )
    try:
        return Options(**chosen)
    except ConfigError as error:
        raise click.UsageError(f"--set: {error}") from error


def _read(name: str, text: str) -> Any:
    """Read the value of an option as what it is by default; `Options` checks it."""
    defaults = {one.name: one.default for one in fields(Options)}
    default, word = defaults.get(name), text.strip()
    if name == "counter":
        raise click.UsageError("--set: counter can only be set from Python, not from here")
    if isinstance(default, bool):
        if word.lower() not in _WORDS:
            raise click.UsageError(f"--set: {name} must be true or false, got {text!r}")
        return _WORDS[word.lower()]
    if isinstance(default, tuple):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if default is None and word.lower() in ("none", ""):
        return None
    if isinstance(default, int | float) or name.endswith(("_threshold", "_budget", "_share")):
        for number in (int, float):
            try:
                return number(word)
            except ValueError:
                continue
        if isinstance(default, float):
            raise click.UsageError(f"--set: {name} must be a number, got {text!r}")
    return text


@contextmanager
def fold_preview(
    *, file: str, store: str | None, conversation: str | None, **choices: Any
) -> Iterator[FoldedFile]:
    """Fold *file* with these choices, changing nothing; check the budget after the body."""
    options = make_options(**choices)
    with opened(file, store, conversation) as (document, copy, progress):
        folded = fold_file(document, options, copy, progress)
    yield folded
    check_budget(folded.result)


def preview_options(command: _Command) -> _Command:
    """Add a file and the options for folding it to *command*, for `fold_preview`."""
    return file_argument(fold_options(known_option(conversation_option(command))))


def check_budget(result: Result) -> None:
    """Raise `BudgetError` if the budget is exceeded; called after the result is written."""
    if result.budget is not None and not result.budget.fits:
        raise BudgetError(result.budget.explain())
