"""A conversation is found by how its list of messages begins, whatever the list is made of."""

from __future__ import annotations

import copy
from collections import OrderedDict, UserDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from anthropic.types import TextBlock
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletionMessage

from refold import Session
from refold.conversation.finder import Beginnings, Finder, name_beginnings


def history(turns: int, about: str = "rope") -> list[Any]:
    return [
        {"role": ("user", "assistant")[n % 2], "content": f"Turn {n}: {about}."}
        for n in range(turns)
    ]


def go_on(finder: Finder[Session[Any]], messages: list[Any], owner: str = "") -> Session[Any]:
    """Do what the docstring of the module says."""
    names = name_beginnings(messages)
    length, session = finder.find(names, owner)
    if session is None:
        session = Session()
    elif length < len(session):
        session = session.fork()
        session.truncate(length)
    session.extend(messages[len(session) :])
    finder.keep(session, dict.fromkeys(names, session), owner)
    return session


def test_a_history_that_grows_is_one_session() -> None:
    finder = Finder[Session[Any]](most=4)
    told = history(9)
    sessions = {id(go_on(finder, told[:length])) for length in (1, 3, 4, 9)}
    assert len(sessions) == len(finder) == 1


def test_a_history_that_leaves_another_branches_off_and_both_go_on() -> None:
    finder = Finder[Session[Any]](most=4)
    first = go_on(finder, history(9))
    other = [*history(5), *history(9, "tar")[5:]]
    second = go_on(finder, other)
    assert second is not first
    assert (first.messages, second.messages) == (history(9), other)
    assert go_on(finder, history(11)) is first
    assert go_on(finder, [*other, *history(1)]) is second


def test_what_differs_beside_the_messages_is_another_conversation() -> None:
    finder = Finder[Session[Any]](most=4)
    assert go_on(finder, history(3), "a") is not go_on(finder, history(3), "b")


def test_what_was_forgotten_is_not_found() -> None:
    finder = Finder[str](most=4)
    names = name_beginnings(history(3))
    value = "session"
    finder.keep(value, dict.fromkeys(names, value))
    assert finder.find(names) == (3, value)
    finder.forget(value)
    assert finder.find(names) == (0, None)
    assert not finder.values()


def test_the_least_recently_used_is_forgotten_first() -> None:
    finder = Finder[str](most=2)
    names = [name_beginnings(history(2, about)) for about in ("a", "b", "c")]
    finder.keep("first", dict.fromkeys(names[0], "first"))
    finder.keep("second", dict.fromkeys(names[1], "second"))
    assert finder.find(names[0]) == (2, "first")
    finder.keep("third", dict.fromkeys(names[2], "third"))
    assert [finder.find(one)[1] for one in names] == ["first", None, "third"]


def test_a_beginning_is_of_the_conversation_that_had_it_last() -> None:
    finder = Finder[str](most=2)
    names = name_beginnings(history(3))
    finder.keep("one", dict.fromkeys(names, "one"))
    finder.keep("other", dict.fromkeys(names[:2], "other"))
    assert finder.find(names) == (3, "one")
    assert finder.find(names[:2]) == (2, "other")
    finder.forget("other")
    assert finder.find(names[:2]) == (0, None)


def test_content_counts_and_neither_ids_nor_the_shape_of_objects() -> None:
    told = history(2)
    marked = [{**told[0], "id": "m1", "metadata": {"seen": True}}, told[1]]
    spoken = ChatCompletionMessage(role="assistant", content=told[1]["content"])
    assert name_beginnings(marked) == name_beginnings(told) == name_beginnings([told[0], spoken])


@pytest.mark.parametrize("wrong", [None, 7, "text", {}, {"role": 3}])
def test_what_is_no_message_is_left_to_the_session_to_refuse(wrong: Any) -> None:
    assert len(name_beginnings([*history(2), wrong])) == 3


def test_a_message_that_contains_itself_is_left_to_the_session_to_refuse() -> None:
    wrong: dict[str, Any] = {"role": "user", "content": "a"}
    wrong["again"] = wrong
    assert len(name_beginnings([wrong])) == 1


def change(told: list[Any]) -> None:
    told[1]["content"] = "Something else was said."


def replace(told: list[Any]) -> None:
    told[2] = {**told[2], "content": "Something else was asked."}


def shorten(told: list[Any]) -> None:
    del told[-3:]


def swap(told: list[Any]) -> None:
    told[1], told[2] = told[2], told[1]


def make_anew(told: list[Any]) -> None:
    told[:] = copy.deepcopy(told)


def grow(told: list[Any]) -> None:
    told += history(3)


CHANGES = (change, replace, shorten, swap, make_anew, grow)


@given(st.lists(st.sampled_from(CHANGES), min_size=1, max_size=6))
def test_names_are_those_of_the_list_as_it_is_now(
    changes: list[Callable[[list[Any]], None]],
) -> None:
    beginnings, told = Beginnings(), history(8)
    for do in changes:
        assert beginnings.of(told) == name_beginnings(told)
        do(told)
        if len(told) < 4:
            told += history(4)
        assert beginnings.of(told) == name_beginnings(told)


@pytest.mark.parametrize("place", [3, 500, 990])
def test_in_a_long_list_a_change_in_place_is_noticed(place: int) -> None:
    beginnings, told = Beginnings(), history(1_000)
    beginnings.of(told)
    change(told[place : place + 2])
    assert beginnings.of(told) == name_beginnings(told)


def test_a_change_in_a_block_is_noticed_and_so_is_one_in_an_object_that_is_being_filled() -> None:
    blocks = {"role": "user", "content": [{"type": "text", "text": "Look."}]}
    spoken = ChatCompletionMessage(role="assistant", content="I ")
    beginnings, told = Beginnings(), [*history(40), blocks, spoken]
    beginnings.of(told)
    blocks["content"][0]["text"] = "Wait."  # type: ignore[index]
    assert beginnings.of(told) == name_beginnings(told)
    spoken.content = "I wait."
    assert beginnings.of(told) == name_beginnings(told)
    told += history(50)
    beginnings.of(told)
    spoken.content = "I waited."
    assert beginnings.of(told) == name_beginnings(told)


def test_blocks_that_are_objects_are_read_again_while_they_may_be_filled() -> None:
    block = TextBlock(type="text", text="I ")
    beginnings, told = Beginnings(), [*history(4), {"role": "assistant", "content": [block]}]
    beginnings.of(told)
    block.text = "I wait."
    assert beginnings.of(told) == name_beginnings(told)


@pytest.mark.parametrize("kind", [OrderedDict, UserDict])
def test_other_mappings_are_compared_by_what_they_hold(kind: Any) -> None:
    beginnings, told = Beginnings(), [kind(message) for message in history(50)]
    beginnings.of(told)
    told[3] = kind(role="user", content="Something else was asked.")
    assert beginnings.of(told) == name_beginnings(told)
    told[4]["content"] = "Something else was said."
    assert beginnings.of(told) == name_beginnings(told)


def test_values_that_cannot_be_compared_are_read_each_time() -> None:
    class Odd:
        def __eq__(self, other: object) -> bool:
            raise ValueError("its truth value is ambiguous")

        __hash__ = None  # type: ignore[assignment]

    beginnings, told = Beginnings(), history(3)
    for _ in range(2):
        told[1] = {**told[1], "seen": Odd()}
        assert beginnings.of(told) == name_beginnings(told)


def test_many_threads_name_each_list_whole() -> None:
    beginnings = Beginnings()

    def name(number: int) -> bool:
        told = history(20, str(number))
        return all(
            beginnings.of(told[:length]) == name_beginnings(told[:length]) for length in range(20)
        )

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(name, range(16)))
