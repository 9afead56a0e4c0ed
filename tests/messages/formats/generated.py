"""Conversations that each provider accepts, generated: calls are answered, sides take turns."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import strategies as st

from tests.conversations import SENTENCES, Conversation, Draw, Wire, clean_texts, given

Tell = Callable[[], str]
Say = Callable[[str], Wire]
Act = Callable[[Draw, Tell, int], Iterator[Wire]]


def words() -> st.SearchStrategy[str]:
    """Texts that say something: providers refuse empty ones."""
    return clean_texts().filter(str.strip).map(str.rstrip)


def _rows(text: str) -> list[Wire]:
    return [{"row": n, "says": text[:60]} for n in range(len(text) % 9)]


@st.composite
def _turns(draw: Draw, ask: Say, answer: Say, act: Act) -> Conversation:
    """Questions, answers and work with tools, as often as not with a question at the end."""
    strategy = words()

    def tell() -> str:
        return str(draw(strategy))

    conversation: Conversation = [ask(tell())]
    for turn in range(draw(st.integers(1, 6))):
        if draw(st.integers(0, 3)):
            conversation += act(draw, tell, turn)
        else:
            conversation += [answer(tell()), ask(tell())]
    if draw(st.booleans()):
        conversation += [answer(tell()), ask("And now?")]
    return conversation


def gemini() -> st.SearchStrategy[Conversation]:
    """Contents with thoughts, signatures, media, and calls with or without ids."""
    return _turns(
        lambda text: {"role": "user", "parts": [{"text": text}]},
        lambda text: {"role": "model", "parts": [{"text": text}]},
        _gemini_work,
    )


def _gemini_work(draw: Draw, tell: Tell, turn: int) -> Iterator[Wire]:
    count, has_ids = draw(st.integers(1, 3)), draw(st.booleans())
    ids: list[Wire] = [{"id": f"c{turn}_{n}"} if has_ids else {} for n in range(count)]
    parts: list[Wire] = []
    if draw(st.booleans()):
        parts.append({"text": SENTENCES[1] * 3, "thought": True})
    if draw(st.booleans()):
        parts.append({"text": tell(), "thoughtSignature": "c2ln"})
    parts += [{"functionCall": {**id_, "name": "read", "args": given(draw)}} for id_ in ids]
    if draw(st.booleans()):
        parts[-1]["thoughtSignature"] = "c2lnbmVk"
    yield {"role": "model", "parts": parts}
    answers: list[Wire] = []
    for id_ in ids:
        text = tell()
        forms: list[Wire] = [
            {"result": text},
            {"output": {"rows": _rows(text), "of": text}, "took": 3, "ok": True},
            {"error": text},
            {},
        ]
        answers.append(
            {"functionResponse": {**id_, "name": "read", "response": draw(st.sampled_from(forms))}}
        )
    if draw(st.integers(0, 4)) == 0:
        answers.append({"inlineData": {"mimeType": "image/png", "data": "aGVsbG8="}})
    yield {"role": "user", "parts": answers}


def bedrock() -> st.SearchStrategy[Conversation]:
    """Messages of the Converse API with reasoning, cache points, data and bytes."""
    return _turns(
        lambda text: {"role": "user", "content": [{"text": text}]},
        lambda text: {"role": "assistant", "content": [{"text": text}]},
        _bedrock_work,
    )


def _bedrock_work(draw: Draw, tell: Tell, turn: int) -> Iterator[Wire]:
    ids = [f"tooluse_{turn}_{n}" for n in range(draw(st.integers(1, 3)))]
    blocks: list[Wire] = []
    match draw(st.integers(0, 2)):
        case 0:
            thought = {"text": SENTENCES[1] * 3, "signature": "c2ln"}
            blocks.append({"reasoningContent": {"reasoningText": thought}})
        case 1:
            blocks.append({"reasoningContent": {"redactedContent": b"\x00hidden"}})
    blocks.append({"text": tell()})
    blocks += [{"toolUse": {"toolUseId": i, "name": "read", "input": given(draw)}} for i in ids]
    yield {"role": "assistant", "content": blocks}
    results: list[Wire] = []
    for id_ in ids:
        text = tell()
        image = {"image": {"format": "png", "source": {"bytes": base64.b64decode("aGVsbG8=")}}}
        forms: list[list[Wire]] = [
            [{"text": text}],
            [{"json": {"rows": _rows(text), "of": text}}],
            [{"text": text}, image],
            [{"json": {"count": 3}}, {"text": text}],
        ]
        content = draw(st.sampled_from(forms))
        results.append({"toolResult": {"toolUseId": id_, "content": content, "status": "success"}})
    if draw(st.booleans()):
        results.append({"cachePoint": {"type": "default"}})
    yield {"role": "user", "content": results}


def responses() -> st.SearchStrategy[Conversation]:
    """Items of the Responses API, of every kind that comes in pairs and of most others."""
    return _turns(
        lambda text: {"role": "user", "content": [{"type": "input_text", "text": text}]},
        _spoken,
        _responses_work,
    )


def _spoken(text: str) -> Wire:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    said = {"id": f"msg_{len(text)}", "type": "message", "role": "assistant"}
    return {**said, "status": "completed", "content": content, "phase": "final_answer"}


def _responses_work(draw: Draw, tell: Tell, turn: int) -> Iterator[Wire]:
    if draw(st.booleans()):
        yield {"type": "reasoning", "id": f"rs_{turn}", "summary": [], "encrypted_content": "e" * 9}
    text, id_ = tell(), f"call_{turn}"
    match draw(st.integers(0, 6)):
        case 0:
            yield {"type": "custom_tool_call", "call_id": id_, "name": "sh", "input": "ls"}
            yield {"type": "custom_tool_call_output", "call_id": id_, "output": text}
        case 1:
            action = {"commands": ["ls -l"]}
            yield {"type": "shell_call", "call_id": id_, "action": action, "status": "completed"}
            outcome = {"type": "exit", "exit_code": 0}
            printed = [{"stdout": text, "stderr": "", "outcome": outcome}]
            yield {"type": "shell_call_output", "call_id": id_, "output": printed}
        case 2:
            change = {"type": "update_file", "path": "a.py", "diff": "@@\n-a\n+b"}
            call = {"type": "apply_patch_call", "call_id": id_, "operation": change}
            yield {**call, "status": "completed"}
            made = {"type": "apply_patch_call_output", "call_id": id_, "output": text}
            yield {**made, "status": "completed"}
        case 3:
            search = {"type": "search", "query": "harbour"}
            yield {
                "type": "web_search_call",
                "id": f"ws_{turn}",
                "status": "completed",
                "action": search,
            }
        case 4:
            yield {"type": "compaction", "id": f"cmp_{turn}", "encrypted_content": "x" * 40}
        case _:
            arguments = json.dumps(given(draw), ensure_ascii=draw(st.booleans()))
            call = {"type": "function_call", "call_id": id_, "name": "read"}
            yield {**call, "id": f"fc_{turn}", "arguments": arguments, "status": "completed"}
            forms: list[Any] = [text, [{"type": "input_text", "text": text}]]
            output = draw(st.sampled_from(forms))
            yield {"type": "function_call_output", "call_id": id_, "output": output}
