"""What holds for every conversation still holds when a token budget presses."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from refold import MemoryStore, uncompress
from tests.classic import compress
from tests.conversations import (
    Conversation,
    anthropic,
    calls_and_results,
    conversations,
    openai_chat,
    spelled,
)

budgets = st.fixed_dictionaries(
    {
        "token_budget": st.sampled_from((10, 60, 200, 500)),
        "compression_depth": st.sampled_from(("gentle", "moderate", "aggressive", "auto")),
        "budget_strategy": st.sampled_from(("binary-search", "tiered")),
        "recency_window": st.sampled_from((0, 1, 4)),
    }
)


@given(conversations(), budgets)
def test_uncompress_undoes_any_budget(messages: Conversation, chosen: dict[str, Any]) -> None:
    result = compress(messages, **chosen)
    restored = uncompress(result.messages, result.verbatim)
    assert spelled(restored.messages) == spelled(messages)
    assert restored.missing_ids == []
    assert result.tokens_after <= result.tokens_before


@given(conversations(), budgets, budgets)
def test_two_rounds_with_a_store(
    messages: Conversation, first: dict[str, Any], second: dict[str, Any]
) -> None:
    store = MemoryStore()
    half = len(messages) // 2
    one = compress(messages[:half], store=store, **first)
    two = compress([*one.messages, *messages[half:]], store=store, **second)
    assert spelled(uncompress(two.messages, store).messages) == spelled(messages)


@given(st.one_of(openai_chat(), anthropic()), budgets)
def test_calls_and_results_live_or_go_together(
    messages: Conversation, chosen: dict[str, Any]
) -> None:
    left = calls_and_results(compress(messages, **chosen).messages)
    for kind, id_ in left:
        assert ("result" if kind == "call" else "call", id_) in left
