"""`refold demo`: fold a coding agent's session, ask for what was left out, unfold it again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Final

import click

from refold.cli.document import parse_document
from refold.cli.folding import fold_file, unfold_file
from refold.cli.options import command
from refold.cli.terminal import clean, dim, excerpt, show, totals, width
from refold.messages.formats import load
from refold.options import Options
from refold.report.text import number_of
from refold.shipped import read_shipped
from refold.stores import MemoryStore
from refold.tools.retrieve import retrieve_tool

SESSION: Final = "demo_session.jsonl"
_BUDGET: Final = "20%"
_QUESTION: Final = "Which event failed with an IntegrityError?"
_SEEN_LINES: Final = 12
_ANSWER_LINES: Final = 6
"""As many as fit on a terminal together with the rest."""


@command()
def demo_command() -> int:
    """Fold a session that comes with refold, and unfold it again.

    Examples:
      refold demo
      NO_COLOR=1 refold demo | less
    """
    text = read_shipped("refold.cli", SESSION).decode()
    document = parse_document(text, SESSION)
    options, store = Options(token_budget=_BUDGET), MemoryStore()  # type: ignore[arg-type]
    folded = fold_file(document, options, store)
    back = unfold_file(folded.document, store).document.text
    before, after = (hashlib.sha256(one.encode()).hexdigest()[:32] for one in (text, back))
    messages = load(folded.document.messages)
    tool = retrieve_tool(store, messages=folded.document.messages, max_tokens=400)

    def draw() -> Iterator[str]:
        yield click.style("A coding agent's session, folded to fit 20 % of its tokens", bold=True)
        yield from totals(folded.result.compression, folded.turns)
        yield ""
        yield click.style("What would the agent see?", bold=True)
        lines = [
            (number_of(place), message.role, line)
            for message, place in zip(messages, folded.result.places, strict=True)
            for line in "\n".join(part.text for part in message.parts).split("\n")[:3]
            if line.strip()
        ]
        for number, role, line in lines[:_SEEN_LINES]:
            yield f"  {dim(f'{number} {role}:')} {excerpt(line, width() - 24)}"
        yield dim(f"  … the rest of {len(messages)} messages")
        yield ""
        yield click.style("What was left out can be fetched", bold=True)
        yield f"  {dim('the agent calls')} retrieve({_QUESTION!r})"
        answer = clean(str(tool.call({"query": _QUESTION}))).split("\n")
        for line in [line for line in answer if line.strip()][:_ANSWER_LINES]:
            yield f"  {excerpt(line, width() - 4)}"
        yield ""
        yield click.style("Unfolded again", bold=True)
        yield f"  {dim('before')} {len(text.encode()):,} bytes, sha256 {before}"
        yield f"  {dim('after ')} {len(back.encode()):,} bytes, sha256 {after}"
        yield click.style("  ✓ the same bytes" if before == after else "  ✗ different", "green")
        yield ""
        yield "Try it on one of your sessions: refold show FILE --budget 30%"

    show(draw())
    return 0 if before == after else 1
