"""Known failures 35–38: time grew with the square of the input.

No clock is asserted. The inputs are so large that a quadratic step would take minutes: such a test
hangs for everybody to see. Where work can be counted, it is counted.

Not applicable: the XML adapter (35), score normalization (36), clustering and budget search (37).
"""

from __future__ import annotations

import json
from collections import Counter

import pytest

from refold import classify, uncompress
from tests.classic import compress
from tests.conversations import Conversation

SIZE = 120_000
UNITS = {
    "one letter": "a",
    "one capital": "A",
    "no vowels": "b",
    "digits": "7",
    "base64": "QUJD",
    "hyphens": "ab-",
    "dots": "a.",
    "only dots": ".",
    "underscores": "a_",
    "camel": "aB",
    "mail": "a@",
    "mail dots": "a.b@",
    "slashes": "a/",
    "colons": "a:",
    "key lines": "k: v\n",
    "greater": ">",
    "brackets": "[",
    "open tags": "[summary: ",
    "braces": "{",
    "quotes": '"',
    "single quotes": "'",
    "dollars": "$ ",
    "backticks": "`",
    "fences": "```\n",
    "late fences": "a ```\n",
    "spaces": " ",
    "line feeds": "\n",
    "blank lines": " \n",
    "tabs": "\t",
    "words": "word ",
    "capital words": "Word ",
    "commas": "1,",
    "phone": "+1 ",
    "versions": "v1.",
    "status": "status ",
    "chinese": "数据库",
    "chinese stops": "好。",
    "kana": "あ",
    "emoji": "👩‍👩‍👧‍👦",
    "marks": "\u0301",
    "joiners": "\u200d",
    "flags": "🇨🇿",
    "surrogates": "\ud83d",
    "csv": "1,2,3\n",
    "backslashes": "\\",
    "no": "no ",
    "not x": "not x ",
    "let's": "let's ",
    "select": "select from ",
    "bullets": "- a\n",
    "numbered": "1. ",
    "urls": "http://a",
    "grep": "a.py:1:\n",
}


@pytest.mark.campaign
@pytest.mark.parametrize("name", UNITS)
def test_kf_35_any_text_takes_linear_time(name: str) -> None:
    text = UNITS[name] * (SIZE // len(UNITS[name]))
    messages: Conversation = [
        {"role": "user", "content": text},
        {"role": "assistant", "content": "ok"},
    ]
    result = compress(
        messages,
        recency_window=0,
        observation_threshold=10_000,
        fuzzy_dedup=True,
        importance_scoring=True,
        importance_threshold=1.0,
        contradiction_detection=True,
    )
    assert uncompress(result.messages, result.verbatim).messages == messages


@pytest.mark.campaign
@pytest.mark.parametrize("letter", "a7b-_.@/数\n ")
def test_kf_35_classifying_one_unbroken_run(letter: str) -> None:
    assert classify(letter * 300_000).confidence > 0


@pytest.mark.campaign
def test_kf_35_minified_json() -> None:
    text = json.dumps([{"id": n, "tags": ["a", "b"], "url": f"/x/{n}"} for n in range(8_000)])
    result = compress([{"role": "tool", "content": text}], recency_window=0)
    assert result.messages[0]["content"] == text


@pytest.mark.campaign
def test_kf_36_two_hundred_thousand_tiny_sentences() -> None:
    text = "A b. " * 200_000
    result = compress([{"role": "user", "content": text}], recency_window=0)
    assert len(result.messages[0]["content"]) < 5_000
    lines = "\n".join(f"b {n}." for n in range(60_000))
    result = compress([{"role": "user", "content": lines}], recency_window=0)
    assert len(result.messages[0]["content"]) < 5_000


@pytest.mark.campaign
def test_kf_36_deep_nesting_needs_no_stack() -> None:
    nested: list[object] = []
    for _ in range(20_000):
        nested = [nested]
    text = "The ferry was late again and nobody knew why. " * 8
    messages: Conversation = [{"id": "a", "role": "user", "content": text, "extra": nested}]
    result = compress(messages, recency_window=0)
    restored = uncompress(result.messages, result.verbatim)
    assert restored.missing_ids == []
    assert restored.messages[0]["content"] == text


@pytest.mark.campaign
@pytest.mark.parametrize("threshold", [0.85, 0.5, 0.1])
def test_kf_37_near_copies_with_a_shared_header(threshold: float) -> None:
    header = "\n".join(f"Line {n} of the header that all reports begin with" for n in range(5))
    messages: Conversation = [
        {
            "role": "user" if n % 2 else "assistant",
            "content": f"{header}\n" + "\n".join(f"item {n} of row {k}" for k in range(8)),
        }
        for n in range(1_500)
    ]
    result = compress(
        messages, recency_window=0, fuzzy_dedup=True, fuzzy_threshold=threshold, dedup=False
    )
    assert uncompress(result.messages, result.verbatim).messages == messages


@pytest.mark.campaign
def test_kf_37_many_near_copies() -> None:
    rows = [f"the reading of gauge {k} was taken at noon" for k in range(20)]
    messages: Conversation = [
        {"role": "user", "content": "\n".join([*rows, f"reading {n}"])} for n in range(800)
    ]
    result = compress(messages, recency_window=0, fuzzy_dedup=True)
    assert result.compression.messages_fuzzy_deduped == 799
    assert uncompress(result.messages, result.verbatim).messages == messages


@pytest.mark.campaign
def test_kf_37_importance_and_corrections_of_many_messages() -> None:
    messages: Conversation = [
        {
            "role": "user" if n % 2 else "assistant",
            "content": f"Actually, use sharedName for cache node {n}, not an old ledgerJob, "
            f"and let worker_{n % 50} wait until sharedName has been told about the new node.",
        }
        for n in range(3_000)
    ]
    result = compress(
        messages,
        recency_window=0,
        importance_scoring=True,
        importance_threshold=1.0,
        contradiction_detection=True,
    )
    assert uncompress(result.messages, result.verbatim).messages == messages


def test_kf_38_each_text_is_counted_once() -> None:
    counted: Counter[str] = Counter()

    def counter(text: str) -> int:
        counted[text] += 1
        return len(text) // 4

    said = [f"The lamp at pier {n} was checked by the night crew. " * 5 for n in range(40)]
    messages: Conversation = [
        {"role": "user" if n % 2 else "assistant", "content": text} for n, text in enumerate(said)
    ]
    compress(messages, recency_window=0, counter=counter)
    assert max(counted.values()) == 1
    assert sum(map(len, counted)) < 3 * sum(map(len, said))
