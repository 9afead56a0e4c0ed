"""Draw what became of a batch as one table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from refold.cli.words import action_word, clean

if TYPE_CHECKING:
    from rich.table import Table


def draw_summary(summary: Mapping[str, Any]) -> Table:
    """Draw the sums of a batch: records, tokens, money, kinds, the slowest, errors."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_column()
    for name, value in _rows(summary):
        table.add_row(name, Text(clean(value)))
    return table


def _rows(summary: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    parts = summary["parts"]
    yield "records", f"{summary['records']:,} in {parts:,} part{'' if parts == 1 else 's'}"
    if summary["rejected"]:
        errors = ", ".join(f"{count:,} {name}" for name, count in summary["errors"].items())
        yield "set aside", f"{summary['rejected']:,} ({errors})"
    before, after = summary["tokens_before"], summary["tokens_after"]
    if before:
        yield "tokens", f"{before:,} → {after:,} (−{100 * (1 - after / before):.1f} %)"
    if summary["saved_usd"] is not None:
        yield "saves", f"${summary['saved_usd']:,.2f} each time they are sent"
    if summary["over_budget"]:
        yield "over budget", f"{summary['over_budget']:,}"
    for action, (texts, chars_before, chars_after) in summary["kinds"].items():
        word, _ = action_word(action)
        plural = "" if texts == 1 else "s"
        yield word, f"{texts:,} text{plural}, {chars_before:,} → {chars_after:,} characters"
    yield "bytes", f"{summary['bytes_in']:,} read, {summary['bytes_out']:,} written"
    if summary["cpu_seconds"]:
        rate = summary["bytes_in"] / summary["cpu_seconds"] / 1e6
        yield "CPU time", f"{summary['cpu_seconds']:,.1f} s, {rate:.2f} MB/s a core"
    for slow in summary["slowest"]:
        yield "slowest", f"{slow['seconds']:.3f} s  {slow['file']}, line {slow['line']}"
