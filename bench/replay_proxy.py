"""Replay recorded sessions through the proxy's folding, and say what money it saves, per source.

    python bench/replay_proxy.py ../shared/data

Each session is asked as its agent asked it: one request before every answer of the model. The
provider is simulated: it reads from its cache whatever a request has in common with the one before,
and writes the rest to it. What is added to a request, the retrieval tool, is charged as well. Exits
with 1 if any source costs more than without refold.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from records import Recorded, parse_with_files, parser_for, read_records
from refold.conversation.models import Price, list_prices
from refold.messages.wire import spell
from refold.scan.tokens.estimate import estimate_tokens
from refold.server.proxy.apis.base import Usage
from refold.server.proxy.figures import cost_of
from refold.server.proxy.folding import Folder
from refold.server.proxy.request import Job
from refold.server.proxy.settings import Settings
from table import draw

_TOOLS: Final = [{"type": "function", "function": {"name": "run", "parameters": {}}}]
_FOR_EVER: Final = 1e12


@dataclass
class Sum:
    """Figures of one source."""

    sessions: int = 0
    requests: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    before: float = 0.0
    after: float = 0.0
    refolds: int = 0
    seconds: float = 0.0


@dataclass
class Provider:
    """Counts tokens as a provider with a prompt cache does."""

    price: Price
    last: list[str] = field(default_factory=list)
    tokens: int = 0
    money: float = 0.0

    def ask(self, body: dict[str, Any]) -> None:
        """Charge one request."""
        pieces = [spell(body["tools"]), *map(spell, body["messages"])]
        costs = list(map(estimate_tokens, pieces))
        same = 0
        for one, other in zip(pieces, self.last, strict=False):
            if one != other:
                break
            same += 1
        usage = Usage(cache_read=sum(costs[:same]), cache_written=sum(costs[same:]))
        self.last = pieces
        self.tokens += usage.prompt
        self.money += cost_of(self.price, usage)


def requests_of(messages: Sequence[Any]) -> Iterator[list[Any]]:
    """Yield what was sent before each answer."""
    for place, message in enumerate(messages):
        if place and message.get("role") == "assistant":
            yield list(messages[:place])


def replay(
    record: Recorded, folder: Folder, runner: asyncio.Runner, model: str, total: Sum
) -> None:
    """Ask one session both ways."""
    price = list_prices().find(model)
    assert price is not None, "a model with a price"
    plain, folded = Provider(price), Provider(price)
    total.sessions += 1
    for messages in requests_of(record.messages):
        body = {"model": model, "tools": _TOOLS, "messages": messages}
        raw = json.dumps(body).encode()
        started = time.process_time()
        job = Job("openai-chat", "/v1/chat/completions", "replay", record.place, raw, _FOR_EVER)
        result = runner.run(folder.fold(job))
        total.seconds += time.process_time() - started
        plain.ask(body)
        folded.ask(body if result.body is None else json.loads(result.body))
        total.requests += 1
        total.refolds += result.is_refolded
    total.tokens_before += plain.tokens
    total.tokens_after += folded.tokens
    total.before += plain.money
    total.after += folded.money


def main(argv: Sequence[str] | None = None) -> int:
    """Print one row a source."""
    parser = parser_for(__doc__)
    parser.add_argument("--model", default="claude-sonnet-5", help="whose prices count")
    parser.add_argument("--retrieve", default="inline", choices=["inline", "off"])
    arguments, files = parse_with_files(parser, argv, "trajectory.")
    sums: dict[str, Sum] = {}
    with tempfile.TemporaryDirectory() as place, asyncio.Runner() as runner:
        settings = Settings(store=str(Path(place) / "s.db"), retrieve=arguments.retrieve)
        folder = Folder(settings, time.time)
        for record in read_records(files, arguments.cap):
            if record.source.endswith(")"):
                continue  # another form of a session that was asked already
            total = sums.setdefault(record.source, Sum())
            replay(record, folder, runner, arguments.model, total)
    head = ["source", "sessions", "requests", "tokens", "sent", "$ before", "$ after", "saved"]
    rows: list[list[str | int | float]] = [
        [
            source,
            s.sessions,
            s.requests,
            s.tokens_before,
            s.tokens_after,
            f"{s.before:.4f}",
            f"{s.after:.4f}",
            f"{100 * (1 - s.after / s.before):.1f}%",
            s.refolds,
            f"{1000 * s.seconds / s.requests:.1f}",
        ]
        for source, s in sorted(sums.items())
        if s.before
    ]
    print(draw([*head, "refolds", "ms/request"], rows))
    return 1 if any(s.after > s.before for s in sums.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
