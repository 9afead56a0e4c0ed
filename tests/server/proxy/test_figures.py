"""What is counted is what was sent: replayed sessions, added up to the byte."""

from __future__ import annotations

import json
from pathlib import Path

import httpx2
import pytest

from refold.conversation.models import Price, list_prices
from refold.server.proxy.apis.base import Usage
from refold.server.proxy.figures import cost_of, figures_of
from refold.server.proxy.request import Folded
from refold.server.proxy.summary import summarize
from tests.server.proxy.agents import Agent
from tests.server.proxy.conftest import Shared
from tests.server.proxy.running import last_session, proxy_for, totals_of
from tests.server.proxy.test_retrieval import BUDGET, LINES, ask_for_original
from tests.server.upstream import Fail, Say, ScriptedUpstream

PRICE = Price(model="m", usd_per_million=10.0, output=50.0, cache_read=1.0, cache_written=12.5)


@pytest.mark.parametrize("budget", ["auto", "6000"])
def test_what_is_counted_is_what_was_sent(
    upstream: ScriptedUpstream, tmp_path: Path, budget: str
) -> None:
    came, money = [], 0.0
    price = list_prices().find("claude-sonnet-5")
    assert price is not None
    with proxy_for(upstream, tmp_path, token_budget=budget) as proxy:
        agent = Agent(proxy.url)
        for turn in range(12):
            if turn == 5:
                upstream.script.extend([Fail(529)])
            raw = len(agent.raw)
            answer = agent.ask()
            assert answer.status_code == (529 if turn == 5 else 200)
            if answer.status_code == 200:
                came.append(raw)
                usage = answer.json()["usage"]
                read, written = (
                    usage[f"cache_{name}_input_tokens"] for name in ("read", "creation")
                )
                money += cost_of(price, Usage(usage["input_tokens"], read, written))
            agent.grow()
        totals = totals_of(proxy)
        stats = proxy.stats.to_dict()
    sent = [len(request.raw) for n, request in enumerate(upstream.requests) if n != 5]
    assert (totals.requests, totals.answered, totals.metered) == (12, 11, 11)
    assert totals.bytes_before == sum(came)
    assert totals.bytes_after == sum(sent)
    assert totals.money_after == pytest.approx(money)
    assert totals.tokens_after == totals.prompt_tokens
    saved = 1 - totals.tokens_after / totals.tokens_before
    assert saved == pytest.approx(1 - sum(sent) / sum(came), abs=0.15), "which counts characters"
    assert totals.shorter + totals.by_folds == totals.tokens_before - totals.tokens_after
    assert (totals.by_folds > 0) == (totals.refolds > 0) == (budget != "auto")
    (first, *_) = summarize(stats)
    assert first.startswith("12 requests · ")
    assert f"${totals.money_after:.4f} instead of ${totals.money_before:.4f}" in first


def test_what_was_refused_or_not_answered_has_saved_nothing(shared: Shared, key: str) -> None:
    upstream, proxy = shared()
    agent = Agent(proxy.url, key=key)
    agent.grow()
    upstream.script.append(Fail(500))
    agent.ask()
    totals = last_session(proxy).totals
    assert (totals.requests, totals.tokens_before, totals.bytes_after) == (1, 0, 0)


def test_what_went_out_unfolded_has_saved_nothing_and_is_priced(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    with proxy_for(upstream, tmp_path) as proxy:
        agent = Agent(proxy.url)
        agent.headers["x-refold"] = "off"
        for _ in range(3):
            agent.turn()
        totals = totals_of(proxy)
        ((_, model),) = proxy.stats.models
    assert (model, totals.unpriced, totals.folded) == (agent.model, 0, 0)
    assert totals.tokens_before == totals.tokens_after > 0
    assert totals.bytes_before == totals.bytes_after
    assert totals.money_before == pytest.approx(totals.money_after)


def test_without_usage_it_is_estimated_and_says_so(tmp_path: Path) -> None:
    folded = Folded(tokens_before=1_000, tokens_after=400, saved_by_folds=500)
    figures = figures_of(folded, 4_000, [], PRICE)
    assert (figures.tokens_before, figures.tokens_after) == (1_000, 400)
    assert (figures.shorter, figures.by_folds, figures.unpriced) == (100, 500, 1)
    figures.requests = 1
    stats = {**figures.to_dict(), "money": {"before": 0.0, "after": 0.0, "as_of": ""}}
    assert "400 instead of 1,000 tokens of input (−60%, estimated)" in summarize(stats)[0]
    grown = {**stats, "tokens_after": 1_500}
    assert "1,500 instead of 1,000 tokens of input (+50%, estimated)" in summarize(grown)[0]
    priced = {**stats, "money": {"before": 0.5, "after": 0.25, "as_of": "2026-11-16"}}
    assert "2026-11-16, 1 not priced, estimated)" in summarize(priced)[0]
    assert summarize({}) == ["no request came through the proxy"]
    late = figures_of(Folded(body=b"x" * 2_000, saved_before=300), 4_000, [], PRICE)
    assert (late.tokens_before, late.tokens_after, late.bytes_after) == (800, 500, 2_000)
    off = figures_of(Folded(), 4_000, [], PRICE)
    assert (off.tokens_before, off.tokens_after) == (1_000, 1_000)


def test_a_fetched_original_costs_what_its_request_does() -> None:
    first, second = Usage(cache_read=900, output=5), Usage(cache_read=900, cache_written=300)
    folded = Folded(tokens_before=2_000, tokens_after=900, saved_before=1_100)
    figures = figures_of(folded, 8_000, [first, second], PRICE)
    assert (figures.tokens_before, figures.tokens_after, figures.fetched) == (2_000, 2_100, 1_200)
    assert figures.money_after == cost_of(PRICE, first) + cost_of(PRICE, second)
    assert figures.money_before == pytest.approx(2_000 * 1.0 / 1e6)


def test_a_cold_cache_is_counted_and_what_one_of_an_hour_would_have_cost() -> None:
    def cold(idle_seconds: float) -> float:
        figures = figures_of(
            Folded(tokens_before=10_000, tokens_after=10_000, tokens_known=9_000),
            1,
            [Usage(cache_written=10_000)],
            PRICE,
            last_prompt=9_000,
            idle_seconds=idle_seconds,
        )
        assert figures.cold == 1
        return figures.hour_saved

    now, hour = 10_000 * 12.5, 9_000 * 1.0 + 1_000 * 20.0
    assert cold(600) == pytest.approx((now - hour) / 1e6)
    assert cold(7_200) == pytest.approx((now - 10_000 * 20.0) / 1e6), "that had run out as well"


@pytest.mark.parametrize(
    ("folded", "last_prompt", "is_read_back", "cold"),
    [
        (Folded(tokens_known=900), 1_000, True, 1),
        (Folded(tokens_known=900), 1_000, False, 0),  # it may have no cache at all
        (Folded(), 1_000, True, 0),  # a subagent's first request
        (Folded(tokens_known=900, is_refolded=True, why="paid"), 1_000, True, 0),
        (Folded(tokens_known=900, is_refolded=True, why="cold"), 1_000, True, 1),
    ],
)
def test_a_cache_that_writes_by_itself_is_cold_if_it_was_warm_before(
    folded: Folded, last_prompt: int, is_read_back: bool, cold: int
) -> None:
    figures = figures_of(
        folded,
        1,
        [Usage(uncached=1_200)],
        PRICE,
        last_prompt=last_prompt,
        is_read_back=is_read_back,
    )
    assert figures.cold == cold


def test_requests_that_fetch_originals_and_those_that_count_tokens(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """All that a model reads is counted, to the byte; what no model reads is not."""
    with proxy_for(upstream, tmp_path, token_budget=BUDGET) as proxy:
        agent = Agent(proxy.url)
        agent.lines = LINES
        came = len(agent.raw)
        agent.turn()
        agent.lines = 40
        upstream.script.extend([ask_for_original(), Say("It is the log.")])
        came += len(agent.raw)
        agent.turn()
        (session,) = proxy.stats.sessions.values()
        totals_of(proxy)
        last = session.explain()
        answer = httpx2.post(
            f"{agent.url}/v1/messages/count_tokens", json=agent.body, headers=agent.headers
        )
        assert answer.json()["input_tokens"] > 0
        totals = totals_of(proxy)
    sent = [len(request.raw) for request in upstream.requests if "count" not in request.path]
    assert len(sent) == 3
    assert (totals.requests, totals.answered, totals.fetched > 0) == (2, 2, True)
    assert (totals.bytes_before, totals.bytes_after) == (came, sum(sent))
    assert session.explain() == last
    assert proxy.stats.passed == 1


def test_a_subscription_pays_no_price_by_tokens(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    with proxy_for(upstream, tmp_path) as proxy:
        agent = Agent(proxy.url)
        agent.headers = {"authorization": "Bearer sk-ant-oat01-x"}
        agent.ask()
        totals_of(proxy)
        said = summarize(proxy.stats.to_dict())
    assert len(said) == 4
    assert "tokens of input" in said[0]
    assert "$" not in "".join(said)


def test_the_last_request_of_a_session_is_explained(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    with proxy_for(upstream, tmp_path, token_budget=6_000) as proxy:
        agent = Agent(proxy.url)
        reasons = []
        for _ in range(8):
            agent.turn()
            totals_of(proxy)
            (name,) = proxy.stats.sessions
            about = httpx2.get(f"{proxy.url}/v1/refold/{name}").json()
            assert about == httpx2.get(f"{proxy.url}/v1/refold/s-1").json(), "its client's id"
            last = about["last"]
            assert last["bytes_after"] == len(upstream.requests[-1].raw)
            saved = last["tokens_before"] - last["tokens_after"]
            assert last["shorter"] + last["by_folds"] == saved
            reasons.append(about["why"])
        missing = httpx2.get(f"{proxy.url}/v1/refold/nobody")
    assert missing.status_code == 404
    assert missing.json()["sessions"] == [name]
    assert "nothing new" in reasons[0]
    assert any("results were shortened" in why for why in reasons)
    assert any("folded anew: the budget" in why for why in reasons)
    assert "What is in the logs" not in json.dumps(about), "no content"
