"""Which window and price a model has, by any of the names it goes by."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.conversation.models import (
    DEFAULT_REGISTRY,
    MAX_NAME_CHARS,
    WindowRegistry,
    list_prices,
    read_table,
    spellings,
    window_of,
)
from refold.errors import ConfigError
from refold.report.turns import USUAL_MODELS, models_in

CURRENT = """
gpt-5 400000
gpt-5-mini 400000
gpt-5-nano-2025-08-07 400000
gpt-5-chat-latest 128000
openai:gpt-5 400000
gpt-4.1 1047576
gpt-4.1-nano-2025-04-14 1047576
gpt-4o 128000
GPT-4o 128000
gpt-4o-2024-08-06 128000
chatgpt-4o-latest 128000
gpt-4-turbo-preview 128000
gpt-4-0613 8192
gpt-4-1106-preview 128000
gpt-4-32k-0613 32768
gpt-35-turbo 16385
gpt-3.5-turbo-0613 4096
o1-preview-2024-09-12 128000
o3 200000
o3-mini-high 200000
o4-mini-2025-04-16 200000
azure/gpt-4o 128000
azure/eu/gpt-4o-2024-11-20 128000
openai/gpt-4o:free 128000
openrouter/openai/gpt-4.1-mini 1047576
ft:gpt-4o-mini-2024-07-18:acme::id 128000
ft:gpt-3.5-turbo-0125:acme:helper:9abc 16385
gpt-4o-mini-2024-07-18.ft-0123abc-helper 128000
claude-3-opus-20240229 200000
claude-3-haiku@20240307 200000
claude-3-5-sonnet-latest 200000
anthropic/claude-3.5-sonnet 200000
anthropic/claude-3.7-sonnet:thinking 200000
claude-sonnet-4@20250514 200000
claude-opus-4-1-20250805 200000
claude-sonnet-4-5 200000
claude-haiku-4-5-20251001 200000
claude-sonnet-4-5[1m] 1000000
claude-2.1 200000
claude-2 100000
us.anthropic.claude-sonnet-4-5-20250929-v1:0 200000
anthropic.claude-3-5-sonnet-20241022-v2:0 200000
bedrock/eu.anthropic.claude-3-haiku-20240307-v1:0 200000
bedrock:us.anthropic.claude-opus-4-20250514-v1:0 200000
anthropic.claude-3-sonnet-20240229-v1:0:28k 28000
arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-sonnet-4-20250514-v1:0 200000
meta.llama3-1-70b-instruct-v1:0 128000
us.meta.llama3-3-70b-instruct-v1:0 128000
mistral.mixtral-8x7b-instruct-v0:1 32768
amazon.nova-pro-v1:0 300000
databricks-claude-sonnet-4 200000
gemini-1.5-pro-002 2097152
gemini-1.5-flash-latest 1048576
gemini/gemini-2.0-flash-001 1048576
models/gemini-2.0-flash-lite 1048576
publishers/google/models/gemini-2.5-pro 1048576
projects/p/locations/l/publishers/anthropic/models/claude-sonnet-4@20250514 200000
gemini-2.5-pro-preview-03-25 1048576
gemini-2.5-flash-preview-05-20 1048576
xai/grok-3-mini 131072
x-ai/grok-4-0709 256000
mistral/mistral-large-latest 262144
mistral-large-2407 128000
mistral:mistral-small-latest 131072
deepseek/deepseek-chat 131072
deepseek-reasoner 131072
dashscope/qwen-turbo 129024
Qwen/Qwen2.5-72B-Instruct 131072
qwen2.5:14b-instruct-q4_K_M 32768
qwen3:8b 40960
llama3:8b 8192
llama3 8192
llama3:70b-text-q2_K 8192
llama3.1:70b-instruct-q4_0 128000
ollama/llama3.2:latest 128000
mixtral:8x7b 32768
mistral:7b 8192
phi3:14b-medium-128k-instruct-q4_0 128000
phi3:14b-medium-4k-instruct-q4_0 4000
openai:gpt-4-32k 32768
moonshot:moonshot-v1-8k 8192
gpt-oss:20b 131072
meta-llama/Meta-Llama-3.1-8B-Instruct 128000
accounts/fireworks/models/llama-v3p1-405b-instruct 128000
together_ai/meta-llama/Llama-3.3-70B-Instruct-Turbo 128000
neuralmagic/Meta-Llama-3.1-70B-Instruct-FP8 128000
hyperbolic/deepseek-ai/DeepSeek-R1 32768
hyperbolic:meta-llama/Meta-Llama-3.1-70B-Instruct 32768
github_copilot/gpt-4o-2024-08-06 64000
"""

EARLIER = """
4096 llama-2-7b llama-2-13b llama-2-70b solar-pro solar-mini default local-model __default__
8192 gpt-4 mistral-7b llama3-70b-8192 llama3-8b-8192 gemma2-9b-it gemma-7b-it moonshot-v1-8k
16384 gpt-3.5-turbo-16k glm-z1-flash yi-medium yi-spark yi-large-turbo
32000 gemini-pro moonshot-v1-32k qwen-max
32768 gpt-4-32k mixtral-8x7b mixtral-8x7b-32768 qwq-32b yi-large
32768 mistralai/Mixtral-8x7B-Instruct-v0.1 mistralai/Mistral-7B-Instruct-v0.3
64000 deepseek-ai/DeepSeek-R1
65536 open-mixtral-8x22b microsoft/WizardLM-2-8x22B
100000 claude-2 claude-instant-1.2
128000 gpt-4o gpt-4o-mini gpt-4-turbo gpt-4-turbo-preview gpt-4-turbo-2024-04-09 o1-preview o1-mini
128000 llama-3.1-8b llama-3.1-70b llama-3.1-405b llama-3.2-1b llama-3.2-3b llama-3.2-11b-vision
128000 llama-3.2-90b-vision llama-3.3-70b llama-3.3-70b-versatile llama-3.1-70b-versatile
128000 llama-3.1-8b-instant open-mistral-nemo command-r-plus-08-2024 command-r-08-2024
128000 command-r7b-12-2024 llama3.3-70b llama3.1-8b llama3.1-70b meta/llama-3.3-70b-instruct
128000 nvidia/llama-3.1-nemotron-ultra-253b-v1 meta-llama/Llama-3.3-70B-Instruct
128000 meta-llama/Meta-Llama-3.1-405B-Instruct llama3.3-70b-instruct-fp8 hermes3-405b kimi-latest
128000 llama3.1-405b-instruct-fp8 moonshot-v1-128k glm-4-plus glm-4 glm-4-air glm-4-flash
128000 meta-llama/llama-3.3-70b-instruct palmyra-x5 meta-llama/Meta-Llama-3.1-70B-Instruct
128000 meta-llama/Meta-Llama-3.3-70B-Instruct
131072 grok-3 grok-3-mini grok-2 qwen-plus qwen2.5-72b-instruct Qwen/Qwen2.5-72B-Instruct
200000 o1 o3-mini claude-3-5-sonnet-20241022 claude-3-5-haiku-20241022 claude-3-5-sonnet
200000 claude-3-5-haiku claude-3-opus-20240229 claude-3-opus claude-3-sonnet-20240229
200000 claude-3-sonnet claude-3-haiku-20240307 claude-3-haiku claude-3-7-sonnet-20250219
200000 claude-3-7-sonnet claude-opus-4 claude-sonnet-4
256000 jamba-1.5-large jamba-1.5-mini jamba-instruct
1000000 gemini-2.0-flash gemini-2.0-flash-001 gemini-2.5-pro-preview-03-25 gemini-1.5-flash
1000000 gemini-1.5-flash-8b
10000000 qwen-long
"""

CORRECTED = """
gpt-3.5-turbo 16385
gpt-4.1 1047576
gpt-4.1-mini 1047576
deepseek-chat 131072
deepseek-reasoner 131072
mistral-large-latest 262144
mistral-small-latest 131072
Meta-Llama-3.3-70B-Instruct 128000
Meta-Llama-3.1-8B-Instruct 128000
Meta-Llama-3.1-405B-Instruct 128000
hyperbolic/meta-llama/Meta-Llama-3.1-405B-Instruct 32768
hyperbolic/deepseek-ai/DeepSeek-R1 32768
qwen-turbo 129024
claude-2.1 200000
llama-3-8b 8192
llama-3-70b 8192
gemini-1.5-pro 2097152
codestral-latest 128000
palmyra-x4 128000
solar-pro2 65536
"""


def rows(table: str) -> list[tuple[str, int]]:
    return [(name, int(tokens)) for name, tokens in map(str.split, table.strip().splitlines())]


def test_a_name_has_its_window() -> None:
    table = dict(rows(CURRENT) + rows(CORRECTED))
    assert {name: window_of(name).context_tokens for name in table} == table


def test_the_names_of_the_earlier_table_are_known() -> None:
    for tokens, *names in map(str.split, EARLIER.strip().splitlines()):
        for name in names:
            assert window_of(name).context_tokens == pytest.approx(int(tokens), rel=0.1), name


def test_case_and_space_do_not_matter() -> None:
    for name, _ in rows(CURRENT):
        assert window_of(f" {name.upper()} ") == window_of(name)


def test_a_prompt_may_be_shorter_than_the_window() -> None:
    window = window_of("gpt-5-2025-08-07")
    assert (window.model, window.max_output_tokens, window.max_input_tokens) == (
        "gpt-5",
        128_000,
        272_000,
    )


def test_a_window_says_where_it_comes_from() -> None:
    window = window_of("claude-sonnet-4-5")
    assert window.source == "by hand (Anthropic)"
    assert window.as_of is not None
    assert window.as_of >= date(2026, 1, 1)


@pytest.mark.parametrize(
    "name",
    [
        "gpt-7-turbo-x",
        "my-deployment",
        "mistral:unheard-of",
        "llama99:8b",
        "claude",
        "8b",
        "0",
        "latest",
        "",
        "/",
        ":",
        "::",
        "ft:",
        "ft:nobody:x",
        "a" * 100_000,
    ],
)
def test_an_unknown_name_is_an_error(name: str) -> None:
    with pytest.raises(ConfigError, match=r"not known.*context_limit=.*with_model"):
        window_of(name)


def test_the_error_names_the_nearest_model() -> None:
    with pytest.raises(ConfigError, match="nearest known: 'claude-sonnet-4"):
        window_of("anthropic/claude-sonnnet-4")
    with pytest.raises(ConfigError, match=r"^((?!nearest).)*$"):
        window_of("no-such-model")


def test_registering_makes_a_new_registry() -> None:
    mine = DEFAULT_REGISTRY.with_model("My-Model", context_tokens=12_345, max_output_tokens=99)
    window = window_of("my-model", mine)
    assert (window.context_tokens, window.max_output_tokens) == (12_345, 99)
    assert window.source == "registered by the caller"
    assert "my-model" not in DEFAULT_REGISTRY
    assert window_of("vllm/my-model:latest", mine) == window
    assert len(mine) == len(DEFAULT_REGISTRY) + 1


def test_what_is_registered_overrules_the_table() -> None:
    mine = DEFAULT_REGISTRY.with_model("gpt-4o", context_tokens=32_000)
    assert window_of("openai/gpt-4o-2024-08-06", mine).context_tokens == 32_000
    assert window_of("gpt-4o").context_tokens == 128_000


def test_the_fullest_name_wins() -> None:
    mine = DEFAULT_REGISTRY.with_model("ollama/llama3.1:8b", context_tokens=4_096)
    assert window_of("ollama/llama3.1:8b", mine).context_tokens == 4_096
    assert window_of("llama3.1:8b", mine).context_tokens == 128_000


def test_an_alias_stands_for_a_model() -> None:
    mine = DEFAULT_REGISTRY.with_alias("prod-chat", "gpt-4.1")
    assert window_of("azure/prod-chat", mine) == window_of("gpt-4.1")


@pytest.mark.parametrize("tokens", [0, -1, True, 1.5, "8192", None])
def test_a_window_must_be_a_number_above_zero(tokens: int) -> None:
    with pytest.raises(ConfigError, match="context_tokens of 'x'"):
        DEFAULT_REGISTRY.with_model("x", context_tokens=tokens)


def test_a_model_needs_a_name() -> None:
    with pytest.raises(ConfigError, match="needs a name"):
        DEFAULT_REGISTRY.with_model(" ", context_tokens=1)


def test_an_empty_registry_knows_nothing() -> None:
    with pytest.raises(ConfigError, match="not known;"):
        window_of("gpt-4o", WindowRegistry())


def test_every_row_is_found_by_its_own_name() -> None:
    for _, _, (name, *_) in read_table("windows"):
        assert name in DEFAULT_REGISTRY


def test_no_answer_is_longer_than_the_window() -> None:
    for window in DEFAULT_REGISTRY.windows.values():
        assert 0 < (window.max_output_tokens or 1) <= window.context_tokens
        assert 0 < (window.max_input_tokens or 1) <= window.context_tokens


@given(st.text(max_size=300))
def test_any_text_has_a_window_or_none(name: str) -> None:
    window = DEFAULT_REGISTRY.find(name)
    assert window is None or window.context_tokens > 0


@pytest.mark.parametrize("piece", ["a/", "a:", "-v1", "-20250101", "us.", ":free", "8b-", "ft:"])
def test_no_name_has_many_spellings(piece: str) -> None:
    name = (piece * MAX_NAME_CHARS)[:MAX_NAME_CHARS]
    assert sum(1 for _ in spellings(name)) < 16 * len(name)
    assert DEFAULT_REGISTRY.find(name + piece) is None


# --- prices -----------------------------------------------------------------------------------


def test_the_usual_models_have_a_price() -> None:
    known = list_prices()
    assert all(known.find(name) is not None for name in USUAL_MODELS)
    assert known.as_of.year >= 2026
    assert known.source


@pytest.mark.parametrize(
    "name", ["claude-sonnet-4-5-20250929", "anthropic/claude-sonnet-4.5", "CLAUDE-SONNET-4-5"]
)
def test_a_price_is_found_by_any_name_of_its_model(name: str) -> None:
    price = list_prices().find(name)
    assert price is not None
    assert price.model == "claude-sonnet-4-5"


def test_a_long_request_costs_more_where_it_does() -> None:
    price = list_prices().find("claude-sonnet-4-5")
    assert price is not None
    assert price.cost_usd(100_000) == pytest.approx(0.3)
    assert price.cost_usd(300_000) == pytest.approx(1.8)
    assert price.cost_usd(0) == 0


@pytest.mark.parametrize("name", ["", "nobody-1", "x" * 10_000])
def test_a_model_without_a_price(name: str) -> None:
    assert list_prices().find(name) is None


def test_models_of_a_session_the_latest_first() -> None:
    wires: list[dict[str, Any]] = [
        {"message": {"model": "a"}},
        {"payload": {"model": "b"}},
        {"message": {"model": "<synthetic>"}},
        {"message": {"model": 7}, "payload": None},
        {"model": "a"},
    ]
    assert models_in(wires) == ["a", "b"]
