"""How a function becomes a command, and the options that commands share: one row for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from inspect import cleandoc, signature
from typing import Any, Final

import click

from refold.cli import EXIT_CODES
from refold.errors import ConfigError
from refold.messages.formats import format_names
from refold.options import Options, read_share

Row = tuple[Any, ...]
"""How an option stands in a usage line, its help, and its type if that does not say it."""


def _read_budget(value: str) -> int | str:
    """Parse `8000` or `50%`."""
    if value.isdecimal():
        return int(value)
    try:
        read_share(value)
    except ConfigError as error:
        raise click.BadParameter(str(error)) from error
    return value


def _read_name(value: str) -> str:
    if not value:
        raise click.BadParameter("the name is empty; leave the option out for none")
    return value


_FORMATS: Final = ("auto", *format_names())
_ADDRESSES: Final = "an SQLite file, or postgresql://..., redis://..., s3://... and the like"
_ROWS: Final[Mapping[str, Row]] = {
    "file": ("FILE|-",),
    "out": ("-o --output OUT", "Write here instead of standard output."),
    "store": ("--store STORE", f"Where the originals are: {_ADDRESSES}."),
    "conversation": (
        "--conversation NAME",
        "The conversation's name: keeps its originals apart in a shared store.",
        _read_name,
    ),
    "token_budget": (
        "--budget TOKENS",
        "Fit into this many tokens, such as 8000, or into a share of the file's, such as 50%.",
        _read_budget,
    ),
    "profile": (
        "--profile standard|lossless|classic",
        "standard (default): made for agents, with or without --budget; lossless: only re-encodes; "
        "classic: the same rules for all messages.",
    ),
    "model": ("--model NAME", "Count tokens the way this model does, such as gpt-5."),
    "settings": (
        "--set OPTION=VALUE...",
        "Set any other option of refold.Options; may be repeated.",
    ),
    "format": (
        "--format FORMAT",
        f"Format of the messages, recognized by default: {', '.join(_FORMATS)}.",
        click.Choice(_FORMATS),
    ),
    "as_json": ("--json", "Write JSON."),
    "full": ("--full", "Show everything, however long."),
    "is_paged": ("--pager/--no-pager", "Show it in a pager on a terminal."),
    "quiet": ("--quiet -q", "Print nothing but the result."),
}
STORE_TO_WRITE: Final = ("--store STORE", f"Keep the originals here: {_ADDRESSES}.")
_TUNING: Final = ("token_budget", "profile", "model", "settings")
_BUNDLES: Final = {
    "tuning": _TUNING,
    "choices": (*_TUNING, "format"),
    "fold": ("file", *_TUNING, "format", "store", "conversation"),
}
"""What `**choices` of a command and so on stand for."""


def command(
    group: click.Group | None = None, *, context: dict[str, Any] | None = None, **rows: Any
) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a command of a function: its parameters are the options, its docstring is the help.

    A parameter has its row in *rows*, or in the table of those that commands share, and a default
    in the signature if it has one; `**rest`, unless it is a bundle, stands for all other *rows*.
    """

    def make(function: Callable[..., Any]) -> click.Command:
        parameters = signature(function).parameters
        rest = [name for name in rows if name not in parameters]
        params = list[click.Parameter]()
        for name, one in parameters.items():
            is_rest = one.kind is one.VAR_KEYWORD
            default = {} if one.default is one.empty else {"default": one.default}
            for named in _BUNDLES.get(name, rest) if is_rest else [name]:
                params.append(_parameter(named, *(rows.get(named) or _ROWS[named]), **default))
        made = click.Command(
            function.__name__.removesuffix("_command").replace("_", "-"),
            callback=function,
            params=params,
            context_settings=context,
            **help_of(function.__doc__ or ""),
        )
        if group is not None:
            group.add_command(made)
        return made

    return make


def _parameter(
    name: str, usage: str, help: str = "", kind: Any = None, **settings: Any
) -> click.Parameter:
    """Make the option or argument *name* of how it stands in a usage line.

    `--set OPTION=VALUE...` may be repeated, `--pager/--no-pager` has no value, that of `--port N`
    is a number and of `--ttl 5m|1h` one of two, and `[FILE]` may be left out.
    """
    *flags, value = usage.split()
    if not usage.startswith("-"):
        settings |= {"metavar": usage, "required": not usage.startswith("[")}
        return click.Argument([name], nargs=-1 if "..." in usage else 1, type=kind, **settings)
    if value.startswith("-"):
        flags.append(value)
        settings["is_flag"] = True
    elif "|" in value:
        kind = click.Choice(value.split("|"))
    else:
        settings |= {"metavar": value.removesuffix("..."), "multiple": value.endswith("...")}
        kind = kind or (int if value == "N" else None)
        settings["show_default"] = isinstance(settings.get("default"), int | float)
    return click.Option([*flags, name], help=help, type=kind, **settings)


def help_of(text: str) -> dict[str, Any]:
    """Split a help text: what stands from its examples on comes after the options, as written."""
    first, examples, rest = cleandoc(text).partition("Examples:\n")
    paragraphs = f"{examples}{rest}".strip().split("\n\n") if examples else []
    epilog = "\n\n".join(f"\b\n{one}" for one in (*paragraphs, EXIT_CODES))
    return {"help": first.strip(), "epilog": epilog}


_WORDS: Final = {
    **dict.fromkeys(("true", "yes", "on"), True),
    **dict.fromkeys(("false", "no", "off"), False),
    **dict.fromkeys(("none", ""), None),
}
_ELSEWHERE: Final = {
    "token_budget": "use --budget",
    "profile": "use --profile",
    "model": "use --model",
    "format": "use --format",
    "counter": "it can only be set from Python",
}
"""What `--set` does not set, and what to do instead."""


def make_options(settings: Sequence[str], **choices: Any) -> Options:
    """Build `Options` from the command line; *settings* are those of `--set`.

    Raises `UsageError` for anything wrong.
    """
    chosen = {name: value for name, value in choices.items() if value is not None}
    defaults = {one.name: one.default for one in fields(Options)}
    for setting in settings:
        name, equals, text = setting.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name:
            raise click.UsageError(
                f"--set takes option=value, got {setting!r}; for example --set recency_window=6"
            )
        if name in _ELSEWHERE:
            raise click.UsageError(f"--set does not take {name}: {_ELSEWHERE[name]}")
        if name == "preserve_patterns":  # a comma may belong to one, so each has a --set of its own
            chosen[name] = (*chosen.get(name, ()), text)
        else:
            chosen[name] = _read_setting(text.strip(), defaults.get(name))
    try:
        return Options(**chosen)
    except ConfigError as error:
        raise click.UsageError(f"--set: {error}") from error


def _read_setting(text: str, default: object) -> Any:
    """Read a value as what it looks like; `Options` checks whether it can be that."""
    if isinstance(default, str):
        return text
    if isinstance(default, tuple):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if isinstance(default, bool) and text in ("0", "1"):
        return text == "1"
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text
