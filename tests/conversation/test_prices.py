"""What reading a conversation once costs."""

from __future__ import annotations

from typing import Any

import pytest

from refold.conversation.prices import list_prices
from refold.report.turns import USUAL_MODELS, models_in


def test_the_usual_models_have_a_price() -> None:
    known = list_prices()
    assert all(known.find(name) is not None for name in USUAL_MODELS)
    assert known.as_of.year >= 2026
    assert known.source


@pytest.mark.parametrize(
    "name", ["claude-sonnet-4-5-20250929", "anthropic/claude-sonnet-4.5", "CLAUDE-SONNET-4-5"]
)
def test_a_model_is_found_by_any_of_its_names(name: str) -> None:
    price = list_prices().find(name)
    assert price is not None
    assert price.model == "claude-sonnet-4-5"


def test_a_long_request_costs_more_where_it_does() -> None:
    price = list_prices().find("claude-sonnet-4-5")
    assert price is not None
    assert price.cost_usd(100_000) == pytest.approx(0.3)
    assert price.cost_usd(300_000) == pytest.approx(1.8)
    assert price.cost_usd(0) == 0


@pytest.mark.parametrize("name", ["", "nobody-1", "x" * 10_000])
def test_a_model_that_nobody_knows(name: str) -> None:
    assert list_prices().find(name) is None


def test_models_of_a_session_the_latest_first() -> None:
    wires: list[dict[str, Any]] = [
        {"message": {"model": "a"}},
        {"payload": {"model": "b"}},
        {"message": {"model": "<synthetic>"}},
        {"message": {"model": 7}, "payload": None},
        {"model": "a"},
    ]
    assert models_in(wires) == ["a", "b"]
