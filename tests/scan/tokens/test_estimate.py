"""The estimate: never nothing for something, steady, and all of a message is counted."""

from __future__ import annotations

import base64
import random
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refold.messages.token_count import IMAGE_TOKENS, MESSAGE_OVERHEAD, CountedTexts
from refold.scan.tokens import estimate
from refold.scan.tokens.estimate import estimate_tokens
from refold.scan.tokens.exact import ExactCounter
from tests.classic import compress
from tests.conversations import SENTENCES, texts

quick = settings(max_examples=150)


def test_nothing_costs_nothing() -> None:
    assert estimate_tokens("") == 0


@quick
@given(st.one_of(texts(), st.text(min_size=1, max_size=30)).filter(bool))
def test_something_costs_something(text: str) -> None:
    assert estimate_tokens(text) >= 1
    assert estimate_tokens(text) == estimate_tokens(text)


@pytest.mark.parametrize("char", ["a", " ", "\n", "\t", "\0", ".", "中", "é", "🚀", "\ud800"])
def test_one_character_costs_one_or_a_few(char: str) -> None:
    assert 1 <= estimate_tokens(char) <= 3


@quick
@given(texts().filter(bool), st.integers(2, 30))
def test_it_grows_with_repetition(text: str, times: int) -> None:
    one = estimate_tokens(f"{text}\n")
    many = estimate_tokens(f"{text}\n" * times)
    # Rounding and the border between two copies may cost a little each.
    assert abs(many - times * one) <= 3 * times
    assert many <= estimate_tokens(f"{text}\n" * (times + 1))


@quick
@given(texts(), texts())
def test_two_texts_cost_about_what_both_cost(first: str, second: str) -> None:
    together = estimate_tokens(f"{first}\n{second}")
    apart = estimate_tokens(first) + estimate_tokens(second)
    assert abs(together - apart) <= 5


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_longer_text_of_the_same_kind_costs_more(sentence: str) -> None:
    sizes = [estimate_tokens(sentence * n) for n in range(1, 6)]
    assert sizes == sorted(sizes)
    assert sizes[4] > 4 * sizes[0]


def noise(size: int) -> bytes:
    return random.Random(size).randbytes(size)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        pytest.param(" " * 8_000, 0.05, id="spaces"),
        pytest.param("\t" * 3_000, 0.05, id="tabs"),
        pytest.param("\n" * 3_000, 0.05, id="line feeds"),
        pytest.param(base64.b64encode(noise(3_000)).decode(), 0.1, id="base64"),
        pytest.param(noise(3_000).hex(), 0.1, id="hex"),
        pytest.param("a" * 1_000, 0.1, id="one letter"),
        pytest.param(" ".join(map(str, range(100_000, 100_400))), 0.15, id="numbers"),
        pytest.param("今天天气很好，我们去公园散步吧。" * 30, 0.3, id="Chinese"),
        pytest.param(" ".join(SENTENCES), 0.25, id="sentences"),
    ],
)
def test_it_is_near_the_exact_count(text: str, error: float) -> None:
    exact = ExactCounter("o200k_base")(text)
    assert abs(estimate_tokens(text) - exact) <= error * exact


# all of a message


def cost(message: dict[str, Any]) -> int:
    return compress([message]).tokens_before


CALL = {"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}}


def test_framing_is_counted() -> None:
    text = "Where is the spare key?"
    assert cost({"role": "user", "content": text}) == estimate_tokens(text) + MESSAGE_OVERHEAD
    assert cost({"role": "user", "content": ""}) == MESSAGE_OVERHEAD
    assert cost({"role": "assistant", "content": None}) == MESSAGE_OVERHEAD


def test_a_name_is_counted() -> None:
    plain = {"role": "user", "content": "Where is the spare key?"}
    assert cost({**plain, "name": "harbour_master"}) > cost(plain)


def test_tool_arguments_are_counted() -> None:
    short = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    assert cost(short) > MESSAGE_OVERHEAD
    arguments = '{"path": "src/export/rows.py", "lines": [10, 40]}' * 5
    call = {**CALL, "function": {"name": "read", "arguments": arguments}}
    long = {**short, "tool_calls": [call]}
    assert cost(long) >= cost(short) + estimate_tokens(arguments) - 3
    assert cost({**short, "tool_calls": [CALL, call]}) > cost(long)


def test_the_input_of_a_tool_use_is_counted() -> None:
    def use(value: object) -> dict[str, Any]:
        block = {"type": "tool_use", "id": "a", "name": "grep", "input": value}
        return {"role": "assistant", "content": [block]}

    assert cost(use({"pattern": "lamp " * 50})) > cost(use({"pattern": "lamp"})) + 40


def test_thinking_is_counted() -> None:
    blocks = [{"type": "thinking", "thinking": SENTENCES[0] * 3, "signature": "c2ln"}]
    message = {"role": "assistant", "content": blocks}
    assert cost(message) == estimate_tokens(SENTENCES[0] * 3) + MESSAGE_OVERHEAD


def test_nested_tool_results_are_counted() -> None:
    inner = [{"type": "text", "text": SENTENCES[0]}, {"type": "text", "text": SENTENCES[1]}]
    block = {"type": "tool_result", "tool_use_id": "a", "content": inner}
    expected = estimate_tokens(SENTENCES[0]) + estimate_tokens(SENTENCES[1]) + MESSAGE_OVERHEAD
    assert cost({"role": "user", "content": [block]}) == expected


@pytest.mark.parametrize(
    "picture",
    [
        {"type": "image_url", "image_url": {"url": "https://x.test/a.png"}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 90_000}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
        {"type": "input_image", "image_url": "https://x.test/a.png"},
    ],
)
def test_a_picture_costs_by_rule_not_by_its_bytes(picture: dict[str, Any]) -> None:
    text = {"type": "text", "text": "Look."}
    one = cost({"role": "user", "content": [text, picture]})
    assert one == estimate_tokens("Look.") + MESSAGE_OVERHEAD + IMAGE_TOKENS
    assert cost({"role": "user", "content": [text, picture, picture]}) == one + IMAGE_TOKENS


def base64_of(size: int) -> str:
    return "A" * (size // 3 * 4)


@pytest.mark.parametrize(
    ("block", "pictures"),
    [
        ({"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}, 1),
        ({"type": "input_audio", "input_audio": {"data": base64_of(6_000_000)}}, 3),
        ({"type": "file", "file": {"file_id": "f"}}, 1),
        ({"type": "file", "file": {"filename": "a.pdf", "file_data": base64_of(60_000)}}, 2),
        ({"type": "input_file", "file_url": "https://x.test/a.pdf"}, 1),
        ({"type": "input_file", "file_data": base64_of(150_000)}, 3),
        ({"type": "document", "source": {"type": "base64", "data": base64_of(90_000)}}, 2),
        ({"type": "document", "source": {"type": "url", "url": "https://x.test/a.pdf"}}, 1),
        ({"type": "document", "source": {"type": "file", "file_id": "f"}}, 1),
        ({"type": "document", "source": {"type": "text", "data": ""}}, 0),
        ({"type": "document"}, 0),
        ({"type": "hologram", "data": base64_of(90_000)}, 2),
    ],
)
def test_other_media_cost_as_many_pictures_as_their_size_makes(
    block: dict[str, Any], pictures: int
) -> None:
    assert cost({"role": "user", "content": [block]}) == MESSAGE_OVERHEAD + pictures * IMAGE_TOKENS


def test_pictures_inside_a_tool_result_are_counted() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "aGk="}
    inner = [{"type": "image", "source": source}]
    block = {"type": "tool_result", "tool_use_id": "a", "content": inner}
    assert cost({"role": "user", "content": [block]}) == MESSAGE_OVERHEAD + IMAGE_TOKENS


def test_a_conversation_costs_the_sum_of_its_messages() -> None:
    messages = [{"role": "user", "content": sentence} for sentence in SENTENCES]
    assert compress(messages).tokens_before == sum(map(cost, messages))


# counted texts


def test_each_text_is_counted_once_and_failures_fall_back() -> None:
    asked: list[str] = []

    def odd(text: str) -> Any:
        asked.append(text)
        if text == "bad":
            raise OSError("no")
        return None if text == "none" else len(text)

    counted = CountedTexts(odd, lambda text: 77)
    said = ("ab", "bad", "none", "ab", "bad", "")
    assert [counted(text) for text in said] == [2, 77, 77, 2, 77, 0]
    assert counted.failures == 2
    assert asked == ["ab", "bad", "none", ""]


@pytest.mark.parametrize("nonsense", [None, -1, 1.0, "3", float("inf"), ()])
def test_nonsense_is_a_failure(nonsense: Any) -> None:
    counted = CountedTexts(lambda text: nonsense, lambda text: 5)
    assert counted("abc") == 5
    assert counted.failures == 1


SOME_CLASSES = bytes(1 + byte % 15 for byte in range(256))
SOME_WEIGHTS = bytes(pair * 7 % 256 for pair in range(256))


@quick
@given(st.binary(max_size=300), st.integers(1, 15))
def test_all_pairs_are_summed(data: bytes, first: int) -> None:
    numbers = [first, *(SOME_CLASSES[byte] for byte in data)]
    expected = sum(SOME_WEIGHTS[16 * a + b] for a, b in pairwise(numbers))
    weights = bytes(0 if pair % 16 == 0 else weight for pair, weight in enumerate(SOME_WEIGHTS))
    assert estimate.sum_pairs(data, SOME_CLASSES, weights, first) == expected


def test_codes_of_pairs() -> None:
    assert estimate.pair_codes(bytes([1, 2, 15]), 3)[:3] == bytes([0x31, 0x12, 0x2F])


@pytest.mark.parametrize("size", [0, 1, 255, 256, 257, 5_000, 70_000])
def test_bytes_are_added_up_whatever_they_are(size: int) -> None:
    assert estimate.sum_bytes(bytes([255]) * size) == 255 * size
    every = bytes(n % 256 for n in range(size))
    assert estimate.sum_bytes(every) == sum(every)
