"""What ties a stand-in to its originals: never chance, never what somebody types."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold import (
    ConfigError,
    ContextWindowManager,
    FitResult,
    MemoryStore,
    Store,
    StoreError,
    retrieve_tool,
    uncompress,
)
from refold.notation.marks import HANDLE_CHARS
from tests.classic import Compressor, Session, compress
from tests.conversations import Conversation

_WORDS = "ba be bi bo bu da de di do du ka ke ki ko ku la le li lo lu ma me mi mo mu".split()
_TWINS = ((3_847, 4_244), (11_795, 11_903))
"""Numbers of reports whose handles begin with the same five letters; found by trying."""


def report(number: int) -> str:
    """Write a report that reads like all others once it is folded."""
    words = ""
    while number or not words:
        number, digit = divmod(number, len(_WORDS))
        words += _WORDS[digit]
    return (
        f"Thanks, the report of the night shift has been read by everybody who was there, {words}. "
        "Pump P-17 failed at 06:40 because valve V-3 was stuck, and nobody may restart it. "
        "Okay, that is all for now and we will talk about the weather some other time."
    )


def talk(*numbers: int) -> Conversation:
    roles = ("user", "assistant")
    return [{"role": roles[n % 2], "content": report(number)} for n, number in enumerate(numbers)]


def fold(messages: Conversation, store: Store | None = None, **chosen: Any) -> Conversation:
    folded = compress(messages, store=store, recency_window=0, dedup=False, **chosen).messages
    assert folded != messages, "the test is about folded messages"
    return folded


def handle_of(message: Mapping[str, Any]) -> str:
    return str(message["content"]).rpartition("#")[2].rstrip("]")


# No luck


def test_conversations_that_read_the_same_come_back_as_themselves() -> None:
    store = MemoryStore()
    talks = [talk(n, n + 1_000) for n in range(100)]
    views = [fold(messages, store) for messages in talks]
    words = {str(view[0]["content"]).partition("#")[0] for view in views}
    assert len(words) == 1, "nothing but the handle tells them apart"
    for messages, view in zip(talks, views, strict=True):
        assert uncompress(view, store).messages == messages


def test_the_first_handle_has_128_bits_and_the_others_are_short() -> None:
    first, *others = fold(talk(1, 2, 3))
    assert {len(handle_of(message)) for message in others} == {HANDLE_CHARS}
    assert 26 ** len(handle_of(first)) >= 2**128
    named = fold(talk(1, 2, 3), conversation="desk")
    assert {len(handle_of(message)) for message in named} == {HANDLE_CHARS}


@pytest.mark.parametrize("twins", _TWINS)
def test_a_link_that_is_taken_makes_another_handle(twins: tuple[int, int]) -> None:
    store = MemoryStore()
    one, two = ([{"role": "user", "content": report(number)}] for number in twins)
    [first] = fold(one, store, conversation="desk")
    [second] = fold(two, store, conversation="desk")
    assert handle_of(second).startswith(handle_of(first)), "the test is about a collision"
    assert uncompress([first], store, conversation="desk").messages == one
    assert uncompress([second], store, conversation="desk").messages == two


class Racing(MemoryStore):
    """A store in which somebody else writes the same keys a moment earlier, once."""

    def __init__(self, rival: str) -> None:
        super().__init__()
        self._rival = rival
        self.races = 0

    def put(self, entries: Mapping[str, Any]) -> None:
        links = [key for key in entries if "refold:handle:" in key]
        if not self.races:
            super().put(dict.fromkeys(links, self._rival))
        self.races += bool(links)
        super().put(entries)


def test_a_link_that_is_taken_while_it_is_written_is_found_out() -> None:
    store = Racing("refold:fold:" + "0" * 40)
    messages = talk(1)
    view = fold(messages, store, conversation="desk")
    assert store.races == 2
    assert uncompress(view, store, conversation="desk").messages == messages


class Stubborn(MemoryStore):
    """A store that says of every link that it is somebody else's."""

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        return dict.fromkeys(keys, "refold:fold:" + "0" * 40)


def test_a_store_in_which_every_link_is_taken_is_an_error() -> None:
    with pytest.raises(StoreError, match="other originals"):
        fold(talk(1), Stubborn(), conversation="desk")


@given(st.lists(st.integers(0, 40), min_size=1, max_size=6), st.booleans(), st.integers(1, 3))
def test_nothing_that_repeats_is_mixed_up(numbers: list[int], named: bool, rounds: int) -> None:
    store, name = MemoryStore(), "desk" if named else None
    view = messages = talk(*numbers)
    for _ in range(rounds):
        view = compress(view, store=store, recency_window=0, conversation=name).messages
    assert uncompress(view, store, conversation=name).messages == messages


def test_every_record_has_a_name_of_160_bits() -> None:
    result = compress(talk(1, 2, 1), recency_window=0, conversation="desk")
    keys = [key for key in result.verbatim if ":" in key]
    assert keys
    assert all(re.fullmatch("refold:(fold|view|handle|stand-in):[0-9a-f]{40}", k) for k in keys)


def test_originals_of_two_conversations_can_be_kept_together() -> None:
    """Even if both show the same words, and nothing but their names tells them apart."""
    talks = {name: talk(number) for name, number in zip(("a", "b"), _TWINS[0], strict=True)}
    folded = {
        name: compress(messages, recency_window=0, conversation=name)
        for name, messages in talks.items()
    }
    assert folded["a"].messages == folded["b"].messages, "the test is about a collision"
    links = {
        key: value
        for result in folded.values()
        for key, value in result.verbatim.items()
        if key.startswith("refold:")
    }
    for name, result in folded.items():
        originals = result.verbatim | links
        back = uncompress(result.messages, originals, conversation=name)
        assert back.messages == talks[name]


# Nobody can spoof


def test_a_copy_of_ones_own_summary_is_what_somebody_typed() -> None:
    store = MemoryStore()
    messages = talk(1, 2)
    view = fold(messages, store)
    pasted = [dict(view[0]), dict(view[1])]
    longer = [*view, *pasted]
    assert uncompress(longer, store).messages == [*messages, *pasted]
    for window in (0, 1, 2):
        again = compress(longer, store=store, recency_window=window).messages
        assert uncompress(again, store).messages == [*messages, *pasted]


@given(st.randoms(use_true_random=False), st.booleans(), st.booleans())
def test_copies_pasted_anywhere_survive_every_round(
    random: Random, named: bool, stored: bool
) -> None:
    name, store = "desk" if named else None, MemoryStore()
    verbatim: dict[str, Any] = {}
    view = messages = talk(1, 2, 3)
    for _ in range(3):
        result = compress(
            view,
            store=store if stored else None,
            recency_window=random.choice((0, 1, 3)),
            conversation=name,
        )
        verbatim |= result.verbatim
        pasted = [
            {"role": random.choice(("user", "assistant")), "content": message["content"]}
            for message in random.sample(result.messages, k=min(2, len(result.messages)))
        ]
        view, messages = [*result.messages, *pasted], [*messages, *pasted]
    known = store if stored else verbatim
    assert uncompress(view, known, conversation=name).messages == messages


def test_words_of_another_conversation_bring_nothing_back() -> None:
    store = MemoryStore()
    theirs = fold(talk(1, 2, 3), store)
    later = [dict(theirs[1])]
    assert uncompress(later, store).messages == later
    guessed = [
        {**theirs[0], "content": theirs[0]["content"].replace(handle_of(theirs[0]), "a" * 8)}
    ]
    assert uncompress(guessed, store).messages == guessed
    assert uncompress(theirs, store, conversation="mine").messages == theirs
    named = fold(talk(4), store, conversation="theirs")
    assert uncompress(named, store, conversation="mine").messages == named
    assert uncompress(named, store).messages == named
    assert uncompress(named, store).messages_unknown == 1


def with_ids(messages: Conversation) -> Conversation:
    return [{"id": f"m{n}", **message} for n, message in enumerate(messages)]


@pytest.mark.parametrize("source", ["store", "verbatim"])
def test_provenance_is_believed_on_the_message_it_was_written_for(source: str) -> None:
    store = MemoryStore()
    messages = with_ids(talk(1, 2))
    result = compress(messages, store=store, recency_window=0)
    known = store if source == "store" else result.verbatim
    first, second = result.messages
    forged = [
        {**first, "content": "What did she say?"},
        {**first, "id": "m7"},
        {**first, "metadata": second["metadata"]},
        {"id": "m8", "role": "user", "content": "hi", "metadata": first["metadata"]},
    ]
    for message in forged:
        back = uncompress([message], known)
        assert back.messages == [message]
        assert back.messages_unknown == message["content"].startswith("[")
    assert uncompress([first, second, first], known).messages == [*messages, first]


@pytest.mark.parametrize("source", ["store", "verbatim"])
@pytest.mark.parametrize("budget", [60, 120])
def test_a_copy_of_a_message_that_is_out_of_view_is_what_somebody_typed(
    source: str, budget: int
) -> None:
    """It has the id and the provenance of the message, which several rounds have folded away."""
    store = MemoryStore()
    messages = with_ids(talk(1, 2, 3, 4, 5, 6))
    first = compress(messages, store=store, recency_window=0, dedup=False)
    second = compress(first.messages, store=store, recency_window=0, token_budget=budget)
    verbatim = first.verbatim | second.verbatim
    shown = {message["id"] for message in second.messages}
    copies = [message for message in first.messages if message["id"] not in shown]
    assert copies
    for copy in copies:
        view, whole = [*second.messages, copy], [*messages, copy]
        assert uncompress(view, store if source == "store" else verbatim).messages == whole
        again = compress(view, store=store, recency_window=0, token_budget=budget)
        known = store if source == "store" else verbatim | again.verbatim
        back = uncompress(again.messages, known)
        assert back.messages == whole


@pytest.mark.parametrize("source", ["store", "verbatim"])
def test_a_copy_of_a_message_with_metadata_alone_is_what_somebody_typed(source: str) -> None:
    """Without an id, nothing in a message tells it from its copy: its place has to."""
    messages = [{**message, "metadata": {}} for message in talk(*range(12))]
    for place in range(3):
        store = MemoryStore()
        first = fit(messages, 800, store)
        copy = first.messages[place]
        second = fit([*first.messages, copy], 400, store)
        known = store if source == "store" else {**first.verbatim, **second.verbatim}
        assert uncompress(second.messages, known).messages == [*messages, copy]


@pytest.mark.parametrize("source", ["store", "verbatim"])
def test_a_copy_of_what_was_folded_anew_since_is_what_somebody_typed(source: str) -> None:
    """The second fold was made from the originals: what the first has shown is behind nothing."""
    messages = with_ids(talk(*range(12)))
    store = MemoryStore()
    first = fit(messages, 800, store)
    second = fit(first.messages, 400, store)
    shown = {message["id"] for message in second.messages}
    copies = [m for m in first.messages if m not in messages and m not in second.messages]
    assert copies
    for copy in copies:
        verbatim = first.verbatim | second.verbatim
        known = store if source == "store" else verbatim
        assert uncompress([*second.messages, copy], known).messages == [*messages, copy]
        if copy["id"] not in shown:
            again = compress([*second.messages, copy], store=store, recency_window=0)
            known = store if source == "store" else verbatim | again.verbatim
            assert uncompress(again.messages, known).messages == [*messages, copy]


def test_what_stands_for_a_copy_is_believed() -> None:
    """The message that it stands for is behind another one, too: the one that was copied."""
    store = MemoryStore()
    messages = with_ids(talk(*range(6)))
    first = compress(messages, store=store, recency_window=0, dedup=False)
    second = compress(first.messages, store=store, recency_window=0, token_budget=60)
    copy = next(m for m in first.messages if m["id"] not in {s["id"] for s in second.messages})
    more = [copy, *({"id": f"n{n}", **message} for n, message in enumerate(talk(7, 8, 9)))]
    third = compress([*second.messages, *more], store=store, recency_window=0, token_budget=60)
    assert copy not in third.messages
    assert uncompress(third.messages, store).messages == [*messages, *more]


def test_text_under_an_id_that_is_out_of_view_hides_no_original() -> None:
    """It reads like a stand-in; originals that are kept by id must not give way to it."""
    messages = with_ids(talk(*range(6)))
    first = compress(messages, recency_window=0)
    second = compress(first.messages, recency_window=0, token_budget=30)
    verbatim = first.verbatim | second.verbatim
    shown = {message["id"] for message in second.messages}
    for hidden in (message for message in first.messages if message["id"] not in shown):
        typed = {name: hidden[name] for name in ("id", "role", "content")}
        more = [typed, {"id": "m9", **talk(9)[0]}]
        third = compress([*second.messages, *more], recency_window=0, token_budget=30)
        assert typed not in third.messages
        back = uncompress(third.messages, verbatim | third.verbatim)
        assert back.messages == [*messages, *more]


@pytest.mark.parametrize("profile", ["classic", "standard"])
@pytest.mark.parametrize("budget", [60, 100, 150, 200])
def test_a_conversation_keeps_its_anchor_where_only_some_messages_have_ids(
    profile: Any, budget: int
) -> None:
    """What stands for the first stand-in has an id; those behind it are found through it still."""
    messages = talk(*range(7))
    for place in (0, 2, 3):
        messages[place]["id"] = f"m{place}"
    first = compress(messages, recency_window=0)
    second = compress(first.messages, recency_window=0, token_budget=budget, profile=profile)
    back = uncompress(second.messages, first.verbatim | second.verbatim)
    assert back.messages == messages


def fit(messages: Conversation, limit: int, store: Store) -> FitResult:
    manager = ContextWindowManager(context_limit=limit, reserve_output_tokens=50, store=store)
    return manager.fit(messages)


@pytest.mark.parametrize("source", ["store", "verbatim"])
def test_a_copy_behind_a_stand_in_with_an_id_is_what_somebody_typed(source: str) -> None:
    """The digest that hides what was copied carries its provenance, and counts all the same."""
    store = MemoryStore()
    messages = with_ids(talk(*range(5)))
    del messages[2]["id"]
    first = compress(messages, store=store, recency_window=0, conversation="desk")
    second = compress(
        first.messages, store=store, recency_window=0, token_budget=60, conversation="desk"
    )
    known = store if source == "store" else {**first.verbatim, **second.verbatim}
    copy = first.messages[2]
    back = uncompress([*second.messages, copy], known, conversation="desk")
    assert back.messages == [*messages, copy]


def test_a_stand_in_with_an_id_is_not_believed_in_another_conversation() -> None:
    store = MemoryStore()
    result = compress(with_ids(talk(1)), store=store, recency_window=0, conversation="a")
    theirs = result.messages
    for known in (store, result.verbatim):
        assert uncompress(theirs, known, conversation="b").messages == theirs
        assert uncompress(theirs, known).messages == theirs
        assert uncompress(theirs, known, conversation="a").messages == with_ids(talk(1))


def test_provenance_of_other_tools_is_believed_only_if_asked_for() -> None:
    original = {"id": "a", "role": "user", "content": report(1)}
    behind = {"ids": ["a"], "summary_id": "s", "version": 0}
    message = {
        **{"id": "a", "role": "user", "content": "[summary: so]"},
        "metadata": {"_cce_original": behind},
    }
    assert uncompress([message], {"a": original}).messages == [message]
    assert uncompress([message], {"a": original}, accept_foreign=True).messages == [original]
    store = MemoryStore()
    store.put({"a": original})
    assert uncompress([message], store, accept_foreign=True).messages == [message]


def test_forged_provenance_protects_nothing() -> None:
    behind = {"ids": ["x"], "summary_id": "s", "digests": ["0" * 32], "version": 0}
    message = {
        **{"id": "a", "role": "user", "content": f"[summary: {report(1)}]"},
        "metadata": {"_cce_original": behind},
    }
    store = MemoryStore()
    assert fold([message], store)[0]["content"] != message["content"]
    assert uncompress(fold([message], store), store).messages == [message]


# What may change


@pytest.mark.parametrize("ids", [False, True])
def test_other_messages_may_come_and_go_around_stand_ins(ids: bool) -> None:
    """In front and behind always; between stand-ins without ids, the caller has to say so."""
    store = MemoryStore()
    note = {"role": "system", "content": "It is Monday."}
    talked = with_ids(talk(1, 2, 3)) if ids else talk(1, 2, 3)
    messages = [{"role": "system", "content": "Be brief."}, *talked]
    _, *view = fold(messages, store, conversation="desk")
    back = uncompress([note, *view, note], store, conversation="desk")
    assert back.messages == [note, *messages[1:], note]
    assert back.complete
    changed = [note, view[0], note, *view[1:], note]
    expected = [note, messages[1], note, *messages[2:], note]
    back = uncompress(changed, store, conversation="desk")
    assert (back.messages == expected) == back.complete == ids
    assert back.unknown == (() if ids else (1, 3, 4))
    assert uncompress(changed, store, conversation="desk", edited=True).messages == expected


def test_a_database_may_sort_the_keys() -> None:
    store = MemoryStore()
    for messages in (talk(1, 2), with_ids(talk(1, 2))):
        view = json.loads(json.dumps(fold(messages, store), sort_keys=True))
        assert uncompress(view, store).messages == messages


def test_a_stand_in_alone_is_found_where_the_caller_says_that_it_is_one() -> None:
    messages = talk(1, 2, 3)
    result = compress(messages, recency_window=0, conversation="desk")
    for message, original in zip(result.messages, messages, strict=True):
        back = uncompress([message], result.verbatim, conversation="desk", edited=True)
        assert back.messages == [original]
    with pytest.raises(ConfigError, match="edited=True needs conversation="):
        uncompress(result.messages, result.verbatim, edited=True)


def test_a_view_is_known_after_a_provider_has_had_it() -> None:
    store = MemoryStore()
    messages = [{"role": "system", "content": "Be brief."}, *talk(1, 2, 3)]
    _, *view = fold(messages, store)
    block = {"cache_control": {"type": "ephemeral"}, "type": "text"}
    sent = [
        {"content": [{**block, "text": f"{m['content']} "}], "refusal": None, "role": m["role"]}
        for m in view
    ]
    assert uncompress(sent, store).messages == messages[1:]


# One name everywhere


def test_everything_takes_the_name(tmp_path: Any) -> None:
    store = MemoryStore()
    messages = talk(1, 2, 3, 4)
    view = Compressor(store=store, conversation="desk", recency_window=0).compress(messages)
    tool = retrieve_tool(store, messages=view.messages, conversation="desk")
    handle = handle_of(view.messages[0])
    assert tool.call({"handle": handle}).partition("\n")[2] == messages[0]["content"]
    other = retrieve_tool(store, messages=view.messages, conversation="other")
    assert "there is no original" in other.call({"handle": handle})
    session = Session(store=store, conversation="desk", recency_window=0)
    session.extend(messages)
    key = session.save(store)
    with pytest.raises(StoreError, match="no session"):
        Session.resume(key, store)
    again = Session.resume(key, store, conversation="desk")
    assert uncompress(again.view(), store, conversation="desk").messages == messages


@pytest.mark.parametrize("name", ["", 3, b"x"])
def test_a_name_is_a_text(name: Any) -> None:
    with pytest.raises(ConfigError, match="conversation"):
        compress(talk(1), conversation=name)
    with pytest.raises(ConfigError, match="conversation"):
        uncompress(talk(1), {}, conversation=name)
    with pytest.raises(ConfigError, match="conversation"):
        retrieve_tool({}, conversation=name)


@pytest.mark.parametrize("ids", [False, True])
def test_marks_show_a_handle_that_a_model_can_use(ids: bool) -> None:
    log = "\n".join(f"2025-01-01 10:{n:02} INFO worker {n} took job {n * 7}" for n in range(60))
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    messages: Conversation = [
        {"role": "user", "content": "Which worker is slow?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": log},
        {"role": "assistant", "content": "I do not know yet."},
    ]
    messages = with_ids(messages) if ids else messages
    store = MemoryStore()
    view = compress(messages, store=store, profile="standard", token_budget=300).messages
    shown = [m for m in view if "#" in str(m["content"])]
    assert shown
    handle = str(shown[0]["content"]).partition("#")[2].partition("]")[0]
    assert log in retrieve_tool(store, messages=view).call({"handle": handle})
    assert uncompress(view, store).messages == messages


def test_what_was_folded_twice_can_be_fetched() -> None:
    store = MemoryStore()
    messages = [{"role": "user", "content": "Read these."}, *talk(*range(12))]
    once = compress(messages, store=store, recency_window=0).messages
    view = compress(once, store=store, recency_window=2, token_budget=260).messages
    assert len(view) < len(once), "the test is about stand-ins that share a summary"
    rolled = next(m for m in view if " messages | #" in str(m["content"]))
    assert uncompress(view, store).messages == messages
    answer = retrieve_tool(store, messages=view).call({"handle": handle_of(rolled)})
    assert "messages, " in answer.partition("\n")[0]
    assert str(messages[1]["content"]) in answer


def test_copies_of_a_whole_stretch_are_what_somebody_typed() -> None:
    store = MemoryStore()
    messages = talk(*range(8))
    view = fold(messages, store)
    pasted = [dict(message) for message in view]
    assert uncompress([*view, *pasted], store).messages == [*messages, *pasted]


@pytest.mark.parametrize("ids", [False, True])
def test_taking_out_a_stand_in_is_an_edit(ids: bool) -> None:
    store = MemoryStore()
    messages = with_ids(talk(*range(10))) if ids else talk(*range(10))
    view = fold(messages, store, conversation="desk")
    del view[2]
    back = uncompress(view, store, conversation="desk")
    assert back.messages == ([*messages[:2], *messages[3:]] if ids else view)
    assert back.unknown == (() if ids else tuple(range(9)))
    edited = uncompress(view, store, conversation="desk", edited=True)
    assert edited.messages == [*messages[:2], *messages[3:]]
    assert edited.complete
