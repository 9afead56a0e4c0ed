"""What was sent stays sent: late, killed, restarted, or after hundreds of other conversations."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from refold.messages.cache_marks import without_marks
from refold.server.proxy.folding import Folder
from refold.server.proxy.request import Job
from refold.server.proxy.settings import Settings
from tests.patience import FOR_EVER
from tests.server.proxy.agents import Agent, serving
from tests.server.proxy.running import held, log_of, proxy_for
from tests.server.proxy.test_retrieval import ask_for_original
from tests.server.upstream import Fail, Say, ScriptedUpstream


def test_late_after_a_restart_the_past_is_as_it_was_sent(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    agent = Agent("")
    with proxy_for(upstream, tmp_path) as proxy:
        agent.url = proxy.url
        for _ in range(3):
            assert agent.turn().status_code == 200
    with proxy_for(upstream, tmp_path, fold_ms=500) as proxy, held(proxy):
        agent.url = proxy.url
        assert agent.turn().status_code == 200
    with proxy_for(upstream, tmp_path) as proxy:
        agent.url = proxy.url
        assert agent.turn().status_code == 200
    upstream.check_prefixes()
    late, after = (request.messages for request in upstream.requests[3:])
    assert late[4] != agent.messages[4], "what had been folded is sent so again"
    assert late[6] == agent.messages[6] == after[6], "what was new goes out as it came, for good"
    assert after[8] != agent.messages[8], "and what comes later is folded"


@pytest.mark.parametrize("is_restarted", [True, False])
def test_a_form_that_nobody_waited_for_is_not_sent_later(
    upstream: ScriptedUpstream, tmp_path: Path, is_restarted: bool
) -> None:
    """The folder records it, but the request has gone out as it came by then."""
    agent = Agent("")
    agent.grow()
    with proxy_for(upstream, tmp_path, fold_ms=500) as proxy:
        agent.url = proxy.url
        with held(proxy):
            assert agent.turn().status_code == 200
        if not is_restarted:
            agent.turn()
    with proxy_for(upstream, tmp_path) as proxy:
        agent.url = proxy.url
        agent.turn()
        agent.messages = agent.messages[:-2]
        assert agent.ask().status_code == 200, "the same once more"
    upstream.check_prefixes()
    for request in upstream.requests:
        assert request.messages[2] == agent.messages[2]


def test_a_client_that_asks_again_gets_the_same(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    agent = Agent("")
    for _ in range(2):
        agent.grow()
        with proxy_for(upstream, tmp_path) as proxy:
            agent.url = proxy.url
            upstream.script.append(Fail(503))
            assert agent.ask().status_code == 503
        with proxy_for(upstream, tmp_path) as proxy:
            agent.url = proxy.url
            assert agent.ask().status_code == 200
            assert upstream.requests[-1].raw == upstream.requests[-2].raw
    upstream.check_prefixes()


def test_rounds_are_on_record_before_the_answer_ends(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """A client may ask on as soon as it has all of it, while its connection is still open."""
    agent, store = Agent(""), tmp_path / "originals.db"
    agent.lines = 800
    agent.grow()
    upstream.script.extend([ask_for_original("So."), Say("It is the log.")])
    options = ("--budget", "16000")
    with serving(upstream.url, store, *options) as (process, agent.url):
        url, seen = f"{agent.url}/v1/messages", b""
        body = {**agent.body, "stream": True}
        with httpx2.stream("POST", url, json=body, headers=agent.headers) as answer:
            for chunk in answer.iter_raw():
                seen += chunk
                if b"event: message_stop" in seen:
                    process.kill()
                    break
    with serving(upstream.url, store, *options) as (process, agent.url):
        said = [{"type": "text", "text": text} for text in ("So.", "It is the log.")]
        agent.messages += [{"role": "assistant", "content": said}, {"role": "user", "content": "?"}]
        assert agent.ask().status_code == 200
    upstream.check_prefixes()
    assert "retrieve_original" in json.dumps(upstream.requests[-1].messages)


class Talker:
    """Asks a folder directly, as its proxy does, and notes what is sent."""

    def __init__(self, folder: Path, budget: int | str = "auto") -> None:
        self.settings = Settings(store=str(folder / "originals.db"), token_budget=budget)
        self.folder = Folder(self.settings, lambda: 0.0)
        self.messages: list[Any] = [{"role": "user", "content": "What is in the logs?"}]
        self.refolds = 0

    def restart(self) -> None:
        self.folder = Folder(self.settings, lambda: 0.0)

    def ask(self, messages: list[Any] | None = None) -> list[Any]:
        asked = self.messages if messages is None else messages
        body = json.dumps({"model": "gpt-5", "messages": asked, "tools": [{"name": "x"}]}).encode()
        job = Job("openai-chat", "/v1/chat/completions", "t", "", body, FOR_EVER)
        folded = asyncio.run(self.folder.fold(job))
        self.refolds += folded.is_refolded
        sent: list[Any] = json.loads(folded.body or body)["messages"]
        return sent

    def grow(self, lines: int) -> None:
        number = len(self.messages)
        function = {"name": "read_log", "arguments": "{}"}
        call = {"id": f"c{number}", "type": "function", "function": function}
        result = {"role": "tool", "tool_call_id": f"c{number}", "content": log_of(lines, number)}
        self.messages += [{"role": "assistant", "content": None, "tool_calls": [call]}, result]


def test_after_hundreds_of_others_it_goes_on_as_it_was(tmp_path: Path) -> None:
    talker = Talker(tmp_path)
    for _ in range(3):
        talker.grow(40)
        before = talker.ask()
    for other in range(257):
        talker.ask([{"role": "user", "content": f"hi {other}"}])
    assert talker.ask() == before
    talker.grow(40)
    assert talker.ask()[: len(before)] == before
    assert before[-1] != talker.messages[6]


@pytest.mark.parametrize("is_marked_from", [0, 4])
def test_marks_that_move_on_make_no_difference(tmp_path: Path, is_marked_from: int) -> None:
    talker, before = Talker(tmp_path), list[Any]()
    for number in range(6):
        talker.grow(40)
        *past, last = talker.messages
        block = {"type": "text", "text": last["content"], "cache_control": {"type": "ephemeral"}}
        is_marked = number >= is_marked_from
        sent = talker.ask([*past, {**last, "content": [block]}] if is_marked else None)
        assert without_marks(sent)[: len(before)] == before
        before = without_marks(sent)
    assert before[2] != talker.messages[2]


@pytest.mark.parametrize("budget", [pytest.param("auto", marks=pytest.mark.campaign), 6_000])
def test_a_conversation_goes_on_after_a_restart_as_if_there_was_none(
    tmp_path: Path, budget: int | str
) -> None:
    """To the byte, folds included: what results looked like when they came, and both bills."""
    told, restarted = (Talker(tmp_path / name, budget) for name in "ab")
    for talker in (told, restarted):
        Path(talker.settings.store).parent.mkdir()
    for turn in range(40 if budget == "auto" else 20):
        for talker in (told, restarted):
            talker.grow((200 if budget == "auto" else 30) + 7 * (turn % 9))
        if turn % 2:
            restarted.restart()
        sent = restarted.ask()
        assert sent == told.ask()
        restarted.restart()
        assert restarted.ask() == sent, "the same request once more"
    assert restarted.refolds == told.refolds > 1
