"""Write docs/reference.md from the code: public names, options, detectors, checks, commands.

python docs/make_reference.py            # writes docs/reference.md
python docs/make_reference.py --check    # exits with 1 if the file is out of date
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final, get_args

import click

import refold
from refold.cli import COMMANDS, load_command
from refold.detectors import DETECTORS
from refold.llm.checks import CHECKS
from refold.messages.formats import FORMATS

TARGET: Final = Path(__file__).with_name("reference.md")

GROUPS: Final[Mapping[str, Sequence[str]]] = {
    "Fold and unfold": (
        "refold.compress",
        "refold.acompress",
        "refold.uncompress",
        "refold.Compressor",
        "refold.classify",
        "refold.api.Classification",
    ),
    "Options": (
        "refold.Options",
        "refold.PreservePattern",
        "refold.classic.detectors.Detector",
        "refold.codecs.Codec",
    ),
    "Results": (
        "refold.Result",
        "refold.result.Compression",
        "refold.result.TraceEntry",
        "refold.result.Piece",
        "refold.result.BudgetReport",
        "refold.result.Obstacle",
        "refold.UncompressResult",
    ),
    "Report": ("refold.report.render",),
    "Stores": (
        "refold.open_store",
        "refold.Store",
        "refold.MemoryStore",
        "refold.SqliteStore",
        "refold.stores.postgres.PostgresStore",
        "refold.stores.redis.RedisStore",
        "refold.stores.objects.ObjectStore",
        "refold.stores.encrypted.EncryptedStore",
        "refold.stores.ManagedStore",
        "refold.stores.base.Entry",
        "refold.stores.base.Removed",
        "refold.stores.upkeep.forget",
        "refold.stores.upkeep.expire",
        "refold.stores.upkeep.read_audit",
        "refold.stores.upkeep.RemovalNote",
        "refold.stores.upkeep.stat_store",
        "refold.stores.upkeep.verify_store",
        "refold.stores.upkeep.copy_store",
        "refold.stores.upkeep.export_store",
        "refold.stores.upkeep.import_store",
    ),
    "Sessions": ("refold.Session", "refold.conversation.SessionReport"),
    "Batch": (
        "refold.batch.fold_record",
        "refold.batch.unfold_record",
        "refold.batch.FoldedRecord",
        "refold.batch.fold_batch",
        "refold.batch.unfold_batch",
        "refold.batch.run_batch",
        "refold.batch.Job",
        "refold.batch.BatchResult",
        "refold.batch.BatchError",
        "refold.batch.RecordError",
    ),
    "Integrations": (
        "refold.integrations.choices.Choices",
        "refold.integrations.conversations.Conversations",
        "refold.integrations.conversations.Folded",
    ),
    "Models": (
        "refold.create_summarizer",
        "refold.result.ModelReport",
        "refold.result.RefusedAnswer",
        "refold.events.Event",
    ),
    "Summarizers and their wrappers": (
        "refold.llm.summarizers.Summarizer",
        "refold.llm.summarizers.SummaryRequest",
        "refold.llm.summarizers.Summary",
        "refold.llm.summarizers.Usage",
        "refold.llm.summarizers.as_summarizer",
        "refold.llm.summarizers.resolve_summarizer",
        "refold.llm.summarizers.wrap_summarizer",
        "refold.llm.summarizers.OpenAISummarizer",
        "refold.llm.summarizers.AnthropicSummarizer",
        "refold.llm.summarizers.GeminiSummarizer",
        "refold.llm.summarizers.prompt.PromptWriter",
        "refold.llm.summarizers.Redacting",
        "refold.llm.summarizers.Cached",
        "refold.llm.summarizers.Limited",
        "refold.llm.summarizers.Limiter",
    ),
    "Managers": (
        "refold.CompressionManager",
        "refold.DEFAULT_COMPRESSION_PROMPT",
        "refold.tools.policy.ManagerOptions",
        "refold.Policies",
        "refold.tools.report.ManagerReport",
        "refold.tools.report.ItemReport",
        "refold.tools.report.ManagerStats",
        "refold.ToolCompressor",
        "refold.tools.tool.ToolStats",
        "refold.retrieve_tool",
        "refold.legend",
        "refold.ScopedStore",
        "refold.ContextWindowManager",
        "refold.FitResult",
    ),
    "Windows": (
        "refold.conversation.window_of",
        "refold.conversation.Window",
        "refold.conversation.WindowRegistry",
        "refold.conversation.DEFAULT_REGISTRY",
        "refold.conversation.available_tokens",
        "refold.conversation.Available",
        "refold.conversation.parse_overflow",
        "refold.conversation.Overflow",
    ),
    "Token counters": (
        "refold.scan.tokens.estimate.estimate_tokens",
        "refold.scan.tokens.choose.counter_for",
        "refold.TokenCounter",
        "refold.scan.tokens.choose.CalibratedCounter",
        "refold.scan.tokens.exact.ExactCounter",
    ),
    "Errors": (
        "refold.RefoldError",
        "refold.ConfigError",
        "refold.MessageError",
        "refold.FormatError",
        "refold.StoreError",
        "refold.BudgetError",
        "refold.errors.AnswerError",
    ),
}
"""Every public name, in the order of the page."""

_PACKAGES: Final = {
    "Windows": "refold.conversation",
}
"""Groups that end with whatever else their package makes public."""

CONSTANTS: Final[Mapping[str, str]] = {
    "refold.DEFAULT_COMPRESSION_PROMPT": (
        "The instructions a `CompressionManager` gives its model, unless *prompt* replaces them."
    ),
    "refold.conversation.DEFAULT_REGISTRY": "The `WindowRegistry` of the models that refold knows.",
}
"""Descriptions of constants: a value has no docstring."""

_IN_SHORT: Final = frozenset(
    name
    for title in (
        "Stores",
        "Batch",
        "Integrations",
        "Summarizers and their wrappers",
        "Windows",
        "Token counters",
        "Errors",
    )
    for name in GROUPS[title]
    if name.count(".") > 1 or name in CONSTANTS or title == "Errors"
) | {
    "refold.acompress",
    "refold.api.Classification",
    "refold.PreservePattern",
    "refold.classify",
    "refold.MemoryStore",
    "refold.result.Compression",
    "refold.result.BudgetReport",
    "refold.result.Piece",
    "refold.result.Obstacle",
    "refold.result.RefusedAnswer",
    "refold.events.Event",
    "refold.ScopedStore",
    "refold.TokenCounter",
    "refold.tools.report.ManagerReport",
    "refold.tools.report.ItemReport",
    "refold.tools.report.ManagerStats",
    "refold.tools.tool.ToolStats",
    "refold.DEFAULT_COMPRESSION_PROMPT",
}
"""Names that few need get one line: `help` has the rest."""

_STORE_METHODS: Final = frozenset({"put", "get", "entries", "remove", "close"})
"""Described once, under `Store`; every store has them."""

_HELPERS: Final = frozenset({"depth", "from_dict", "has_budget", "of", "with_share_of"})
"""Methods that refold itself needs: hardly anybody else."""

_FOR_SERVERS: Final = frozenset(
    {
        "doubt_thinking",
        "due",
        "fold",
        "folded_length",
        "idle_seconds",
        "is_due",
        "note_sent",
        "retrace",
        "stay",
        "take",
        "trace",
        "unchanged",
    }
)
"""Methods of a session that only a program in front of many sessions needs, such as the proxy."""

_COMMON: Final = 3
"""An option of this many commands is described once, before all commands."""

_HEAD: Final = """# Reference

Generated from the code by `python docs/make_reference.py`; do not edit by hand.

Names are imported from `refold` unless shown with their module. `help(NAME)` shows all types, and
more about names that have only one line here. Asynchronous twins (`acompress` of `compress`) take
and return the same.
"""


class _Spelled(ast.NodeTransformer):
    """Writes the numbers that private names stand for: the names say nothing to a reader."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Return the value of a private name, if it is a number."""
        value = self._names.get(node.id)
        is_private_number = node.id.startswith("_") and isinstance(value, int | float)
        return ast.Constant(value) if is_private_number else node


Documented = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def make_reference() -> str:
    """Return the text of the page."""
    _check_complete()
    parts = [_HEAD]
    for title, names in GROUPS.items():
        parts.append(f"## {title}\n")
        everything = (*names, *_rest(title))
        parts.extend(_describe(name) for name in everything if not _is_short(name, title))
        parts.append("\n".join(_in_short(name) for name in everything if _is_short(name, title)))
        parts.append("")
    parts.extend((_formats(), _detectors(), _checks(), _commands()))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts)).rstrip() + "\n"


def _is_short(dotted: str, title: str) -> bool:
    return dotted in _IN_SHORT or (title in _PACKAGES and dotted not in GROUPS[title])


def _rest(title: str) -> Iterator[str]:
    """Yield the public names of the package behind *title* that no group lists, if there is one."""
    package = _PACKAGES.get(title)
    if package is not None:
        listed = {name.rpartition(".")[2] for names in GROUPS.values() for name in names}
        public = importlib.import_module(package).__all__
        yield from (f"{package}.{name}" for name in sorted(set(public) - listed))


def _check_complete() -> None:
    listed = {name.removeprefix("refold.") for names in GROUPS.values() for name in names}
    missing = sorted(set(refold.__all__) - listed)
    if missing:
        raise SystemExit(f"add to GROUPS in {Path(__file__).name}: {', '.join(missing)}")


def _describe(dotted: str) -> str:
    """Describe a function or class under a heading of its own."""
    shown, node, home = _source_of(dotted)
    return "\n".join((f"### `{shown}`\n", *_body(node, shown, home))) + "\n"


def _in_short(dotted: str) -> str:
    """Describe a function, class or constant in one line of a list."""
    if dotted in CONSTANTS:
        return f"- `{_shown(dotted)}`: {CONSTANTS[dotted]}"
    shown, node, home = _source_of(dotted)
    if not isinstance(node, ast.ClassDef):
        return f"- `{_signature(node, shown)}`: {_line(node)}"
    init = _method(node, "__init__")
    name = shown if init is None else _signature(init, shown)
    return f"- `{name}`: {_line(node)}{_bases(node)}{_field_names(node, vars(home))}"


def _source_of(dotted: str) -> tuple[str, Documented, ModuleType]:
    """Return the name to show, the syntax tree and the module of a function or class."""
    module, _, name = dotted.rpartition(".")
    thing = getattr(importlib.import_module(module), name)
    node = ast.parse(textwrap.dedent(inspect.getsource(thing))).body[0]
    assert isinstance(node, Documented)
    home = importlib.import_module(thing.__module__)
    _Spelled(vars(home)).visit(node)
    return _shown(dotted), node, home


def _shown(dotted: str) -> str:
    """Return the name with its module, unless that is `refold` itself."""
    module, _, name = dotted.rpartition(".")
    return name if module == "refold" else dotted


def _body(node: Documented, shown: str, module: ModuleType) -> Iterator[str]:
    if not isinstance(node, ast.ClassDef):
        yield f"```text\n{_block(node, shown)}\n```\n"
        yield _text(node)
        return
    init = _method(node, "__init__")
    if init is not None:
        yield f"```text\n{_block(init, shown)}\n```\n"
    yield _text(node)
    yield ""
    yield from _fields(node, vars(module))
    yield from _members(node)


def _bases(node: ast.ClassDef) -> str:
    bases = [base for base in map(ast.unparse, node.bases) if base.endswith("Error")]
    return f" A `{'` and a `'.join(bases)}`." if bases else ""


def _field_names(node: ast.ClassDef, names: Mapping[str, Any]) -> str:
    spelled = [f"`{re.split('[:=]', field)[0]}`" for field, _ in _annotated(node, names)]
    return f" Fields: {', '.join(spelled)}." if spelled else ""


def _fields(node: ast.ClassDef, names: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for every field that has a description, then the names of the others."""
    rest = []
    for spelled, says in _annotated(node, names):
        if says:
            yield f"- `{spelled}`: {says}"
        else:
            rest.append(f"`{spelled}`")
    if rest:
        yield f"- {', '.join(rest)}"


def _annotated(node: ast.ClassDef, names: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each field with its default, or its type if it has none, and its description."""
    for place, statement in enumerate(node.body):
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        if ast.unparse(statement.annotation).startswith(("KW_ONLY", "ClassVar")):
            continue
        after = node.body[place + 1] if place + 1 < len(node.body) else None
        says = ""
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            says = " ".join(str(after.value.value).split())
        kind = ast.unparse(statement.annotation)
        values = "|".join(map(repr, get_args(names.get(kind))))  # an alias of a Literal
        default = "" if statement.value is None else f"={_default(statement.value)}"
        default = default.removesuffix("=")
        if values or not default:
            default = f": {values or kind}" + default.replace("=", " = ", 1)
        yield f"{statement.target.id}{default}", says


def _default(value: ast.expr) -> str:
    """Spell a default; `field(default_factory=list)` becomes `list()`."""
    if isinstance(value, ast.Call) and ast.unparse(value.func) == "field":
        given = {one.arg: one.value for one in value.keywords}
        if "default_factory" in given:
            return f"{ast.unparse(given['default_factory']).partition('[')[0]}()"
        return ast.unparse(given["default"]) if "default" in given else ""
    return ast.unparse(value)


def _members(node: ast.ClassDef) -> Iterator[str]:
    """Yield public methods and properties; those of every store and async twins have no line."""
    hidden = _STORE_METHODS if node.name.endswith("Store") and node.name != "Store" else frozenset()
    members = [
        member
        for member in node.body
        if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef)
        and not member.name.startswith("_")
        and member.name not in hidden | _HELPERS
    ]
    names = {member.name for member in members}
    apart = _FOR_SERVERS if node.name == "Session" else frozenset()
    for member in members:
        if member.name in apart or member.name.removeprefix("a") in names - {member.name}:
            continue
        twin = f" (async: `a{member.name}`)" if f"a{member.name}" in names else ""
        marks = [ast.unparse(mark) for mark in member.decorator_list]
        shown = member.name if "property" in marks else _signature(member, member.name)
        yield f"- `{shown}`{twin}: {_line(member)}"
    if apart & names:
        listed = ", ".join(f"`{name}`" for name in sorted(apart & names))
        yield f"- For servers with many sessions, such as the proxy: {listed}."


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef, shown: str) -> str:
    """Spell a signature without `self` and without types."""
    arguments = node.args
    for mine in ("self", "cls"):
        if arguments.args and arguments.args[0].arg == mine:
            arguments.args = arguments.args[1:]
    for argument in ast.walk(arguments):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    if arguments.kwarg is not None and arguments.kwarg.arg == "gone":
        arguments.kwarg = None  # it only catches names of earlier versions
    prefix = "await " if isinstance(node, ast.AsyncFunctionDef) else ""
    return f"{prefix}{shown}({ast.unparse(arguments)})"


def _block(node: ast.FunctionDef | ast.AsyncFunctionDef, shown: str) -> str:
    """Spell a signature for a block of its own, on several lines where one is too long."""
    spelled = _signature(node, shown)
    if node.returns is not None and node.name != "__init__":
        spelled += f" -> {ast.unparse(node.returns)}"
    return textwrap.fill(spelled, 90, subsequent_indent="    ", break_on_hyphens=False)


def _method(node: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    found = (m for m in node.body if isinstance(m, ast.FunctionDef) and m.name == name)
    return next(found, None)


def _text(node: Documented) -> str:
    return ast.get_docstring(node) or ""


def _line(node: Documented) -> str:
    """Return the first sentences of a docstring, up to a blank line."""
    return " ".join(_text(node).split("\n\n")[0].split())


def _formats() -> str:
    names = _quoted(format_.name for format_ in FORMATS)
    return f'## Formats\n\nTried in this order with `format="auto"`: {names}.\n'


def _detectors() -> str:
    hard, soft = (
        _quoted(one.reason for one in DETECTORS if one.hard is is_hard) for is_hard in (True, False)
    )
    return (
        f"## Detectors\n\nHard, keep the whole text: {hard}.\n\n"
        f"Soft, may be named beside the summary: {soft}.\n"
    )


def _checks() -> str:
    rows = [
        *(f"- `{name}`: {one.__doc__}" for name, one in CHECKS.items()),
        "- `nothing_lost`: Append values, quotations and error lines that are missing.",
        "- `negations_kept`: Append the sentence of the source whose negation is missing.",
    ]
    return "\n".join(
        ("## Checks\n\nEvery answer of a summarizer passes through them:\n", *rows, "")
    )


def _commands() -> str:
    """List every command; options that many have, and those of a server, are described."""
    commands: dict[str, click.Command] = {}
    for name in COMMANDS:
        command: click.Command = load_command(name)
        if isinstance(command, click.Group):
            commands |= {f"{name} {inner}": part for inner, part in command.commands.items()}
        else:
            commands[name] = command
    taken = Counter(row for command in commands.values() for row in _options(command))
    frequent = [row for row, times in taken.most_common() if times >= _COMMON]
    usual = {row.split("`")[1]: row for row in reversed(frequent)}  # of two wordings, the usual
    return "\n".join(
        (
            "## Commands\n\nThe help of a command describes all of its options.\n",
            *(_command(name, command) for name, command in commands.items()),
            "\nOptions of several commands:\n",
            *(row for row in frequent if row in usual.values()),
            "\nOptions of `refold serve`:\n",
            *(row for row in _options(commands["serve"]) if row not in frequent),
            "",
        )
    )


def _command(name: str, command: click.Command) -> str:
    usage = " ".join(_argument(p) for p in command.params if isinstance(p, click.Argument))
    options = _quoted(
        row.split("`")[1].split(maxsplit=1)[0].strip(",") for row in _options(command)
    )
    about = " ".join((command.help or "").split("\n\n")[0].split())
    return f"- `{f'refold {name} {usage}'.rstrip()}`: {about}" + (f" {options}" if options else "")


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _options(command: click.Command) -> list[str]:
    return [_option(p) for p in command.params if isinstance(p, click.Option) and not p.hidden]


def _argument(parameter: click.Argument) -> str:
    return parameter.metavar or (parameter.name or "").upper()


def _option(parameter: click.Option) -> str:
    kind: Any = parameter.type
    values = "|".join(map(str, kind.choices)) if isinstance(kind, click.Choice) else ""
    value = "" if parameter.is_flag else f" {parameter.metavar or values or 'VALUE'}"
    names = ", ".join(parameter.opts)
    return f"- `{names}{value}`: {' '.join((parameter.help or '').split())}"


def main(arguments: Sequence[str]) -> int:
    """Write the page, or with `--check` only compare it."""
    text = make_reference()
    if "--check" in arguments:
        is_current = TARGET.exists() and TARGET.read_text(encoding="utf-8") == text
        if not is_current:
            print("docs/reference.md is out of date; run: python docs/make_reference.py")
        return 0 if is_current else 1
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
