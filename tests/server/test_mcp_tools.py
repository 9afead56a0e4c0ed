"""Originals, shortening and counts: from one store, for everybody who has a handle."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from refold import ConfigError, uncompress
from refold.server.hook import run_hook
from refold.server.mcp import Tools
from refold.stores import SqliteStore
from tests.server.outputs import ERROR, event, log


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "refold.db"


@pytest.fixture
def tools(path: Path) -> Iterator[Tools]:
    with closing(Tools(path)) as made:
        yield made


def handle_in(text: str) -> str:
    return text[text.rindex("#") :].rstrip("]")


def test_the_store_may_be_an_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("obstore", reason="obstore is not installed; see `make test-stores`")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    store = f"file://{tmp_path}/objects"
    source = io.BytesIO(event("mcp__ci__log", log()))
    answer = json.loads(run_hook(source, store=store, profile="standard", max_tokens=1_000))
    handle = handle_in(answer["hookSpecificOutput"]["updatedToolOutput"])
    with closing(Tools(store)) as tools:
        assert log()[:3_000] in tools.retrieve({"handle": handle})
        assert tools.stats()["retrieved"] == 1


def test_what_the_hook_has_shortened_can_be_fetched(path: Path, tools: Tools) -> None:
    source = io.BytesIO(event("mcp__ci__log", log()))
    answer = json.loads(run_hook(source, store=path, profile="standard", max_tokens=1_000))
    handle = handle_in(answer["hookSpecificOutput"]["updatedToolOutput"])
    assert log()[:3_000] in tools.retrieve({"handle": handle})
    assert ERROR in tools.retrieve({"handle": handle, "lines": "100-"})
    with pytest.raises(ConfigError, match="a query needs the conversation"):
        tools.retrieve({"query": "refused"})
    assert tools.retrieve({"handle": handle, "lines": "2-2"}).split("\n")[1:] == [
        log().split("\n")[1]
    ]
    assert tools.stats()["retrieved"] == 4
    assert tools.stats()["tokens_saved"] > 0


def test_a_text_is_shortened_and_kept(tools: Tools) -> None:
    short = tools.compress(text=log(), token_budget=1_000)
    assert short["tokens_after"] < short["tokens_before"]
    assert ERROR in short["text"]
    assert log().split("\n")[3] in tools.retrieve(
        {"handle": handle_in(short["text"]), "lines": "4"}
    )


def test_a_short_text_is_what_it_was(tools: Tools) -> None:
    assert tools.compress(text="fine")["text"] == "fine"
    assert tools.stats() == {
        "originals": 0, "tokens_before": 0, "tokens_after": 0, "tokens_saved": 0
    }  # fmt: skip


def test_a_conversation_is_folded_and_each_handle_leads_back(path: Path) -> None:
    messages = [
        {"role": "user", "content": "what went wrong?"},
        *({"role": "user", "content": f"{n}: {log()}"} for n in range(4)),
        *({"role": "assistant", "content": f"answer {n}"} for n in range(8)),
    ]
    with closing(Tools(path)) as tools:
        folded = tools.compress(messages=messages, token_budget=6_000)
    assert folded["tokens_after"] < folded["tokens_before"]
    with SqliteStore(path) as store:
        back = uncompress(folded["messages"], store, conversation=folded["conversation"])
    assert back.messages == messages
    shown = next(m["content"] for m in folded["messages"] if "#" in m["content"])
    asked = {"handle": shown[shown.index("#") :].split("]")[0]}
    with closing(Tools(path)) as later:
        named = {"conversation": folded["conversation"]}
        assert "request" in later.retrieve({**asked, **named})
        assert "connection refused" in later.retrieve({"query": "connection refused", **named})
        for unknown in (asked, {**asked, "conversation": "0" * 32}):
            with pytest.raises(ConfigError, match=r"there is no (original|conversation)"):
                later.retrieve(unknown)


@pytest.mark.parametrize("text", [3, 1.5, ["a"], {"a": 1}])
def test_what_a_model_gives_as_a_text_may_be_none(tools: Tools, text: object) -> None:
    with pytest.raises(ConfigError, match="text must be a string, got"):
        tools.call("refold_compress", {"text": text})


@pytest.mark.parametrize("given", [{}, {"text": "a", "messages": [{"role": "user"}]}])
def test_one_thing_at_a_time(tools: Tools, given: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="either text or messages"):
        tools.compress(**given)  # type: ignore[arg-type]
