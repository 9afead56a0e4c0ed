"""What requests cost, and what was saved: honest about the provider's cache."""

from __future__ import annotations

import pytest

from refold.conversation.models import Price, list_prices
from refold.errors import ConfigError
from refold.server.proxy.apis import api_called
from refold.server.proxy.apis.base import Usage
from refold.server.proxy.figures import cost_of, cost_unfolded
from refold.server.proxy.settings import Settings

PRICE = Price(model="m", usd_per_million=10.0, output=50.0, cache_read=1.0, cache_written=12.5)


def test_a_cache_without_a_price_of_its_own_costs_what_the_prompt_does() -> None:
    price = list_prices().find("gemini-2.5-pro")
    assert price is not None
    assert price.cache_written is None
    assert cost_of(price, Usage(cache_written=100_000)) == price.usd_per_million / 10


def test_what_is_written_for_an_hour_costs_twice_the_prompt() -> None:
    usage = Usage(cache_written=1_000_000, written_for_hour=600_000)
    assert cost_of(PRICE, usage) == 0.4 * 12.5 + 0.6 * 20.0
    said = {
        "input_tokens": 3,
        "cache_creation_input_tokens": 900,
        "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 900},
    }
    read = api_called("anthropic").read_usage({"usage": said}, Usage())
    assert (read.prompt, read.cache_written, read.written_for_hour) == (903, 900, 900)
    cost = cost_unfolded(PRICE, read, saved_before=0, saved_now=900, known=None)
    assert cost == pytest.approx((3 * 10.0 + 1_800 * 20.0) / 1e6)


def test_a_long_prompt_costs_what_the_list_says_of_long_ones() -> None:
    price = list_prices().find("gemini-2.5-pro")
    assert price is not None
    assert (price.long_tokens, price.long_usd_per_million) == (200_000, 2.5)
    assert cost_of(price, Usage(uncached=200_000)) == pytest.approx(0.2 * 1.25)
    assert cost_of(price, Usage(uncached=300_000)) == pytest.approx(0.3 * 2.5)
    half = Usage(uncached=100_000)
    cost = cost_unfolded(price, half, saved_before=0, saved_now=200_000, known=None)
    assert cost == pytest.approx(0.3 * 2.5), "which a fold has avoided"


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
        {"retrieve": "mcp"},
    ],
)
def test_settings_that_cannot_work_are_refused(given: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        Settings(**given)  # type: ignore[arg-type]
