"""What conversations say is shown only where that was asked for, and then as it was sent."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx2
import pytest

from refold.errors import ConfigError
from refold.server.proxy.proxy import Proxy
from refold.server.proxy.settings import Settings
from tests.report.pages import unpack
from tests.server.proxy.agents import Agent
from tests.server.proxy.conftest import Shared
from tests.server.proxy.running import last_session, log_of, proxy_for
from tests.server.proxy.test_retrieval import BUDGET, LINES, ask_for_original
from tests.server.upstream import Say, ScriptedUpstream

SHOWN: dict[str, Any] = {"show_content": True, "token_budget": BUDGET}


def session_page(proxy: Proxy) -> httpx2.Response:
    return httpx2.get(f"{proxy.url}/session/{last_session(proxy).name}")


def data_of(page: httpx2.Response) -> dict[str, Any]:
    """Return the data of a report."""
    assert page.status_code == 200
    found = re.search(r'id="data">(.*?)</script>', page.text, re.DOTALL)
    assert found is not None
    data: dict[str, Any] = unpack(found[1])
    return data


def shown_texts(data: dict[str, Any]) -> list[str]:
    """Return what stands in the place of each message, in the order of the conversation."""
    (step,) = data["steps"]
    pairs = zip(data["messages"], step["rows"], strict=True)
    return [
        text.get("o", message["texts"][n] if message["texts"] else "")
        for message, row in pairs
        for n, text in enumerate(row["x"])
    ]


def test_nothing_is_shown_unless_asked_for(shared: Shared, key: str) -> None:
    upstream, proxy = shared()
    Agent(proxy.url, key=key).turn()
    page = session_page(proxy)
    assert page.status_code == 403
    assert "logs" not in page.text
    assert all(request.path != "/session" for request in upstream.requests)


def test_a_session_is_shown_as_it_came_and_as_it_was_sent(shared: Shared, key: str) -> None:
    upstream, proxy = shared(**SHOWN)
    agent = Agent(proxy.url, key=key)
    for _ in range(3):
        agent.turn()
    page = session_page(proxy)
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    data = data_of(page)
    assert [message["texts"] for message in data["messages"]] == [
        ["What is in the logs?"],
        [],
        [log_of(60, 1)],
        [],
        [log_of(60, 3)],
    ]
    sent = [message["content"] for message in upstream.requests[-1].messages]
    results = [content[0]["content"] for content in (sent[2], sent[4])]
    assert shown_texts(data) == ["What is in the logs?", "", results[0], "", results[1]]
    (step,) = data["steps"]
    assert step["tokens"] < data["tokens"]


def test_after_a_restart_the_originals_are_those_of_the_client(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    agent = Agent("")
    for _ in range(2):
        with proxy_for(upstream, tmp_path, show_content=True) as proxy:
            agent.url = proxy.url
            agent.turn()
            agent.turn()
            data = data_of(session_page(proxy))
    assert [message["texts"] for message in data["messages"]][2::2] == [
        [log_of(60, n)] for n in (1, 3, 5)
    ]
    assert all(text.startswith("[reformatted #") for text in shown_texts(data)[2::2])


def test_what_was_folded_anew_is_shown_with_what_it_stands_for(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    with proxy_for(upstream, tmp_path, show_content=True, token_budget=6_000) as proxy:
        agent = Agent(proxy.url)
        for _ in range(12):
            agent.turn()
        assert proxy.stats.totals.refolds
        (figures,) = httpx2.get(f"{proxy.url}/stats").json()["sessions"]
        assert figures["first_changed"] > 0
        assert figures["thinking"] == "kept", "there is none in it"
        data = data_of(session_page(proxy))
    assert len(data["messages"]) == 23
    (step,) = data["steps"]
    assert step["count"] == len(upstream.requests[-1].messages)
    assert any(row["a"] in ("excerpted", "digested") for row in step["rows"])


def test_an_exchange_about_originals_is_part_of_it(shared: Shared, key: str) -> None:
    upstream, proxy = shared(**SHOWN)
    agent = Agent(proxy.url, key=key)
    agent.lines = LINES
    agent.turn()
    agent.lines = 40
    upstream.script.extend([ask_for_original(), Say("It is the log.")])
    agent.turn()
    agent.turn()
    data = data_of(session_page(proxy))
    assert len(data["messages"]) == 7
    assert "retrieve_original" in json.dumps([message["calls"] for message in data["messages"]])


def test_a_session_that_is_not_known(shared: Shared) -> None:
    url = shared(**SHOWN).proxy.url
    assert httpx2.get(f"{url}/session/nobody").status_code == 404


def test_on_other_machines_content_is_not_shown() -> None:
    with pytest.raises(ConfigError, match="loopback only"):
        Settings(host="0.0.0.0", token="a-token-of-some-length", show_content=True)


@pytest.mark.parametrize(("said", "is_shown"), [("1", True), ("true", True), ("no", False)])
def test_it_is_a_setting_of_the_environment(said: str, is_shown: bool) -> None:
    assert Settings.from_env({"REFOLD_SHOW_CONTENT": said}).show_content is is_shown
    with pytest.raises(ConfigError, match="REFOLD_SHOW_CONTENT"):
        Settings.from_env({"REFOLD_SHOW_CONTENT": "perhaps"})
