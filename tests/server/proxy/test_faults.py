"""Whatever breaks, requests are answered, originals are kept, and every case is counted."""

from __future__ import annotations

import json
import signal
import sqlite3
import sys
from pathlib import Path

import httpx2
import pytest

from refold.stores import SqliteStore
from tests.server.proxy.agents import Agent, serving
from tests.server.proxy.conftest import Shared
from tests.server.proxy.running import held, log_of, proxy_for, settle
from tests.server.proxy.test_retrieval import ask_for_original, results_of
from tests.server.upstream import Check, Fail, Request, Say, ScriptedUpstream


def folded_requests(upstream: ScriptedUpstream) -> list[bool]:
    return ["[reformatted #" in json.dumps(request.messages) for request in upstream.requests]


def test_a_locked_store_holds_nobody_up(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    with proxy_for(upstream, tmp_path, fold_ms=300, retrieve="off") as proxy:
        agent = Agent(proxy.url)
        agent.grow()
        locked = sqlite3.connect(tmp_path / "originals.db", isolation_level=None)
        locked.execute("PRAGMA journal_mode")
        locked.execute("BEGIN EXCLUSIVE")
        expected = agent.raw
        assert agent.turn().status_code == 200
        assert upstream.requests[-1].raw == expected
        assert proxy.stats.faults["fold late"] + proxy.stats.faults["fold failed"] == 1
        locked.execute("ROLLBACK")
        locked.close()


def test_a_corrupt_store_is_counted_and_requests_go_out(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    (tmp_path / "originals.db").write_bytes(b"this is no database" * 1000)
    with proxy_for(upstream, tmp_path, retrieve="off") as proxy:
        agent = Agent(proxy.url)
        agent.grow()
        for _ in range(3):
            expected = agent.raw
            assert agent.turn().status_code == 200
            assert upstream.requests[-1].raw == expected
        assert proxy.stats.faults["fold failed"] == 3


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits a process from outside")
def test_a_full_disk_is_counted_and_what_was_sent_stays(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    import resource

    agent = Agent("")
    with serving(upstream.url, tmp_path / "originals.db") as (process, agent.url):
        for _ in range(3):
            assert agent.turn().status_code == 200
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
        assert agent.turn().status_code == 200
        faults = httpx2.get(f"{agent.url}/stats").json()["faults"]
        assert faults == {"fold failed": 1}
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        assert agent.turn().status_code == 200
    upstream.check_prefixes()
    after = upstream.requests[4].messages
    assert after[4] != agent.messages[4], "what had been folded is sent so again"
    assert after[6] == agent.messages[6], "what went out as it came stays so"
    assert after[8] != agent.messages[8], "and what comes later is folded"


def test_what_goes_out_late_is_on_record_before_it_does(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    def count() -> int:
        with SqliteStore(tmp_path / "originals.db") as store:
            return len(store)

    seen: list[int] = []

    def look(_: Request) -> Say:
        seen.append(count())
        return Say("ok")

    upstream.otherwise = Check(look)
    with proxy_for(upstream, tmp_path, fold_ms=300) as proxy:
        agent = Agent(proxy.url)
        agent.turn()
        settle(proxy)
        with held(proxy):
            before = count()
            assert agent.turn().status_code == 200
    assert seen[1:] == [before + 1], "no fold has written it"


def test_a_killed_proxy_goes_on_where_it_was(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    store = tmp_path / "originals.db"
    agent = Agent("")
    options = ("--budget", "16000")
    with serving(upstream.url, store, *options) as (process, agent.url):
        for lines in (800, 40, 40):
            agent.lines = lines
            assert agent.turn().status_code == 200
        process.kill()
    upstream.script.extend([Say("on"), ask_for_original("So."), Say("It is the log.")])
    with serving(upstream.url, store, *options) as (process, agent.url):
        assert agent.turn().status_code == 200
        assert agent.turn().status_code == 200
        process.send_signal(signal.SIGTERM)
        assert process.stderr is not None
        first, *others = process.stderr.read().splitlines()[-4:]
        assert process.wait() == 0
    upstream.check_prefixes()
    (original,) = results_of(upstream.requests[-1])
    assert log_of(800, 1).splitlines()[0] in original
    assert first.startswith("refold: 2 requests · 0 folds · $")
    assert "instead of $" in first
    assert [line.split(":")[0].strip() for line in others] == [
        "tokens",
        "cold cache",
        "not touched",
    ]


def test_what_is_refused_is_sent_as_it_came(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    refused = "messages.1.content.0: Invalid `signature` in `thinking` block."
    with proxy_for(upstream, tmp_path) as proxy:
        agent = Agent(proxy.url)
        agent.turn()
        upstream.script.append(Fail(400, refused))
        expected = agent.raw
        assert agent.turn().status_code == 200
        assert upstream.requests[-1].raw == expected
        assert proxy.stats.faults["folded request refused"] == 1
        expected = agent.raw
        agent.turn()
        assert upstream.requests[-1].raw == expected, "and so from then on"
    with proxy_for(upstream, tmp_path) as proxy:
        agent.url = proxy.url
        expected = agent.raw
        agent.turn()
        assert upstream.requests[-1].raw == expected, "also after a restart"


def test_what_is_wrong_anyway_is_told_the_client(shared: Shared, key: str) -> None:
    upstream, proxy = shared()
    agent = Agent(proxy.url, key=key)
    agent.turn()
    upstream.script.extend([Fail(400, "bad model"), Fail(400, "bad model")])
    answer = agent.ask()
    assert answer.status_code == 400
    assert answer.json()["error"]["message"] == "bad model"
    agent.turn()
    assert folded_requests(upstream) == [False, True, False, True], "it is still folded"


def test_a_provider_that_cannot_be_reached(tmp_path: Path) -> None:
    with ScriptedUpstream() as gone:
        url = gone.url
    with proxy_for(url, tmp_path) as proxy:
        answer = Agent(proxy.url).ask()
        assert answer.status_code == 502
        assert answer.json()["type"] == "error"
        assert proxy.stats.faults["upstream unreachable"] == 1
