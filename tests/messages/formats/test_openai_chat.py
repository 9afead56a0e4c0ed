"""OpenAI chat messages: what is seen, what is folded, what is left alone."""

from __future__ import annotations

from typing import Any

import pytest
from openai.types.chat import ChatCompletionMessage

from refold import MemoryStore, MessageError, Result, uncompress
from tests.classic import compress
from tests.conversations import SENTENCES, all_text

PROSE = " ".join(SENTENCES[n] for n in (0, 1, 7, 4, 5))
OTHER = " ".join(SENTENCES[n] for n in (7, 0, 6, 14, 4))
WORDS = "several quite ordinary words " * 400
IMAGE = {"type": "image_url", "image_url": {"url": "https://x.test/a.png", "detail": "low"}}


def text(value: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": value, **more}


def call(id_: str, name: str = "read_file", arguments: str = '{"path": "a.py"}') -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def fold(*messages: dict[str, Any], **options: Any) -> Result:
    """Fold all of it, and check that it can be undone."""
    chosen = {"recency_window": 0, **options}
    store = MemoryStore()
    result = compress(list(messages), store=store, **chosen)
    assert uncompress(result.messages, result.verbatim).messages == list(messages)
    assert uncompress(result.messages, store).messages == list(messages)
    return result


def test_text_parts_are_folded_and_pictures_stay() -> None:
    result = fold({"role": "user", "content": [text(PROSE), IMAGE, text(OTHER)]})
    first, image, last = result.messages[0]["content"]
    assert first["text"].startswith("[summary: ")
    assert last["text"].startswith("[summary: ")
    assert len(first["text"]) < len(PROSE)
    assert image == IMAGE
    assert list(first) == ["type", "text"]


def test_keys_of_parts_that_nobody_knows_travel_along() -> None:
    part = text(PROSE, annotations=[{"a": 1}], zeta=None)
    result = fold({"role": "user", "content": [part], "x": {"y": [1]}})
    message = result.messages[0]
    assert message["x"] == {"y": [1]}
    assert message["content"][0]["annotations"] == [{"a": 1}]
    assert list(message["content"][0]) == ["type", "text", "annotations", "zeta"]


def test_unknown_part_types_travel_along() -> None:
    parts = [
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
        {"type": "file", "file": {"file_id": "f"}},
        {"type": "hologram", "text": PROSE, "depth": 3},
        {"type": "refusal", "refusal": PROSE},
    ]
    result = fold({"role": "user", "content": [*parts, text(PROSE)]})
    assert result.messages[0]["content"][:4] == parts
    assert result.messages[0]["content"][4]["text"].startswith("[summary: ")


@pytest.mark.parametrize("key", ["text", "content", "data"])
def test_unknown_part_types_are_counted(key: str) -> None:
    said = compress([{"role": "user", "content": PROSE}]).tokens_before
    part = {"type": "hologram", key: {"layers": [PROSE]} if key == "data" else PROSE}
    messages: list[dict[str, Any]] = [{"role": "user", "content": [part]}]
    assert said <= compress(messages).tokens_before <= said + 5
    assert compress(messages, token_budget=said // 2).fits is False


def test_data_in_unknown_parts_costs_less_than_text() -> None:
    part = {"type": "hologram", "data": "QUJD" * 20_000}
    assert 100 < compress([{"role": "user", "content": [part]}]).tokens_before < 10_000


def test_an_object_of_the_sdk_is_a_message_but_no_part_of_one() -> None:
    message = ChatCompletionMessage(role="assistant", content="hi")
    assert compress([message]).messages[0] is message
    with pytest.raises(MessageError, match=r"messages\[0\]\.content\[0\].*needs a \"type\""):
        compress([{"role": "user", "content": [message]}])


def test_no_keys_are_added() -> None:
    result = fold(
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": PROSE, "name": "anna"},
        {"role": "assistant", "content": OTHER},
        {"role": "user", "content": PROSE},
    )
    assert [list(message) for message in result.messages] == [
        ["role", "content"],
        ["role", "content", "name"],
        ["role", "content"],
        ["role", "content"],
    ]


def test_a_tool_result_keeps_its_call_id() -> None:
    result = fold(
        {"role": "assistant", "content": None, "tool_calls": [call("c1")]},
        {"role": "tool", "tool_call_id": "c1", "content": PROSE},
    )
    answer = result.messages[1]
    assert answer["tool_call_id"] == "c1"
    assert answer["role"] == "tool"
    assert answer["content"].startswith("[summary: ")
    assert list(answer) == ["role", "tool_call_id", "content"]


def test_parallel_results_never_merge() -> None:
    result = fold(
        {"role": "assistant", "content": None, "tool_calls": [call("c1"), call("c2"), call("c3")]},
        {"role": "tool", "tool_call_id": "c1", "content": PROSE},
        {"role": "tool", "tool_call_id": "c2", "content": [text(OTHER)]},
        {"role": "tool", "tool_call_id": "c3", "content": PROSE + OTHER},
    )
    assert [message.get("tool_call_id") for message in result.messages] == [None, "c1", "c2", "c3"]
    assert all("[summary: " in all_text([message]) for message in result.messages[1:])


def test_a_message_with_calls_is_not_touched() -> None:
    asking = {"role": "assistant", "content": PROSE, "tool_calls": [call("c1")]}
    legacy = {
        "role": "assistant",
        "content": PROSE,
        "function_call": {"name": "f", "arguments": "{}"},
    }
    result = fold(asking, {"role": "tool", "tool_call_id": "c1", "content": "ok"}, legacy)
    assert result.messages[0] == asking
    assert result.messages[2] == legacy


def test_a_repeated_tool_result_refers_to_the_kept_one() -> None:
    result = fold(
        {"role": "assistant", "content": None, "tool_calls": [call("c1")]},
        {"role": "tool", "tool_call_id": "c1", "content": PROSE},
        {"role": "assistant", "content": None, "tool_calls": [call("c2")]},
        {"role": "tool", "tool_call_id": "c2", "content": [text(PROSE)]},
    )
    assert result.messages[1]["content"].startswith("[cce:dup of ")
    assert result.messages[1]["tool_call_id"] == "c1"
    assert result.messages[3]["content"] == [text(PROSE)]


def test_neighbours_of_one_role_merge() -> None:
    result = fold({"role": "user", "content": PROSE}, {"role": "user", "content": OTHER})
    (message,) = result.messages
    assert "(2 messages merged)" in message["content"]


def test_messages_with_pictures_do_not_merge() -> None:
    result = fold(
        {"role": "user", "content": [text(PROSE), IMAGE]},
        {"role": "user", "content": [text(OTHER)]},
    )
    assert len(result.messages) == 2
    assert IMAGE in result.messages[0]["content"]


def test_different_names_do_not_merge() -> None:
    result = fold(
        {"role": "user", "name": "anna", "content": PROSE},
        {"role": "user", "name": "ben", "content": OTHER},
    )
    assert [message["name"] for message in result.messages] == ["anna", "ben"]


def test_what_only_one_of_two_neighbours_has_is_not_lost() -> None:
    result = fold(
        {"role": "user", "content": PROSE},
        {"role": "user", "content": OTHER, "priority": "high"},
    )
    assert any(message.get("priority") == "high" for message in result.messages)


def test_part_keys_of_a_neighbour_are_not_lost() -> None:
    cached = text(OTHER, cache_control={"type": "ephemeral"})
    result = fold(
        {"role": "user", "content": [text(PROSE)]},
        {"role": "user", "content": [cached]},
    )
    parts = [part for message in result.messages for part in message["content"]]
    assert any("cache_control" in part for part in parts)


def test_everything_is_counted() -> None:
    def tokens(*messages: dict[str, Any]) -> int:
        return compress(list(messages)).tokens_before

    bare = tokens({"role": "assistant", "content": None})
    wordy = {"role": "assistant", "content": None, "tool_calls": [call("c", arguments=WORDS)]}
    assert tokens(wordy) > bare + 1_000
    assert tokens({"role": "user", "content": [text(WORDS)]}) > 1_000
    assert tokens({"role": "user", "content": [IMAGE]}) > bare
    assert tokens({"role": "assistant", "content": None, "refusal": WORDS}) > 1_000


def test_developer_messages_are_kept_like_system_ones() -> None:
    message = {"role": "developer", "content": PROSE}
    assert fold(message).messages == [message]


def test_empty_contents_stay() -> None:
    messages: list[dict[str, Any]] = [
        {"role": "assistant", "content": None},
        {"role": "user", "content": []},
        {"role": "user", "content": ""},
        {"role": "assistant"},
    ]
    assert fold(*messages).messages == messages


def test_the_format_can_be_named() -> None:
    result = fold({"role": "tool", "tool_call_id": "c", "content": PROSE}, format="openai-chat")
    assert result.messages[0]["content"].startswith("[summary: ")
