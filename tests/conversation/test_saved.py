"""A saved session goes on, byte for byte, as if it had never stopped."""

from __future__ import annotations

import copy
import json
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold import ConfigError, MemoryStore, SqliteStore, StoreError, uncompress
from refold.messages.wire import digest
from refold.stores.base import Store
from tests.classic import Session
from tests.conversation.driving import PROSE, Step, assert_whole, session_options, steps
from tests.conversation.test_session import talk
from tests.conversations import Conversation, spelled
from tests.patience import FOR_EVER
from tests.plan.ladder.promise import words


@contextmanager
def open_store(kind: str) -> Iterator[Store]:
    if kind == "memory":
        yield MemoryStore()
        return
    with tempfile.TemporaryDirectory() as folder, SqliteStore(Path(folder) / "s.db") as store:
        yield store


def assert_goes_on(
    cut: list[Step], chosen: dict[str, Any], stop: int, store: Store, *, has_store: bool
) -> None:
    """Drive two sessions; save and resume one after step *stop*, compare all later views."""
    steady = Session(store=MemoryStore() if has_store else None, **chosen)
    other = Session(store=store if has_store else None, **chosen)
    told: Conversation = []
    for number, step in enumerate(cut):
        told += step.messages
        for session in (steady, other):
            session.extend(step.messages)
        if number == stop % (2 * len(cut)) // 2 and stop % 2:  # before the view of this step
            other = Session.resume(other.save(store), store, counter=chosen["counter"])
        views = [copy.deepcopy(session.view(step.token_budget)) for session in (steady, other)]
        assert spelled(views[1]) == spelled(views[0])
        assert other.report == steady.report
        if number == stop % (2 * len(cut)) // 2 and not stop % 2:
            other = Session.resume(other.save(store), store, counter=chosen["counter"])
            assert other.options == steady.options
            assert other.messages == told
            assert other.report == steady.report
    assert_whole(other, told, views[1])


@given(steps(), session_options(), st.integers(0, 40), st.booleans())
def test_it_goes_on_from_memory(
    cut: list[Step], chosen: dict[str, Any], stop: int, has_store: bool
) -> None:
    if cut:
        with open_store("memory") as store:
            assert_goes_on(cut, chosen, stop, store, has_store=has_store)


@given(steps(), session_options(), st.integers(0, 40), st.booleans())
def test_it_goes_on_from_disk(
    cut: list[Step], chosen: dict[str, Any], stop: int, has_store: bool
) -> None:
    if cut:
        with open_store("sqlite") as store:
            assert_goes_on(cut, chosen, stop, store, has_store=has_store)


@given(steps(), session_options())
def test_it_goes_on_when_saved_after_every_step(cut: list[Step], chosen: dict[str, Any]) -> None:
    store = MemoryStore()
    steady, other = Session(**chosen), Session(**chosen)
    for step in cut:
        for session in (steady, other):
            session.extend(step.messages)
        assert spelled(other.view(step.token_budget)) == spelled(steady.view(step.token_budget))
        other = Session.resume(other.save(store), store, counter=words)


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_originals_come_back_after_resuming(kind: str) -> None:
    with open_store(kind) as store:
        session = Session(counter=words, token_budget=400)
        session.extend(talk(20))
        view = copy.deepcopy(session.view())
        again = Session.resume(session.save(store), store, counter=words)
        assert again.messages == talk(20)
        assert uncompress(view, again.verbatim).messages == talk(20)
        assert uncompress(view, store).messages == talk(20)


def test_everything_about_it_is_saved() -> None:
    store = MemoryStore()
    session = Session(
        recency_window=2,
        preserve=("system", "tool"),
        preserve_patterns=[(re.compile("lamp", re.I), "lamps")],
        token_budget=900,
        model="gpt-4o",
        fuzzy_dedup=True,
    )
    session.extend(talk(5))
    session.view()
    again = Session.resume(session.save(store), store)
    assert again.options == session.options
    assert again.options.preserve_patterns[0].pattern.flags & re.I


def test_choices_replace_saved_options() -> None:
    store = MemoryStore()
    session = Session(recency_window=2)
    key = session.save(store)
    assert Session.resume(key, store, recency_window=7).options.recency_window == 7
    with pytest.raises(ConfigError, match="unknown option"):
        Session.resume(key, store, recency_windw=7)  # type: ignore[call-arg]


def test_the_key_names_what_it_holds() -> None:
    store = MemoryStore()
    one, two = Session(), Session()
    for session in (one, two):
        session.extend(talk(3))
    assert one.save(store) == two.save(store)
    two.extend(talk(1, 3))
    assert one.save(store) != two.save(store)


def test_what_is_saved_is_json() -> None:
    store = MemoryStore()
    session = Session(counter=words, token_budget=300, preserve_patterns=["lamp"])
    session.extend(talk(12))
    session.view()
    key = session.save(store)
    state = store.get([key])[key]
    assert json.loads(json.dumps(state)) == state


# errors


def test_an_unknown_key_is_an_error() -> None:
    with pytest.raises(StoreError, match=r"no session 'refold:session:nope'"):
        Session.resume("refold:session:nope", MemoryStore())


def test_a_key_of_something_else_is_an_error() -> None:
    store = MemoryStore()
    session = Session(recency_window=0, store=store)
    session.extend(talk(3))
    session.view()
    original = next(iter(session.messages))
    other = Session()
    other.append(original)
    key = other.save(store)
    digests = store.get([key])[key]["messages"]
    with pytest.raises(StoreError, match="session"):
        Session.resume(digests[0], store)


def test_another_version_is_an_error() -> None:
    store = MemoryStore()
    session = Session()
    session.extend(talk(2))
    key = session.save(store)
    state = {**store.get([key])[key], "version": 99}
    future = MemoryStore()
    future.put({key: state})
    with pytest.raises(StoreError, match="another version"):
        Session.resume(key, future)


def test_missing_messages_are_an_error() -> None:
    store = MemoryStore()
    session = Session()
    session.extend(talk(3))
    key = session.save(store)
    state = store.get([key])[key]
    poor = MemoryStore()
    poor.put({key: state})
    with pytest.raises(StoreError, match="lacks 1 of its lists of messages"):
        Session.resume(key, poor)
    poor.put(store.get(state["messages"]))
    with pytest.raises(StoreError, match="lacks 3 of its messages"):
        Session.resume(key, poor)


@pytest.mark.parametrize(
    "facts", [{}, {"options": 3}, {"messages": [["x"]]}, {"view": {"items": [3]}}]
)
def test_what_is_no_session_is_an_error_even_if_it_is_named_rightly(facts: dict[str, Any]) -> None:
    store = MemoryStore()
    session = Session()
    session.extend(talk(2))
    key = session.save(store)
    state = {**store.get([key])[key], **facts} if facts else {"version": 5}
    made = f"refold:session:{digest(state)}"
    store.put({made: state})
    with pytest.raises(StoreError, match=made):
        Session.resume(made, store)


def test_a_counter_must_be_given_again() -> None:
    store = MemoryStore()
    session = Session(counter=words)
    session.append({"role": "user", "content": PROSE})
    key = session.save(store)
    with pytest.raises(ConfigError, match="counter=… to resume"):
        Session.resume(key, store)
    assert Session.resume(key, store, counter=words).options.counter is words


def test_models_must_be_given_again() -> None:
    asked: list[str] = []

    def shorten(text: str) -> str:
        asked.append(text)
        return text[: len(text) // 2]

    store = MemoryStore()
    key = Session(token_budget=300, store=store, summarizer=shorten).save(store)
    with pytest.raises(ConfigError, match="summarizer=… to resume"):
        Session.resume(key, store)
    session = Session.resume(key, store, summarizer=shorten, pass_seconds=FOR_EVER)
    session.extend(talk(20))
    session.view()
    assert asked
    assert session.report.model is not None
    without = Session.resume(key, store, summarizer=None)  # said, not forgotten
    assert without.options == session.options
    Session.resume(without.save(store), store)


def test_a_task_that_was_excerpted_stays_as_it_was() -> None:
    """A session that forgot that a budget had done it would fold everything anew."""
    store = MemoryStore()
    session = Session(profile="standard", token_budget=440, counter=words)
    session.append({"role": "user", "content": " ".join(m["content"] for m in talk(12))})
    session.extend(talk(12)[1:])
    session.view()
    again = Session.resume(session.save(store), store, counter=words)
    for one in (session, again):
        one.append({"role": "assistant", "content": "Looking."})
    assert spelled(again.view()) == spelled(session.view())
    assert again.report == session.report
    assert again.report.folds == 1


def test_what_asking_has_cost_adds_up() -> None:
    store = MemoryStore()
    session = Session(token_budget=300, summarizer=lambda text: text[: len(text) // 2])
    session.extend(talk(20))
    session.view()
    spent = session.report.model
    assert spent is not None
    assert spent.calls
    again = Session.resume(session.save(store), store, summarizer=lambda text: text[:40])
    assert again.report == session.report
    again.extend(talk(40)[20:])
    again.view()
    assert again.report.model is not None
    assert again.report.model.calls > spent.calls
