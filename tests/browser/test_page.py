"""The page of the proxy in a real browser: while agents work, in every look, with axe."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from refold.server.proxy.proxy import Proxy
from tests.browser.conftest import Visit, Visitor
from tests.server.proxy.agents import Agent
from tests.server.proxy.running import proxy_for, totals_of
from tests.server.upstream import Fail, ScriptedUpstream

pytest.importorskip("playwright.sync_api", reason="make test-browser installs it")

PHONE = (390, 844)


@pytest.fixture
def upstream() -> Iterator[ScriptedUpstream]:
    with ScriptedUpstream() as upstream:
        yield upstream


@pytest.fixture
def proxy(upstream: ScriptedUpstream, tmp_path: Path) -> Iterator[Proxy]:
    with proxy_for(upstream, tmp_path, token_budget=6_000, show_content=True) as proxy:
        yield proxy


def agents(proxy: Proxy) -> tuple[Agent, Agent]:
    """Return two agents with a model each, one of them without a price."""
    claude, other = Agent(proxy.url), Agent(proxy.url, session="s-2")
    claude.headers["user-agent"] = "claude-cli/2.1.325 (external, cli)"
    other.headers["user-agent"] = "<img src=x onerror=owned=1>"
    other.model = "<script>owned=1</script>"
    return claude, other


@pytest.fixture
def worked(proxy: Proxy, upstream: ScriptedUpstream) -> Proxy:
    """Return a proxy through which both have worked, and something went wrong."""
    claude, other = agents(proxy)
    for _ in range(8):
        claude.turn()
    other.turn()
    other.turn()
    upstream.script.append(Fail(429))
    claude.ask()
    assert httpx2.get(f"{proxy.url}/", headers={"origin": "http://evil.example"}).status_code == 403
    totals_of(proxy)
    return proxy


def rows(visited: Visit, table: str) -> list[list[str]]:
    found: list[list[str]] = visited.page.eval_on_selector_all(
        f"#{table} tbody tr", "rows => rows.map((row) => [...row.cells].map((c) => c.innerText))"
    )
    return found


def figures(visited: Visit) -> dict[str, str]:
    pairs = visited.page.eval_on_selector_all(
        "#figures div", "all => all.map((one) => [...one.children].map((c) => c.innerText))"
    )
    return dict(pairs)


def test_it_shows_what_was_sent(worked: Proxy, open_page: Visitor) -> None:
    visited = open_page(f"{worked.url}/")
    stats: dict[str, Any] = httpx2.get(f"{worked.url}/stats").json()
    shown = figures(visited)
    assert shown["Tokens before"] == f"{stats['tokens_before']:,}"
    assert shown["Tokens after"] == f"{stats['tokens_after']:,}"
    assert shown["Saved"] == f"{100 * stats['tokens_saved'] / stats['tokens_before']:.1f} %"
    assert shown["Requests"] == "11"
    assert int(shown["Folds"]) == stats["refolds"] > 0
    sonnet, unknown = rows(visited, "models")
    assert sonnet[0].split("\n") == ["Claude Code", "claude-sonnet-5"]
    assert sonnet[1] == "9"
    assert re.fullmatch(r"\$0\.\d{4} → \$0\.\d{4}", sonnet[5])
    assert unknown[0].split("\n") == ["unknown", "<script>owned=1</script>"]
    assert unknown[5] == "–"
    assert len(rows(visited, "sessions")) == 2
    problems = visited.text("#problems")
    for wrong in ("1 × provider answered 429", "1 × refused client", "2 × without price"):
        assert wrong in problems
    assert "clients wait" in problems
    assert visited.page.evaluate("typeof owned") == "undefined"
    assert {request.split("?")[0] for request in visited.requests} == {
        f"{worked.url}/",
        f"{worked.url}/stats",
    }, "nothing from elsewhere"


def test_the_chart_is_drawn_of_the_figures_and_is_a_table_as_well(
    worked: Proxy, open_page: Visitor
) -> None:
    visited = open_page(f"{worked.url}/")
    page = visited.page
    bars = httpx2.get(f"{worked.url}/stats").json()["history"]["bars"]
    assert page.locator("#chart g").count() == len(bars)
    assert page.get_attribute("#chart", "role") == "img"
    assert page.get_attribute("#money", "aria-pressed") == "true"
    assert "$" in page.locator("#chart title").first.text_content()
    page.click("#tokens")
    assert page.get_attribute("#money", "aria-pressed") == "false"
    heights = page.eval_on_selector_all(
        "#chart .before, #chart .after", "all => all.map((one) => one.height.baseVal.value)"
    )
    before, after = heights[0], heights[1]
    assert after / before == pytest.approx(
        bars[0]["tokens_after"] / bars[0]["tokens_before"], abs=0.02
    )
    spoken = page.text_content("#chart-text")
    assert re.search(r"[\d.]+K instead of [\d.]+K; the table", spoken)
    page.click("summary")
    assert [row[2] for row in rows(visited, "bars")] == [f"{b['tokens_before']:,}" for b in bars]


def test_it_is_live_and_keeps_the_focus(worked: Proxy, open_page: Visitor) -> None:
    visited = open_page(f"{worked.url}/")
    link = visited.page.locator("#sessions a").last
    link.focus()
    address = link.get_attribute("href")
    other = agents(worked)[1]
    for _ in range(3):
        other.turn()
    visited.wait_for("#figures", r"Requests\s*14")
    assert rows(visited, "models")[1][1] == "5"
    assert visited.page.evaluate("document.activeElement.getAttribute('href')") == address


def test_a_session_leads_to_its_report(worked: Proxy, open_page: Visitor) -> None:
    visited = open_page(f"{worked.url}/")
    why = visited.text("#sessions tbody tr:last-child .note")
    assert "folded anew" in why or "shortened" in why
    with visited.page.expect_navigation():
        visited.page.locator("#sessions a").last.click()
    visited.page.wait_for_selector("html[data-ready]")
    assert visited.text("h1").startswith("Session ")
    assert "What is in the logs?" in visited.text("#view")


def test_without_leave_it_shows_no_content(
    upstream: ScriptedUpstream, tmp_path: Path, open_page: Visitor
) -> None:
    with proxy_for(upstream, tmp_path) as proxy:
        visited = open_page(f"{proxy.url}/")
        assert f"ANTHROPIC_BASE_URL={proxy.url} claude" in visited.text("#reports")
        assert visited.text("#problems") == "Nothing."
        agents(proxy)[0].turn()
        visited.wait_for("#figures", r"Requests\s*1")
        assert visited.page.locator("#sessions tbody tr").count() == 1
        assert visited.page.locator("#sessions a").count() == 0
        assert "--show-content" in visited.text("#reports")
        assert "logs" not in visited.page.content().replace("the log of refold", "")
        assert "What is in" not in json.dumps(httpx2.get(f"{proxy.url}/stats").json())


def test_behind_a_token_it_works_the_same(
    upstream: ScriptedUpstream, tmp_path: Path, open_page: Visitor
) -> None:
    token = "a-token-of-some-length"
    with proxy_for(upstream, tmp_path, token=token) as proxy:
        visited = open_page(f"{proxy.url}/t/{token}")
        assert f"ANTHROPIC_BASE_URL={proxy.url}/t/{token} claude" in visited.text("#reports")


def test_a_proxy_that_is_gone_is_said_once(
    upstream: ScriptedUpstream, tmp_path: Path, open_page: Visitor
) -> None:
    with proxy_for(upstream, tmp_path) as proxy:
        visited = open_page(f"{proxy.url}/")
        assert visited.text("#state") == ""
    visited.wait_for("#state", "does not answer")
    visited.complaints.clear()  # the browser says so as well


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1440, 1000), PHONE])
def test_every_look_of_it(
    worked: Proxy, open_page: Visitor, scheme: str, size: tuple[int, int]
) -> None:
    visited = open_page(f"{worked.url}/", scheme=scheme, size=size, bypass_policy=True)
    page = visited.page
    assert visited.is_dark() == (scheme == "dark")
    visited.shoot(f"page-{scheme}-{size[0]}")
    page.click("summary")
    visited.check_with_axe()
    page.click("#theme")
    page.click("#theme")
    assert visited.is_dark()
    assert visited.text("#theme") == "Theme: dark"
    if size == PHONE:
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        visited.shoot(f"page-{scheme}-{size[0]}-end")


def test_nothing_is_cut_off_at_any_width(worked: Proxy, open_page: Visitor) -> None:
    visited = open_page(f"{worked.url}/")
    for width in (320, 390, 700, 900, 1199, 1201, 1359, 1361, 1920):
        visited.page.set_viewport_size({"width": width, "height": 900})
        assert visited.page.evaluate("document.documentElement.scrollWidth") <= width
        cut = visited.page.eval_on_selector_all(
            ".card",
            "all => all.filter((c) => c.scrollWidth > c.clientWidth).map((c) => c.innerText)",
        )
        assert cut == [], width
    visited.page.set_viewport_size({"width": 900, "height": 900})
    visited.shoot("page-light-900")
