"""Every regular expression of the package: where it is written, what it says, how it is asked.

The call sites are read from the sources with `ast`. What each one compiles is recorded while all
modules are imported from their sources, in a process of its own, so patterns that are put together
at import are seen as they are used. A site that compiled nothing must be listed in `FOREIGN`.

examples:
  python bench/pattern_list.py
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib import import_module, util
from importlib.machinery import FileFinder, SourceFileLoader
from pathlib import Path
from types import FrameType
from typing import Any, Final

FOREIGN: Final = {
    "codecs/records.py:_read_rest": "the first key of a record, escaped, after a bracket",
    "lazy.py:__getattr__": "those of `regex`, listed where they are written",
    "options.py:of": "the caller's own pattern",
    "conversation/saved.py:read_options": "the caller's own pattern, from a saved session",
    "tools/text_store.py:search_lines": "a literal text, escaped",
    "llm/summarizers/prompt.py:clean": "a digest, between words of five letters at most",
    "scan/name_tables.py:_class_table": "single characters, over a table",
}
"""Sites whose patterns are not ours, by file and function, and whose they are."""

_GIVEN: Final[dict[str, Callable[[Any], tuple[Any, ...]]]] = {
    "fold/kinds.py:_rules_for": lambda kinds: (tuple(range(len(kinds._RULES))),),
}
"""Functions that make patterns of what they are given, and what gives them most."""
_ASKED: Final = {
    **dict.fromkeys(("match", "fullmatch", "search", "finditer"), ""),
    **dict.fromkeys(("findall", "split", "sub", "subn"), "finditer"),
}
"""How a pattern may be asked, and what that comes down to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A pattern of the package."""

    place: str
    """File and line in the package, and the name it has, if it has one."""
    pattern: str
    flags: int
    is_bytes: bool
    asked: tuple[str, ...]
    """How it is asked: `match`, `fullmatch`, `search`, `finditer`."""

    def compile(self) -> re.Pattern[Any]:
        """Return it as the package uses it."""
        source = self.pattern.encode("latin-1") if self.is_bytes else self.pattern
        return re.compile(source, self.flags)


def list_patterns() -> list[Written]:
    """Return all patterns of the installed package, each once for each place."""
    done = subprocess.run(
        [sys.executable, __file__, "--json"], capture_output=True, text=True, check=True
    )
    return [
        Written(**{**row, "asked": tuple(row["asked"])})  # JSON has no tuples
        for row in map(json.loads, done.stdout.splitlines())
    ]


@dataclass(frozen=True, slots=True)
class _Site:
    """A call of `re` in the sources."""

    file: str
    first: int
    last: int
    call: ast.Call
    function: str
    name: str
    """The module's name for what it compiles, if it has one."""
    method: str
    """The method asked for right where it is compiled, or the function of `re` itself."""


def _find_sites(file: str, tree: ast.AST) -> Iterator[_Site]:
    above: dict[ast.AST, ast.AST] = {
        child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=attr)):
                if attr != "compile" and attr not in _ASKED:
                    continue
            case ast.Call(func=ast.Name(id="regex")):  # of refold.lazy
                attr = "compile"
            case _:
                continue
        function, name, method = "", "", attr
        step: ast.AST = node
        if isinstance(holder := above[node], ast.Attribute):
            method = holder.attr
        while step in above:
            step = above[step]
            match step:
                case ast.FunctionDef():
                    function = step.name
                case ast.AnnAssign(target=ast.Name(id=target)) if step.value is node:
                    name = target
        yield _Site(file, node.lineno, node.end_lineno or 0, node, function, name, method)


def _find_uses(trees: dict[str, ast.Module]) -> dict[tuple[str, str], set[str]]:
    """Return how each name of each module is asked; `finditer` where it is handed on."""
    uses: dict[tuple[str, str], set[str]] = defaultdict(set)
    for file, tree in trees.items():
        home = {
            alias.asname or alias.name: (node.module.removeprefix("refold."), alias.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("refold.")
            for alias in node.names
            if node.module
        }
        asked = {
            id(node.value): node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)
        }
        here = _module_name(file)
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                method = asked.get(id(node), "finditer")
                uses[home.get(node.id, (here, node.id))].add(method)
    return uses


def _module_name(file: str) -> str:
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _list_here() -> Iterator[Written]:
    """Import the package from its sources and tell what its sites compile."""
    spec = util.find_spec("refold")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    root = Path(spec.submodule_search_locations[0])
    files = {path.relative_to(root).as_posix(): path for path in sorted(root.rglob("*.py"))}
    trees = {file: ast.parse(path.read_text(encoding="utf-8")) for file, path in files.items()}
    recorded = _record(root, trees)
    uses = _find_uses(trees)
    for file, tree in trees.items():
        for site in _find_sites(file, tree):
            found = [
                (pattern, flags, line)
                for place, called, pattern, flags, line in recorded
                if place == file and site.first <= called <= site.last
            ]
            is_foreign = f"{file}:{site.function}" in FOREIGN
            if not found and not is_foreign and site.method != "compile":
                found = [(_value_of(site.call.args[0], file), 0, site.first)]
            if not found and not is_foreign:
                raise LookupError(f"{file}:{site.first} compiled nothing: list it in FOREIGN")
            asked = uses[_module_name(file), site.name] if site.name else {site.method}
            asked = {_ASKED.get(how) or how for how in asked if how in _ASKED}
            if not asked:  # made by a function, or only a part of other patterns
                asked = {"finditer"}
            for pattern, flags, line in dict.fromkeys(found):
                yield Written(
                    place=f"{file}:{line} {site.name}".strip(),
                    pattern=pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern,
                    flags=int(flags),
                    is_bytes=isinstance(pattern, bytes),
                    asked=tuple(sorted(asked)),
                )


def _value_of(node: ast.expr, file: str) -> Any:
    """Work out a pattern that is given right where it is used."""
    source = compile(ast.Expression(node), file, "eval")
    return eval(source, vars(sys.modules[f"refold.{_module_name(file)}"]))


def _record(root: Path, trees: dict[str, ast.Module]) -> list[tuple[str, int, Any, int, Any]]:
    """Import the modules; return who compiled what: file, line, pattern, flags, where it is for."""
    recorded: list[tuple[str, int, Any, int, Any]] = []
    compile_ = re.compile

    def record(pattern: Any, flags: Any = 0) -> re.Pattern[Any]:
        caller = sys._getframe(1)
        code, line = caller.f_code.co_filename, caller.f_lineno
        if _is_in(root, caller):
            asker = caller
            while asker.f_code.co_name != "<module>":
                if asker.f_back is None or not _is_in(root, asker.f_back):
                    break
                asker = asker.f_back
            place, within = (
                Path(name).relative_to(root).as_posix() for name in (code, asker.f_code.co_filename)
            )
            wanted = asker.f_lineno if place == within else f"{line} for {within}:{asker.f_lineno}"
            recorded.append((place, line, pattern, int(flags), wanted))
        return compile_(pattern, flags)

    sys.path_hooks.insert(0, _sources_only(root))
    sys.path_importer_cache.clear()
    re.compile = record  # in a process of its own: see `list_patterns`
    import_module("refold.lazy").__dict__["regex"] = record
    for file, tree in trees.items():
        name = "refold" if file == "__init__.py" else f"refold.{_module_name(file)}"
        if "__main__" in name or not any(_find_sites(file, tree)):
            continue  # what has no pattern may need a framework that is not installed
        module = import_module(name)
        functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
        for node in functions:
            compiles = any(site.method == "compile" for site in _find_sites(file, node))
            given = _GIVEN.get(f"{file}:{node.name}")
            if compiles and (given is not None or not ast.unparse(node.args)):
                # It makes its pattern when it is first called.
                vars(module)[node.name](*(given(module) if given else ()))
    return recorded


def _is_in(root: Path, frame: FrameType) -> bool:
    return Path(frame.f_code.co_filename).is_relative_to(root)


def _sources_only(root: Path) -> Any:
    """Return a hook that finds sources in the package."""
    make = FileFinder.path_hook((SourceFileLoader, [".py"]))

    def hook(path: str) -> Any:
        if not Path(path).is_relative_to(root):
            raise ImportError
        return make(path)

    return hook


if __name__ == "__main__":
    for one in _list_here():
        if "--json" in sys.argv:
            print(json.dumps(asdict(one)))
        else:
            print(f"{one.place:60} {'/'.join(one.asked):18} {one.pattern[:100]!r}")
