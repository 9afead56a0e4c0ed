"""Messages that differ only in values that JSON does not have: each comes back as itself."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any
from uuid import UUID

from attacks.base import Area, Check
from attacks.reports import numbered_report
from refold import MemoryStore, compress, uncompress
from refold.messages.wire import clone

_TRIES = 20_000

_MAKERS: dict[str, Callable[[int], tuple[Any, Any]]] = {
    "bytes": lambda n: (n.to_bytes(8), (n + 1).to_bytes(8)),
    "dates": lambda n: (date.fromordinal(n + 1), date.fromordinal(n + 2)),
    "times": lambda n: (_time(n), _time(n + 1)),
    "tuples and lists": lambda n: ((n, "a"), [n, "a"]),
    "numbers and texts as keys": lambda n: ({n: "a"}, {str(n): "a"}),
    "tuples as keys": lambda n: ({(n, 1): "a"}, {(n, 2): "a"}),
    "decimals": lambda n: (Decimal(n), Decimal(n).quantize(Decimal("1.0"))),
    "sets": lambda n: ({n, n + 1}, {n, n + 2}),
    "uuids": lambda n: (UUID(int=n), UUID(int=n + 1)),
}
"""From a number to two values that are not the same."""


def _time(number: int) -> datetime:
    return datetime(2025, 1, 1, tzinfo=UTC) + timedelta(seconds=number)


def run(scale: float, seed: int) -> Area:
    """Fold pairs into one store; each must come back as itself, of the same type."""
    tries = max(5, int(scale * _TRIES / len(_MAKERS)))
    random = Random(seed)
    return Area(
        "foreign values", [_pairs(name, make, tries, random) for name, make in _MAKERS.items()]
    )


def _pairs(name: str, make: Callable[[int], tuple[Any, Any]], tries: int, random: Random) -> Check:
    check = Check(f"pairs that differ in {name}")
    store = MemoryStore()
    for _ in range(tries):
        number = random.randrange(1_000_000)
        text = numbered_report(number)
        pair = [[{"role": "user", "content": text, "extra": value}] for value in make(number)]
        folded = [
            (clone(messages), compress(messages, store=store, recency_window=0).messages)
            for messages in pair
        ]
        for messages, view in folded:
            back = uncompress(view, store).messages
            check.record(repr(back) != repr(messages), f"{messages!r} became {back!r}")
    return check
