"""Views of a fold, which change nothing: `show`, `explain`, `diff`, `stats`, `report`; `count`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import click

from refold.cli.document import STDIO, check_out, locating_errors, read_document, write_text
from refold.cli.folding import FoldedFile, carry_over, fold_preview, opened
from refold.cli.options import command, make_options
from refold.cli.terminal import (
    bar,
    clean,
    dim,
    excerpt,
    say,
    show,
    table,
    totals,
    width,
    working,
    write_json,
)
from refold.messages.formats import load
from refold.messages.token_count import break_down
from refold.notation.marks import is_gap
from refold.notation.recognize import mark_of
from refold.report import render
from refold.report.changes import Pair, pair_lines
from refold.report.pieces import (
    count_pieces,
    find_runs,
    run_words,
    say_action,
    say_count,
    sum_up,
)
from refold.report.story import Row, say_why
from refold.report.text import draw_message, number_of, say_change
from refold.report.turns import Turn, list_turns, make_counter
from refold.scan.tokens.choose import encoding_for
from refold.stores import MemoryStore

_COLOURS: Final = {
    "system": "magenta",
    "developer": "magenta",
    "user": "cyan",
    "assistant": "green",
    "tool": "yellow",
    "preserved": "bright_black",
}
"""Of roles and actions; all other actions shorten, which is green."""
_EXCERPT_CHARS: Final = 160
"""How much of a text is shown without `--full`: two lines of a terminal."""
_HEAD_LINES, _TAIL_LINES = 4, 2
"""How much `diff` shows of a long run of lines that are all unchanged, or all dropped."""


@command(
    file=("[FILE|-]",),
    session=("--session ID", "Instead of FILE: a session of Claude Code or Codex by its id."),
)
def show_command(*, session: str | None, is_paged: bool = True, **fold: Any) -> None:
    """Read the folded conversation as a model does. Changes nothing.

    Examples:
      refold show session.jsonl --budget 30%
      refold show session.jsonl --budget 8000 --model gpt-5 --no-pager
      refold show --session 7c2e91d4
    """
    if (session is None) == (fold["file"] is None):
        raise click.UsageError("name either a FILE or a --session")
    if session is not None:
        from refold.cli.watch import find_session

        fold["file"] = str(find_session(session, os.environ))
    with fold_preview(**fold) as folded:
        show(_draw_view(folded), is_paged=is_paged)


def _draw_view(folded: FoldedFile) -> Iterator[str]:
    actions: dict[int, str] = {}
    for entry in folded.result.entries.get():
        if entry.action != "preserved":
            actions.setdefault(entry.message_index, entry.action)
    for turn in list_turns(*folded.loaded(), folded.result.places, folded.options.model):
        action = actions.get(turn.place.start, "digested" if len(turn.place) > 1 else "")
        yield _draw_turn_head(turn, action)
        for text in map(clean, draw_message(turn.message)):
            mark = mark_of(text) if turn.is_folded else ""
            first, *others = text.split("\n")
            yield dim(mark) + first.removeprefix(mark) if mark else first
            yield from (dim(line) if turn.is_folded and is_gap(line) else line for line in others)
        yield ""
    yield from totals(folded.result.compression, folded.turns)


def _draw_turn_head(turn: Turn, action: str) -> str:
    tools = f" {clean(', '.join(turn.tools))}" if turn.tools else ""
    before = turn.tokens_before if turn.is_folded else turn.tokens_after
    tokens = dim(f" · {say_change(before, turn.tokens_after)} tokens")
    did = f" · {_action(action)}" if turn.is_folded and action else ""
    return f"{_speaker(number_of(turn.place), turn.message.role)}{tools}{did}{tokens}"


def _speaker(number: str, role: str) -> str:
    return f"{click.style(number, bold=True)} {click.style(excerpt(role, 14), _COLOURS.get(role))}"


def _action(action: str) -> str:
    return click.style(say_action(action), _COLOURS.get(action, "green"))


@command(
    number=("--message N", "Show one message piece by piece: what is kept or dropped, and why.")
)
def explain_command(*, as_json: bool, full: bool, number: int | None, **fold: Any) -> None:
    """Explain what a fold does to every message, and why. Changes nothing.

    Examples:
      refold explain chat.jsonl
      refold explain session.jsonl --budget 20000 --message 14
      refold explain chat.json --json | jq '.[] | select(.decision == "deduped")'
    """
    with fold_preview(**fold, trace=True) as folded:
        rows = list(folded.rows())
        if number is not None:
            last = rows[-1].index if rows else -1
            rows = [row for row in rows if row.index == number]
            if not rows:
                there = f"they are numbered from 0 to {last}" if last >= 0 else "there are none"
                raise click.UsageError(f"--message: there is no message {number}; {there}")
        with_pieces = number is not None
        if as_json:
            write_json([_spell_row(row, full=full, with_pieces=with_pieces) for row in rows])
            return
        turns = [row for row in rows if row.is_turn or with_pieces]
        show(line for row in turns for line in draw_row(row, full=full, with_pieces=with_pieces))
        if len(turns) < len(rows):
            notes = say_count(len(rows) - len(turns), "record")
            show([dim(f"  and {notes} of the session that no model sees")])
        if not with_pieces:
            show(totals(folded.result.compression, folded.turns))


def _spell_row(row: Row, *, full: bool, with_pieces: bool) -> dict[str, Any]:
    """Return a row as JSON-ready data, with whole texts and pieces only on request."""
    data: dict[str, Any] = {
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
        "before": row.before if full else excerpt(row.before, _EXCERPT_CHARS),
        "after": row.after if full else excerpt(row.after, _EXCERPT_CHARS),
    }
    if row.pieces:
        kept, dropped = count_pieces(row.pieces)
        data |= {"kept": kept.to_dict(), "dropped": dropped.to_dict()}
        if with_pieces or full:
            data["pieces"] = [piece._asdict() for piece in row.pieces]
    return data


def draw_row(row: Row, *, full: bool, with_pieces: bool = False) -> Iterator[str]:
    """Draw what became of a text, and why; then how it begins before and after, or all of it.

    With its pieces, each run of them that was kept or dropped, and why, takes the place of that.
    """

    def quote(text: str) -> str:
        return clean(text) if full else excerpt(text, _EXCERPT_CHARS)

    yield _draw_head(row)
    yield from (f"    {clean(words)}" for words in sum_up(row.pieces))
    if with_pieces and row.pieces:
        for run in find_runs(row.pieces):
            first, last = run[0].first_line, run[-1].last_line
            lines = f"line {first:,}" if first == last else f"lines {first:,}–{last:,}"
            tokens = say_count(sum(piece.tokens for piece in run), "token")
            word, colour = ("kept", "green") if run[0].is_kept else ("dropped", "red")
            yield f"  {click.style(word, colour)} {lines} · {tokens} · {clean(run_words(run))}"
            yield dim(f"    {quote(''.join(piece.text for piece in run))}")
        return
    is_same = row.before == row.after
    if row.before:
        yield dim(f"    {'' if is_same else '− '}{quote(row.before)}")
    if row.after and not is_same:
        yield click.style(f"    + {quote(row.after)}", "green")
    yield ""


def _draw_head(row: Row) -> str:
    speaker = _speaker(f"#{row.index}.{row.part}" if row.part else f"#{row.index}", row.role)
    chars = f"{say_change(row.chars_before, row.chars_after)} chars"
    return f"{speaker} · {_action(row.action)} · {chars} · {clean(say_why(row))}"


@command()
def diff_command(*, full: bool, is_paged: bool = True, **fold: Any) -> None:
    """Show what a fold changes, before and after. Changes nothing.

    Examples:
      refold diff session.jsonl --budget 30%
      refold diff session.jsonl --budget 30% --full --no-pager
    """
    with fold_preview(**fold) as folded:
        show(_draw_diff(folded, full), is_paged=is_paged)


def _draw_diff(folded: FoldedFile, full: bool) -> Iterator[str]:
    rows = [row for row in folded.rows() if row.is_turn and row.before != row.after]
    if not rows:
        yield "  No message changes."
    for row in rows:
        yield _draw_head(row)
        pairs = pair_lines(clean(row.before), clean(row.after))
        for (same, gone), run in groupby(pairs, lambda pair: (pair.is_same, pair.after is None)):
            lines = [line for pair in run for line in _draw_pair(pair)]
            hidden = len(lines) - _HEAD_LINES - _TAIL_LINES
            if full or hidden <= 1 or not (same or gone):
                yield from lines
                continue
            yield from lines[:_HEAD_LINES]
            yield dim(f"  … {hidden:,} more lines {'kept' if same else 'dropped'}")
            yield from lines[-_TAIL_LINES:]
        yield ""
    yield from totals(folded.result.compression, folded.turns)


def _draw_pair(pair: Pair) -> list[str]:
    if pair.is_same:
        return [f"  {pair.after}"]
    sides = (("-", pair.before, "red"), ("+", pair.after, "green"))
    return [click.style(f"{sign} {line}", fg) for sign, line, fg in sides if line is not None]


@command()
def stats_command(*, as_json: bool, **fold: Any) -> None:
    """Show the figures of a fold: tokens and what happened. Changes nothing.

    Examples:
      refold stats chat.jsonl --budget 30%
      refold stats chat.json --json | jq .tokens_after
    """
    with fold_preview(**fold) as folded:
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


@command(
    out=("-o --output OUT", "Write here instead of FILE.report.html."),
    title=("--title TEXT", "The title of the page; the name of FILE by default."),
)
def report_command(
    *,
    file: str,
    out: str | None,
    title: str | None,
    store: str | None,
    conversation: str | None,
    quiet: bool,
    **choices: Any,
) -> None:
    """Write one page that shows what a fold keeps, drops, and why.

    Examples:
      refold report session.jsonl
      refold report session.jsonl -o report.html --budget 30%

    The page needs no network and sends nothing anywhere, but it holds the whole
    conversation: anyone who gets it can read everything.
    """
    options = make_options(**choices)
    name = Path(file).name
    if out is None:
        out = STDIO if file == STDIO else f"{name}.report.html"
    check_out(None if out == STDIO else out, store)
    title = title or ("Conversation" if file == STDIO else name)
    with opened("folding", file, store, conversation, quiet=quiet) as (document, known, _):
        copy = carry_over(document, known, MemoryStore())
        page = render(
            document.messages, options, title=title, store=copy, conversation=conversation
        )
    write_text(page, out, file)
    if out != STDIO:
        say(f"{out}: open it in a browser", quiet=quiet)


@command()
def count_command(*, file: str, format: str | None, model: str | None, as_json: bool) -> None:
    """Count tokens by role and by kind of content. Changes nothing.

    Examples:
      refold count chat.jsonl --model gpt-5
      refold count chat.json --json | jq .tokens

    Counts are exact for models with a public tokenizer, and estimated otherwise.
    """
    with working("counting"):
        document = read_document(file)
        with locating_errors(document):
            messages = load(document.messages, format_name=format or "auto")
            shares = break_down(messages, make_counter(model))
    total = sum(share.tokens for share in shares)
    encoding = encoding_for(model) if model else None
    how = f"exact, {encoding}" if encoding else "estimated"
    turns = sum(message.is_turn for message in messages)
    if as_json:
        names = ("role", "kind", "items", "tokens")
        rows = [{name: getattr(share, name) for name in names} for share in shares]
        write_json({"messages": turns, "tokens": total, "counted": how, "shares": rows})
        return
    lines = [f"{total:,} tokens ({how}) in {say_count(turns, 'message')}"]
    if total:
        part = 100 / total
        cells = [
            (clean(s.role), s.kind, f"{s.items:,}", f"{s.tokens:,}", f"{part * s.tokens:.1f} %")
            for s in shares
        ]
        most, room = max(share.tokens for share in shares), min(28, width() - 50)
        bars = ["", *(bar(share.tokens / most, room) for share in shares)]
        drawn = table([("role", "kind", "items", "tokens", ""), *cells], left=2)
        lines += (f"{line}  {one}" for line, one in zip(drawn, bars, strict=True))
    show(lines)
