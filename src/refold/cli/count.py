"""`refold count`: how many tokens a conversation has, and where they go."""

from __future__ import annotations

import click

from refold.cli.document import locating_errors, read_document
from refold.cli.options import file_argument, format_option, model_option
from refold.cli.terminal import bar, clean, json_option, show, table, width, working, write_json
from refold.messages.formats import load
from refold.messages.token_count import CountedTexts, break_down
from refold.report.pieces import say_count
from refold.scan.tokens.choose import counter_for, encoding_for
from refold.scan.tokens.estimate import estimate_tokens

_EPILOG = """\b
Examples:
  refold count chat.jsonl --model gpt-5
  refold count chat.json --json | jq .tokens

\b
Counts are exact for models with a public tokenizer, and estimated otherwise."""


@click.command(epilog=_EPILOG)
@file_argument
@format_option
@model_option
@json_option
def command(*, file: str, format: str | None, model: str | None, as_json: bool) -> None:
    """Count tokens by role and by kind of content. Changes nothing."""
    document = read_document(file)
    counted = CountedTexts(counter_for(model), estimate_tokens)
    with locating_errors(document), working("counting", chars=len(document.text())):
        messages = load(document.messages, format_name=format or "auto")
        shares = break_down(messages, counted)
    total = sum(share.tokens for share in shares)
    encoding = encoding_for(model) if model else None
    how = f"exact, {encoding}" if encoding else "estimated"
    turns = sum(message.is_turn for message in messages)
    if as_json:
        rows = [
            {"role": s.role, "kind": s.kind, "items": s.items, "tokens": s.tokens} for s in shares
        ]
        write_json({"messages": turns, "tokens": total, "counted": how, "shares": rows})
        return
    cells = [
        (clean(s.role), s.kind, f"{s.items:,}", f"{s.tokens:,}", f"{100 * s.tokens / total:.1f} %")
        for s in shares
        if total
    ]
    heads = ("role", "kind", "items", "tokens", "")
    most, room = max((share.tokens for share in shares), default=0), min(28, width() - 50)
    bars = ["", *(bar(share.tokens / most, room) for share in shares if total)]
    lines = [f"{line}  {drawn}" for line, drawn in zip(table([heads, *cells], left=2), bars)]  # noqa: B905
    show([f"{total:,} tokens ({how}) in {say_count(turns, 'message')}", *(lines if total else ())])
