"""Summarizers by name."""

from __future__ import annotations

import pytest

from refold.errors import ConfigError
from refold.llm.summarizers.clients import AnthropicSummarizer, OpenAISummarizer
from refold.llm.summarizers.stack import resolve_summarizer
from tests import model_server as model
from tests.llm.summarizers.contract import ask, run
from tests.model_server import ModelServer


@pytest.mark.parametrize(
    ("name", "kind", "model_name"),
    [
        ("openai:gpt-5-mini", OpenAISummarizer, "gpt-5-mini"),
        ("anthropic:claude-haiku-4-5", AnthropicSummarizer, "claude-haiku-4-5"),
        ("ollama:llama3:8b", OpenAISummarizer, "llama3:8b"),
        ("openai:org/m@2024@http://localhost:8000/v1", OpenAISummarizer, "org/m@2024"),
    ],
)
def test_names(name: str, kind: type, model_name: str) -> None:
    summarizer = resolve_summarizer(name, api_key="sk-none")
    assert isinstance(summarizer, kind)
    assert isinstance(summarizer, OpenAISummarizer | AnthropicSummarizer)
    assert summarizer.model == model_name


def test_local_servers_need_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.delenv(name, raising=False)
    resolve_summarizer("ollama:llama3")
    resolve_summarizer("openai:m@http://localhost:8000/v1")


@pytest.mark.parametrize("provider", ["openai", "ollama"])
def test_it_asks_at_the_url(provider: str) -> None:
    with ModelServer(model.says("Short.")) as server:
        summarizer = resolve_summarizer(f"{provider}:m@{server.openai_url}")
        assert run(summarizer.summarize(ask())).text == "Short."
        assert "concise summary" in server.asked[0].system


def test_it_asks_claude_at_the_url() -> None:
    with ModelServer(model.says("Short.")) as server:
        summarizer = resolve_summarizer(f"anthropic:m@{server.url}", api_key="sk-mine")
        assert run(summarizer.summarize(ask())).text == "Short."


@pytest.mark.parametrize("name", ["gpt-5-mini", "mistral:large", "openai", "", ":m"])
def test_unknown_providers(name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        resolve_summarizer(name)
    assert str(caught.value) == (
        "summarizer must be provider:model, where provider is one of openai, anthropic, gemini, "
        f"ollama; got {name!r}"
    )


@pytest.mark.parametrize("name", ["openai:", "ollama:@http://localhost:1/v1"])
def test_no_model(name: str) -> None:
    with pytest.raises(ConfigError, match="names no model; write o"):
        resolve_summarizer(name)
