"""`refold demo`: fold a session that comes with refold, and prove that nothing is lost."""

from __future__ import annotations

import hashlib
import textwrap
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Final

import click
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from refold.cli.document import Document, parse_document
from refold.cli.folding import FoldedFile, fold_file, unfold_file
from refold.cli.options import Preview
from refold.cli.terminal import (
    ROLE_COLOURS,
    action_word,
    chars_of,
    clean,
    draw_totals,
    excerpt,
    make_console,
    make_table,
    number_of,
    reason_words,
    role_of,
)
from refold.messages.wire import spell
from refold.options import Options
from refold.report.story import Row
from refold.stores import MemoryStore

SESSION: Final = "demo_session.jsonl"
_SHOWN: Final = ("compressed", "code_split", "contradicted")
"""The actions that are illustrated by a message each."""

_NARROW: Final = 100
"""From this width on, two panels fit side by side."""
_LEFT_CHARS: Final = 46
"""The width of the columns left of the reason."""
_MIN_EXCERPT: Final = 16
"""With less room, the column of texts is left out."""

_EPILOG = """\b
Examples:
  refold demo
  NO_COLOR=1 refold demo | less"""


@click.command(epilog=_EPILOG)
def command() -> int:
    """Fold a session that comes with refold, and unfold it again."""
    text = files("refold.cli").joinpath(SESSION).read_text(encoding="utf-8")
    document = parse_document(text, SESSION)
    options = Options(profile="classic", contradiction_detection=True, fuzzy_dedup=True, trace=True)
    store = MemoryStore()
    folded = fold_file(document, options, store)
    rows = list(Preview(document=document, folded=folded, options=options).rows())

    console = make_console()
    console.print()
    console.print(_draw_title("A coding agent repairs a payment webhook"))
    console.print(draw_totals(folded.result.compression, folded.turns, console.width))
    console.print()
    console.print(_draw_title("What happened to each message, and why"))
    console.print(_draw_decisions(rows, console.width))
    console.print(_draw_title("Three messages before and after"))
    for row in _choose(rows):
        console.print(_draw_pair(row, console.width))
    console.print()
    console.print(_draw_title("Unfolded again"))
    return 0 if _prove(console, document, folded, store) else 1


def _choose(rows: Sequence[Row]) -> Iterable[Row]:
    """Choose the message that shrank most for each of the actions."""
    for action in _SHOWN:
        these = [row for row in rows if row.action == action]
        if these:
            yield max(these, key=lambda row: row.chars_before - row.chars_after)


def _prove(console: Console, document: Document, folded: FoldedFile, store: MemoryStore) -> bool:
    """Unfold from the store and compare bytes, of the messages as JSON and of the whole file."""
    unfolded = unfold_file(folded.document, store).document
    is_same = True
    for name, before, after in (
        ("messages", spell(document.messages), spell(unfolded.messages)),
        ("file", document.text(), unfolded.text()),
    ):
        same = before.encode() == after.encode()
        is_same = is_same and same
        console.print(Text(f"  {name}: {len(before.encode()):,} bytes, sha256", style="bold"))
        console.print(Text.assemble(("  original  ", "dim"), _sha256(before)))
        console.print(Text.assemble(("  unfolded  ", "dim"), _sha256(after)))
        verdict = ("  ✓ the same bytes", "green") if same else ("  ✗ different", "bold red")
        console.print(Text.assemble(verdict))
    console.print(Text.assemble("\n  Try it: ", ("refold compress FILE -o OUT", "bold cyan"), "\n"))
    return is_same


def _draw_title(text: str) -> RenderableType:
    """Draw a heading."""
    return Rule(Text(f" {text} ", style="bold"), align="left", style="dim")


def _draw_decisions(rows: Sequence[Row], width: int) -> Table:
    """Draw one line per text: who, what happened, how long before and after, and why."""
    table = make_table()
    for name, right in (("#", True), ("role", False), ("what", False), ("chars", True)):
        table.add_column(name, justify="right" if right else "left", no_wrap=True)
    table.add_column("why", overflow="fold", max_width=width - _LEFT_CHARS)
    room = width - _LEFT_CHARS - max((len(reason_words(row.reason)) for row in rows), default=0) - 3
    if room >= _MIN_EXCERPT:
        table.add_column("text", no_wrap=True)
    for row in rows:
        word, colour = action_word(row.action)
        is_kept = row.action == "preserved"
        table.add_row(
            Text(number_of(row), style="dim"),
            Text(role_of(row), style=ROLE_COLOURS.get(row.role, "")),
            Text(word, style=colour),
            Text(chars_of(row), style="dim" if row.chars_before == row.chars_after else ""),
            Text(reason_words(row.reason), style="dim" if is_kept else ""),
            *([Text(excerpt(row.before, room), style="dim")] if room >= _MIN_EXCERPT else []),
        )
    return table


def _draw_pair(row: Row, width: int) -> RenderableType:
    """Draw a text and its stand-in: side by side, or one above the other on a narrow terminal."""
    word, colour = action_word(row.action)
    height = 9 if width >= _NARROW else 6
    inner = (width // 2 if width >= _NARROW else width) - 6
    title = f"#{number_of(row)} {row.role} · before · {row.chars_before:,} chars"
    before = _panel(row.before, title, "dim", inner, height)
    after = _panel(row.after, f"after · {row.chars_after:,} chars · {word}", colour, inner, height)
    if width < _NARROW:
        return Group(before, after)
    grid = Table.grid(expand=True, padding=(0, 1, 0, 0))
    grid.add_column(ratio=1)
    grid.add_column(ratio=1)
    grid.add_row(before, after)
    return grid


def _panel(text: str, title: str, colour: str, width: int, height: int) -> Panel:
    body = Text("\n".join(_fit(clean(text), width, height)))
    return Panel(body, title=Text(title, style="bold"), title_align="left", border_style=colour)


def _fit(text: str, width: int, height: int) -> Iterable[str]:
    """Wrap *text* into at most *height* lines; the last one says how much is left out."""
    lines = [
        piece
        for line in text.split("\n")
        for piece in (textwrap.wrap(line, width, replace_whitespace=False) or [""])
    ]
    if len(lines) <= height:
        return lines
    shown = lines[: height - 1]
    left = len(text) - sum(len(line) + 1 for line in shown)
    return [*shown, f"… {max(left, 1):,} more characters"]


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
