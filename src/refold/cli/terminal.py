"""Terminal output: text that is safe to print, styles, figures, progress, and a pager."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import click

from refold.report.text import say_change
from refold.result import Compression, percent_saved

_CONTROLS: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_BAR_CHARS: Final = 30
"""The longest bar of a total or a share."""
_SLOW_SECONDS: Final = 0.5
"""Faster work shows no progress, which would only flicker."""
_FRAME_SECONDS: Final = 0.1
"""Ten times a second looks smooth and costs almost nothing."""
_LOG_SECONDS: Final = 30.0
"""Time between two lines of progress where there is no terminal: rare enough to be read."""


def write_json(data: object) -> None:
    """Write *data* to standard output as JSON for people and programs."""
    sys.stdout.buffer.write(json.dumps(data, indent=2).encode() + b"\n")
    sys.stdout.buffer.flush()


def say(text: str, *, quiet: bool = False) -> None:
    """Print a message to standard error, which keeps it out of the result."""
    if not quiet:
        click.echo(text, err=True)


def clean(text: str) -> str:
    """Replace control characters: text from a file must not control the terminal."""
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def excerpt(text: str, chars: int) -> str:
    """Return the beginning of *text* on one line."""
    line = " ".join(clean(text[: chars * 4]).split())
    if len(line) <= chars and len(text) <= chars * 4:
        return line
    return line[: chars - 1].rstrip() + "…"


def width() -> int:
    """Return how wide lines may be: as the terminal, but easy to read."""
    return max(60, min(shutil.get_terminal_size().columns, 118))


def show(lines: Iterable[str], *, is_paged: bool = False) -> None:
    """Print lines as they come; in a pager, they are made as the user scrolls."""
    has_colour = sys.stdout.isatty() or bool(os.environ.get("FORCE_COLOR"))
    has_colour = has_colour and not os.environ.get("NO_COLOR")
    if is_paged and sys.stdin.isatty() and sys.stdout.isatty():
        click.echo_via_pager((line + "\n" for line in lines), color=has_colour)
        return
    for line in lines:
        print(line if has_colour else click.unstyle(line))


def dim(text: str) -> str:
    """Return *text* in a softer colour."""
    return click.style(text, dim=True)


def bar(share: float, chars: int = _BAR_CHARS) -> str:
    """Draw a share of 1 as a bar; what is there at all has at least one block."""
    return "█" * min(chars, max(1, round(chars * share))) if share > 0 else ""


def table(rows: Sequence[Sequence[str]], *, left: int = 1) -> Iterator[str]:
    """Yield rows as lines in columns, the first *left* ones aligned to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            cell.ljust(size) if number < left else cell.rjust(size)
            for number, (cell, size) in enumerate(zip(row, widths, strict=True))
        ]
        yield ("  " + "  ".join(cells)).rstrip()


def totals(figures: Compression, turns: tuple[int, int]) -> Iterator[str]:
    """Yield tokens before and after as two bars, and how many messages there are."""
    before, after = figures.tokens_before, figures.tokens_after
    digits = len(f"{before:,}")
    for name, tokens in (("before", before), ("after ", after)):
        yield f"  {name}  {tokens:>{digits},} tokens  {bar(tokens / before if before else 0)}"
    saved = percent_saved(before, after)
    yield f"  {saved}, {count_of(*turns)}, every original can be brought back"


def count_of(before: int, after: int) -> str:
    """Return the number of messages, before and after if it changed."""
    return f"{say_change(before, after)} message{'' if (before, after) == (1, 1) else 's'}"


class Progress:
    """How far some work is; unknown until the worker sets `share`."""

    def __init__(self) -> None:
        self._share: Callable[[], float] | None = None
        self.began = self.first = 0.0
        """When the share was known first, and what it was: what an earlier run did took no time."""

    @property
    def share(self) -> Callable[[], float] | None:
        """Returns how much of the work is done, from 0 to 1; asked from another thread."""
        return self._share

    @share.setter
    def share(self, share: Callable[[], float]) -> None:
        self.began, self.first = time.monotonic(), share()
        self._share = share

    def counting(self, total: float) -> Callable[[float], None]:
        """Return a callback for how much of *total* is done."""
        done = 0.0

        def count(amount: float) -> None:
            nonlocal done
            done = amount

        self.share = lambda: min(1.0, done / total) if total else 0.0
        return count


@contextmanager
def working(what: str, *, quiet: bool = False, is_long: bool = False) -> Iterator[Progress]:
    """Show progress while the body runs: on a terminal a line that changes, else one now and then.

    Work that is over at once shows nothing, unless it *is_long* by nature.
    """
    progress, is_over = Progress(), threading.Event()
    is_terminal = sys.stderr.isatty()
    delay, pause = (_SLOW_SECONDS, _FRAME_SECONDS) if is_terminal else (_LOG_SECONDS, _LOG_SECONDS)

    def draw() -> None:
        is_last = False
        if not (is_long and is_terminal) and is_over.wait(delay):
            return
        while True:
            share, line = progress.share and progress.share(), what
            if share is not None:
                line = f"{what} {bar(share).ljust(_BAR_CHARS)} {share:.0%}"
                if share > progress.first:
                    passed = time.monotonic() - progress.began
                    left = passed * (1 - share) / (share - progress.first)
                    line = f"{line}, {left:,.0f} s left"
            click.echo(f"\r{line}\x1b[K" if is_terminal else line, err=True, nl=not is_terminal)
            if is_last:
                break
            is_last = is_over.wait(pause)
            if is_last and not is_terminal:
                return
        click.echo("\r\x1b[K", err=True, nl=False)

    drawer = threading.Thread(target=draw, daemon=True)
    if not quiet:
        drawer.start()
    try:
        yield progress
    finally:
        is_over.set()
        if not quiet:
            drawer.join()
