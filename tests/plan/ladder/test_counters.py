"""Counters of the caller: used as they are, counted once per text, never the end of a run."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.classic import compress
from tests.conversations import Conversation, rules
from tests.plan.ladder.promise import (
    assert_figures,
    assert_restored,
    characters,
    cut_short,
    tokens_of,
)
from tests.plan.ladder.test_ladder import PROSE, talk
from tests.plan.ladder.test_promise import shares, squeeze


def bytes_of(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def one(text: str) -> int:
    return 1


def zero(text: str) -> int:
    return 0


def fewer_for_longer(text: str) -> int:
    return max(0, 1_000 - len(text))


@given(cut_short(), shares, st.sampled_from((bytes_of, characters, one, zero, fewer_for_longer)))
def test_any_counter_will_do(messages: Conversation, share: float, counter: Any) -> None:
    result = squeeze(messages, share, counter=counter)
    assert_restored(messages, result)
    assert_figures(messages, result, counter=counter)
    assert result.compression.counter_failures == 0


def raises(text: str) -> int:
    raise RuntimeError("the tokenizer is gone")


def raises_for_long(text: str) -> int:
    if len(text) > 300:
        raise MemoryError
    return len(text) // 4


NONSENSE: tuple[Any, ...] = (None, -1, 2.5, "7", float("nan"), [], -(10**9))


@given(cut_short(), shares, rules(), st.sampled_from((raises, raises_for_long, *NONSENSE)))
def test_a_broken_counter_never_ends_a_run(
    messages: Conversation, share: float, chosen: dict[str, Any], broken: Any
) -> None:
    counter = broken if callable(broken) else lambda text: broken
    result = compress(messages, token_budget=int(share * 400), counter=counter, **chosen)
    assert_restored(messages, result)
    if broken is not raises_for_long:
        plain = compress(messages, recency_window=len(messages))
        assert result.tokens_before == plain.tokens_before
        if any(message.get("content") for message in messages):
            assert result.compression.counter_failures > 0


@pytest.mark.parametrize("budget", [None, 500])
@pytest.mark.parametrize("broken", [raises, raises_for_long])
def test_a_broken_counter_never_ends_the_dialogue_with_a_model(broken: Any, budget: Any) -> None:
    messages = talk(12, PROSE * 3)

    def shorten(text: str) -> str:
        return text[: len(text) // 3]

    result = compress(messages, counter=broken, token_budget=budget, summarizer=shorten)
    assert result.model is not None
    assert result.model.asked
    assert result.fits is not False
    assert_restored(messages, result)


def test_a_number_of_another_type_is_a_number() -> None:
    """Such as those of NumPy, which are no `int` and have `__index__`."""

    class Number:
        def __index__(self) -> int:
            return 7

    messages = talk(4)
    result = compress(messages, counter=lambda text: Number())
    assert result.compression.counter_failures == 0
    assert result.tokens_before == tokens_of(messages, counter=lambda text: 7)


def test_what_a_broken_counter_leaves_to_the_estimate_aims_lower() -> None:
    messages = talk(40)
    result = compress(messages, token_budget=1_100, counter=raises)
    assert result.fits
    assert result.token_count <= 1_000


def test_failures_count_texts() -> None:
    messages = talk(8)
    result = compress(messages, counter=raises)
    assert result.compression.counter_failures >= 8
    assert compress(messages).compression.counter_failures == 0
    fine = compress(messages, counter=characters, token_budget=2_000)
    assert fine.compression.counter_failures == 0
    some = compress(
        [*talk(6, "short"), {"id": "x", "role": "user", "content": PROSE}],
        counter=raises_for_long,
    )
    assert some.compression.counter_failures == 1


def test_each_text_is_counted_once() -> None:
    asked: Counter[str] = Counter()

    def counting(text: str) -> int:
        asked[text] += 1
        return len(text) // 4

    compress([*talk(10), *({**m, "id": f"{m['id']}-2"} for m in talk(10))], counter=counting)
    assert set(asked.values()) == {1}
    asked.clear()
    compress(talk(20), counter=counting, token_budget=400)
    assert set(asked.values()) == {1}


def test_a_given_counter_wins_over_the_model() -> None:
    messages = talk(4)
    assert tokens_of(messages, counter=one, model="gpt-4o") == 5 * 4


@pytest.mark.parametrize(
    ("counting", "budget"),
    [({}, 1_100), ({"model": "gpt-4o"}, 1_000), ({"model": "claude"}, 1_100)],
)
def test_an_estimate_aims_lower(counting: dict[str, Any], budget: int) -> None:
    messages = talk(40)
    result = compress(messages, token_budget=budget, **counting)
    assert result.fits
    assert result.token_count <= 1_000


def test_a_result_within_an_estimated_budget_also_fits_exactly() -> None:
    messages = talk(60)
    total = tokens_of(messages)
    for share in (0.7, 0.5, 0.3, 0.2):
        budget = int(share * total)
        result = compress(messages, token_budget=budget)
        assert result.fits
        assert tokens_of(result.messages, model="gpt-4o") <= budget
