"""C21: originals of one session, thread or agent are not found by another, nor for ever."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from refold import uncompress
from refold.conversation import ContextWindowManager
from refold.errors import ConfigError
from refold.stores import MemoryStore, SqliteStore
from refold.stores.scope import ScopedStore
from refold.tools.manager import CompressionManager
from refold.tools.retrieve import retrieve_tool
from tests.stores.contract import StoreContract
from tests.tools.managing import Clock, Model, result_text, talk


class Alone(ScopedStore):
    """The only scope of its store, so that the store can be asked how much is in it."""

    def __init__(self, store: MemoryStore | SqliteStore, **choices: Any) -> None:
        super().__init__(store, "thread-7", **choices)
        self._all = store

    def __len__(self) -> int:
        return len(self._all)

    def __bool__(self) -> bool:
        return True


class TestScopedMemoryStore(StoreContract):
    @pytest.fixture
    def store(self) -> Alone:
        return Alone(MemoryStore())


class TestScopedSqliteStoreWithExpiry(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Alone]:
        with SqliteStore(tmp_path / "s.db") as everything:
            yield Alone(everything, ttl_seconds=1e9, clock=Clock())


def handle_in(view: list[Any]) -> str:
    found = re.search(r"#(\w+)\]", view[2]["content"])
    assert found is not None
    return found[1]


def test_c21_a_handle_is_the_same_everywhere_and_opens_only_its_own_scope() -> None:
    everything = MemoryStore()
    mine, other = (ScopedStore(everything, name) for name in ("session-1", "session-2"))
    view = []
    for scope in (mine, other):
        cm = CompressionManager(generate=Model(), store=scope)
        messages = talk(1) if scope is mine else [*talk(1)[:2], {"role": "tool", "content": "x"}]
        cm.compress(messages)
        view.append(cm.view(messages))
    handle = handle_in(view[0])
    assert result_text(0) in retrieve_tool(mine).call({"handle": handle})
    assert "no original" in retrieve_tool(other).call({"handle": handle})
    assert "no original" in retrieve_tool(everything).call({"handle": handle})
    again = talk(1)
    cm = CompressionManager(generate=Model(), store=other)
    cm.compress(again)
    assert handle_in(cm.view(again)) == handle
    assert result_text(0) in retrieve_tool(other).call({"handle": handle})


def test_c21_names_of_scopes_never_run_into_each_other() -> None:
    everything = MemoryStore()
    ScopedStore(everything, "a:1").put({"k": {"n": 1}})
    for name in ("a", "a:", "1", "a:1:"):
        assert ScopedStore(everything, name).get(["k", "1:k", ":k", "a:1:k"]) == {}


def test_c21_originals_expire_when_they_are_told_to_and_live_on_when_put_again() -> None:
    clock = Clock()
    store = ScopedStore(MemoryStore(), "s", ttl_seconds=80, clock=clock)
    store.put({"k": {"n": 1}})
    clock.now = 80.0
    assert store.get(["k"]) == {"k": {"n": 1}}
    store.put({"k": {"n": 1}})
    clock.now = 160.0
    assert store.get(["k"]) == {"k": {"n": 1}}
    clock.now = 251.0
    assert store.get(["k"]) == {}


def test_c21_without_a_time_nothing_expires() -> None:
    clock = Clock()
    store = ScopedStore(MemoryStore(), "s", clock=clock)
    store.put({"k": 1})
    clock.now = 1e12
    assert store.get(["k"]) == {"k": 1}


def test_c21_a_window_manager_in_a_scope() -> None:
    everything = MemoryStore()
    store = ScopedStore(everything, "agent-3")
    manager = ContextWindowManager(context_limit=300, reserve_output_tokens=0, store=store)
    messages = talk(6)
    fitted = manager.fit(messages)
    assert fitted.fits
    assert uncompress(fitted.messages, store).messages == messages
    assert uncompress(fitted.messages, everything).messages != messages


@pytest.mark.parametrize(
    ("store", "scope", "ttl"),
    [({}, "s", None), (MemoryStore(), "", None), (MemoryStore(), 3, None), (MemoryStore(), "s", 0)],
)
def test_c21_what_can_never_work_is_refused(store: Any, scope: Any, ttl: Any) -> None:
    with pytest.raises(ConfigError):
        ScopedStore(store, scope, ttl_seconds=ttl)
