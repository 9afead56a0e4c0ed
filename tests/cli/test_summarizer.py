"""`refold compress --summarizer`: a model may write the summaries."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.conftest import Refold
from tests.cli.session import chat, jsonl
from tests.model_server import Asked, ModelServer, Reply, says

pytest.importorskip("openai", reason="the SDK that --summarizer openai:… uses")

CLASSIC = ("--profile", "classic", "--set", "recency_window=0")


def first_sentence(asked: Asked) -> Reply:
    found = re.search(r"In the \w+ the first .*?home\.", asked.data)
    return says(found[0] if found else "")(asked)


def test_answers_of_the_model_are_used_and_counted(
    refold: Refold, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a key that nobody uses")
    Path("a.jsonl").write_bytes(jsonl(chat()))
    with ModelServer(otherwise=first_sentence) as server:
        name = f"openai:test@{server.openai_url}"
        done = refold("compress", "a.jsonl", "-o", "b.jsonl", *CLASSIC, "--summarizer", name)
    assert done.code == 0, done.err
    assert f"{name} was asked about " in done.err
    assert re.search(r": [1-9]\d* answers accepted", done.err)
    assert refold("uncompress", "b.jsonl").out == Path("a.jsonl").read_bytes()


def test_a_provider_that_nobody_knows(refold: Refold) -> None:
    Path("a.jsonl").write_bytes(jsonl(chat()))
    done = refold("compress", "a.jsonl", "-o", "b.jsonl", "--summarizer", "morse:code")
    assert done.code == 1
    assert "openai, anthropic, gemini, ollama" in done.err
    assert not Path("b.jsonl").exists()
