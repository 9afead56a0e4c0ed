"""Under a budget, a model's checked summary may be what the oldest digest says."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from refold import Session, compress, uncompress
from tests.conversations import Conversation, spelled

sys.path.append(str(Path(__file__).parents[2] / "bench"))

from gold_texts import read_gold
from stretches import GoldModel, count_gold, make_talk

FILLER = (
    "It rained for most of the day and the yard stayed empty. ",
    "A dog lay at the gate and the guard slept in his chair. ",
    "The ferry was late again, and so were the letters. ",
)
SHORT = (
    "It rained, the yard stayed empty, a dog lay at the gate, the guard slept, the ferry was late."
)


def talk() -> Conversation:
    found: Conversation = [{"role": "user", "content": "Tell me about the yard."}]
    for n in range(12):
        found += [
            {"role": "assistant", "content": FILLER[n % 3] * 6 + FILLER[(n + 1) % 3] * 4},
            {"role": "user", "content": "Go on, please."},
        ]
    return found


def test_it_is_used_where_it_fits() -> None:
    asked: list[str] = []

    def write(text: str) -> str:
        asked.append(text)
        return SHORT

    messages = talk()
    result = compress(messages, token_budget=300, summarizer=write)
    assert result.fits
    assert len(asked) == 1
    assert sum(SHORT in m["content"] for m in result.messages) == 1
    assert result.model is not None
    assert result.model.accepted == 1
    assert spelled(uncompress(result.messages, result.verbatim).messages) == spelled(messages)


def test_what_is_false_is_not() -> None:
    messages = talk()
    result = compress(messages, token_budget=300, summarizer=lambda _: "Gate 77 burned down.")
    plain = compress(messages, token_budget=300)
    assert spelled(result.messages) == spelled(plain.messages)


def test_nor_what_does_not_fit() -> None:
    messages = talk()
    result = compress(messages, token_budget=300, summarizer=lambda text: text[: len(text) // 2])
    assert result.fits
    assert spelled(uncompress(result.messages, result.verbatim).messages) == spelled(messages)


def test_a_session_asks_too() -> None:
    session = Session(token_budget=300, summarizer=lambda _: SHORT)
    session.extend(talk())
    assert any(SHORT in message["content"] for message in session.view())


TEXTS = [text for text in read_gold() if text.language == "english"][:20]


def budget(share: float) -> int:
    messages = make_talk(TEXTS)
    return int(share * compress(messages, recency_window=len(messages)).tokens_before)


@pytest.mark.parametrize("share", [0.2, 0.3])
def test_a_perfect_model_keeps_more_in_the_same_room(share: float) -> None:
    messages, room = make_talk(TEXTS), budget(share)
    plain = compress(messages, token_budget=room)
    result = compress(messages, token_budget=room, summarizer=GoldModel(TEXTS))
    assert result.tokens_after <= plain.tokens_after
    assert count_gold(result, TEXTS) > 1.2 * count_gold(plain, TEXTS)
    assert spelled(uncompress(result.messages, result.verbatim).messages) == spelled(messages)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "I cannot help with that.",
        "## support\n- The refund was paid to another card for 900 dollars.",
    ],
)
def test_a_bad_one_is_never_worse_than_none(answer: str) -> None:
    messages, room = make_talk(TEXTS), budget(0.3)
    plain = compress(messages, token_budget=room)
    result = compress(messages, token_budget=room, summarizer=lambda _: answer)
    assert spelled(result.messages) == spelled(plain.messages)
