"""`refold watch`: a live table of the sessions of Claude Code and Codex."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from refold.cli.options import make_options, model_option, profile_option, set_option
from refold.cli.session_files import Figures, Watch
from refold.cli.terminal import clean, excerpt, make_console, make_table
from refold.server.agents import find_places

_LATEST: Final = 12
"""As many sessions as fit on a terminal of 24 lines with the rest of the table."""
_FILL_CHARS: Final = 8
"""The width of the bar that shows how full a window is."""
_NAME_CHARS: Final = 24
"""Names of sessions are cut to this, so that the figures have room."""
_WIDE: Final = 96
"""On a narrower terminal the model, the messages and the bar are left out."""
_MEDIUM: Final = 74
"""On a still narrower one, the tokens after a fold too: the share saved says as much."""

_EPILOG = """\b
Examples:
  refold watch
  refold watch ~/.claude/projects/my-project
  refold watch --once
  refold watch --set token_budget=50000

\b
Without DIR, it follows Claude Code ($CLAUDE_CONFIG_DIR or ~/.claude) and
Codex ($CODEX_HOME or ~/.codex). Nothing is changed. Costs are list prices for
sending the conversation once, without prompt caching."""


@click.command(epilog=_EPILOG)
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@click.option("--once", is_flag=True, help="Print the table once instead of following.")
@click.option(
    "--latest",
    type=click.IntRange(min=1),
    default=_LATEST,
    show_default=True,
    metavar="N",
    help="How many sessions to follow: those written last.",
)
@click.option(
    "--interval",
    type=click.FloatRange(min=0.05),
    default=2.0,
    show_default=True,
    metavar="SECONDS",
    help="How often to look.",
)
@profile_option
@set_option
@model_option
def command(
    *, folder: Path | None, once: bool, latest: int, interval: float, **choices: Any
) -> None:
    """Follow sessions as they grow: tokens, costs, possible savings."""
    options = make_options(format_name=None, **choices)
    folders = [folder] if folder is not None else default_folders(os.environ)
    missing = [str(one) for one in folders if not one.exists()]
    if len(missing) == len(folders):
        raise click.UsageError(f"there is no {' and no '.join(missing)}; name a DIR with sessions")
    watch = Watch(folders, options, limit=latest)
    console = make_console()
    watch.poll()
    if not once:
        _follow(watch, console, interval)
    console.print(draw_table(watch, console.width))


def default_folders(environment: Mapping[str, str]) -> list[Path]:
    """Return where Claude Code and Codex keep their sessions."""
    places = find_places(sys.platform, environment)
    return [places.claude_settings.parent / "projects", places.codex_config.parent / "sessions"]


def _follow(watch: Watch, console: Console, interval: float) -> None:
    """Poll until interrupted; without a terminal, print a line for each session that has grown."""
    try:
        if not sys.stdout.isatty():
            grown = watch.figures
            while True:
                for figures in grown:
                    console.print(_describe(figures), soft_wrap=True)
                sys.stdout.flush()
                time.sleep(interval)
                grown = watch.poll()
        with Live(console=console, auto_refresh=False, transient=True) as live:
            while True:
                live.update(draw_table(watch, console.width), refresh=True)
                time.sleep(interval)
                watch.poll()
    except KeyboardInterrupt:
        return  # the caller prints the table once more


def _describe(figures: Figures) -> str:
    folded = f"{figures.tokens_folded:,} folded ({_saved(figures)})"
    return f"{name_of(figures.path)}: {figures.tokens:,} tokens, {folded}"


def draw_table(watch: Watch, width: int) -> Table:
    """Draw one row per session, and the totals below."""
    is_wide, is_medium = width >= _WIDE, width >= _MEDIUM
    table = make_table()
    table.show_footer = len(watch.figures) > 1
    sums = _sums(watch.figures)
    # With too little room, names are cut, but never figures.
    table.add_column("session", Text("all", style="bold"), overflow="ellipsis")
    if is_wide:
        table.add_column("model", no_wrap=True)
        table.add_column("messages", f"{sums.messages:,}", justify="right")
    table.add_column("tokens", f"{sums.tokens:,}", justify="right", no_wrap=True)
    table.add_column("window", justify="right", no_wrap=True)
    if is_medium:
        table.add_column("folded", f"{sums.tokens_folded:,}", justify="right", no_wrap=True)
    table.add_column("saved", _saved(sums), justify="right", no_wrap=True)
    table.add_column("one request", _all_costs(watch.figures), justify="right", no_wrap=True)
    for figures in watch.figures:
        name = Text(excerpt(name_of(figures.path), _NAME_CHARS))
        wide = (excerpt(figures.model or "?", 20), f"{figures.messages:,}") if is_wide else ()
        table.add_row(
            name,
            *map(Text, wide),
            f"{figures.tokens:,}",
            _draw_fill(figures.fill, _FILL_CHARS if is_wide else 0),
            *([f"{figures.tokens_folded:,}"] if is_medium else []),
            Text(_saved(figures), style="green"),
            _spell_costs(figures.costs_usd),
        )
    if watch.hidden:
        table.caption = f"and {watch.hidden:,} older ones"
    elif not watch.figures:
        table.caption = "no sessions yet"
    return table


def name_of(path: Path) -> str:
    """Return the project of a session and the beginning of its id."""
    parent = path.parent.name.rpartition("-")[2] or path.parent.name
    return clean(f"{parent}/{path.stem.removeprefix('rollout-')[:12]}")


def _sums(figures: Sequence[Figures]) -> Figures:
    return Figures(
        path=Path(),
        messages=sum(one.messages for one in figures),
        tokens=sum(one.tokens for one in figures),
        tokens_folded=sum(one.tokens_folded for one in figures),
    )


def _draw_fill(fill: float | None, chars: int) -> Text:
    if fill is None:
        return Text("?", style="dim")
    colour = "red" if fill >= 0.9 else "yellow" if fill >= 0.7 else "green"
    full = min(chars, round(chars * fill))
    bar = Text.assemble(("█" * full, colour), ("░" * (chars - full), "dim"))
    return Text.assemble(bar, f" {fill:4.0%}" if chars else f"{fill:.0%}")


def _saved(figures: Figures) -> str:
    part = figures.tokens - figures.tokens_folded
    return f"−{100 * part / figures.tokens:.0f} %" if part else "±0 %"


def _spell_costs(costs: tuple[float, float] | None) -> str:
    return "?" if costs is None else " → ".join(map(_dollars, costs))


def _dollars(usd: float) -> str:
    """Format a price with as many digits as are significant, as the report does."""
    return f"${usd:.{2 if usd >= 1 else 3 if usd >= 0.01 else 4}f}"


def _all_costs(figures: Sequence[Figures]) -> str:
    known = [costs for one in figures if (costs := one.costs_usd) is not None]
    if not known:
        return ""
    return _spell_costs((sum(before for before, _ in known), sum(after for _, after in known)))
