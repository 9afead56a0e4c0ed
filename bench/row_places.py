"""Measure whether a budget keeps the rows of a list by what they say, wherever they stand.

Lists of records are generated, each the result of a call that some talk follows, and folded to
shares of their tokens. Returns 1 if the first or the last rows are kept more or less often than
those in the middle, by more than five points.

examples:
  python bench/row_places.py
  python bench/row_places.py --lists 400 --shares 30
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Sequence
from typing import Any, Final

from records import Messages
from refold import compress
from table import draw

_MODEL: Final = "gpt-4o"
_AMPLE: Final = 10**9
_MOST: Final = 0.05
_TREES: Final = (
    *("oak", "pine", "birch", "maple", "cedar", "elm", "ash", "fir"),
    *("yew", "larch", "willow", "alder", "hazel", "holly", "beech", "plum"),
)
_SIZES: Final = (12, 20, 40, 80)
_ENDS: Final = 2
"""Rows at each end that are compared with those in the middle."""


def main(argv: Sequence[str] | None = None) -> int:
    """Fold all lists, print how often rows were kept by their place."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lists", type=int, default=300, help="how many lists (300)")
    parser.add_argument("--shares", type=lambda s: [*map(int, s.split(","))], default=[50, 30])
    arguments = parser.parse_args(argv)
    rows, is_even = [], True
    for share in arguments.shares:
        first, middle, last = measure(range(arguments.lists), share / 100)
        is_even &= max(abs(first - middle), abs(last - middle)) <= _MOST
        rows.append((f"at {share} %", *(f"{part:.1%}" for part in (first, middle, last))))
    print(draw(["", "first rows", "middle", "last rows"], rows))
    return int(not is_even)


def measure(seeds: range, share: float) -> tuple[float, float, float]:
    """Return the shares of the first rows, of those in the middle and of the last that are kept."""
    first = middle = last = 0.0
    for seed in seeds:
        messages, values = make_list(seed)
        whole = compress(messages, token_budget=_AMPLE, model=_MODEL).tokens_before
        budget = int(share * whole)
        view = compress(messages, token_budget=budget, model=_MODEL, conversation="rows").messages
        text = json.dumps(view)
        kept = [value in text for value in values]
        first += sum(kept[:_ENDS]) / _ENDS
        middle += sum(kept[_ENDS:-_ENDS]) / (len(kept) - 2 * _ENDS)
        last += sum(kept[-_ENDS:]) / _ENDS
    return first / len(seeds), middle / len(seeds), last / len(seeds)


def make_list(seed: int) -> tuple[Messages, list[str]]:
    """Return a conversation about a list of records, and the id of each."""
    pick = random.Random(seed)
    records = [
        {
            "id": f"W{pick.randrange(10**6):06}",
            "name": " ".join(pick.sample(_TREES, 2)),
            "price": round(500 * pick.random(), 2),
            "state": pick.choice(["new", "sold", "kept"]),
        }
        for _ in range(pick.choice(_SIZES))
    ]
    forms = (
        json.dumps(records),
        "\n".join(map(json.dumps, records)),
        json.dumps({"status": "ok", "orders": records, "page": 1}),
    )
    function = {"name": "list_stock", "arguments": "{}"}
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "Look through the stock, and say what we are short of."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": forms[seed % len(forms)]},
    ]
    for _ in range(6):
        messages += [
            {"role": "assistant", "content": "There is a good deal of it; let me think it over."},
            {"role": "user", "content": "Fine. Go on as you did before, please."},
        ]
    return messages, [str(record["id"]) for record in records]


if __name__ == "__main__":
    sys.exit(main())
