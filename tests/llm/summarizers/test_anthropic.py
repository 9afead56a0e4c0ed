"""`AnthropicSummarizer` against a real server on loopback."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from refold.errors import AnswerError, ConfigError
from refold.llm.summarizers.base import Summary
from refold.llm.summarizers.clients import AnthropicSummarizer
from tests import model_server as model
from tests.llm.summarizers.contract import ask, run
from tests.llm.summarizers.test_openai import TEXT
from tests.model_server import Asked, Behaviour, ModelServer


def make(server: ModelServer, **choices: Any) -> AnthropicSummarizer:
    choices = {"api_key": "sk-mine", **choices}
    return AnthropicSummarizer("claude-test", base_url=server.url, **choices)


def answer_to(*script: Behaviour, **choices: Any) -> tuple[Summary, Asked]:
    with ModelServer(*script) as server:
        answer = run(make(server, **choices).summarize(ask(TEXT, max_tokens=80)))
        [asked] = server.asked
        return answer, asked


def test_a_good_answer() -> None:
    answer, asked = answer_to(extra_body={"temperature": 0.5})
    assert answer.text.startswith("The build of payments-api 2.4.1")
    assert answer.usage.calls == 1
    assert answer.usage.input_tokens == (len(asked.system) + len(asked.user)) // 4
    assert answer.usage.output_tokens == len(answer.text) // 4
    assert asked.data == TEXT
    assert "PWNED" not in asked.system
    assert "sk-mine" in str(asked.headers)
    assert asked.body == {
        "model": "claude-test",
        "system": asked.system,
        "messages": [{"role": "user", "content": asked.user}],
        "max_tokens": 224,
        "temperature": 0.5,
    }


@pytest.mark.parametrize(
    ("behaviour", "text"), [(model.is_empty, ""), (model.is_injected, "PWNED")]
)
def test_answers_for_the_gates_to_judge(behaviour: Behaviour, text: str) -> None:
    assert answer_to(behaviour)[0].text == text


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [
        (model.is_cut_off, "claude-test gave no summary: it was cut off at 224 tokens"),
        (model.refuses_formally, "claude-test gave no summary: it refused"),
        (model.is_html, "claude-test gave no summary: the reply is not a message; check base_url"),
        (lambda asked: model.Reply(raw="{}"), "the reply is not a message"),
    ],
)
def test_answers_that_are_none(behaviour: Behaviour, message: str) -> None:
    with pytest.raises(AnswerError, match=message) as caught:
        answer_to(behaviour)
    assert caught.value.usage.calls == 1


def test_one_summarizer_on_two_loops() -> None:
    with ModelServer() as server:
        summarizer = make(server)
        assert run(summarizer.summarize(ask(TEXT))) == run(summarizer.summarize(ask(TEXT)))


def test_tokens_of_the_prompt_cache_count() -> None:
    body = """{"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Ok."}],
        "stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 2,
        "cache_creation_input_tokens": 10, "cache_read_input_tokens": 100}}"""
    answer, _ = answer_to(lambda asked: model.Reply(raw=body))
    assert answer.usage.input_tokens == 111


def test_no_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)
    with pytest.raises(ConfigError) as caught:
        AnthropicSummarizer("claude-test", api_key="sk-none")
    assert str(caught.value).endswith("run: pip install 'refold[anthropic]'")


def test_no_other_server_gets_the_key_for_anthropic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-secret")
    _, asked = answer_to(api_key=None)
    assert "secret" not in str(asked.headers)
