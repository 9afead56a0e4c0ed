"""What was valid for its provider still is once it is folded, and all of it comes back."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from refold import MemoryStore, Session, compress, uncompress
from tests.conversations import Conversation, anthropic, clean_texts, openai_chat
from tests.messages.formats import generated, providers

words = clean_texts().filter(str.strip)
FORMATS = {
    "gemini": (generated.gemini(), providers.check_gemini),
    "bedrock": (generated.bedrock(), providers.check_bedrock),
    "responses": (generated.responses(), providers.check_responses),
    "openai-chat": (openai_chat(words), providers.check_openai_chat),
    "anthropic": (anthropic(words), providers.check_anthropic),
}
every_format = pytest.mark.parametrize("name", FORMATS)
profiles = st.sampled_from(("classic", "standard", "lossless"))
chosen_options = st.fixed_dictionaries(
    {
        "profile": profiles,
        "token_budget": st.sampled_from((None, 60, 200, 500, 1_500)),
        "recency_window": st.sampled_from((0, 1, 4)),
    }
)


@every_format
@given(st.data(), chosen_options)
def test_valid_before_means_valid_after(
    name: str, data: st.DataObject, chosen: dict[str, Any]
) -> None:
    strategy, check = FORMATS[name]
    messages: Conversation = data.draw(strategy)
    assume(providers.is_valid(check, messages))
    before = copy.deepcopy(messages)
    result = compress(messages, **chosen)
    check(result.messages)
    providers.check_bound(messages, result.messages)
    restored = uncompress(result.messages, result.verbatim)
    assert restored.messages == before
    assert restored.missing_ids == []
    assert messages == before


@every_format
@given(st.data(), profiles, st.sampled_from((None, 300)))
def test_so_is_every_view_of_a_session(
    name: str, data: st.DataObject, profile: Any, budget: int | None
) -> None:
    strategy, check = FORMATS[name]
    messages: Conversation = data.draw(strategy)
    assume(providers.is_valid(check, messages))
    store = MemoryStore()
    session = Session(profile=profile, token_budget=budget, store=store)
    for end, message in enumerate(messages, 1):
        session.append(message)
        if providers.is_valid(check, messages[:end]):
            view = session.view()
            check(view)
            assert uncompress(view, store).messages == messages[:end]
