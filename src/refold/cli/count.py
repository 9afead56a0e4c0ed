"""`refold count`: how many tokens a conversation has, and where they go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import click
from rich.table import Table
from rich.text import Text

from refold.cli.files import read_document
from refold.cli.folding import locating_errors
from refold.cli.options import file_argument, format_option, model_option
from refold.cli.terminal import ROLE_COLOURS, clean, json_option, make_console, working, write_json
from refold.messages.formats import load
from refold.messages.token_count import CountedTexts, Share, break_down
from refold.report.pieces import say_count
from refold.scan.tokens.choose import counter_for, encoding_for
from refold.scan.tokens.estimate import estimate_tokens

_SHARE_CHARS: Final = 28
"""The longest bar of a share."""
_SHARES_CHARS: Final = 50
"""The width of what is around the bars of the shares."""

_EPILOG = """\b
Examples:
  refold count chat.jsonl
  refold count chat.jsonl --model gpt-5
  refold count chat.json --json | jq .tokens

\b
Counts are exact for models with a public tokenizer, and estimated otherwise."""


@click.command(epilog=_EPILOG)
@file_argument
@format_option
@model_option
@json_option
def command(*, file: str, format_name: str | None, model: str | None, as_json: bool) -> None:
    """Count tokens by role and by kind of content. Changes nothing."""
    document = read_document(file)
    counted = CountedTexts(counter_for(model), estimate_tokens)
    with locating_errors(document), working("counting", chars=len(document.text())):
        messages = load(document.messages, format_name=format_name or "auto")
        shares = break_down(messages, counted)
    total = sum(share.tokens for share in shares)
    encoding = encoding_for(model) if model else None
    how = f"exact, {encoding}" if encoding else "estimated"
    turns = sum(message.is_turn for message in messages)
    if as_json:
        data = {
            "messages": turns,
            "tokens": total,
            "counted": how,
            "shares": [
                {"role": s.role, "kind": s.kind, "items": s.items, "tokens": s.tokens}
                for s in shares
            ],
        }
        write_json(data)
        return
    console = make_console()
    console.print(f"{total:,} tokens ({how}) in {say_count(turns, 'message')}")
    if total:
        console.print(_draw_shares(shares, console.width))


def _draw_shares(shares: Sequence[Share], width: int) -> Table:
    """Draw where the tokens are as a bar chart."""
    total = sum(share.tokens for share in shares)
    most = max(share.tokens for share in shares)
    chars = min(_SHARE_CHARS, width - _SHARES_CHARS)
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("role", "kind", "items", "tokens", "", ""):
        table.add_column(name, justify="right" if name in ("items", "tokens") else "left")
    for share in shares:
        colour = ROLE_COLOURS.get(share.role, "white")
        table.add_row(
            Text(clean(share.role), style=colour),
            share.kind,
            f"{share.items:,}",
            f"{share.tokens:,}",
            f"{100 * share.tokens / total:.1f} %",
            Text("█" * max(1, round(chars * share.tokens / most)), style=colour),
        )
    return table
