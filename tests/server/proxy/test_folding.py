"""What a worker sends: a past that never changes, until the window is nearly full."""

from __future__ import annotations

import asyncio
import json
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold import open_store, uncompress
from refold.messages.cache_marks import with_marks, without_marks
from refold.server.proxy.answering import EventSplitter
from refold.server.proxy.folding import Folder
from refold.server.proxy.request import Folded, Job
from refold.server.proxy.settings import Settings
from refold.stores.scope import ScopedStore
from tests.patience import FOR_EVER
from tests.server.proxy.agents import Agent


def folder_in(path: Path, **given: Any) -> Folder:
    return Folder(Settings(**{"store": str(path / "s.db"), **given}), time.time)


def fold(folder: Folder, agent: Agent, *, late: bool = False) -> tuple[Folded, list[Any]]:
    body = json.dumps(agent.body).encode()
    deadline = time.time() + (-1 if late else FOR_EVER)
    folded = asyncio.run(
        folder.fold(Job("anthropic", "/v1/messages", "tenant", "s-1", body, deadline))
    )
    sent = json.loads(body if folded.body is None else folded.body)
    return folded, sent["messages"]


def test_the_past_stays_byte_for_byte_in_memory_and_from_the_store(tmp_path: Path) -> None:
    agent, warm = Agent(""), folder_in(tmp_path)
    before: list[Any] = []
    for _ in range(8):
        folded, sent = fold(warm, agent)
        _, again = fold(warm, agent)
        cold, from_store = fold(folder_in(tmp_path), agent)
        assert sent == again == from_store
        assert (folded.tokens_before, folded.tokens_after) == (
            cold.tokens_before,
            cold.tokens_after,
        )
        assert sent[: len(before)] == before
        before = sent
        agent.grow()
    assert folded.tokens_after < folded.tokens_before


@pytest.mark.parametrize(
    ("address", "package"),
    [("{}/s.db", "sqlite3"), ("sqlite:///{}/s.db", "sqlite3"), ("file://{}/objects", "obstore")],
)
def test_originals_can_be_restored_from_the_store(
    tmp_path: Path, address: str, package: str
) -> None:
    pytest.importorskip(package, reason=f"{package} is not installed")
    place = address.format(tmp_path)
    agent, folder = Agent(""), folder_in(tmp_path, store=place)
    for _ in range(4):
        agent.grow()
        folded, sent = fold(folder, agent)
    with open_store(place, read_only=True) as store:
        tenant = ScopedStore(store, "tenant")
        restored = uncompress(sent, tenant, conversation=folded.conversation)
    assert restored.messages == agent.messages


def test_if_nothing_changes_nothing_is_rewritten(tmp_path: Path) -> None:
    agent = Agent("")
    agent.has_tools = False
    folded, _ = fold(folder_in(tmp_path), agent)
    assert folded.body is None


@pytest.mark.parametrize("restart", [False, True])
def test_a_full_window_is_folded_once_with_room_to_spare(tmp_path: Path, restart: bool) -> None:
    agent, folder = Agent(""), folder_in(tmp_path, token_budget=12_000)
    views: list[list[Any]] = []
    refolds: list[int] = []
    places: list[int] = []
    sizes: list[int] = []
    for turn in range(40):
        if restart and turn % 3 == 0:
            folder = folder_in(tmp_path, token_budget=12_000)
        folded, sent = fold(folder, agent)
        views.append(sent)
        places.append(folded.first_changed)
        sizes.append(folded.tokens_after)
        if folded.is_refolded:
            refolds.append(turn)
        agent.grow()
    assert refolds
    assert max(sizes) <= 12_000
    for turn, (before, after) in enumerate(pairwise(views), start=1):
        if turn not in refolds:
            assert after[: len(before)] == before, f"turn {turn} changed its past"
            assert len(before) <= places[turn] <= len(after)
        else:
            assert after[: places[turn]] == before[: places[turn]]
            assert places[turn] < len(before)
    assert all(later - earlier >= 4 for earlier, later in pairwise(refolds)), refolds


def test_a_late_fold_leaves_no_trace(tmp_path: Path) -> None:
    agent, folder = Agent(""), folder_in(tmp_path)
    fold(folder, agent)
    agent.grow()
    with pytest.raises(TimeoutError):
        fold(folder, agent, late=True)
    agent.grow()
    _, sent = fold(folder, agent)
    assert sent[:3] == agent.messages[:3], "what went out as it came stays so"
    assert sent[4] != agent.messages[4]


def test_a_past_that_nobody_knows_is_left_alone(tmp_path: Path) -> None:
    agent = Agent("")
    for _ in range(3):
        agent.grow()
    folded, sent = fold(folder_in(tmp_path), agent)
    assert sent[:-1] == agent.messages[:-1]
    assert sent[-1] != agent.messages[-1]
    assert folded.tokens_after < folded.tokens_before


def test_another_branch_keeps_the_common_past(tmp_path: Path) -> None:
    agent, folder = Agent(""), folder_in(tmp_path)
    for _ in range(3):
        _, trunk = fold(folder, agent)
        agent.grow()
    branch = Agent("")
    branch.messages = [*agent.messages[:5], {"role": "assistant", "content": "No."}]
    branch.messages.append({"role": "user", "content": "Why?"})
    _, sent = fold(folder, branch)
    assert sent[:5] == trunk[:5]
    _, main = fold(folder, agent)
    assert main[:5] == trunk[:5]


blocks = st.lists(
    st.fixed_dictionaries(
        {"type": st.just("text"), "text": st.text()},
        optional={"cache_control": st.just({"type": "ephemeral"})},
    ),
    min_size=1,
)


@given(st.lists(st.builds(lambda content: {"role": "user", "content": content}, blocks)))
def test_marks_of_the_cache_come_back_where_they_were(messages: list[Any]) -> None:
    plain = without_marks(messages)
    assert all("cache_control" not in block for m in plain for block in m["content"])
    assert [with_marks(m, given) for m, given in zip(plain, messages, strict=True)] == messages


@given(st.binary(), st.lists(st.integers(min_value=1, max_value=9)))
def test_events_joined_are_the_stream(data: bytes, sizes: list[int]) -> None:
    data = data.replace(b"x", b"\n\n").replace(b"y", b"\r\n\r\n")
    splitter, pieces, rest = EventSplitter(), [], data
    for size in sizes:
        pieces += splitter.feed(rest[:size])
        rest = rest[size:]
    pieces += splitter.feed(rest)
    assert b"".join(pieces) + splitter.close() == data
    assert all(piece.endswith((b"\n\n", b"\n\r\n")) for piece in pieces)
