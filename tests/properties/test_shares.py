"""A mark says how much of a text is missing as it is shown; of what is complete, that it is."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from refold import compress, legend, retrieve_tool
from tests.conversations import Conversation

CRATES = [
    {"id": n, "name": f"crate {n}", "status": "open", "weight": 3 * n, "owner": "harbour"}
    for n in range(237)
]
SPELLINGS = {
    "indented": json.dumps(CRATES, indent=2),
    "wide": json.dumps({"data": {"items": CRATES, "total": 237}}, indent=4),
    "compact": json.dumps(CRATES),
    "in a text": json.dumps({"output": json.dumps(CRATES, indent=1)}),
}
_SHARE = re.compile(r"\[([0-9]+)% shown")


def called(number: int, name: str, result: str) -> Conversation:
    function = {"name": name, "arguments": json.dumps({"page": number})}
    call = {"id": f"c{number}", "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": result},
    ]


def talk(result: str) -> Conversation:
    """Many pages are read before the list of all crates comes in."""
    messages: Conversation = [{"role": "user", "content": "Which crates are there?"}]
    for number in range(30):
        page = "\n".join(f"line {n} of page {number} says {n * number % 97}" for n in range(60))
        messages += called(number, "read_page", page)
    return [*messages, *called(99, "list_crates", result)]


@pytest.mark.parametrize("budget", [2_000, 4_000, 8_000, 11_000])
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_the_share_of_a_list_is_that_of_its_rows(spelling: str, budget: int) -> None:
    messages = talk(SPELLINGS[spelling])
    result: Any = compress(messages, token_budget=budget).messages[-1]
    shown = str(result["content"])
    rows = len(set(re.findall(r"crate ([0-9]+)", shown)))
    share = _SHARE.match(shown)
    if rows == len(CRATES):
        assert not share, shown[:40]
        assert not shown.startswith(("[shortened", "[part")), shown[:40]
    elif share:
        assert abs(int(share[1]) - 100 * rows / len(CRATES)) < 12, (shown[:40], rows)


def test_no_example_of_a_handle_could_be_one() -> None:
    tool = json.dumps(retrieve_tool({}).schema)
    assert not re.findall("#[A-Za-z0-9_]+", legend() + tool)
