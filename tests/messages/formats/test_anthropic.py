"""Anthropic messages: blocks, nested tool results, signed thinking, cache marks."""

from __future__ import annotations

from typing import Any

import pytest

from refold import uncompress
from tests.classic import compress
from tests.messages.formats.test_openai_chat import OTHER, PROSE, WORDS, fold, text
from tests.plan.ladder.promise import assert_pairs

IMAGE = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="},
}
THINKING = {"type": "thinking", "thinking": PROSE * 2, "signature": "c2lnbmVk"}


def use(id_: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": id_, "name": "grep", "input": {"pattern": "x"}}


def answer(id_: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id_, "content": content, **more}


def test_string_and_block_results_are_folded_in_place() -> None:
    result = fold(
        {"role": "user", "content": "Please look."},
        {"role": "assistant", "content": [text("Looking."), use("t1"), use("t2")]},
        {
            "role": "user",
            "content": [
                answer("t1", PROSE, is_error=False),
                answer("t2", [text(OTHER), IMAGE, text("short")]),
                text(PROSE + OTHER),
            ],
        },
    )
    first, second, remark = result.messages[2]["content"]
    assert (first["tool_use_id"], second["tool_use_id"]) == ("t1", "t2")
    assert first["content"].startswith("[summary: ")
    assert first["is_error"] is False
    assert second["content"][0]["text"].startswith("[summary: ")
    assert second["content"][1:] == [IMAGE, text("short")]
    assert remark["text"].startswith("[summary: ")
    assert list(result.messages[2]) == ["role", "content"]


def test_results_of_different_calls_never_merge() -> None:
    result = fold(
        {"role": "assistant", "content": [use("t1")]},
        {"role": "user", "content": [answer("t1", PROSE)]},
        {"role": "user", "content": [answer("t2", OTHER)]},
        {"role": "user", "content": PROSE + OTHER},
    )
    assert len(result.messages) == 4
    ids = [message["content"][0].get("tool_use_id") for message in result.messages[1:3]]
    assert ids == ["t1", "t2"]


def test_thinking_and_its_signature_are_untouched() -> None:
    redacted = {"type": "redacted_thinking", "data": "ZGF0YQ==" * 40}
    message = {"role": "assistant", "content": [THINKING, redacted, text(PROSE)]}
    kept = compress([message], recency_window=0, thinking="keep").messages[0]["content"]
    assert kept[:2] == [THINKING, redacted]
    assert kept[2]["text"].startswith("[summary: ")
    stripped = fold(message).messages[0]["content"]
    assert [block["type"] for block in stripped] == ["text"]


def test_cache_marks_stay_on_their_block() -> None:
    mark = {"type": "ephemeral", "ttl": "1h"}
    result = fold(
        {"role": "user", "content": [text(PROSE, cache_control=mark), text(OTHER)]},
        {"role": "user", "content": [answer("t", [text(PROSE + OTHER, cache_control=mark)])]},
    )
    first = result.messages[0]["content"][0]
    assert first["cache_control"] == mark
    assert list(first) == ["type", "text", "cache_control"]
    assert result.messages[1]["content"][0]["content"][0]["cache_control"] == mark


def test_a_cache_mark_is_not_merged_away() -> None:
    mark = {"type": "ephemeral"}
    result = fold(
        {"role": "user", "content": [text(PROSE)]},
        {"role": "user", "content": [text(OTHER, cache_control=mark)]},
        {"role": "assistant", "content": "ok"},
    )
    blocks = [
        block
        for message in result.messages
        if isinstance(message["content"], list)
        for block in message["content"]
    ]
    assert any(block.get("cache_control") == mark for block in blocks)


def test_unknown_blocks_travel_along() -> None:
    blocks: list[dict[str, Any]] = [
        {"type": "document", "source": {"type": "url", "url": "https://x.test/a.pdf"}},
        {"type": "container_upload", "file_id": "f"},
        {"type": "search_result", "source": "s", "title": "t", "content": [text("x")]},
        IMAGE,
    ]
    result = fold({"role": "user", "content": [*blocks, text(PROSE)]})
    assert result.messages[0]["content"][:4] == blocks
    assert result.messages[0]["content"][4]["text"].startswith("[summary: ")


def test_messages_that_use_tools_are_not_touched() -> None:
    message = {"role": "assistant", "content": [THINKING, text(PROSE), use("t1")]}
    result = fold(message, {"role": "user", "content": [answer("t1", "ok")]})
    assert result.messages[0] == message


def test_a_repeated_result_refers_to_the_kept_one() -> None:
    result = fold(
        {"role": "assistant", "content": [use("t1")]},
        {"role": "user", "content": [answer("t1", PROSE)]},
        {"role": "assistant", "content": [use("t2")]},
        {"role": "user", "content": [answer("t2", [text(PROSE)])]},
    )
    assert result.messages[1]["content"][0]["content"].startswith("[cce:dup of ")
    assert result.messages[3]["content"][0]["content"] == [text(PROSE)]


def test_one_block_may_be_kept_while_its_neighbour_is_folded() -> None:
    records = '[{"id": 1, "name": "first"}, {"id": 2, "name": "second"}]' + " " * 80
    result = fold({"role": "user", "content": [answer("t1", records), text(PROSE)]})
    assert result.messages[0]["content"][0] == answer("t1", records)
    assert result.messages[0]["content"][1]["text"].startswith("[summary: ")


def test_everything_is_counted() -> None:
    def tokens(*blocks: dict[str, Any]) -> int:
        return compress([{"role": "user", "content": list(blocks)}]).tokens_before

    assert tokens(answer("t", [text(WORDS)])) > 1_000
    assert tokens({**THINKING, "thinking": WORDS}) > 1_000
    assert tokens({**use("t"), "input": {"body": WORDS}}) > 1_000
    assert tokens(IMAGE) > 500
    assert tokens(answer("t", [IMAGE])) > 500


def test_the_text_of_documents_and_search_results_is_counted() -> None:
    for block in (
        {
            "type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": WORDS},
        },
        {"type": "search_result", "source": "s", "title": "t", "content": [text(WORDS)]},
    ):
        result = compress([{"role": "user", "content": [block]}])
        assert result.tokens_before > 1_000, block["type"]


def test_plain_anthropic_messages_are_as_good_as_blocks() -> None:
    result = fold({"role": "user", "content": PROSE}, {"role": "assistant", "content": OTHER})
    assert [list(message) for message in result.messages] == [["role", "content"]] * 2


@pytest.mark.parametrize("content", [[IMAGE], [], None, ""])
@pytest.mark.parametrize("profile", ["classic", "standard"])
def test_a_result_without_text_answers_its_call(content: Any, profile: str) -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Click through the form."}]
    for n in range(8):
        said = text(f"Step {n}. {PROSE}")
        messages.append({"role": "assistant", "content": [said, use(f"t{n}")]})
        messages.append({"role": "user", "content": [answer(f"t{n}", content)]})
    messages += [{"role": "assistant", "content": "Done."}, {"role": "user", "content": "And?"}]
    for budget in (2_000, 400, 150):
        result = compress(messages, token_budget=budget, profile=profile)
        assert result.fits
        assert_pairs(messages, result.messages)
        assert uncompress(result.messages, result.verbatim).messages == messages


def test_what_a_tool_of_the_provider_returned_answers_its_call_and_is_counted() -> None:
    call = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}}
    hit = {"type": "web_search_result", "title": "Harbours", "url": "https://x.test/h"}
    found = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [hit] * 40}
    searched = {"role": "assistant", "content": [call, found, text(PROSE)]}
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "Search."},
        searched,
        *({"role": ("user", "assistant")[n % 2], "content": f"{n} {PROSE}"} for n in range(6)),
    ]
    assert compress([searched]).tokens_before > 500
    result = compress(messages, token_budget=300)
    assert result.fits
    assert searched not in result.messages
