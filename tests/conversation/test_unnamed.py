"""A conversation without a name: five letters in every handle, and its view alone restores it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from refold import ContextWindowManager, MemoryStore, Session, compress, retrieve_tool, uncompress
from refold.options import Profile
from tests.conversations import Conversation

LONG = "The night crew looked at every lamp of the harbour and wrote down which of them were out. "


def talk(count: int, who: str = "Ann") -> Conversation:
    roles = ("user", "assistant")
    return [
        {"role": roles[n % 2], "content": " ".join(f"{who} {n} {m}. {LONG}" for m in range(9))}
        for n in range(count)
    ]


def folded(messages: Conversation, store: Any = None, **chosen: Any) -> Session[Any]:
    session = Session[Any](token_budget=600, store=store, recency_window=1, **chosen)
    session.extend(messages)
    session.refold()
    return session


def handles(view: Conversation) -> list[str]:
    return re.findall(r"#([a-z]+)\]", json.dumps(view))


@pytest.mark.parametrize("profile", ["standard", "classic"])
def test_its_view_restores_it_after_whatever_happens(profile: Profile) -> None:
    store, messages = MemoryStore(), talk(12)
    session = folded(messages[:8], store, profile=profile)
    session.extend(messages[8:])
    for one, count in (
        (session, 12),
        (session.fork(), 12),
        (Session[Any].resume(session.save(store), store), 12),
    ):
        for view in (one.view(), one.refold()):
            shown = handles(view)
            assert shown
            assert {*map(len, shown)} == {5}
            for kept in (store, one.verbatim):
                back = uncompress(json.loads(json.dumps(view)), kept, strict=True)
                assert back.messages == messages[:count]
    for length in (10, 5):
        session.truncate(length)
        assert uncompress(session.refold(), store, strict=True).messages == messages[:length]


def test_others_go_on_with_its_view() -> None:
    """A program that starts anew without saving, and one that folds each request by itself."""
    store, messages = MemoryStore(), talk(14)
    view = [*folded(messages[:8], store).view(), *messages[8:]]
    again = folded(view, store).view()
    once = compress(view, store=store, token_budget=300, recency_window=1).messages
    for one in (again, once, compress(again, store=store, token_budget=300).messages):
        assert one != view
        assert uncompress(one, store, strict=True).messages == messages


def test_a_context_manager_shows_five_letters_as_well() -> None:
    store, messages = MemoryStore(), talk(12)
    manager = ContextWindowManager(
        model="gpt-4o", context_limit=1_500, reserve_output_tokens=100, store=store
    )
    for count in (6, 9, 12):
        view = manager.fit(messages[:count]).messages
        assert {*map(len, handles(view))} == {5}
        assert uncompress(view, store, strict=True).messages == messages[:count]


def test_two_in_one_store_do_not_see_each_other() -> None:
    store = MemoryStore()
    ann = folded(talk(8), store).view()
    bob = folded(talk(8, "Bob"), store).view()
    assert handles(ann) != handles(bob)
    for typed in ann:
        mine = [*bob, typed, *talk(1, "Bob")]
        assert uncompress(mine, store).messages == [*talk(8, "Bob"), typed, *talk(1, "Bob")]
        again = folded(mine, store)
        assert uncompress(again.view(), store).messages == [
            *talk(8, "Bob"),
            typed,
            *talk(1, "Bob"),
        ]


def test_a_handle_alone_opens_nothing() -> None:
    store = MemoryStore()
    ann, bob = (folded(talk(8, who), store).view() for who in ("Ann", "Bob"))
    handle = handles(ann)[0]
    assert "Ann" in retrieve_tool(store, messages=ann).call({"handle": handle})
    for tool in (
        retrieve_tool(store),
        retrieve_tool(store, messages=bob),
        retrieve_tool(store, messages=ann[1:]),
        retrieve_tool(store, messages=bob, conversation="bob"),
    ):
        assert tool.call({"handle": handle}).startswith("[there is no original")
