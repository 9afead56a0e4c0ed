"""Print what may be long: through a pager on a terminal, else straight through."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

pager_option = click.option(
    "--pager/--no-pager", "is_paged", default=True, help="Show it in a pager on a terminal."
)


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
