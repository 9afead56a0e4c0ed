"""`GeminiSummarizer`: against a stand-in for Google's client, and the real one if it is there."""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from refold.errors import AnswerError, ConfigError
from refold.llm.summarizers.base import Summary, Usage
from refold.llm.summarizers.clients import GeminiSummarizer
from tests import model_server as model
from tests.llm.summarizers.contract import ask, run
from tests.llm.summarizers.test_openai import TEXT
from tests.model_server import Behaviour, ModelServer

HAS_SDK = bool(importlib.util.find_spec("google") and importlib.util.find_spec("google.genai"))
needs_sdk = pytest.mark.skipif(not HAS_SDK, reason="needs google-genai: pip install refold[gemini]")


class Client:
    """As much of `google.genai.Client` as we use."""

    def __init__(self, answer: Any) -> None:
        self.aio = SimpleNamespace(
            models=SimpleNamespace(generate_content=self._generate), aclose=self._aclose
        )
        self._answer = answer
        self.asked: list[dict[str, Any]] = []
        self.closed: list[str] = []

    async def _generate(self, **asked: Any) -> Any:
        self.asked.append(asked)
        return self._answer

    async def _aclose(self) -> None:
        self.closed.append("aio")

    def close(self) -> None:
        self.closed.append("sync")


def answer_of(*texts: str, reason: str = "STOP", thought: str = "") -> Any:
    parts = [SimpleNamespace(text=thought, thought=True)] if thought else []
    parts += [SimpleNamespace(text=text, thought=None) for text in texts]
    return SimpleNamespace(
        candidates=[
            SimpleNamespace(
                finish_reason=SimpleNamespace(name=reason), content=SimpleNamespace(parts=parts)
            )
        ],
        usage_metadata=SimpleNamespace(
            prompt_token_count=90, candidates_token_count=9, thoughts_token_count=None
        ),
        prompt_feedback=None,
    )


def test_a_good_answer() -> None:
    client = Client(answer_of("It ", "failed.", thought="Hm."))
    summarizer = GeminiSummarizer("gemini-test", client=client, extra_body={"temperature": 0})
    answer = run(summarizer.summarize(ask(TEXT, max_tokens=80)))
    assert answer == Summary(
        text="It failed.", usage=Usage(calls=1, input_tokens=90, output_tokens=9)
    )
    [asked] = client.asked
    assert asked["model"] == "gemini-test"
    assert TEXT in asked["contents"]
    assert TEXT not in asked["config"]["system_instruction"]
    assert asked["config"]["max_output_tokens"] == 2224
    assert asked["config"]["temperature"] == 0
    assert client.closed == []


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            answer_of("It fai", reason="MAX_TOKENS"),
            "gemini-test gave no summary: it was cut off at 2664 tokens",
        ),
        (answer_of(reason="SAFETY"), "gemini-test gave no summary: it ended with SAFETY"),
        (
            SimpleNamespace(
                candidates=None,
                usage_metadata=None,
                prompt_feedback=SimpleNamespace(block_reason=SimpleNamespace(name="SAFETY")),
            ),
            "gemini-test gave no summary: blocked: SAFETY",
        ),
    ],
)
def test_answers_that_are_none(answer: Any, message: str) -> None:
    summarizer = GeminiSummarizer("gemini-test", client=Client(answer))
    with pytest.raises(AnswerError, match=message) as caught:
        run(summarizer.summarize(ask(TEXT)))
    assert caught.value.usage.calls == 1


def test_no_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "google.genai", None)
    with pytest.raises(ConfigError) as caught:
        GeminiSummarizer("gemini-test", api_key="none")
    assert str(caught.value) == (
        "no client for gemini: its SDK is not installed; run: pip install 'refold[gemini]'"
    )


@needs_sdk
@pytest.mark.parametrize(
    ("behaviour", "error"),
    [
        (model.summarize_well, None),
        (model.is_cut_off, "cut off at 2224"),
        (model.refuses_formally, "blocked: SAFETY"),
        (model.says("", ending="filtered"), "it ended with SAFETY"),
        (model.rate_limited(), "429"),
        (model.broken(500), "500"),
        (model.breaks_off, ""),
    ],
)
def test_over_http(behaviour: Behaviour, error: str | None) -> None:
    # Not run(): a client that is collected as garbage starts a task that closes it once more.
    with ModelServer(otherwise=behaviour) as server:
        summarizer = GeminiSummarizer("gemini-test", base_url=server.url, api_key="k-mine")
        for count in (1, 2):  # two loops
            if error is None:
                answer = asyncio.run(summarizer.summarize(ask(TEXT, max_tokens=80)))
                assert answer.text.startswith("The build of")
                assert answer.usage.input_tokens > 0
            else:
                with pytest.raises(Exception, match=error):
                    asyncio.run(summarizer.summarize(ask(TEXT, max_tokens=80)))
            assert len(server.asked) == count
        assert server.asked[0].data == TEXT
        assert server.asked[0].headers["x-goog-api-key"] == "k-mine"


@needs_sdk
def test_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigError, match="no client for gemini"):
        GeminiSummarizer("gemini-test")


@needs_sdk
def test_no_other_server_gets_the_key_for_google(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "k-secret")
    with ModelServer() as server:
        summarizer = GeminiSummarizer("gemini-test", base_url=server.url)
        asyncio.run(summarizer.summarize(ask(TEXT)))
        assert "secret" not in str(server.asked[0])
