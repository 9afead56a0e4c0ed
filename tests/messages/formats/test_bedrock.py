"""Messages of Bedrock's Converse API: blocks without types, bytes, cache points."""

from __future__ import annotations

from typing import Any

import pytest

from refold import CompressionManager, MemoryStore, MessageError, Session, compress, uncompress
from refold.messages.formats import load
from tests.conversations import SENTENCES, Conversation
from tests.messages.formats.providers import check_bedrock

LONG = " ".join(SENTENCES)


def call(number: int) -> Conversation:
    id_ = f"tooluse_{number}"
    thought = {"reasoningText": {"text": f"thinking of {number}", "signature": "c2ln"}}
    use = {"toolUseId": id_, "name": "read", "input": {"number": number}}
    rows = [{"row": n, "name": f"harbour {n}"} for n in range(number)]
    content = [{"text": f"{number} {LONG}"}, {"json": {"rows": rows}}]
    return [
        {"role": "assistant", "content": [{"reasoningContent": thought}, {"toolUse": use}]},
        {
            "role": "user",
            "content": [
                {"toolResult": {"toolUseId": id_, "content": content, "status": "success"}},
                {"cachePoint": {"type": "default"}},
            ],
        },
    ]


def run(turns: int) -> Conversation:
    image = {"image": {"format": "png", "source": {"bytes": b"\x89PNG"}}}
    return [
        {"role": "user", "content": [{"text": "Read all of it."}, image]},
        *(message for number in range(turns) for message in call(number)),
        {"role": "assistant", "content": [{"text": "Done."}]},
        {"role": "user", "content": [{"text": "And now?"}]},
    ]


def test_blocks_are_read_into_values() -> None:
    message, answer = load(call(3))
    assert [(c.id, c.name, c.arguments) for c in message.calls] == [
        ("tooluse_3", "read", {"number": 3})
    ]
    assert message.thinking == ["thinking of 3"]
    assert [part.call_id for part in answer.parts] == ["tooluse_3", "tooluse_3"]
    assert answer.parts[1].path[-2:] == ("json", "rows")


@pytest.mark.parametrize("profile", ["classic", "standard"])
@pytest.mark.parametrize("budget", [2_000, 3_000, 5_000])
def test_what_fits_is_valid_and_comes_back(profile: Any, budget: int) -> None:
    messages = run(12)
    result = compress(messages, profile=profile, token_budget=budget)
    assert result.fits
    check_bedrock(result.messages)
    assert uncompress(result.messages, result.verbatim).messages == messages


def test_cache_points_and_bytes_stay_where_they_are() -> None:
    messages = run(6)
    result = compress(messages, profile="lossless")
    assert result.messages[0] == messages[0]
    folded = [m["content"][-1] for m in result.messages if "toolResult" in m["content"][0]]
    assert folded == [{"cachePoint": {"type": "default"}}] * 6


def test_what_is_not_known_is_counted_and_cache_points_are_not() -> None:
    known, unknown = load(
        [
            {"role": "user", "content": [{"text": "Why?"}, {"cachePoint": {"type": "default"}}]},
            {"role": "user", "content": [{"text": "Why?"}, {"guardContent": {"text": LONG}}]},
        ]
    )
    assert not known.opaque
    assert unknown.opaque


def test_so_it_is_in_results() -> None:
    image = {"image": {"format": "png", "source": {"bytes": b"\x89PNG"}}}
    known, unknown = load(
        [
            {"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": [block]}}]}
            for block in (image, {"hologram": {"text": LONG}})
        ]
    )
    assert not known.opaque
    assert unknown.opaque


def test_every_view_of_a_session_is_valid() -> None:
    store = MemoryStore()
    session = Session(token_budget=2_500, profile="standard", store=store)
    messages = run(12)
    for end, message in enumerate(messages, 1):
        session.append(message)
        view = session.view()
        if message["role"] == "user":
            check_bedrock(view)
        assert uncompress(view, store).messages == messages[:end]


def test_a_manager_takes_them() -> None:
    assert CompressionManager(compress_tool_results_limit=2).compress(run(4)).compressed


def test_a_call_without_an_id_is_refused() -> None:
    message = {"role": "assistant", "content": [{"toolUse": {"name": "read", "input": {}}}]}
    with pytest.raises(MessageError, match=r"messages\[0\]\.content\[0\]\.toolUse\.toolUseId"):
        compress([message])
