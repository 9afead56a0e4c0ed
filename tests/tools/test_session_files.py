"""Records of Claude Code and Codex: the managers find the turns in them, and leave the rest."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from refold import CompressionManager, ContextWindowManager, MemoryStore, retrieve_tool, uncompress
from refold.tools.shapes import read_turns
from tests.tools.managing import FACTS, FILLER, find_results, result_text

Records = list[dict[str, Any]]

ARGUMENTS = json.dumps({"path": "ledger.txt", "note": FILLER * 8})
PIXELS = "data:image/png;base64," + "iVBO" * 300


def claude_code(turns: int) -> Records:
    source = {"type": "base64", "media_type": "image/png", "data": "iVBO" * 300}
    said: list[tuple[str, Any]] = [
        ("user", "Why was the ledger closed?"),
        ("assistant", [{"type": "text", "text": "I look."}]),
        ("user", [{"type": "text", "text": "Look at this."}, {"type": "image", "source": source}]),
    ]
    for n in range(turns):
        call = {"type": "tool_use", "id": f"c{n}", "name": "look", "input": json.loads(ARGUMENTS)}
        answer = {"type": "tool_result", "tool_use_id": f"c{n}", "content": result_text(n)}
        said += [("assistant", [call]), ("user", [answer])]
    said += [("assistant", [{"type": "text", "text": "Done."}]), ("user", "Thank you.")]
    records: Records = [
        {"type": role, "uuid": f"u{n}", "sessionId": "s", "message": {"role": role, "content": c}}
        for n, (role, c) in enumerate(said)
    ]
    return [{"type": "summary", "summary": FACTS, "leafUuid": "u9"}, *records]


def codex(turns: int) -> Records:
    look = [{"type": "input_text", "text": "Look."}, {"type": "input_image", "image_url": PIXELS}]
    items: Records = [
        {"type": "message", "role": "user", "content": "Why was the ledger closed?"},
        {"type": "message", "role": "assistant", "content": "I look."},
        {"type": "message", "role": "user", "content": look},
    ]
    for n in range(turns):
        call = {"type": "function_call", "name": "look", "arguments": ARGUMENTS}
        items.append({**call, "call_id": f"c{n}"})
        answer = {"type": "function_call_output", "output": result_text(n)}
        items.append({**answer, "call_id": f"c{n}"})
    items.append({"type": "message", "role": "assistant", "content": "Done."})
    items.append({"type": "message", "role": "user", "content": "Thank you."})
    meta = {"type": "session_meta", "payload": {"id": "s", "instructions": FACTS}}
    return [meta, *({"type": "response_item", "timestamp": "t", "payload": item} for item in items)]


FILES = pytest.mark.parametrize(
    ("make", "inside"), [(claude_code, "message"), (codex, "payload")], ids=["claude", "codex"]
)
Make = Callable[[int], Records]


@FILES
def test_results_and_calls_are_found_in_the_turns(make: Make, inside: str) -> None:
    results = find_results(make(2))
    assert [found.text for found in results] == [result_text(0), result_text(1)]
    assert [(found.tool, found.role != "assistant") for found in results] == [("look", True)] * 2
    assert [call.arguments for turn in read_turns(make(2)) for call in turn.calls] == [
        json.loads(ARGUMENTS)
    ] * 2


@FILES
def test_short_forms_stand_in_the_turn_and_the_content_stays(make: Make, inside: str) -> None:
    records = make(4)
    before = copy.deepcopy(records)
    manager = CompressionManager(compress_tool_results_limit=3)
    assert manager.explain(records) == "4 tool results, the limit is 3"
    assert manager.compress(records).compressed == 4
    assert not manager.should_compress(records)
    view = manager.view(records)
    shortened = [n for n, record in enumerate(records) if record != before[n]]
    assert len(shortened) == 4
    for n in shortened:
        short = records[n][inside].pop("compressed_content")
        assert FACTS.split(". ")[1] in str(short)
        assert view[n][inside] != before[n][inside]
        assert len(str(view[n])) < len(str(before[n]))
        assert list(view[n]) == list(before[n])
    assert records == before
    assert [view[n] for n in range(len(view)) if n not in shortened] == [
        before[n] for n in range(len(view)) if n not in shortened
    ]


@FILES
def test_a_pure_pass_is_known_to_the_view_alone(make: Make, inside: str) -> None:
    records = make(4)
    before = copy.deepcopy(records)
    manager = CompressionManager()
    manager.compress(records, in_place=False)
    assert records == before
    other = make(4)
    manager.compress(other)
    assert manager.view(records) == manager.view(other)


@FILES
def test_what_the_model_has_not_read_yet_stays(make: Make, inside: str) -> None:
    records = make(4)[:-2]
    report = CompressionManager().compress(records)
    assert [item.status for item in report.items] == ["compressed"] * 3 + ["skipped"]
    assert report.items[-1].reason == "the model has not seen it yet"


@FILES
def test_a_window_takes_short_forms_and_shows_them_to_nobody_else(make: Make, inside: str) -> None:
    records = make(4)
    CompressionManager().compress(records)
    sent = ContextWindowManager(context_limit=90_000).fit(records).messages
    assert "compressed_content" not in json.dumps(sent)
    assert sent == CompressionManager().view(records)


@FILES
def test_old_calls_are_folded_and_old_pictures_leave(make: Make, inside: str) -> None:
    records = make(8)
    window = ContextWindowManager(context_limit=1_600, reserve_output_tokens=0, low_water=1.0)
    fitted = window.fit(records)
    assert fitted.fits
    assert "evict_media" in fitted.steps
    assert "iVBO" not in json.dumps(fitted.messages)
    assert uncompress(fitted.messages, fitted.verbatim).messages == records


@FILES
def test_a_model_reads_the_original_of_a_record(make: Make, inside: str) -> None:
    store = MemoryStore()
    window = ContextWindowManager(
        context_limit=1_600, reserve_output_tokens=0, store=store, low_water=1.0
    )
    shown = window.fit(make(8)).messages
    tool = retrieve_tool(store, messages=shown, max_tokens=100_000)
    handles = re.findall(r"#([a-z]{5,36})", json.dumps(shown))
    answers = [tool.call({"handle": handle}) for handle in handles]
    digest = next(answer for answer in answers if "[call look {" in answer)
    assert FILLER * 8 in digest
    assert not any(f'"{inside}"' in answer for answer in answers)
