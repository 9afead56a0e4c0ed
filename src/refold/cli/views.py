"""`refold show`, `explain`, `diff` and `stats`: views of one fold, which change nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final

import click

from refold.cli.folding import FoldedFile
from refold.cli.options import fold_preview, preview_options
from refold.cli.terminal import (
    ROLE_COLOURS,
    clean,
    dim,
    excerpt,
    json_option,
    pager_option,
    show,
    table,
    totals,
    write_json,
)
from refold.notation.marks import is_gap
from refold.notation.recognize import mark_of
from refold.report.changes import Pair, pair_lines
from refold.report.pieces import count_pieces, find_runs, run_words, say_action, sum_up
from refold.report.story import Row, say_why
from refold.report.text import draw_message, number_of, say_change
from refold.report.turns import Turn, list_turns

_COLOURS: Final = {
    "preserved": "bright_black",
    "deduped": "cyan",
    "fuzzy_deduped": "cyan",
    "contradicted": "magenta",
    "code_split": "yellow",
    "truncated": "red",
    "recoded": "bright_blue",
}
"""All else is shortened, which is green."""
_EXCERPT_CHARS: Final = 160
"""How much of a text is shown without `--full`: two lines of a terminal."""
_HEAD_LINES, _TAIL_LINES = 4, 2
"""How much `diff` shows of a long run of lines that are all unchanged, or all dropped."""

full_option = click.option("--full", is_flag=True, help="Show everything, however long.")


def _role(name: str) -> str:
    return click.style(excerpt(name, 14), ROLE_COLOURS.get(name))


def _action(action: str) -> str:
    return click.style(say_action(action), _COLOURS.get(action, "green"))


_SHOW = """\b
Examples:
  refold show session.jsonl --budget 30%
  refold show session.jsonl --budget 8000 --model gpt-5 --no-pager"""


@click.command("show", epilog=_SHOW)
@preview_options
@pager_option
def show_command(*, is_paged: bool, **choices: Any) -> None:
    """Read the folded conversation as a model does. Changes nothing."""
    with fold_preview(**choices, trace=True) as folded:
        show(_draw_view(folded), is_paged=is_paged)


def _draw_view(folded: FoldedFile) -> Iterator[str]:
    actions: dict[int, str] = {}
    for entry in folded.result.decisions:
        if entry.action != "preserved":
            actions.setdefault(entry.message_index, entry.action)
    for turn in list_turns(*folded.loaded(), folded.places, folded.options.model):
        action = actions.get(turn.place.start, "digested" if len(turn.place) > 1 else "")
        yield _draw_heading(turn, action)
        for text in draw_message(turn.message):
            yield from _draw_text(clean(text), is_folded=turn.is_folded)
        yield ""
    yield from totals(folded.result.compression, folded.turns)


def _draw_heading(turn: Turn, action: str) -> str:
    number = click.style(number_of(turn.place), bold=True)
    tools = f" {clean(', '.join(turn.tools))}" if turn.tools else ""
    did = f" · {_action(action)}" if turn.is_folded and action else ""
    before = turn.tokens_before if turn.is_folded else turn.tokens_after
    tokens = dim(f" · {say_change(before, turn.tokens_after)} tokens")
    return f"{number} {_role(turn.message.role)}{tools}{did}{tokens}"


def _draw_text(text: str, *, is_folded: bool) -> Iterator[str]:
    """Draw a text line by line, its mark and its gaps dimmed."""
    mark = mark_of(text) if is_folded else ""
    for number, line in enumerate(text.split("\n")):
        if not number and mark:
            yield dim(mark) + line.removeprefix(mark)
        else:
            yield dim(line) if is_folded and is_gap(line) else line


_EXPLAIN = """\b
Examples:
  refold explain chat.jsonl
  refold explain session.jsonl --budget 20000 --message 14
  refold explain chat.json --json | jq '.[] | select(.decision == "deduped")'"""


@click.command("explain", epilog=_EXPLAIN)
@preview_options
@json_option
@full_option
@click.option(
    "--message",
    "number",
    type=click.IntRange(min=0),
    metavar="N",
    help="Show one message piece by piece: what is kept, what is dropped, and why.",
)
def explain_command(*, as_json: bool, full: bool, number: int | None, **choices: Any) -> None:
    """Say what a fold does to every message, and why. Changes nothing."""
    with fold_preview(**choices, trace=True) as folded:
        rows = list(folded.rows())
        if number is not None:
            last = rows[-1].index if rows else -1
            rows = [row for row in rows if row.index == number]
            if not rows:
                there = f"they are numbered from 0 to {last}" if last >= 0 else "there are none"
                raise click.UsageError(f"--message: there is no message {number}; {there}")
        if as_json:
            with_pieces = full or number is not None
            write_json([_spell_row(row, full=full, with_pieces=with_pieces) for row in rows])
        elif number is not None:
            show(line for row in rows for line in draw_pieces(row, full=full))
        else:
            show(_draw_rows(rows, folded, full=full))


def _spell_row(row: Row, *, full: bool, with_pieces: bool) -> dict[str, Any]:
    """Return a row as JSON-ready data, with whole texts and pieces only on request."""
    texts: dict[str, Any] = {"before": row.before, "after": row.after}
    if not full:
        texts = {name: excerpt(text, _EXCERPT_CHARS) for name, text in texts.items()}
    if row.pieces:
        kept, dropped = count_pieces(row.pieces)
        texts |= {"kept": kept.to_dict(), "dropped": dropped.to_dict()}
        if with_pieces:
            texts["pieces"] = [piece._asdict() for piece in row.pieces]
    return {
        "message_index": row.index,
        "part": row.part,
        "message_id": row.id,
        "line": row.line,
        "role": row.role,
        "is_turn": row.is_turn,
        "decision": row.action,
        "reason": row.reason,
        "chars_before": row.chars_before,
        "chars_after": row.chars_after,
        **texts,
    }


def _draw_rows(rows: Sequence[Row], folded: FoldedFile, *, full: bool) -> Iterator[str]:
    for row in rows:
        if row.is_turn:
            yield from draw_row(row, full=full)
    notes = sum(not row.is_turn for row in rows)
    if notes:
        what = "1 record" if notes == 1 else f"{notes:,} records"
        yield dim(f"  and {what} of the session that no model sees")
    yield from totals(folded.result.compression, folded.turns)


def draw_row(row: Row, *, full: bool) -> Iterator[str]:
    """Draw what became of a text, and why; then how it begins before and after, or all of it."""
    yield _draw_head(row)
    for words in sum_up(row.pieces):
        yield f"    {clean(words)}"
    is_same = row.before == row.after
    for sign, text, colour in (("", row.before, None), ("+ ", row.after, "green")):
        if text and not (sign and is_same):
            words = clean(text) if full else excerpt(text, _EXCERPT_CHARS)
            mark = sign or ("" if is_same else "− ")
            yield click.style(f"    {mark}{words}", colour, dim=not sign)
    yield ""


def _draw_head(row: Row) -> str:
    number = click.style(f"#{row.index}" + (f".{row.part}" if row.part else ""), bold=True)
    chars = f"{say_change(row.chars_before, row.chars_after)} chars"
    why = clean(say_why(row))
    return f"{number} {_role(row.role)} · {_action(row.action)} · {chars} · {why}"


def draw_pieces(row: Row, *, full: bool) -> Iterator[str]:
    """Draw a text piece by piece: what was kept, what was dropped, and why."""
    if not row.pieces:
        yield from draw_row(row, full=full)
        return
    yield _draw_head(row)
    for words in sum_up(row.pieces):
        yield f"  {clean(words)}"
    for run in find_runs(row.pieces):
        first, last = run[0].first_line, run[-1].last_line
        lines = f"line {first:,}" if first == last else f"lines {first:,}–{last:,}"
        tokens = sum(piece.tokens for piece in run)
        verdict = click.style("kept", "green") if run[0].is_kept else click.style("dropped", "red")
        text = "".join(piece.text for piece in run)
        yield f"  {verdict} {lines} · {tokens:,} tokens · {clean(run_words(run))}"
        yield dim(f"    {clean(text) if full else excerpt(text, _EXCERPT_CHARS)}")


_DIFF = """\b
Examples:
  refold diff session.jsonl --budget 30%
  refold diff session.jsonl --budget 30% --full --no-pager"""


@click.command("diff", epilog=_DIFF)
@preview_options
@full_option
@pager_option
def diff_command(*, full: bool, is_paged: bool, **choices: Any) -> None:
    """Show what a fold changes, before and after. Changes nothing."""
    with fold_preview(**choices, trace=True) as folded:
        rows = [row for row in folded.rows() if row.is_turn and row.before != row.after]
        show(_draw_diff(rows, folded, full), is_paged=is_paged)


def _draw_diff(rows: Sequence[Row], folded: FoldedFile, full: bool) -> Iterator[str]:
    if not rows:
        yield "  No message changes."
    for row in rows:
        yield _draw_head(row)
        pairs = pair_lines(clean(row.before), clean(row.after))
        yield from (line for pair in (pairs if full else _shorten(pairs)) for line in _patch(pair))
        yield ""
    yield from totals(folded.result.compression, folded.turns)


def _shorten(pairs: Iterable[Pair]) -> Iterator[Pair | str]:
    """Replace the middle of each long run by its number of lines."""
    for (is_same, is_gone), run in groupby(pairs, lambda pair: (pair.is_same, pair.after is None)):
        lines = list(run)
        hidden = len(lines) - _HEAD_LINES - _TAIL_LINES
        if not (is_same or is_gone) or hidden <= 1:
            yield from lines
            continue
        yield from lines[:_HEAD_LINES]
        yield f"  … {hidden:,} more lines {'kept' if is_same else 'dropped'}"
        yield from lines[-_TAIL_LINES:]


def _patch(pair: Pair | str) -> Iterator[str]:
    if isinstance(pair, str):
        yield dim(pair)
    elif pair.is_same:
        yield f"  {pair.after}"
    else:
        for sign, text, colour in (("-", pair.before, "red"), ("+", pair.after, "green")):
            if text is not None:
                yield click.style(f"{sign} {text}", colour)


_STATS = """\b
Examples:
  refold stats chat.jsonl --budget 30%
  refold stats chat.json --json | jq .tokens_after"""


@click.command("stats", epilog=_STATS)
@preview_options
@json_option
def stats_command(*, as_json: bool, **choices: Any) -> None:
    """Show the figures of a fold: tokens and what happened. Changes nothing."""
    with fold_preview(**choices) as folded:
        before, after = folded.turns
        figures = folded.result.compression
        counted = figures.to_dict()
        if as_json:
            write_json({"messages_before": before, "messages_after": after, **counted})
            return
        rows = [
            (name.replace("_", " "), f"{value:,.3f}" if isinstance(value, float) else f"{value:,}")
            for name, value in counted.items()
            if name != "decisions" and value
        ]
        show([*totals(figures, folded.turns), "", *table(rows)])
