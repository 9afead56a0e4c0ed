"""`refold count`: how many tokens a conversation has, and where they go."""

from __future__ import annotations

import click

from refold.cli.folding import locating_errors
from refold.cli.io import read_document, write_json
from refold.cli.options import file_argument, format_option, json_option, model_option
from refold.cli.render import draw_shares, make_console
from refold.cli.terminal import working
from refold.messages.formats import load
from refold.plan.token_count import CountedTexts, break_down
from refold.report.pieces import say_count
from refold.scan.tokens.choose import counter_for, encoding_for
from refold.scan.tokens.estimate import estimate_tokens

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
        console.print(draw_shares(shares, console.width))
