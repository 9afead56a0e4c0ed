"""The options that commands share, and the fold that they describe."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from types import NoneType
from typing import Any, Final, Literal, TypeVar, get_args, get_origin, get_type_hints

import click

from refold.cli.document import Document
from refold.cli.files import open_for_preview, read_document
from refold.cli.folding import FoldedFile, fold_file, locating_errors
from refold.cli.terminal import working
from refold.errors import BudgetError, ConfigError
from refold.messages.formats import format_names, load
from refold.messages.message import Message
from refold.options import Options, PreservePattern, Profile
from refold.report.story import Row, make_rows
from refold.report.turns import make_counter
from refold.result import Result

_WORDS: Final = {
    **dict.fromkeys(("true", "yes", "on", "1"), True),
    **dict.fromkeys(("false", "no", "off", "0"), False),
}

_READERS: Final[Mapping[object, tuple[Callable[[str], Any], str]]] = {
    bool: (lambda text: _WORDS[text.lower()], "true or false"),
    int: (int, "a whole number"),
    float: (float, "a number"),
}
"""How to parse the value of an option by its type, and what an error says it must be."""
_FORMATS: Final = ("auto", *format_names())

file_argument = click.argument("file", metavar="FILE|-")
out_option = click.option(
    "-o", "--output", "out", metavar="OUT", help="Write here instead of standard output."
)
store_option = click.option(
    "--store",
    "store",
    metavar="STORE",
    help="Keep the originals here: in an SQLite file, or at postgresql://..., redis://..., "
    "s3://... and the like.",
)
known_option = click.option(
    "--store",
    "store",
    metavar="STORE",
    help="Where the originals are: an SQLite file, or postgresql://..., redis://..., s3://... "
    "and the like.",
)


@dataclass(frozen=True, slots=True)
class Share:
    """A budget as a percentage of the tokens of a file."""

    percent: float


def _read_budget(value: str) -> int | Share:
    """Parse `8000` or `50%`."""
    amount, sign, rest = value.strip().partition("%")
    try:
        if not sign and (tokens := int(amount)) >= 0:
            return tokens
        if sign and not rest and 0 <= (percent := float(amount)) <= 100:
            return Share(percent)
    except ValueError:
        pass
    raise click.BadParameter(
        f"{value!r} is neither a number of tokens, such as 8000, "
        "nor a share of those that FILE has, such as 50%"
    )


_budget_option = click.option(
    "--budget",
    "budget",
    type=_read_budget,
    metavar="TOKENS",
    help="Fit into this many tokens, such as 8000, or into a share of the file's, such as 50%.",
)


def set_budget(options: Options, budget: int | Share | None, document: Document) -> Options:
    """Return *options* with the budget in tokens, if there is one."""
    if budget is None:
        return options
    if options.token_budget is not None:
        raise click.UsageError("--budget and --set token_budget say the same; give one of them")
    if isinstance(budget, Share):
        budget = int(_count(document, options) * budget.percent / 100)
    return replace(options, token_budget=budget)


def _count(document: Document, options: Options) -> int:
    tokens = make_counter(options.model)
    with locating_errors(document):
        return sum(map(tokens.message, load(document.messages, format_name=options.format)))


def check_budget(result: Result) -> None:
    """Raise `BudgetError` if the budget is exceeded; called after the result is written."""
    if result.budget is not None and not result.budget.fits:
        raise BudgetError(result.budget.explain())


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
    "format_name",
    type=click.Choice(_FORMATS),
    default=None,
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
    default=None,
    help="standard (default): made for agents, with or without --budget; lossless: only "
    "re-encodes; classic: the same rules for all messages.",
)
model_option = click.option(
    "--model", metavar="NAME", help="Count tokens the way this model does, such as gpt-5."
)


_Command = TypeVar("_Command", bound=Callable[..., Any])


def fold_options(command: _Command) -> _Command:
    """Add the options for folding to *command*.

    Their values go to `make_options`, and the budget to `set_budget`, which may need the file.
    """
    command = profile_option(model_option(command))
    return format_option(set_option(_budget_option(command)))


def make_options(settings: Sequence[str], format_name: str | None, **fixed: Any) -> Options:
    """Build `Options` from the command line; raise `UsageError` for anything wrong.

    *settings* are those of `--set`. An option such as `--profile` must not contradict them.
    """
    hints = get_type_hints(Options)
    choices: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name:
            raise click.UsageError(
                f"--set takes option=value, got {setting!r}; for example --set recency_window=6"
            )
        if name in hints:
            value_of = _convert(name, hints[name], value)
            # A comma may belong to an expression, so each one has a --set of its own.
            is_list = name == "preserve_patterns"
            choices[name] = (*choices.get(name, ()), *value_of) if is_list else value_of
        else:
            choices[name] = value  # Options refuses it and names the nearest
    for name, value in {"format": format_name, **fixed}.items():
        if value is not None and choices.setdefault(name, value) != value:
            raise click.UsageError(
                f"--{name} {value} and --set {name}={choices[name]} contradict each other; "
                "give one of them"
            )
    try:
        return Options(**choices)
    except ConfigError as error:
        raise click.UsageError(f"--set: {error}") from error


def _convert(name: str, kind: Any, value: str) -> Any:
    """Convert *value* to the type of the option."""
    kinds = get_args(kind)
    if NoneType in kinds:
        if value.lower() in ("none", ""):
            return None
        kind = next(item for item in kinds if item is not NoneType)
    if kind in _READERS:
        return _read(name, value, *_READERS[kind])
    if kind == tuple[PreservePattern, ...]:
        return (value,)
    if get_origin(kind) is tuple:
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if kind is str or get_origin(kind) is Literal:
        return value
    raise click.UsageError(f"--set: {name} can only be set from Python, not from here")


def _read(name: str, value: str, read: Callable[[str], Any], what: str) -> Any:
    try:
        return read(value.strip())
    except (ValueError, KeyError) as error:
        raise click.UsageError(f"--set: {name} must be {what}, got {value!r}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """A file and its fold, neither of which is written anywhere."""

    document: Document
    folded: FoldedFile
    options: Options

    def loaded(self) -> tuple[Sequence[Message], Sequence[Message]]:
        """Return the messages before and after the fold, as the library reads them."""
        name = self.options.format
        before = load(self.document.messages, format_name=name)
        after = load(self.folded.document.messages, format_name=name) if before else ()
        return before, after

    def rows(self) -> Iterator[Row]:
        """Yield one row per text, in the order of the conversation; the fold must have a trace."""
        rows = make_rows(*self.loaded(), self.folded.places, self.folded.result.decisions)
        for row in rows:
            yield replace(row, line=self.document.items[row.index].line)


def preview_options(command: _Command) -> _Command:
    """Add a file and the options for folding it to *command*, for `fold_preview`."""
    return file_argument(fold_options(known_option(conversation_option(command))))


@contextmanager
def fold_preview(
    *,
    file: str,
    store: str | None,
    conversation: str | None,
    budget: int | Share | None,
    trace: bool | None = None,
    **choices: Any,
) -> Iterator[Preview]:
    """Fold *file* as the command line says; check the budget when the body is done."""
    options = make_options(**choices, trace=trace)
    document = read_document(file, conversation)
    options = set_budget(options, budget, document)
    with ExitStack() as stack, working("folding", chars=len(document.text())) as progress:
        known = open_for_preview(document, file, store, stack)
        folded = fold_file(document, options, known, progress)
    yield Preview(document=document, folded=folded, options=options)
    check_budget(folded.result)
