"""Random conversations, random budgets: it fits or the protected part does not; all comes back."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from refold import Result
from tests.classic import compress
from tests.conversations import Conversation, anthropic, openai_chat, plain, rules, spelled
from tests.plan.ladder.promise import (
    COUNTERS,
    assert_figures,
    assert_kept,
    assert_pairs,
    assert_references,
    assert_restored,
    cut_short,
    kept_indices,
    smallest,
    tokens_of,
)

shares = st.sampled_from((0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.99))


def squeeze(messages: Conversation, share: float, **chosen: Any) -> Result:
    counting = {key: chosen[key] for key in ("model", "counter") if key in chosen}
    budget = int(share * tokens_of(messages, **counting))
    return compress(messages, token_budget=budget, trace=True, **chosen)


@given(cut_short(), shares, st.sampled_from(COUNTERS), st.sampled_from((0, 1, 4)))
def test_it_fits_or_the_protected_part_does_not(
    messages: Conversation, share: float, counting: dict[str, Any], window: int
) -> None:
    result = squeeze(messages, share, recency_window=window, **counting)
    if not result.fits:
        assert result.budget is not None
        kept = list(kept_indices(messages))
        floor = smallest(messages, kept, lambda some: tokens_of(some, **counting))
        assert floor > result.budget.token_budget


@given(cut_short(), shares, st.sampled_from(COUNTERS), rules())
def test_never_more_tokens(
    messages: Conversation, share: float, counting: dict[str, Any], chosen: dict[str, Any]
) -> None:
    result = squeeze(messages, share, **counting, **chosen)
    assert result.tokens_after <= result.tokens_before


@given(cut_short(), shares, rules(), st.sampled_from((0, 1, 3)))
def test_the_protected_part_survives_word_for_word(
    messages: Conversation, share: float, chosen: dict[str, Any], window: int
) -> None:
    result = squeeze(messages, share, min_recency_window=window, **chosen)
    assert_kept(messages, result, list(kept_indices(messages, window=window)))


@given(cut_short(), shares)
def test_a_preserved_pattern_survives_word_for_word(messages: Conversation, share: float) -> None:
    pattern = re.compile(r"Maria Lopez|\[\{")
    result = squeeze(messages, share, preserve_patterns=[pattern])
    assert_kept(messages, result, list(kept_indices(messages, pattern=pattern)))


@given(cut_short(), shares, rules(), st.sampled_from((0, 1, 2, 3)))
def test_calls_and_results_stay_together(
    messages: Conversation, share: float, chosen: dict[str, Any], window: int
) -> None:
    result = squeeze(messages, share, min_recency_window=window, **chosen)
    assert_pairs(messages, result.messages)


@given(cut_short(), shares, rules(), st.sampled_from(COUNTERS))
def test_everything_comes_back(
    messages: Conversation, share: float, chosen: dict[str, Any], counting: dict[str, Any]
) -> None:
    assert_restored(messages, squeeze(messages, share, **chosen, **counting))


@given(cut_short(), st.lists(shares, min_size=2, max_size=3), rules())
def test_everything_comes_back_after_several_budgets(
    messages: Conversation, several: list[float], chosen: dict[str, Any]
) -> None:
    verbatim: dict[str, Any] = {}
    result = squeeze(messages, several[0], **chosen)
    verbatim |= result.verbatim
    for share in several[1:]:
        result = squeeze(result.messages, share, **chosen)
        verbatim |= result.verbatim
    whole = Result(messages=result.messages, verbatim=verbatim)
    assert_restored(messages, whole)


@given(cut_short(), shares, rules())
def test_every_reference_leads_to_readable_text(
    messages: Conversation, share: float, chosen: dict[str, Any]
) -> None:
    assert_references(messages, squeeze(messages, share, **chosen))


@given(cut_short(), shares, rules(), st.sampled_from(COUNTERS))
def test_every_figure_is_that_of_the_messages(
    messages: Conversation, share: float, chosen: dict[str, Any], counting: dict[str, Any]
) -> None:
    result = squeeze(messages, share, **chosen, **counting)
    assert_figures(messages, result, **counting)


@given(st.one_of(plain(), openai_chat(), anthropic()), rules(), st.integers(0, 50))
def test_room_enough_changes_nothing(
    messages: Conversation, chosen: dict[str, Any], spare: int
) -> None:
    total = tokens_of(messages, model="gpt-4o")
    result = compress(messages, token_budget=total + spare, model="gpt-4o", **chosen)
    assert spelled(result.messages) == spelled(messages)
    assert result.verbatim == {}
    assert result.fits
    assert result.budget is not None
    assert result.budget.rungs == ()
    assert result.budget.recency_window == len(messages)


@given(st.one_of(plain(), openai_chat(), anthropic()), st.integers(0, 50))
def test_room_enough_for_an_estimate_changes_nothing(messages: Conversation, spare: int) -> None:
    # An estimate may be a tenth too low, so a budget aims that much lower.
    total = int(1.1 * tokens_of(messages)) + 1
    result = compress(messages, token_budget=total + spare)
    assert spelled(result.messages) == spelled(messages)
    assert result.fits


@given(cut_short(), shares, rules())
def test_same_input_same_bytes(
    messages: Conversation, share: float, chosen: dict[str, Any]
) -> None:
    once, again = (squeeze(messages, share, **chosen) for _ in range(2))
    assert spelled(once.messages) == spelled(again.messages)
    assert once.budget == again.budget
    assert once.compression == again.compression
