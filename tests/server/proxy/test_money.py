"""What requests cost, and what was saved: honest about the provider's cache."""

from __future__ import annotations

import pytest

from refold.conversation.models import Price, list_prices
from refold.errors import ConfigError
from refold.server.proxy.apis.base import Usage
from refold.server.proxy.settings import Settings
from refold.server.proxy.stats import cost_of, cost_unfolded

PRICE = Price(model="m", usd_per_million=10.0, output=50.0, cache_read=1.0, cache_written=12.5)


def test_a_cache_without_a_price_of_its_own_costs_what_the_prompt_does() -> None:
    price = list_prices().find("gemini-2.5-pro")
    assert price is not None
    assert price.cache_written is None
    usage = Usage(uncached=0, cache_read=0, cache_written=1_000_000, output=0)
    assert cost_of(price, usage) == price.usd_per_million


def test_what_stays_saved_would_have_been_read_from_the_cache() -> None:
    usage = Usage(uncached=0, cache_read=1_000_000, cache_written=0, output=0)
    cost = cost_unfolded(PRICE, usage, saved_before=1_000_000, saved_now=0, known=None)
    assert (cost, cost_of(PRICE, usage)) == (2.0, 1.0)


def test_what_is_saved_now_would_have_been_written() -> None:
    usage = Usage(uncached=0, cache_read=0, cache_written=1_000_000, output=0)
    cost = cost_unfolded(PRICE, usage, saved_before=0, saved_now=1_000_000, known=None)
    assert (cost, cost_of(PRICE, usage)) == (25.0, 12.5)


def test_a_cache_that_was_lost_for_folding_is_charged() -> None:
    usage = Usage(uncached=0, cache_read=0, cache_written=500_000, output=0)
    cost = cost_unfolded(PRICE, usage, saved_before=0, saved_now=500_000, known=1_000_000)
    assert cost == pytest.approx(1.0)
    assert cost_of(PRICE, usage) == pytest.approx(6.25), (
        "folding anew has cost more than it saved here"
    )


def test_settings_come_from_the_environment_and_what_is_given_wins() -> None:
    env = {"REFOLD_PORT": "99", "REFOLD_TOKEN": "t" * 16, "REFOLD_CLIENT_SECONDS": "1.5"}
    settings = Settings.from_env(env, port=1, host=None)
    assert (settings.port, settings.token, settings.client_seconds) == (1, "t" * 16, 1.5)
    with pytest.raises(ConfigError, match="REFOLD_PORT must be a whole number, got 'many'"):
        Settings.from_env({"REFOLD_PORT": "many"})


@pytest.mark.parametrize(
    "given",
    [
        {"openai_url": "ftp://x"},
        {"openai_url": "https://user@x"},
        {"openai_url": "nothing"},
        {"retrieve": "never"},
        {"fold_ms": 0},
        {"token": "short"},
        {"host": "0.0.0.0", "token": "t" * 16, "retrieve": "mcp"},
    ],
)
def test_settings_that_cannot_work_are_refused(given: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        Settings(**given)  # type: ignore[arg-type]
