"""A session that grows for long: a turn costs what it did, and everything can be had back."""

from __future__ import annotations

import copy
import json
import re
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from refold import MemoryStore, StoreError, uncompress
from refold.notation.recognize import count_messages
from tests.classic import Session
from tests.conversation.driving import PROSE
from tests.conversations import Conversation, spelled
from tests.plan.ladder.promise import tokens_of, words


def said(count: int, *, ids: bool = False) -> Conversation:
    messages: Conversation = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Find out why the ferry is late."},
    ]
    for n in range(count - 2):
        messages.append(
            {"role": ("assistant", "user")[n % 2], "content": f"Turn {n} took {n * 7} s. {PROSE}"}
        )
    return [{"id": f"i{n}", **m} for n, m in enumerate(messages)] if ids else messages


def count_calls(call: Callable[[], object]) -> int:
    calls = 0

    def count(_: object, event: str, __: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        call()
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.campaign
@pytest.mark.parametrize("profile", ["classic", "standard"])
def test_later_turns_cost_no_more_than_earlier_ones(profile: str) -> None:
    session = Session(profile=profile, token_budget=600, counter=words)
    spent = []
    messages = said(300)
    for start in range(0, len(messages), 100):

        def go_on(some: Conversation = messages[start : start + 100]) -> None:
            for message in some:
                session.append(message)
                session.view()

        spent.append(count_calls(go_on))
    assert spent[2] < 1.05 * spent[1]
    assert session.report.tokens_unfolded == tokens_of(messages, counter=words)


def parallel(count: int) -> Conversation:
    calls = [
        {"id": f"c{n}", "type": "function", "function": {"name": "read", "arguments": "{}"}}
        for n in range(count)
    ]
    return [
        {"role": "user", "content": "Read all of them."},
        {"role": "assistant", "content": None, "tool_calls": calls},
        *(
            {"role": "tool", "tool_call_id": f"c{n}", "content": f"Result {n}. {PROSE}"}
            for n in range(count)
        ),
    ]


@pytest.mark.campaign
@pytest.mark.parametrize("profile", ["classic", "standard"])
def test_parallel_results_that_are_looked_at_one_by_one_cost_the_same_each(profile: str) -> None:
    spent = []
    for count in (50, 100, 200):
        session = Session(profile=profile, token_budget=1_000, counter=words)
        spent.append(count_calls(partial(show_each, session, parallel(count))))
        assert session.report.folds == 1, "once, when the last result is in"
        assert session.report.budget is not None
        assert session.report.tokens <= 1_000 or not session.report.budget.fits
    assert spent[2] < 2.4 * spent[1] < 2.4 * 2.4 * spent[0]


def test_a_call_that_was_never_answered_does_not_put_off_later_folds() -> None:
    session = Session(profile="standard", token_budget=1_000, counter=words)
    show_each(session, parallel(8)[:-1])
    for n in range(60):
        call = {"id": f"d{n}", "type": "function", "function": {"name": "read", "arguments": "{}"}}
        session.append({"role": "assistant", "content": None, "tool_calls": [call]})
        session.append({"role": "tool", "tool_call_id": f"d{n}", "content": f"Page {n}. {PROSE}"})
        session.view()
        assert session.report.tokens <= 1_000


def show_each(session: Session, messages: Conversation) -> None:
    for message in messages:
        session.append(message)
        session.view()


@pytest.mark.campaign
def test_what_a_fold_makes_of_a_text_is_not_made_again_by_the_next_one() -> None:
    counted = 0

    def counter(text: str) -> int:
        nonlocal counted
        counted += 1
        return words(text)

    session = Session(profile="classic", token_budget=6_000, counter=counter)
    for message in said(300):
        session.append(message)
        session.view()
    before, folds = counted, session.report.folds
    for n in range(100):
        session.append({"role": "user", "content": f"Later turn {n}. {PROSE}"})
        session.view()
    assert session.report.folds > folds + 2
    assert counted - before <= 6 * 100  # what a message says, and what three depths make of it


@pytest.mark.parametrize("ids", [False, True])
@pytest.mark.parametrize("profile", ["classic", "standard"])
def test_every_view_of_a_long_session_unfolds_to_all_that_was_said(profile: str, ids: bool) -> None:
    store = MemoryStore()
    session = Session(profile=profile, token_budget=500, counter=words, store=store)
    messages = said(160, ids=ids)
    views: list[tuple[int, Conversation]] = []
    for told, message in enumerate(messages, 1):
        session.append(message)
        views.append((told, copy.deepcopy(session.view())))
        assert session.report.tokens <= 500
    for told, view in views[::20]:
        assert spelled(uncompress(view, session.verbatim).messages) == spelled(messages[:told])
        assert spelled(uncompress(view, store).messages) == spelled(messages[:told])


def test_a_summary_of_summaries_counts_every_message_once_and_names_the_speakers() -> None:
    session = Session(token_budget=1_500, counter=words, recency_window=2)
    for n in range(200):
        role = ("user", "assistant")[n % 2]
        text = " ".join(f"The {role} saw {k} crates of rope on pier {n}." for k in range(n, n + 9))
        session.append({"role": role, "content": text})
        view = session.view()
    texts = [message["content"] for message in view]
    assert not any("[summary" in text[1:] for text in texts)
    merged = [
        int(text.split(" messages merged)")[0].rpartition("(")[2])
        for text in texts
        if " messages merged)" in text
    ]
    assert sum(merged) + sum(" messages merged)" not in text for text in texts) == 200
    rolled = max(texts, key=lambda text: " messages merged)" in text)
    assert "user: " in rolled
    assert "assistant: " in rolled
    assert "assistant: user:" not in rolled


def test_a_digest_of_digests_has_one_head() -> None:
    session = Session(profile="standard", token_budget=400, counter=words)
    for message in said(200):
        session.append(message)
        view = session.view()
    heads = [re.findall(r"\[[\w ]+ messages[^\]\n]* #[a-z]+\]", m["content"]) for m in view]
    digests = [m["content"] for m, found in zip(view, heads, strict=True) if found]
    assert digests
    assert all(len(found) <= 1 for found in heads)
    assert count_messages(digests[0]) > 99  # all of them, not only those of the last fold
    assert all("assistant: user:" not in digest for digest in digests)


@pytest.mark.campaign
def test_a_session_that_is_saved_after_every_turn_does_not_write_everything_again() -> None:
    store = MemoryStore()
    session = Session(token_budget=500, counter=words)
    sizes = []
    for message in said(240):
        session.append(message)
        session.view()
        key = session.save(store)
        sizes.append(len(json.dumps(store.get([key]))))
    assert sizes[-1] < 2 * max(sizes[:80])
    again = Session.resume(key, store, counter=words)
    assert again.messages == said(240)


# what is saved is believed only if it is what was saved


def saved() -> tuple[dict[str, Any], str]:
    store = MemoryStore()
    session = Session(token_budget=300, counter=words)
    for message in said(40):
        session.append(message)
        session.view()
    key = session.save(store)
    state = store.get([key])[key]
    lists = store.get([*state["messages"], *state["verbatim"]])
    names = [name for part in lists.values() for name in part]
    digests = [name if isinstance(name, str) else name[1] for name in names]
    changed = [item[3] for item in state["view"]["items"] if item[3]]
    return {**store.get([*digests, *changed]), **lists, key: state}, key


def test_whatever_is_changed_is_an_error_that_says_where() -> None:
    entries, key = saved()
    assert Session.resume(key, filled(entries), counter=words).messages == said(40)
    for name, value in entries.items():
        with pytest.raises(StoreError, match=key):
            Session.resume(key, filled({**entries, name: damaged(value)}), counter=words)
        rest = {other: entries[other] for other in entries if other != name}
        with pytest.raises(StoreError, match=key):
            Session.resume(key, filled(rest), counter=words)


@pytest.mark.parametrize("wrong", [None, [], {}, 7, "x", {"role": "user", "content": "x"}])
def test_what_is_something_else_altogether_is_an_error_too(wrong: Any) -> None:
    entries, key = saved()
    for name in [*entries][::8]:
        with pytest.raises(StoreError, match=key):
            Session.resume(key, filled({**entries, name: wrong}), counter=words)


def filled(entries: dict[str, Any]) -> MemoryStore:
    store = MemoryStore()
    store.put(entries)
    return store


def damaged(value: Any) -> Any:
    """Change one letter somewhere."""
    text = json.dumps(value)
    place = max(text.rfind("a"), text.rfind("e"))
    return json.loads(f"{text[:place]}o{text[place + 1 :]}") if place > 0 else [value]
