"""`refold show`: read the folded conversation as a model reads it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import click
from rich.console import RenderableType
from rich.text import Text

from refold.cli.folding import FoldedFile
from refold.cli.options import fold_preview, preview_options
from refold.cli.terminal import (
    ROLE_COLOURS,
    action_word,
    clean,
    draw_totals,
    make_console,
    pager_option,
    print_paged,
)
from refold.notation.marks import is_gap
from refold.notation.recognize import mark_of
from refold.report.turns import Turn, list_turns

_MERGED: Final = "digested"

_EPILOG = """\b
Examples:
  refold show chat.jsonl
  refold show session.jsonl --budget 30%
  refold show session.jsonl --budget 8000 --model gpt-5 --no-pager
  NO_COLOR=1 refold show chat.jsonl | less"""


@click.command(epilog=_EPILOG)
@preview_options
@pager_option
def command(*, is_paged: bool, **given: Any) -> None:
    """Read the folded conversation as a model does. Changes nothing."""
    with fold_preview(**given, trace=True) as preview:
        turns = list_turns(*preview.loaded(), preview.folded.places, preview.options.model)
        console = make_console()
        print_paged(console, _draw(turns, preview.folded, console.width), is_paged=is_paged)


def _draw(turns: Iterable[Turn], folded: FoldedFile, width: int) -> Iterator[RenderableType]:
    actions: dict[int, list[str]] = {}
    for entry in folded.result.decisions:
        actions.setdefault(entry.message_index, []).append(entry.action)
    for turn in turns:
        yield draw_heading(turn, _action_of(turn, actions.get(turn.place.start, [])), width)
        yield draw_message(turn)
    yield ""
    yield draw_totals(folded.result.compression, folded.turns, width)


def _action_of(turn: Turn, actions: Sequence[str]) -> str:
    """Return what happened to the first text of a message that was changed."""
    if len(turn.place) > 1:
        return next((action for action in actions if action != "preserved"), _MERGED)
    return next((action for action in actions if action != "preserved"), "preserved")


def draw_heading(turn: Turn, action: str, width: int) -> Text:
    """Draw a line with the number, the role, what was done to the message, and its tokens."""
    first, last = turn.place.start, turn.place.stop - 1
    number = f"#{first}" if first == last else f"#{first}–{last}"
    role = clean(turn.message.role)
    left = Text.assemble((f"{number} ", "bold"), (role, f"bold {ROLE_COLOURS.get(role, '')}"))
    if turn.tools:
        left.append(f" {clean(', '.join(turn.tools))}")
    right = Text(style="dim")
    if turn.is_folded:
        word, colour = action_word(action)
        right.append_text(Text(f"{word} · ", style=colour))
        right.append(f"{turn.tokens_before:,} → ")
    right.append(f"{turn.tokens_after:,} tokens")
    left.truncate(max(1, width - right.cell_len - 3), overflow="ellipsis")
    rule = "─" * max(1, width - left.cell_len - right.cell_len - 2)
    return Text.assemble("\n", left, (f" {rule} ", "dim"), right)


def draw_message(turn: Turn) -> Text:
    """Draw the texts and calls of a message; marks and gaps are dimmed, thinking is only named."""
    message = turn.message
    drawn: list[Text] = []
    if message.thinking:
        drawn.append(Text("(thinking)", style="dim italic"))
    drawn += [_draw_text(clean(part.text), is_folded=turn.is_folded) for part in message.parts]
    if message.images:
        pictures = "1 picture" if message.images == 1 else f"{message.images} pictures"
        drawn.append(Text(f"({pictures})", style="dim italic"))
    for call in message.calls:
        name, arguments = clean(call.name), clean(call.spelled)
        drawn.append(Text.assemble(("calls ", "dim"), (name, "bold"), f" {arguments}"))
    return Text("\n").join(text for text in drawn if text.plain.strip()) if drawn else Text("")


def _draw_text(text: str, *, is_folded: bool) -> Text:
    if not is_folded:
        return Text(text)
    mark = mark_of(text)
    drawn = Text.assemble((mark, "dim"))
    lines = text[len(mark) :].split("\n")
    for place, line in enumerate(lines):
        drawn.append("\n" if place else "")
        drawn.append(line, style="dim yellow" if is_gap(line) else "")
    return drawn
