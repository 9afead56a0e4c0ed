"""Without a budget, nothing that a person typed is shortened, however long or often it is said."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold import Session, compress
from tests.conversations import SENTENCES, Conversation

Fold = Callable[[Conversation], list[Any]]
RULES = [
    f"{n}. Never open gate {n} before operator {chr(64 + n % 26)} has confirmed that hold {n + 3} "
    "is empty and dry."
    for n in range(1, 41)
]
RECORDS = json.dumps([{"id": n, "name": f"crate {n}", "weight": 3 * n} for n in range(60)])


def in_a_session(messages: Conversation) -> list[Any]:
    """Show every state of the conversation, as an agent does; return the last."""
    session = Session()
    view: list[Any] = []
    for message in messages:
        session.append(message)
        view = session.view()
    return view


FOLDS: dict[str, Fold] = {
    "standard": lambda messages: list(compress(messages).messages),
    "no window": lambda messages: list(compress(messages, recency_window=0).messages),
    "lossless": lambda messages: list(compress(messages, profile="lossless").messages),
    "session": in_a_session,
}


def talk(*typed: str) -> Conversation:
    """A long talk in which a person says these things early on."""
    answer = "The crane is checked and the ferry has left. " * 30
    messages = [{"role": "user", "content": "Plan the night shift, please."}]
    for text in (*typed, *(f"And now {n}?" for n in range(6))):
        messages += [{"role": "assistant", "content": answer}, {"role": "user", "content": text}]
    return messages


def of_people(messages: list[Any]) -> list[str]:
    return [message["content"] for message in messages if message["role"] == "user"]


@pytest.mark.parametrize("fold", FOLDS.values(), ids=FOLDS)
def test_forty_prohibitions_stay_forty(fold: Fold) -> None:
    messages = talk("\n".join(RULES), " ".join(RULES), "- " + "\n- ".join(RULES))
    assert of_people(fold(messages)) == of_people(messages)


@pytest.mark.parametrize("fold", FOLDS.values(), ids=FOLDS)
@given(typed=st.lists(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=30), max_size=4))
def test_prose_stays_as_it_was_typed(fold: Fold, typed: list[list[str]]) -> None:
    messages = talk(*map("\n".join, typed), *map(" ".join, typed))
    assert of_people(fold(messages)) == of_people(messages)


@pytest.mark.parametrize("fold", FOLDS.values(), ids=FOLDS)
def test_words_around_pasted_data_stay(fold: Fold) -> None:
    shown = "\n".join(of_people(fold(talk(f"{RULES[0]}\n{RECORDS}\n{RULES[1]}"))))
    assert RULES[0] in shown
    assert RULES[1] in shown
    assert all(f"crate {n}" in shown for n in range(60))
