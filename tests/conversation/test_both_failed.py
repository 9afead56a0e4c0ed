"""What both earlier systems fail today: the letters of the specification that concern windows."""

from __future__ import annotations

import base64
import random
import re
from typing import Any

import pytest

from refold import uncompress
from refold.conversation import ContextWindowManager, window_of
from refold.scan.tokens.estimate import SAFETY_FACTOR, estimate_tokens
from refold.scan.tokens.exact import ExactCounter
from tests.conversation.histories import STRATEGIES, talk, tool_turn, violations, words
from tests.conversations import Conversation
from tests.plan.ladder.promise import tokens_of


def small(limit: int = 400, **choices: Any) -> ContextWindowManager:
    if choices.get("strategy") != "sliding_window":
        choices.pop("max_messages", None)
    return ContextWindowManager(
        context_limit=limit, reserve_output_tokens=0, counter=words, **choices
    )


def cost(messages: Conversation) -> int:
    return tokens_of(messages, counter=words)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("limit", [60, 200, 400, 1_000])
def test_j_system_and_last_user_survive_and_it_fits_or_says_not(strategy: Any, limit: int) -> None:
    messages = [*talk(7), *tool_turn(1, "ok " * 500), *talk(4)[1:], *tool_turn(2, "yes " * 90)]
    result = small(limit, strategy=strategy).fit(messages)
    assert list(violations(messages, result, cost)) == []
    assert result.fits or result.obstacles


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_j_one_huge_message_never_gives_an_empty_list(strategy: Any) -> None:
    for role in ("user", "assistant", "system"):
        messages = [{"role": role, "content": "word " * 2_000}]
        result = small(strategy=strategy, max_messages=0).fit(messages)
        assert len(result.messages) == 1
        assert result.fits == (role == "assistant")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_j_a_question_that_is_only_a_picture_survives(strategy: Any) -> None:
    picture = {"type": "image_url", "image_url": {"url": "https://x.test/a.png"}}
    asked = {"role": "user", "content": [picture]}
    messages = [*talk(20), asked, {"role": "assistant", "content": "A ship. " * 90}]
    result = small(1_500, strategy=strategy, max_messages=0).fit(messages)
    assert result.fits
    assert asked in result.messages


@pytest.mark.parametrize("answer", [RuntimeError("down"), "", "I cannot help with that.", "x" * 99])
def test_k_a_failing_summarizer_still_gives_a_fitting_list(answer: Any) -> None:
    def llm(messages: Any) -> str:
        if isinstance(answer, Exception):
            raise answer
        return str(answer)

    for strategy in ("fold", "summarize"):
        messages = talk(20)
        result = small(900, strategy=strategy, llm=llm).fit(messages)
        assert result.fits
        assert result.model is not None
        assert result.model.asked > 0
        assert result.model.accepted == 0
        assert list(violations(messages, result, cost)) == []


def test_l_the_fallback_never_drops_the_summary() -> None:
    for limit in (200, 300, 500, 900):
        result = small(limit, strategy="summarize").fit(talk(31))
        assert result.summarized
        assert len(uncompress(result.messages, result.verbatim).messages) == 32


@pytest.mark.parametrize(
    ("model", "least"),
    [
        ("gpt-5", 200_000),
        ("o3", 200_000),
        ("o4-mini", 200_000),
        ("gpt-4.1-nano", 1_000_000),
        ("gpt-4o-2024-08-06", 128_000),
        ("claude-sonnet-4-5", 200_000),
        ("claude-opus-4-1", 200_000),
        ("gemini-2.5-pro", 1_000_000),
        ("anthropic.claude-3-5-sonnet-20241022-v2:0", 200_000),
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", 200_000),
        ("llama3:8b", 8_000),
        ("ft:gpt-4o-mini:acme::abc123", 128_000),
    ],
)
def test_m_no_known_model_becomes_4096(model: str, least: int) -> None:
    assert window_of(model).context_tokens >= least
    assert ContextWindowManager(model=model).get_context_limit() >= least


_random = random.Random(7)
_KINDS = {
    "base64": base64.b64encode(_random.randbytes(3_000)).decode(),
    "hex": _random.randbytes(1_500).hex(),
    "cjk": "数据库迁移计划在三月十四日进行。所有服务必须在当天凌晨两点之前停止写入。" * 30,
    "hindi": "सर्वर की मरम्मत सोमवार को होगी। सभी उपयोगकर्ताओं को पहले से सूचित किया जाए। " * 30,
    "spaces": " " * 8_000,
    "prose": "The harbour office opens at nine and the clerk sorts the letters. " * 40,
}


@pytest.mark.parametrize("kind", _KINDS)
def test_n_an_estimate_is_not_too_low_by_more_than_is_said(kind: str) -> None:
    """docs/benchmarks.md says 0.79 for base64; everything else is covered by the margin."""
    text = _KINDS[kind]
    exact = ExactCounter("o200k_base")(text)
    said = 0.79 if kind == "base64" else 1 / SAFETY_FACTOR
    assert estimate_tokens(text) >= said * exact


def test_o_arguments_and_pictures_are_counted() -> None:
    long, short = tool_turn(1, "ok", arguments="word " * 3_000), tool_turn(1, "ok")
    assert cost(long) - cost(short) > 2_900
    assert not small(2_000).fit([*talk(1), *long[:1]]).fits
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 9_000}}
    shown = [{"role": "user", "content": [{"type": "text", "text": "see"}, picture]}]
    assert small(500).fit(shown).tokens_before > 1_000
    assert not small(500).fit(shown).fits


def test_q_log_order_is_kept() -> None:
    log = "\n".join(
        f"01/15 10:{n // 60:02}:{n % 60:02} {'ERROR disk full' if n % 37 == 0 else 'INFO tick'} {n}"
        for n in range(400)
    )
    messages = [*talk(2), *tool_turn(1, log), *talk(5)[1:]]
    result = small(1_100).fit(messages)
    shown = "\n".join(m["content"] for m in result.messages)
    places = [int(number) for number in re.findall(r"(?:full|tick) (\d+)", shown)]
    assert len(places) > 10
    assert places == sorted(places)
