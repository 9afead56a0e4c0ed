"""Objects of SDKs and frameworks go in and come out as the same types; unchanged ones as they are.

What is made of plain dataclasses runs everywhere; the rest where the libraries are installed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pytest

from refold import ContextWindowManager, MemoryStore, Session, SqliteStore, compress, uncompress
from tests.conversations import SENTENCES

LONG = " ".join(SENTENCES)
TURNS = 10


@dataclass
class Turn:
    """A class of the caller's own."""

    role: str
    content: Any = None
    tool_calls: list[dict[str, Any]] | None = None
    tool_call_id: str | None = None
    at: datetime = field(default_factory=lambda: datetime(2026, 11, 16))
    raw: bytes = b"\x00"


def own() -> list[Any]:
    turns: list[Any] = [Turn("user", f"Read it. {LONG}")]
    for n in range(TURNS):
        function = {"name": "read", "arguments": "{}"}
        calls = [{"id": f"c{n}", "type": "function", "function": function}]
        turns.append(Turn("assistant", f"{n} {SENTENCES[0]}", tool_calls=calls))
        turns.append(Turn("tool", f"{n} {LONG}", tool_call_id=f"c{n}"))
    return [*turns, Turn("assistant", LONG), Turn("user", "And now?")]


def langchain() -> list[Any]:
    core = pytest.importorskip("langchain_core.messages")
    turns = [core.SystemMessage("Be brief."), core.HumanMessage(f"Read it. {LONG}")]
    for n in range(TURNS):
        calls = [{"name": "read", "args": {"n": n}, "id": f"c{n}"}]
        turns.append(core.AIMessage(f"{n} {SENTENCES[0]}", id=f"a{n}", tool_calls=calls))
        turns.append(core.ToolMessage(f"{n} {LONG}", tool_call_id=f"c{n}"))
    return [*turns, core.AIMessage([{"type": "text", "text": LONG}]), core.HumanMessage("And now?")]


def pydantic_ai() -> list[Any]:
    m = pytest.importorskip("pydantic_ai.messages")
    turns = [m.ModelRequest(parts=[m.SystemPromptPart("Be brief."), m.UserPromptPart(LONG)])]
    for n in range(TURNS):
        thought = m.ThinkingPart("hm", signature="c2ln")
        call = m.ToolCallPart("read", {"n": n}, f"c{n}")
        turns.append(m.ModelResponse(parts=[thought, m.TextPart(SENTENCES[0]), call]))
        given = {"rows": LONG, "n": n} if n % 2 else f"{n} {LONG}"
        turns.append(m.ModelRequest(parts=[m.ToolReturnPart("read", given, f"c{n}")]))
    turns.append(m.ModelResponse(parts=[m.TextPart(LONG)]))
    return [*turns, m.ModelRequest(parts=[m.UserPromptPart("And now?")])]


def llama_index() -> list[Any]:
    t = pytest.importorskip("llama_index.core.base.llms.types")
    turns = [t.ChatMessage(role="user", content=f"Read it. {LONG}")]
    for n in range(TURNS):
        call = t.ToolCallBlock(tool_call_id=f"c{n}", tool_name="read", tool_kwargs={"n": n})
        turns.append(t.ChatMessage(role="assistant", blocks=[t.TextBlock(text="I look."), call]))
        beside = {"tool_call_id": f"c{n}", "name": "read"}
        said = f"{n} {LONG}"
        turns.append(t.ChatMessage(role="tool", content=said, additional_kwargs=beside))
    turns.append(t.ChatMessage(role="assistant", content=LONG))
    return [*turns, t.ChatMessage(role="user", content="And now?")]


def agno() -> list[Any]:
    message = pytest.importorskip("agno.models.message").Message
    turns = [message(role="user", content=f"Read it. {LONG}")]
    for n in range(TURNS):
        function = {"name": "read", "arguments": "{}"}
        calls = [{"id": f"c{n}", "type": "function", "function": function}]
        turns.append(message(role="assistant", content="I look.", tool_calls=calls))
        turns.append(message(role="tool", content=f"{n} {LONG}", tool_call_id=f"c{n}"))
    turns.append(message(role="assistant", content=LONG))
    return [*turns, message(role="user", content="And now?")]


def genai() -> list[Any]:
    """Contents of the Gemini SDK, which are those of ADK as well."""
    t = pytest.importorskip("google.genai.types")
    turns = [t.Content(role="user", parts=[t.Part(text=f"Read it. {LONG}")])]
    for n in range(TURNS):
        call = t.FunctionCall(name="read", args={"n": n})
        signed = t.Part(function_call=call, thought_signature=b"\x01\x02")
        turns.append(t.Content(role="model", parts=[t.Part(text="hm", thought=True), signed]))
        answer = t.FunctionResponse(name="read", response={"result": f"{n} {LONG}"})
        turns.append(t.Content(role="user", parts=[t.Part(function_response=answer)]))
    turns.append(t.Content(role="model", parts=[t.Part(text=LONG)]))
    return [*turns, t.Content(role="user", parts=[t.Part(text="And now?")])]


def openai() -> list[Any]:
    """Answers of the SDK among messages that are dicts."""
    chat = pytest.importorskip("openai.types.chat")
    turns: list[Any] = [{"role": "user", "content": f"Read it. {LONG}"}]
    for n in range(TURNS):
        function = {"name": "read", "arguments": "{}"}
        calls = [{"id": f"c{n}", "type": "function", "function": function}]
        turns.append(
            chat.ChatCompletionMessage.model_validate(
                {"role": "assistant", "content": "I look.", "tool_calls": calls}
            )
        )
        turns.append({"role": "tool", "tool_call_id": f"c{n}", "content": f"{n} {LONG}"})
    turns.append(chat.ChatCompletionMessage(role="assistant", content=LONG))
    return [*turns, {"role": "user", "content": "And now?"}]


def anthropic() -> list[Any]:
    """Blocks of the SDK in messages that are dicts."""
    t = pytest.importorskip("anthropic.types")
    turns: list[Any] = [{"role": "user", "content": f"Read it. {LONG}"}]
    for n in range(TURNS):
        said = t.TextBlock(type="text", text=f"{n} {SENTENCES[0]}")
        use = t.ToolUseBlock(type="tool_use", id=f"c{n}", name="read", input={"n": n})
        turns.append({"role": "assistant", "content": [said, use]})
        result = {"type": "tool_result", "tool_use_id": f"c{n}", "content": f"{n} {LONG}"}
        turns.append({"role": "user", "content": [result]})
    turns.append({"role": "assistant", "content": [t.TextBlock(type="text", text=LONG)]})
    return [*turns, {"role": "user", "content": "And now?"}]


LIBRARIES = [own, langchain, pydantic_ai, llama_index, agno, genai, openai, anthropic]
every_library = pytest.mark.parametrize("make", LIBRARIES)


def types_of(messages: list[Any]) -> list[type]:
    return [type(message) for message in messages]


@every_library
@pytest.mark.parametrize("profile", ["classic", "standard", "lossless"])
@pytest.mark.parametrize("budget", [None, 900])
def test_the_same_types_come_out(
    make: Callable[[], list[Any]], profile: Any, budget: int | None
) -> None:
    messages = make()
    store = MemoryStore()
    result = compress(messages, profile=profile, token_budget=budget, store=store)
    assert set(types_of(result.messages)) <= set(types_of(messages))
    assert result.messages[-1] == messages[-1]
    if not isinstance(messages[-1], dict):
        assert result.messages[-1] is messages[-1]
    for originals in (store, result.verbatim):
        restored = uncompress(result.messages, originals)
        assert restored.messages == messages
        assert types_of(restored.messages) == types_of(messages)
    if profile != "lossless" and budget:
        assert result.fits


@every_library
def test_a_session_takes_them_and_goes_on_when_it_is_saved(
    make: Callable[[], list[Any]], tmp_path: Any
) -> None:
    messages = make()
    session = Session(token_budget=1_200, profile="standard")
    for message in messages:
        session.append(message)
        view = session.view()
        assert uncompress(view, session.verbatim).messages == session.messages
    assert session.messages == messages
    assert session.report.folds
    store = SqliteStore(tmp_path / "originals.db")
    assert Session.resume(session.save(store), store).view() == view
    assert session.pop() == messages[-1]
    assert type(session.pop()) is type(messages[-2])


@every_library
def test_a_window_takes_them(make: Callable[[], list[Any]]) -> None:
    messages = make()
    fitted = ContextWindowManager(context_limit=3_000, reserve_output_tokens=1_000).fit(messages)
    assert fitted.fits
    assert set(types_of(fitted.messages)) <= set(types_of(messages))
    assert uncompress(fitted.messages, fitted.verbatim).messages == messages


def test_equal_objects_come_back_each_in_its_place() -> None:
    turns = [Turn("user", "yes"), Turn("assistant", "no"), Turn("user", "yes"), Turn("user", "yes")]
    shown = compress(turns, profile="lossless").messages
    assert list(map(id, shown)) == list(map(id, turns))


def test_data_that_looks_like_ours_stays_data() -> None:
    spoof = {"__class__": "subprocess:Popen", "args": ["true"]}
    turns = [
        Turn("user", LONG, tool_calls=None),
        Turn("assistant", [{"type": "text", "text": "a"}]),
    ]
    turns[0].raw = b"x"
    message = {"role": "user", "content": "hi", "x": spoof, "y": Turn("user", "nested")}
    result = compress([*turns, message], profile="lossless")
    assert result.messages[-1] is message
    assert uncompress(result.messages, result.verbatim).messages[-1] == message


def test_so_it_does_in_a_session_that_is_saved() -> None:
    spoof = {"__class__": "subprocess:Popen", "args": ["true"], "at": datetime(2026, 11, 16)}
    turns = [Turn("user", LONG), Turn("assistant", LONG, tool_calls=None)]
    message = {"role": "user", "content": "hi", "x": spoof, "y": Turn("user", "nested")}
    session = Session()
    session.extend([*turns, message])
    store = MemoryStore()
    again = Session.resume(session.save(store), store)
    assert again.messages == [*turns, message]
