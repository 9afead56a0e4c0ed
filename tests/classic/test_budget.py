"""Under a budget, data takes the room that there is."""

from __future__ import annotations

import json

import pytest

from refold.notation.recognize import visible_text
from tests.classic import compress
from tests.conversations import Wire

ROWS = json.dumps([{"id": n, "name": f"item {n}", "price": 3.5 * n} for n in range(400)])
CALL = {"id": "c", "type": "function", "function": {"name": "rows", "arguments": "{}"}}


@pytest.mark.parametrize("window", [0, 4])
@pytest.mark.parametrize("budget", [1_000, 4_000])
@pytest.mark.parametrize(
    "messages",
    [
        [
            {"role": "user", "content": "List them."},
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "c", "content": ROWS},
        ],
        [
            {"role": "user", "content": "List them."},
            {"role": "assistant", "content": ROWS.replace("item", "thing")},
            {"role": "assistant", "content": ROWS},
            {"role": "user", "content": "Which one is the most expensive?"},
        ],
    ],
)
def test_json_is_shown_as_far_as_the_budget_goes(
    messages: list[Wire], budget: int, window: int
) -> None:
    result = compress(messages, token_budget=budget, recency_window=window)
    assert result.budget is not None
    assert result.budget.fits
    assert 0.75 * budget <= result.tokens_after <= budget
    shown = max((str(message["content"]) for message in result.messages), key=len)
    rows = json.loads(visible_text(shown))
    assert rows == json.loads(ROWS)[: len(rows)]
