"""Under a budget, a model's checked summary may be what the oldest digest says."""

from __future__ import annotations

from refold import Session, compress, uncompress
from tests.conversations import Conversation, spelled

FILLER = (
    "It rained for most of the day and the yard stayed empty. ",
    "A dog lay at the gate and the guard slept in his chair. ",
    "The ferry was late again, and so were the letters. ",
)
SHORT = "They talked about rain, an empty yard, a sleeping guard, a dog and a late ferry."


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
