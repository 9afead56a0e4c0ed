"""The other invariants of the design: never longer, nothing shared, same bytes, valid."""

from __future__ import annotations

import asyncio
import copy
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from itertools import chain
from typing import Any

import pytest
from anthropic.types import MessageParam
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from openai.types.chat import ChatCompletionMessageParam
from pydantic import TypeAdapter

from refold import MemoryStore, Result, uncompress
from tests.classic import acompress, compress
from tests.conversations import (
    SENTENCES,
    Conversation,
    anthropic,
    calls_and_results,
    conversations,
    openai_chat,
    options,
    plain,
    sources_of,
    spelled,
    texts_of,
    without_thinking,
)

# sync = async, same input = same bytes


@given(conversations(), options())
def test_async_gives_the_same(messages: Conversation, chosen: dict[str, Any]) -> None:
    result = compress(messages, trace=True, **chosen)
    twin = asyncio.run(acompress(messages, trace=True, **chosen))
    assert spelled(twin.messages) == spelled(result.messages)
    assert spelled(twin.verbatim) == spelled(result.verbatim)
    assert twin.compression == result.compression


@given(conversations(), options())
def test_same_input_same_bytes(messages: Conversation, chosen: dict[str, Any]) -> None:
    once = compress(messages, trace=True, **chosen)
    again = compress(copy.deepcopy(messages), trace=True, **chosen)
    assert spelled(again.messages) == spelled(once.messages)
    assert spelled(again.verbatim) == spelled(once.verbatim)
    assert again.compression == once.compression


_FOLD_ALL = """
import json, sys
from refold import compress
for line in sys.stdin:
    messages, options = json.loads(line)
    result = compress(messages, trace=True, **{"profile": "classic", **options})
    print(json.dumps([result.messages, result.verbatim, result.compression.to_dict()]))
"""


@settings(max_examples=1)
@given(st.lists(st.tuples(conversations(), options()), min_size=15, max_size=25))
def test_same_bytes_in_another_process(cases: list[tuple[Conversation, dict[str, Any]]]) -> None:
    lines = "".join(json.dumps(case) + "\n" for case in cases)
    outputs = {
        subprocess.run(
            [sys.executable, "-c", _FOLD_ALL],
            input=lines,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(outputs) == 1


# the caller's objects


@given(conversations(), options())
def test_the_callers_objects_are_untouched(messages: Conversation, chosen: dict[str, Any]) -> None:
    before = copy.deepcopy(messages)
    result = compress(messages, **chosen)
    assert spelled(messages) == spelled(before)
    folded = copy.deepcopy(result.messages)
    verbatim = copy.deepcopy(result.verbatim)
    uncompress(result.messages, result.verbatim)
    assert spelled(result.messages) == spelled(folded)
    assert spelled(result.verbatim) == spelled(verbatim)


@given(conversations(), options())
def test_nothing_is_shared(messages: Conversation, chosen: dict[str, Any]) -> None:
    result = compress(messages, **chosen)
    restored = uncompress(result.messages, result.verbatim)
    groups: list[Any] = [messages, result.messages, result.verbatim, restored.messages]
    seen = [set(map(id, _containers(group))) for group in groups]
    for number, group in enumerate(seen):
        for other in seen[number + 1 :]:
            assert not group & other


def _containers(value: object) -> Iterable[object]:
    """Return every dict and list inside *value*."""
    todo: list[object] = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, dict | list):
            yield item
            todo.extend(item.values() if isinstance(item, dict) else item)


@given(conversations(), options())
def test_changing_the_input_later_does_not_reach_the_originals(
    messages: Conversation, chosen: dict[str, Any]
) -> None:
    before = copy.deepcopy(messages)
    store = MemoryStore()
    result = compress(messages, store=store, **chosen)
    for container in list(_containers(messages)):
        if isinstance(container, dict):
            container["content"] = "changed"
            container["text"] = "changed"
    assert uncompress(result.messages, result.verbatim).messages == before
    assert uncompress(result.messages, store).messages == before


# never longer


def _characters(message: dict[str, Any]) -> int:
    return sum(map(len, texts_of(message)))


def _all_texts(message: dict[str, Any]) -> list[str]:
    """Return every text of a message, and what was thought before it."""
    content = message["content"]
    blocks = content if isinstance(content, list) else []
    return [*texts_of(message), *(block["thinking"] for block in blocks if "thinking" in block)]


def _words(text: str) -> int:
    return len(text.split())


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


@given(conversations(), options(), st.sampled_from((None, _words, _bytes, len)))
def test_never_longer(messages: Conversation, chosen: dict[str, Any], counter: Any) -> None:
    assert_never_longer(messages, counter=counter, **chosen)


def assert_never_longer(messages: Conversation, **chosen: Any) -> None:
    counter = chosen.get("counter")
    result = compress(messages, **chosen)
    assert result.tokens_after <= result.tokens_before
    sources = sources_of(result)
    assert list(chain.from_iterable(sources)) == messages
    for message, behind in zip(result.messages, sources, strict=True):
        if behind == [message]:
            continue
        for count in (len, counter or len):
            after = sum(map(count, _all_texts(message)))
            assert after < sum(count(text) for one in behind for text in _all_texts(one))


@given(conversations(), options())
def test_the_figures_are_those_of_the_result(
    messages: Conversation, chosen: dict[str, Any]
) -> None:
    result = compress(messages, **chosen)
    before, after = (sum(map(_characters, side)) for side in (messages, result.messages))
    assert result.compression.ratio == (before / after if after else 1.0)
    alone = compress(result.messages, recency_window=len(result.messages) + 1)
    assert alone.tokens_after == result.tokens_after


def test_stand_ins_that_read_the_same_are_not_longer_either() -> None:
    # The later one gets its id into its tag: that must not undo the saving.
    said = (
        "The long road along the river was closed for the whole of the week because the bridge "
        "had to be painted again and the crew that was sent to do it came late and without any "
        "of the ladders. Great, thanks a lot."
    )
    messages: Conversation = [
        {"role": "user", "content": said},
        {"role": "assistant", "content": "ok"},
        {"role": "user", "content": said + " "},
    ]
    assert_never_longer(messages, recency_window=0)


# references and pairs

_REFERENCE = re.compile(r"\[cce:(?:near-)?(?:dup|superseded)(?:#\w+)? (?:of|by) (.+?) (?:—|\()")


@given(conversations(), options())
def test_every_reference_leads_to_readable_text(
    messages: Conversation, chosen: dict[str, Any]
) -> None:
    assert_references_are_readable(messages, **chosen)


def assert_references_are_readable(messages: Conversation, **chosen: Any) -> Result:
    result = compress(messages, trace=True, **chosen)
    index_of = {entry.message_id: entry.message_index for entry in result.decisions}
    shown = [texts for texts, behind in _shown(result) for _ in behind]
    for entry in result.decisions:
        if entry.action not in ("deduped", "fuzzy_deduped", "contradicted"):
            continue
        said = texts_of(messages[entry.message_index])[entry.part]
        tag = shown[entry.message_index][entry.part]
        found = _REFERENCE.match(tag)
        assert found is not None, tag
        target = index_of[found[1]]
        assert target != entry.message_index
        kept = [text for text in texts_of(messages[target]) if text in shown[target]]
        if entry.action == "deduped":
            assert said in kept
        else:
            assert kept
        if entry.action != "contradicted":
            speakers = {messages[n]["role"] == "user" for n in (target, entry.message_index)}
            assert len(speakers) == 1
    return result


def _shown(result: Result) -> list[tuple[list[str], Conversation]]:
    return [
        (texts_of(message), behind)
        for message, behind in zip(result.messages, sources_of(result), strict=True)
    ]


def test_a_correction_that_is_itself_a_duplicate_is_still_readable() -> None:
    plan = "For the session cache we use Redis with three replicas and a ttl of one hour. "
    correction = "Actually, use Memcached for the session cache, not Redis with three replicas. "
    messages: Conversation = [
        {"id": "plan", "role": "user", "content": plan * 4},
        {"id": "ok", "role": "assistant", "content": "ok"},
        {"id": "new", "role": "user", "content": correction * 3},
        {"id": "ok2", "role": "assistant", "content": "ok"},
        {"id": "again", "role": "user", "content": correction * 3},
        {"id": "ok3", "role": "assistant", "content": "ok"},
    ]
    for keep in ("latest", "first"):
        result = assert_references_are_readable(
            messages, contradiction_detection=True, recency_window=0, keep_duplicate=keep
        )
        assert result.compression.messages_contradicted == 1


@given(st.one_of(openai_chat(), anthropic()), options())
def test_tool_calls_and_results_stay_together(
    messages: Conversation, chosen: dict[str, Any]
) -> None:
    result = compress(messages, **chosen)
    assert calls_and_results(result.messages) == calls_and_results(messages)
    roles = [message["role"] for message in result.messages if message["role"] == "tool"]
    assert len(roles) == sum(message["role"] == "tool" for message in messages)
    for message, behind in zip(result.messages, sources_of(result), strict=True):
        assert {one["role"] for one in behind} == {message["role"]}
        if calls_and_results([message]):
            assert len(behind) == 1


# valid for the provider

_OPENAI: TypeAdapter[Any] = TypeAdapter(list[ChatCompletionMessageParam])
_ANTHROPIC: TypeAdapter[Any] = TypeAdapter(list[MessageParam])


def assert_valid(adapter: TypeAdapter[Any], messages: Conversation) -> None:
    _exhaust(adapter.validate_python(messages))


def _exhaust(value: object) -> None:
    """Read everything: pydantic checks the items of an `Iterable` only when they are asked for."""
    if isinstance(value, dict):
        for item in value.values():
            _exhaust(item)
    elif isinstance(value, Iterable) and not isinstance(value, str | bytes):
        for item in value:
            _exhaust(item)


def assert_same_keys(result: Result) -> None:
    """No stand-in has keys, or parts with keys, that its first source does not have.

    It has them all, but for thinking that its provider would refuse.
    """
    for message, behind in zip(result.messages, sources_of(result), strict=True):
        assert list(message) == list(behind[0])
        if isinstance(behind[0]["content"], list):
            first = behind[0] if "thinking" in spelled(message) else without_thinking(behind[0])
            shapes = [[list(part) for part in one["content"]] for one in (message, first)]
            assert shapes[0] == shapes[1]


@given(openai_chat(), options())
def test_openai_accepts_what_comes_out(messages: Conversation, chosen: dict[str, Any]) -> None:
    assert_valid(_OPENAI, messages)
    result = compress(messages, **chosen)
    assert_valid(_OPENAI, result.messages)
    assert_same_keys(result)


@given(anthropic(), options())
def test_anthropic_accepts_what_comes_out(messages: Conversation, chosen: dict[str, Any]) -> None:
    assert_valid(_ANTHROPIC, messages)
    result = compress(messages, **chosen)
    assert_valid(_ANTHROPIC, result.messages)
    assert_same_keys(result)


# a growing conversation

_LOOKS_BACK_ONLY: dict[str, Any] = {"recency_window": 0, "keep_duplicate": "first"}


def assert_prefix_stays(messages: Conversation, **chosen: Any) -> None:
    """What is folded depends on what came before only; the last run of one role may still merge."""
    whole = compress(messages, **_LOOKS_BACK_ONLY, **chosen)
    for length in range(1, len(messages)):
        part = compress(messages[:length], **_LOOKS_BACK_ONLY, **chosen)
        settled = length - 1
        while settled and messages[settled - 1]["role"] == messages[length - 1]["role"]:
            settled -= 1
        count = covered = 0
        for behind in sources_of(part):
            if covered + len(behind) > settled:
                break
            count, covered = count + 1, covered + len(behind)
        assert covered == settled
        assert spelled(whole.messages[:count]) == spelled(part.messages[:count])


@given(st.one_of(plain(), openai_chat(), anthropic()), st.sampled_from(({}, {"dedup": False})))
def test_growing_leaves_the_prefix_alone(messages: Conversation, chosen: dict[str, Any]) -> None:
    assert_prefix_stays(messages, **chosen)


@given(st.one_of(plain(), openai_chat(), anthropic()))
def test_growing_leaves_the_prefix_alone_with_near_copies(messages: Conversation) -> None:
    assert_prefix_stays(messages, fuzzy_dedup=True)


def test_a_later_copy_does_not_change_what_was_already_sent() -> None:
    said = " ".join(SENTENCES[n] for n in (0, 1, 7, 6))
    messages: Conversation = [
        {"role": "user", "content": said},
        {"role": "assistant", "content": "ok"},
        {"role": "user", "content": said},
        {"role": "assistant", "content": "ok"},
    ]
    assert_prefix_stays(messages)


def test_a_later_near_copy_does_not_change_what_was_already_sent() -> None:
    said = "\n".join(f"The lamp at pier {n} was checked by the night crew." for n in range(12))
    messages: Conversation = [
        {"role": "user", "content": said},
        {"role": "assistant", "content": "ok"},
        {"role": "user", "content": f"{said}\nThe lamp at the gate was not."},
        {"role": "assistant", "content": "ok"},
    ]
    assert_prefix_stays(messages, fuzzy_dedup=True)


# every text gets exactly one verdict


@given(conversations(), options())
def test_every_text_has_one_decision(messages: Conversation, chosen: dict[str, Any]) -> None:
    result = compress(messages, trace=True, **chosen)
    told = [(entry.message_index, entry.part) for entry in result.decisions]
    wanted = [
        (index, part)
        for index, message in enumerate(messages)
        for part in range(max(1, len(texts_of(message))))
    ]
    assert told == wanted
    for entry in result.decisions:
        said = texts_of(messages[entry.message_index])
        assert entry.input_chars == (len(said[entry.part]) if said else 0)
        assert entry.reason
    figures = result.compression
    assert len(messages) == (
        figures.messages_compressed
        + figures.messages_preserved
        + figures.messages_deduped
        + figures.messages_fuzzy_deduped
        + figures.messages_contradicted
    )


@given(conversations(), options())
def test_what_must_not_be_touched_is_not(messages: Conversation, chosen: dict[str, Any]) -> None:
    assume("observation_threshold" not in chosen)
    result = compress(messages, **chosen)
    window = chosen["recency_window"]
    if window:  # thinking may be bound to what changed before it
        latest = zip(result.messages[-window:], messages[-window:], strict=True)
        assert all(after in (before, without_thinking(before)) for after, before in latest)
    kept = {spelled(message) for message in result.messages}
    calls = {spelled(message.get("tool_calls")) for message in result.messages}
    is_classic = chosen.get("profile") == "classic"  # elsewhere, long prose beside calls may go
    for message in messages:
        if message["role"] in ("system", "developer"):
            assert spelled(message) in kept
        elif message.get("tool_calls"):
            assert (
                spelled(message) in kept if is_classic else spelled(message["tool_calls"]) in calls
            )


def test_the_recency_window_is_counted_in_messages() -> None:
    said = " ".join(SENTENCES[n] for n in (0, 1, 7, 6))
    messages: Conversation = [
        {"role": role, "content": f"{said} {n}"} for n, role in enumerate(["user", "assistant"] * 4)
    ]
    for window in range(9):
        result = compress(messages, recency_window=window)
        changed = [a != b for a, b in zip(result.messages, messages, strict=True)]
        assert changed == [True] * (8 - window) + [False] * window


@pytest.mark.parametrize("count", [0, 1, 2])
def test_tiny_conversations_come_back_as_they_are(count: int) -> None:
    messages = [{"role": "user", "content": "hi"}] * count
    result = compress(messages)
    assert result.messages == messages
    assert result.verbatim == {}
    assert uncompress([], {}).messages == []
