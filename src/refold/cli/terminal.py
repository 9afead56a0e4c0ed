"""On a terminal: how far long work has come, and a pager for what may be long."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


_SLOW_SECONDS: Final = 0.5
"""Work that is done sooner shows no bar: it would only flicker."""
_LARGE_CHARS: Final = 1_000_000
"""Folding this much takes a moment on any machine, so the bar comes at once."""
_FRAME_SECONDS: Final = 0.1
"""Ten times a second looks smooth, and costs next to nothing."""
pager_option = click.option(
    "--pager/--no-pager", "is_paged", default=True, help="Show it in a pager on a terminal."
)


class Progress:
    """How far some work has come; nobody knows until the worker says how to find out."""

    share: Callable[[], float] | None = None
    """Returns how much of the work is done, from 0 to 1; asked from another thread."""


@contextmanager
def working(what: str, *, chars: int = 0, quiet: bool = False) -> Iterator[Progress]:
    """Show a bar on a terminal while the body runs, if that takes a moment."""
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
    """Draw the bar until the work is over, and leave no trace of it."""
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
    """Print each as it comes; the pager asks for more only when somebody reads on."""
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
