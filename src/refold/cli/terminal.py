"""Terminal output: text that is safe to print, figures, progress bars, and a pager.

rich is slow to import, so only the functions that need it import it.
"""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import click

from refold.report.pieces import say_action, say_reason
from refold.result import Compression

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

    from refold.report.story import Row


json_option = click.option("--json", "as_json", is_flag=True, help="Write JSON.")
quiet_option = click.option("--quiet", "-q", is_flag=True, help="Print nothing but the result.")
pager_option = click.option(
    "--pager/--no-pager", "is_paged", default=True, help="Show it in a pager on a terminal."
)

_COLOURS: Final[Mapping[str, str]] = {
    "preserved": "dim",
    "compressed": "green",
    "deduped": "cyan",
    "fuzzy_deduped": "cyan",
    "contradicted": "magenta",
    "code_split": "yellow",
    "truncated": "red",
    "recoded": "bright_blue",
    "excerpted": "green",
    "digested": "green",
    "clipped": "green",
}
ROLE_COLOURS: Final = {
    "system": "magenta",
    "developer": "magenta",
    "user": "cyan",
    "assistant": "green",
    "tool": "yellow",
}
_CONTROLS: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def write_json(data: object) -> None:
    """Write *data* to standard output as JSON for people and programs."""
    sys.stdout.buffer.write(json.dumps(data, indent=2).encode() + b"\n")
    sys.stdout.buffer.flush()


def say(text: str, *, quiet: bool = False) -> None:
    """Print a message to standard error, which keeps it out of the result."""
    if not quiet:
        click.echo(text, err=True)


def action_word(action: str) -> tuple[str, str]:
    """Return the word and the colour for an action."""
    return say_action(action), _COLOURS.get(action, "white")


def reason_words(reason: str) -> str:
    """Put a reason into words, safe to print."""
    return clean(say_reason(reason))


def clean(text: str) -> str:
    """Replace control characters: text from a file must not control the terminal."""
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def excerpt(text: str, chars: int) -> str:
    """Return the beginning of *text* on one line."""
    line = " ".join(clean(text[: chars * 4]).split())
    if len(line) <= chars and len(text) <= chars * 4:
        return line
    return line[: chars - 1].rstrip() + "…"


def shown(text: str, chars: int, full: bool) -> str:
    """Return *text*, whole or its beginning on one line, safe to print."""
    return clean(text) if full else excerpt(text, chars)


def number_of(row: Row) -> str:
    """Return the number of a text: that of its message, and its part unless it is the first."""
    return f"{row.index}.{row.part}" if row.part else str(row.index)


def role_of(row: Row) -> str:
    """Return the role, cut to the width of its column."""
    return excerpt(row.role, 14)


def chars_of(row: Row) -> str:
    """Return the length of a text, before and after if it changed."""
    if row.chars_before == row.chars_after:
        return f"{row.chars_before:,}"
    return f"{row.chars_before:,} → {row.chars_after:,}"


def wrap(text: str, width: int) -> Iterator[str]:
    """Break *text* into lines of at most *width* cells, at blanks where possible."""
    for line in text.expandtabs(_TAB).split("\n"):
        start = 0
        while start + (room := _fitting(line, start, width)) < len(line):
            blank = line.rfind(" ", start, start + room + 1)
            stop = blank if line[start : max(start, blank)].strip() else start + room
            yield line[start:stop].rstrip()
            start = stop + (line[stop] == " ")
        yield line[start:].rstrip()


def _fitting(line: str, start: int, width: int) -> int:
    """Return how many characters from *start* on fit into *width* cells; at least one."""
    from rich.cells import cell_len, get_character_cell_size

    piece = line[start : start + width]
    if piece.isascii() or cell_len(piece) <= width:
        return len(piece)
    cells = 0
    for count, char in enumerate(piece):
        cells += get_character_cell_size(char)
        if cells > width:
            return max(1, count)
    return len(piece)


def count_of(before: int, after: int) -> str:
    """Return the number of messages, before and after if it changed."""
    number = f"{before:,}" if before == after else f"{before:,} → {after:,}"
    return f"{number} message{'' if (before, after) == (1, 1) else 's'}"


def percent_saved(figures: Compression) -> str:
    """Return the share of tokens saved, such as `−53.7 %`."""
    if not figures.tokens_before:
        return "±0 %"
    share = 100 * (1 - figures.tokens_after / figures.tokens_before)
    return f"{'−' if share > 0 else '+'}{abs(share):.1f} %" if share else "±0 %"


MIN_WIDTH: Final = 60
"""On a narrower terminal lines wrap: a number that was cut off would be wrong."""
MAX_WIDTH: Final = 118
"""Wider lines are hard to read."""
_BAR_CHARS: Final = 40
"""The longest bar of a total."""
_TOTALS_CHARS: Final = 38
"""The width of what is around the bars of the totals."""


def make_console() -> Console:
    """Return the console for standard output, with a width that is easy to read."""
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False)
    console.width = max(MIN_WIDTH, min(console.width, MAX_WIDTH))
    return console


def make_table() -> Table:
    """Return an empty table in the style that all commands share."""
    from rich import box
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), header_style="bold")


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


_TAB: Final = 8
"""The width of a tab on a terminal."""
_SLOW_SECONDS: Final = 0.5
"""Faster work shows no bar, which would only flicker."""
_LARGE_CHARS: Final = 1_000_000
"""Folding this much takes a moment on any machine, so the bar is shown at once."""
_FRAME_SECONDS: Final = 0.1
"""Ten times a second looks smooth and costs almost nothing."""


class Progress:
    """The progress of some work; unknown until the worker sets `share`."""

    share: Callable[[], float] | None = None
    """Returns how much of the work is done, from 0 to 1; asked from another thread."""

    def counting(self, total: Callable[[], int]) -> Callable[[float], None]:
        """Return a callback for the amount done; *total* is called on the first call of that."""
        done, of = 0.0, 0

        def count(amount: float) -> None:
            nonlocal done, of
            of = of or max(1, total())
            done = amount

        self.share = lambda: min(1.0, done / of) if of else 0.0
        return count


@contextmanager
def working(what: str, *, chars: int = 0, quiet: bool = False) -> Iterator[Progress]:
    """Show a bar on a terminal while the body runs, if that takes long enough."""
    progress = Progress()
    if quiet or not sys.stderr.isatty():
        yield progress
        return
    is_over = threading.Event()
    delay = 0 if chars > _LARGE_CHARS else _SLOW_SECONDS
    drawer = threading.Thread(target=_draw, args=(what, progress, is_over, delay), daemon=True)
    drawer.start()
    try:
        yield progress
    finally:
        is_over.set()
        drawer.join()


def _draw(what: str, progress: Progress, is_over: threading.Event, delay: float) -> None:
    """Draw the bar until the work is over, then erase it."""
    if is_over.wait(delay):
        return
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TaskProgressColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        is_last = False
        while not is_last:
            is_last = is_over.wait(_FRAME_SECONDS)
            if progress.share is not None:
                bar.update(task, total=1, completed=progress.share(), refresh=is_last)


def print_paged(console: Console, drawn: Iterable[RenderableType], *, is_paged: bool) -> None:
    """Print items as they come; in a pager, they are drawn as the user scrolls."""
    if is_paged and console.is_terminal and sys.stdin.isatty() and sys.stdout.isatty():
        click.echo_via_pager(_capture(console, drawn), color=not console.no_color)
        return
    for one in drawn:
        console.print(one)


def _capture(console: Console, drawn: Iterable[RenderableType]) -> Iterator[str]:
    for one in drawn:
        with console.capture() as captured:
            console.print(one)
        yield captured.get()
