"""Draw results on a terminal: tables, panels and figures, with and without colour."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from refold.cli.words import action_word, clean, count_of, excerpt, percent_saved, reason_words
from refold.report.pieces import find_runs, run_words, sum_up
from refold.result import Compression

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    from refold.plan.breakdown import Share
    from refold.report.story import Row

MIN_WIDTH: Final = 60
"""On a narrower terminal lines go on below: a number that is cut short says something else."""
MAX_WIDTH: Final = 118
"""Wider lines are hard to read."""
_NARROW: Final = 100
"""Two panels stand side by side from this width on; below, their lines would break."""
_BAR_CHARS: Final = 40
"""The longest bar of a total."""
_SHARE_CHARS: Final = 28
"""The longest bar of a share."""
_LEFT_CHARS: Final = 46
"""What the columns left of the reason take."""
_TOTALS_CHARS: Final = 38
_SHARES_CHARS: Final = 50
"""What stands around the bars of the totals and of the shares."""
_MIN_EXCERPT: Final = 16
"""In less room a text says nothing, and its column is left out."""
ROLE_COLOURS: Final = {
    "system": "magenta",
    "developer": "magenta",
    "user": "cyan",
    "assistant": "green",
    "tool": "yellow",
}


def make_console() -> Console:
    """Return the console for standard output, no wider or narrower than is good to read."""
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False)
    console.width = max(MIN_WIDTH, min(console.width, MAX_WIDTH))
    return console


def draw_title(text: str) -> RenderableType:
    """Draw a heading."""
    from rich.rule import Rule
    from rich.text import Text

    return Rule(Text(f" {text} ", style="bold"), align="left", style="dim")


def draw_totals(figures: Compression, turns: tuple[int, int], width: int) -> Text:
    """Draw tokens before and after as two bars."""
    from rich.text import Text

    share = figures.tokens_after / figures.tokens_before if figures.tokens_before else 1.0
    chars = min(_BAR_CHARS, width - _TOTALS_CHARS)
    filled = max(1, round(chars * share))
    digits = len(f"{figures.tokens_before:,}")
    return Text.assemble(
        ("  before  ", "dim"),
        (f"{figures.tokens_before:>{digits},} tokens  ", "bold"),
        ("█" * chars, "red"),
        ("\n  after   ", "dim"),
        (f"{figures.tokens_after:>{digits},} tokens  ", "bold"),
        ("█" * filled, "green"),
        ("░" * (chars - filled), "dim"),
        (f"  {percent_saved(figures)}", "bold green"),
        (f"\n  {count_of(*turns)}", "dim"),
        (", every original can be brought back", "dim"),
    )


def draw_decisions(rows: Sequence[Row], width: int) -> Table:
    """Draw one line per text: who, what happened, how long before and after, and why."""
    from rich.text import Text

    table = _table()
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


def draw_notes(rows: Sequence[Row]) -> Text | None:
    """Draw one line for all records that no model sees, if there are any."""
    from rich.text import Text

    if not rows:
        return None
    records = "1 record" if len(rows) == 1 else f"{len(rows):,} records"
    return Text(f"  and {records} of the session that no model sees", style="dim")


def draw_pieces(row: Row, width: int, *, full: bool) -> RenderableType:
    """Draw a text piece by piece: what was kept, what was dropped, and why."""
    from rich.console import Group
    from rich.text import Text

    word, colour = action_word(row.action)
    table = _table()
    for name, right in (("", False), ("lines", True), ("tokens", True)):
        table.add_column(name, justify="right" if right else "left", no_wrap=True)
    table.add_column("why", max_width=30)
    table.add_column("text", ratio=1, overflow="fold")
    for run in find_runs(row.pieces):
        style = colour if run[0].is_kept else "dim"
        first, last = run[0].first_line, run[-1].last_line
        said = "".join(piece.text for piece in run)
        table.add_row(
            Text("kept" if run[0].is_kept else "dropped", style=style),
            Text(f"{first:,}" if first == last else f"{first:,}–{last:,}", style="dim"),
            Text(f"{sum(piece.tokens for piece in run):,}", style="dim"),
            Text(clean(run_words(run)), style=style),
            Text(shown(said, max(28, width - 64), full), style=style),
        )
    head = Text.assemble(
        (f"#{number_of(row)} {row.role} · ", "bold"),
        (word, colour),
        f" · {reason_words(row.reason)}",
    )
    return Group(head, Text(clean("\n".join(sum_up(row.pieces)))), table)


def draw_pair(row: Row, width: int) -> RenderableType:
    """Draw a text and its stand-in: side by side, or one above the other on a narrow terminal."""
    from rich.console import Group
    from rich.table import Table

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


def draw_figures(figures: Compression) -> Table:
    """Draw every counter and measure that says something."""
    from rich.text import Text

    table = _table()
    table.add_column("figure")
    table.add_column("value", justify="right")
    for name, value in _figures(figures):
        table.add_row(Text(name), Text(value, style="bold"))
    return table


def _figures(figures: Compression) -> Iterator[tuple[str, str]]:
    for name, value in figures.to_dict().items():
        is_idle = value is None or (isinstance(value, int) and value == 0)
        if name == "decisions" or is_idle:
            continue
        shown = f"{value:,.3f}" if isinstance(value, float) else f"{value:,}"
        yield name.replace("_", " "), shown


def _table() -> Table:
    from rich import box
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), header_style="bold")


def _panel(text: str, title: str, colour: str, width: int, height: int) -> Panel:
    from rich.panel import Panel
    from rich.text import Text

    body = Text("\n".join(_fit(clean(text), width, height)))
    return Panel(body, title=Text(title, style="bold"), title_align="left", border_style=colour)


def _fit(text: str, width: int, height: int) -> Iterable[str]:
    """Wrap *text* into at most *height* lines; what is left out is counted."""
    import textwrap

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


def shown(text: str, chars: int, full: bool) -> str:
    """Return *text*, whole or its beginning on one line, safe to print."""
    return clean(text) if full else excerpt(text, chars)


def number_of(row: Row) -> str:
    """Name a text by its message, and its part if it is not the first."""
    return f"{row.index}.{row.part}" if row.part else str(row.index)


def role_of(row: Row) -> str:
    """Return a role that fits into its column."""
    return excerpt(row.role, 14)


def chars_of(row: Row) -> str:
    """Say how long a text was, and is if that changed."""
    if row.chars_before == row.chars_after:
        return f"{row.chars_before:,}"
    return f"{row.chars_before:,} → {row.chars_after:,}"


def draw_shares(shares: Sequence[Share], width: int) -> Table:
    """Draw where tokens go as a bar chart."""
    from rich.table import Table
    from rich.text import Text

    total = sum(share.tokens for share in shares)
    most = max(share.tokens for share in shares)
    chars = min(_SHARE_CHARS, width - _SHARES_CHARS)
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("role", "kind", "items", "tokens", "", ""):
        table.add_column(name, justify="right" if name in ("items", "tokens") else "left")
    for share in shares:
        colour = ROLE_COLOURS.get(share.role, "white")
        table.add_row(
            Text(clean(share.role), style=colour),
            share.kind,
            f"{share.items:,}",
            f"{share.tokens:,}",
            f"{100 * share.tokens / total:.1f} %",
            Text("█" * max(1, round(chars * share.tokens / most)), style=colour),
        )
    return table
