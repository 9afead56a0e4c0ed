"""Write docs/reference.md from the code: public names, options, detectors, checks, commands.

python docs/make_reference.py            # writes docs/reference.md
python docs/make_reference.py --check    # exits with 1 if the file is out of date
"""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
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
        "refold.tools.retrieve.RetrieveTool",
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
        "What a `CompressionManager` tells the model unless it is given another *prompt*."
    ),
    "refold.conversation.DEFAULT_REGISTRY": (
        "The `WindowRegistry` of the models that refold knows by itself."
    ),
}
"""What the constants among them are: a value has no docstring of its own."""

_IN_SHORT: Final = frozenset(
    name
    for title in ("Stores", "Batch", "Integrations", "Summarizers and their wrappers", "Windows")
    for name in (*GROUPS[title], "refold.events.Event")
    if name.count(".") > 1
) | {
    "refold.tools.report.ManagerReport",
    "refold.tools.report.ItemReport",
    "refold.tools.report.ManagerStats",
    "refold.tools.tool.ToolStats",
}
"""Classes that few need: `help` tells the rest."""

_COMMON: Final = 4
"""How many commands take an option that is described once for all."""

_HEAD: Final = """# Reference

Generated from the code by `python docs/make_reference.py`; do not edit by hand.

Names are imported from `refold` unless shown with their module. Methods are described by
their first sentences, and classes that few need by theirs and the names of their fields; `help`
has the rest.
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
        parts.extend(map(_describe, (*names, *_rest(title))))
    parts.extend((_formats(), _detectors(), _checks(), _commands()))
    return "\n".join(parts).rstrip() + "\n"


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
    """Describe one function, class or constant, wherever and whenever it is loaded."""
    module, _, name = dotted.rpartition(".")
    thing = getattr(importlib.import_module(module), name)
    if dotted in CONSTANTS:
        return _constant(name if module == "refold" else dotted, CONSTANTS[dotted], thing)
    node = ast.parse(textwrap.dedent(inspect.getsource(thing))).body[0]
    assert isinstance(node, Documented)
    home = importlib.import_module(thing.__module__)
    _Spelled(vars(home)).visit(node)
    shown = name if module == "refold" else dotted
    lines = [f"### `{shown}`\n", *_body(node, shown, home)]
    return "\n".join(lines) + "\n"


def _constant(shown: str, says: str, value: object) -> str:
    if not isinstance(value, str):
        return f"### `{shown}`\n\n{says}\n"
    return f"### `{shown}`\n\n{says}\n\n```text\n{value}\n```\n"


def _body(node: Documented, shown: str, module: ModuleType) -> Iterator[str]:
    if not isinstance(node, ast.ClassDef):
        yield f"```text\n{_signature(node, shown)}\n```\n"
        yield _text(node)
        return
    init = _method(node, "__init__")
    if init is not None:
        yield f"```text\n{_signature(init, shown)}\n```\n"
    if shown in _IN_SHORT:
        fields = ", ".join(f"`{row.split('`')[1]}`" for row in _fields(node, vars(module)))
        yield _text(node).split("\n\n")[0] + (f"\n\nFields: {fields}." if fields else "")
        return
    bases = [base for base in map(ast.unparse, node.bases) if base.endswith("Error")]
    yield _text(node) + (f" A `{'` and a `'.join(bases)}`." if bases else "")
    rows = list(_fields(node, vars(module)))
    if rows:
        yield "\n| field | type | default | what it says |\n|---|---|---|---|"
        yield from rows
    if _text(node) and not node.name.endswith("Error"):
        yield from _members(node)


def _fields(node: ast.ClassDef, names: Mapping[str, Any]) -> Iterator[str]:
    """Yield a table row for every annotated field and the string below it."""
    for place, statement in enumerate(node.body):
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        if ast.unparse(statement.annotation).startswith(("KW_ONLY", "ClassVar")):
            continue
        after = node.body[place + 1] if place + 1 < len(node.body) else None
        says = ""
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            says = inspect.cleandoc(str(after.value.value))
        default = "" if statement.value is None else _default(statement.value)
        kind = ast.unparse(statement.annotation)
        values = get_args(names.get(kind))  # an alias of a Literal says less than its values
        kind = " | ".join(map(repr, values)) if values else kind
        yield f"| `{statement.target.id}` | {_code(kind)} | {_code(default)} | {_cell(says)} |"


def _default(value: ast.expr) -> str:
    """Spell a default; `field(default_factory=list)` becomes `list()`."""
    if isinstance(value, ast.Call) and ast.unparse(value.func) == "field":
        for keyword in value.keywords:
            if keyword.arg == "default_factory":
                return f"{ast.unparse(keyword.value).partition('[')[0]}()"
    return ast.unparse(value)


def _members(node: ast.ClassDef) -> Iterator[str]:
    """Yield public methods and properties."""
    first = True
    for member in node.body:
        if not isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if member.name.startswith("_"):
            continue
        if first:
            yield ""
            first = False
        marks = [ast.unparse(mark) for mark in member.decorator_list]
        if "property" in marks:
            kind = f" → `{ast.unparse(member.returns)}`" if member.returns else ""
            yield f"- `{member.name}`{kind} (property): {_line(member)}"
        else:
            yield f"- `{_signature(member, member.name, wraps=False)}`: {_line(member)}"


def _signature(
    node: ast.FunctionDef | ast.AsyncFunctionDef, shown: str, *, wraps: bool = True
) -> str:
    """Spell a signature without `self`, on several lines where one is too long."""
    arguments = node.args
    for mine in ("self", "cls"):
        if arguments.args and arguments.args[0].arg == mine:
            arguments.args = arguments.args[1:]
    prefix = "await " if isinstance(node, ast.AsyncFunctionDef) else ""
    inner = ast.unparse(arguments)
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    returns = "" if node.name == "__init__" else returns
    one_line = f"{prefix}{shown}({inner}){returns}"
    if not wraps or len(one_line) <= 90:
        return one_line
    body = textwrap.fill(inner, 86, initial_indent="    ", subsequent_indent="    ")
    return f"{prefix}{shown}(\n{body}\n){returns}"


def _method(node: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    found = (m for m in node.body if isinstance(m, ast.FunctionDef) and m.name == name)
    return next(found, None)


def _text(node: Documented) -> str:
    return ast.get_docstring(node) or ""


def _line(node: Documented) -> str:
    """Return the first sentences of a docstring, up to a blank line."""
    return " ".join(_text(node).split("\n\n")[0].split())


def _code(text: str) -> str:
    return f"`{_cell(text)}`" if text else ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _first_line(module: str) -> str:
    return (inspect.getdoc(importlib.import_module(module)) or "").partition("\n")[0]


def _formats() -> str:
    rows = [
        f"| `{format_.name}` | {_cell(format_.about or _first_line(format_.read.__module__))} |"
        for format_ in FORMATS
    ]
    head = (
        '## Formats\n\nTried in this order with `format="auto"`.\n\n'
        "| name | what it reads |\n|---|---|"
    )
    return "\n".join((head, *rows, ""))


def _detectors() -> str:
    rows = [
        f"| `{detector.reason}` | {'hard' if detector.hard else 'soft'} |" for detector in DETECTORS
    ]
    head = (
        "## Detectors\n\nA hard finding keeps the whole text; a soft one may go to the entity list "
        "of the summary.\n\n| reason | kind |\n|---|---|"
    )
    return "\n".join((head, *rows, ""))


def _checks() -> str:
    rows = [
        *(f"| `{name}` | {_cell(str(one.__doc__))} |" for name, one in CHECKS.items()),
        "| `nothing_lost` | What is missing of values, quotations and error lines is appended. |",
        "| `negations_kept` | The source's sentence is appended where its negation is lost. |",
    ]
    head = (
        "## Checks\n\nEvery answer of a summarizer must pass all of them.\n\n"
        "| check | what it does |\n|---|---|"
    )
    return "\n".join((head, *rows, ""))


def _commands() -> str:
    """Describe every command; options that many of them take are described once, before all."""
    commands: dict[str, click.Command] = {}
    for name in COMMANDS:
        command: click.Command = load_command(name)
        commands[name] = command
        if isinstance(command, click.Group):
            commands |= {f"{name} {inner}": part for inner, part in command.commands.items()}
    taken = Counter(row for command in commands.values() for row in _options(command))
    common = [row for row, times in taken.items() if times >= _COMMON]
    parts = [
        "## Commands\n\nOptions of many commands:\n",
        "\n".join(("| option | what it does |", "|---|---|", *common, "")),
    ]
    for name, command in commands.items():
        parts += _command(name, command, common)
    return "\n".join(parts)


def _command(name: str, command: click.Command, common: Sequence[str]) -> Iterator[str]:
    usage = " ".join(_argument(p) for p in command.params if isinstance(p, click.Argument))
    yield f"### `{f'refold {name} {usage}'.rstrip()}`\n\n{command.help}\n"
    options = _options(command)
    rows = [row for row in options if row not in common]
    if rows:
        yield "\n".join(("| option | what it does |", "|---|---|", *rows, ""))
    shared = [row.split()[1].strip("`,") for row in options if row in common]
    if shared:
        yield f"Also: {', '.join(f'`{option}`' for option in shared)}.\n"


def _options(command: click.Command) -> list[str]:
    return [_option(p) for p in command.params if isinstance(p, click.Option)]


def _argument(parameter: click.Argument) -> str:
    return parameter.metavar or (parameter.name or "").upper()


def _option(parameter: click.Option) -> str:
    kind: Any = parameter.type
    values = "\\|".join(map(str, kind.choices)) if isinstance(kind, click.Choice) else ""
    value = "" if parameter.is_flag else f" {parameter.metavar or values or 'VALUE'}"
    names = ", ".join(parameter.opts)
    return f"| `{names}{value}` | {_cell(parameter.help or '')} |"


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
