"""Which counter fits a model, and a counter that learns."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.scan.tokens.choose import CalibratedCounter, counter_for, encoding_for, is_estimate
from refold.scan.tokens.estimate import estimate_tokens
from refold.scan.tokens.exact import ExactCounter
from tests.classic import compress

O200K = (
    "gpt-4o",
    "gpt-4o-mini",
    "gpt-4o-2024-08-06",
    "chatgpt-4o-latest",
    "gpt-4.1",
    "gpt-4.1-nano-2025-04-14",
    "gpt-4.5-preview",
    "gpt-5",
    "gpt-5-mini",
    "gpt-5.1-codex",
    "gpt-oss-120b",
    "o1",
    "o1-preview-2024-09-12",
    "o3-mini",
    "o4-mini",
    "codex-mini-latest",
    "GPT-4o",
    " gpt-4o ",
    "openai/gpt-4o",
    "openai:gpt-4o",
    "azure/gpt-4o",
    "openrouter/openai/gpt-4o-mini",
    "openrouter/openai/gpt-4o:free",
    "ft:gpt-4o-2024-08-06:acme::9xYz",
    "ft:gpt-4.1-mini-2025-04-14:acme:support:AbC",
    "azure/eu/gpt-4.1",
    "openai.gpt-oss-120b-1:0",
)
CL100K = (
    "gpt-4",
    "gpt-4-0613",
    "gpt-4-32k",
    "gpt-4-turbo-2024-04-09",
    "gpt-4-1106-preview",
    "gpt-3.5-turbo",
    "gpt-3.5-turbo-0125",
    "gpt-35-turbo",
    "azure/gpt-35-turbo-16k",
    "text-embedding-3-large",
    "text-embedding-ada-002",
    "davinci-002",
    "ft:gpt-3.5-turbo-0125:acme::9xYz",
    "openrouter/openai/gpt-4-turbo",
)
PRIVATE = (
    "claude-sonnet-4-5",
    "anthropic/claude-3-opus",
    "us.anthropic.claude-3-5-sonnet-20241022-v2:0",
    "gemini-2.0-flash",
    "google/gemini-2.5-pro",
    "mistral-large-latest",
    "codestral-2405",
    "meta-llama/llama-3.1-70b-instruct",
    "deepseek/deepseek-r1",
    "qwen/qwq-32b",
    "x-ai/grok-4",
    "text-davinci-003",
    "gpt-2",
    "EleutherAI/gpt-neox-20b",
    "gpt-j-6b",
    "o",
    "my-deployment",
    "",
    "/",
)


@pytest.mark.parametrize("model", O200K)
def test_models_of_the_newer_vocabulary(model: str) -> None:
    assert encoding_for(model) == "o200k_base"


@pytest.mark.parametrize("model", CL100K)
def test_models_of_the_older_vocabulary(model: str) -> None:
    assert encoding_for(model) == "cl100k_base"


@pytest.mark.parametrize("model", PRIVATE)
def test_models_whose_tokenizer_is_not_public(model: str) -> None:
    assert encoding_for(model) is None


@pytest.mark.parametrize(
    ("model", "encoding"),
    [
        ("ft:gpt-3.5-turbo-0125:o1-labs::9xYz", "cl100k_base"),
        ("ft:gpt-4-0613:codex-team::9xYz", "cl100k_base"),
        ("o1-labs/llama-3-8b", None),
        ("gpt-4-all/mistral-7b", None),
    ],
)
def test_a_name_of_an_organisation_is_not_a_model(model: str, encoding: str | None) -> None:
    assert encoding_for(model) == encoding


def test_the_counter_for_a_model() -> None:
    exact = counter_for("gpt-4o")
    assert isinstance(exact, ExactCounter)
    assert exact.encoding == "o200k_base"
    assert counter_for("claude-sonnet-4-5") is estimate_tokens
    assert counter_for(None) is estimate_tokens
    assert counter_for("") is estimate_tokens


def test_what_only_estimates() -> None:
    assert is_estimate(estimate_tokens)
    assert is_estimate(CalibratedCounter())
    assert not is_estimate(ExactCounter("o200k_base"))
    assert not is_estimate(len)


def test_a_fresh_counter_is_the_plain_one() -> None:
    counter = CalibratedCounter(len)
    assert counter.factor == 1.0
    assert [counter(text) for text in ("", "a", "abc")] == [0, 1, 3]


def test_it_learns_the_ratio_of_everything_observed() -> None:
    counter = CalibratedCounter(len)
    counter.observe(estimated=100, reported=150)
    assert counter.factor == 1.5
    assert counter("ab") == 3
    assert counter("abc") == 5  # 4.5, rounded up
    counter.observe(estimated=300, reported=250)
    assert counter.factor == 1.0


@pytest.mark.parametrize(("estimated", "reported"), [(0, 5), (5, 0), (-1, 5), (5, -1), (0, 0)])
def test_what_teaches_nothing_is_ignored(estimated: int, reported: int) -> None:
    counter = CalibratedCounter(len)
    counter.observe(estimated=estimated, reported=reported)
    assert counter.factor == 1.0


@given(
    st.lists(st.tuples(st.integers(1, 10**6), st.integers(1, 10**6)), max_size=8),
    st.integers(0, 5_000),
)
def test_it_rounds_up_and_never_down(pairs: list[tuple[int, int]], length: int) -> None:
    counter = CalibratedCounter(len)
    for estimated, reported in pairs:
        counter.observe(estimated=estimated, reported=reported)
    count = counter("x" * length)
    assert isinstance(count, int)
    assert count - 1 < length * counter.factor <= count + 1e-6
    assert counter("") == 0


def test_a_calibrated_counter_counts_a_conversation() -> None:
    messages = [{"role": "user", "content": "The gauge reads nine. " * 20}] * 2
    counter = CalibratedCounter()
    plain = compress(messages, counter=counter)
    counter.observe(estimated=100, reported=200)
    assert compress(messages, counter=counter).tokens_before > 1.8 * plain.tokens_before
    # An estimate aims below its budget.
    total = compress(messages, counter=counter).tokens_before
    assert compress(messages, counter=counter, token_budget=int(1.2 * total)).fits
