"""What takes longer than a request may wait is done beside it, and used for the next one."""

from __future__ import annotations

import asyncio
import json
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from refold import open_store, uncompress
from refold.server.proxy.folding import Folder
from refold.server.proxy.request import Folded, Job
from refold.server.proxy.settings import Settings
from refold.stores.scope import ScopedStore
from tests.patience import FOR_EVER
from tests.server.proxy.agents import Agent

NOW = 0.0
"""The clock stands still: a deadline of now leaves no time at all."""


class Asker:
    """Asks a folder as its proxy does."""

    def __init__(self, folder: Path, budget: int) -> None:
        self.settings = Settings(store=str(folder / "s.db"), token_budget=budget)
        self.folder = Folder(self.settings, lambda: NOW)
        self.others = count()

    def ask(self, agent: Agent, name: str, deadline: float) -> tuple[Folded, list[Any]]:
        body = json.dumps(agent.body).encode()
        job = Job("anthropic", "/v1/messages", "t", name, body, deadline)
        folded = asyncio.run(self.folder.fold(job))
        return folded, json.loads(folded.body or body)["messages"]

    def finish(self, deadline: float = FOR_EVER) -> None:
        """Fold another conversation: after all that is done beside requests so far."""
        other = Agent("")
        other.messages = [{"role": "user", "content": f"And {next(self.others)}?"}]
        other.lines = 1_200
        other.grow()
        folded, _ = self.ask(other, "other", deadline)
        assert folded.is_refolded or deadline == NOW


def test_a_fold_that_takes_longer_is_used_for_the_next_request(tmp_path: Path) -> None:
    asker, agent = Asker(tmp_path, 12_000), Agent("")
    before: list[Any] = []
    was_late = False
    refolds = 0
    for _ in range(30):
        agent.grow()
        folded, sent = asker.ask(agent, "s", NOW)
        assert not folded.why_not
        assert not (folded.is_late and was_late), "no two in a row"
        assert folded.is_refolded or not was_late
        if folded.is_refolded:
            assert folded.tokens_after < folded.tokens_before / 2
            refolds += was_late
        else:
            assert sent[: len(before)] == before, "until then its past is as it was"
        if folded.is_late:
            assert folded.why == "full"
            asker.finish()
        before, was_late = sent, folded.is_late
    assert refolds > 1
    with open_store(asker.settings.store, read_only=True) as store:
        scoped = ScopedStore(store, "t")
        restored = uncompress(before, scoped, conversation=folded.conversation)
    assert restored.messages == agent.messages


@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_conversation_that_arrives_whole_is_folded_from_its_second_request_on(
    tmp_path: Path, is_restarted: bool
) -> None:
    asker, agent = Asker(tmp_path, 20_000), Agent("")
    for _ in range(40):
        agent.grow()
    if is_restarted:
        asker.ask(agent, "s", FOR_EVER)
        asker.folder = Folder(asker.settings, lambda: NOW)
        agent.grow()
    asker.finish(NOW)  # keeps it busy
    first, sent = asker.ask(agent, "s", NOW)
    assert (first.is_late, first.is_refolded) == (True, False)
    assert sent[-1] == agent.messages[-1], "it goes out as it came"
    asker.finish()
    agent.grow()
    second, again = asker.ask(agent, "s", NOW)
    assert not second.is_late
    assert second.is_refolded or again[: len(sent)] == sent
    assert second.tokens_after <= 20_000
    asker.folder = Folder(asker.settings, lambda: NOW)
    assert asker.ask(agent, "s", FOR_EVER)[1] == again, "the same once more, after a restart"


def test_a_request_that_comes_again_is_the_same_even_if_the_fold_is_ready(tmp_path: Path) -> None:
    asker, agent = Asker(tmp_path, 6_000), Agent("")
    is_late = False
    while not is_late:
        agent.grow()
        folded, sent = asker.ask(agent, "s", NOW)
        is_late = folded.is_late
    asker.finish()
    assert asker.ask(agent, "s", FOR_EVER)[1] == sent
    agent.grow()
    assert asker.ask(agent, "s", FOR_EVER)[0].is_refolded


@pytest.mark.campaign
def test_sixty_results_under_a_budget_stay_near_it_even_if_every_fold_is_late(
    tmp_path: Path,
) -> None:
    asker, agent = Asker(tmp_path, 20_000), Agent("")
    refolds, most = 0, 0
    for turn in range(60):
        agent.lines = 30 + 12 * (turn % 7)
        agent.grow()
        folded, _ = asker.ask(agent, "s", NOW)
        refolds += folded.is_refolded
        most = max(most, folded.tokens_after)
        if folded.is_late:
            asker.finish()
    assert refolds >= 2
    assert most < 1.2 * 20_000
