"""`refold show`: read the folded conversation as a model reads it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from refold.cli.folding import FoldedFile
from refold.cli.looking import Look, fold_to_look, look_options
from refold.cli.options import EPILOG, check_budget
from refold.cli.terminal import pager_option, print_paged
from refold.cli.words import action_word, clean
from refold.messages.formats import load
from refold.notation.marks import is_gap
from refold.notation.recognize import mark_of
from refold.report.turns import Turn, tell_turns

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

_MERGED: Final = "digested"

_EPILOG = f"""\b
Examples:
  refold show chat.jsonl
  refold show session.jsonl --budget 30%
  refold show session.jsonl --budget 8000 --model gpt-5 --no-pager
  NO_COLOR=1 refold show chat.jsonl | less

{EPILOG}"""


@click.command(epilog=_EPILOG)
@look_options
@pager_option
def command(
    *,
    is_paged: bool,
    **given: Any,
) -> None:
    """Read the folded conversation as a model does. Changes nothing."""
    from refold.cli.render import make_console

    look = fold_to_look(**given, trace=True)
    console = make_console()
    drawn = _draw(_turns_of(look), look.folded, console.width)
    print_paged(console, drawn, is_paged=is_paged)
    check_budget(look.folded.result)


def _turns_of(look: Look) -> Iterator[Turn]:
    name = look.options.format
    before = load(look.document.messages, format_name=name)
    after = load(look.folded.document.messages, format_name=name) if before else ()
    return tell_turns(before, after, look.folded.places, look.options.model)


def _draw(turns: Iterable[Turn], folded: FoldedFile, width: int) -> Iterator[RenderableType]:
    from refold.cli.render import draw_totals

    actions: dict[int, list[str]] = {}
    for entry in folded.result.decisions:
        actions.setdefault(entry.message_index, []).append(entry.action)
    for turn in turns:
        yield draw_heading(turn, _action_of(turn, actions.get(turn.place.start, [])), width)
        yield draw_message(turn)
    yield ""
    yield draw_totals(folded.result.compression, folded.turns, width)


def _action_of(turn: Turn, actions: Sequence[str]) -> str:
    """Return what happened to a message: to the first of its texts that was changed."""
    if len(turn.place) > 1:
        return next((action for action in actions if action != "preserved"), _MERGED)
    return next((action for action in actions if action != "preserved"), "preserved")


def draw_heading(turn: Turn, action: str, width: int) -> Text:
    """Draw a line with the number and the role, what became of it, and what it costs."""
    from rich.text import Text

    from refold.cli.render import ROLE_COLOURS

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
    """Draw what a message says and calls; marks and gaps are dimmed, and thinking only named."""
    from rich.text import Text

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
    from rich.text import Text

    if not is_folded:
        return Text(text)
    mark = mark_of(text)
    drawn = Text.assemble((mark, "dim"))
    lines = text[len(mark) :].split("\n")
    for place, line in enumerate(lines):
        drawn.append("\n" if place else "")
        drawn.append(line, style="dim yellow" if is_gap(line) else "")
    return drawn
