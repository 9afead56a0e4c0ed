"""`refold demo`: fold a session that comes with refold, and prove that nothing is lost."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Final

import click

from refold.cli.document import Document, parse_document
from refold.cli.folding import FoldedFile, fold_file, unfold_file
from refold.cli.looking import tell
from refold.cli.options import EPILOG
from refold.messages.wire import spell
from refold.options import Options
from refold.report.story import Row
from refold.stores import MemoryStore

if TYPE_CHECKING:
    from rich.console import Console

SESSION: Final = "demo_session.jsonl"
_SHOWN: Final = ("compressed", "code_split", "contradicted")
"""The actions that are shown with their texts, one message each."""

_EPILOG = f"""\b
Examples:
  refold demo
  NO_COLOR=1 refold demo | less

{EPILOG}"""


@click.command(epilog=_EPILOG)
def command() -> int:
    """Fold a session that comes with refold, and unfold it again."""
    from refold.cli.render import draw_decisions, draw_pair, draw_title, draw_totals, make_console

    text = files("refold.cli").joinpath(SESSION).read_text(encoding="utf-8")
    document, _ = parse_document(text, SESSION)
    options = Options(profile="classic", contradiction_detection=True, fuzzy_dedup=True, trace=True)
    store = MemoryStore()
    folded = fold_file(document, options, store)
    rows = list(tell(document, folded, options.format))

    console = make_console()
    console.print()
    console.print(draw_title("A coding agent repairs a payment webhook"))
    console.print(draw_totals(folded.result.compression, folded.turns, console.width))
    console.print()
    console.print(draw_title("What happened to each message, and why"))
    console.print(draw_decisions(rows, console.width))
    console.print(draw_title("Three messages before and after"))
    for row in _choose(rows):
        console.print(draw_pair(row, console.width))
    console.print()
    console.print(draw_title("Unfolded again"))
    return 0 if _prove(console, document, folded, store) else 1


def _choose(rows: Sequence[Row]) -> Iterable[Row]:
    """Choose for each action worth showing the message that became shortest."""
    for action in _SHOWN:
        these = [row for row in rows if row.action == action]
        if these:
            yield max(these, key=lambda row: row.chars_before - row.chars_after)


def _prove(console: Console, document: Document, folded: FoldedFile, store: MemoryStore) -> bool:
    """Unfold from the store and compare bytes: the messages as JSON, and the whole file."""
    from rich.text import Text

    unfolded = unfold_file(folded.document, store, one_layer=False).document
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


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
