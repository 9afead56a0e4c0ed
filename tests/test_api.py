"""The public face: `classify`, and a `Compressor` that many may share."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from refold import MemoryStore, classify, uncompress
from tests.classic import Compressor, Options, compress
from tests.conversations import SENTENCES, Conversation

PROSE = " ".join(SENTENCES[n] for n in (0, 1, 7, 6))


@pytest.mark.parametrize(
    ("text", "tier"),
    [("", "T2"), ("   ", "T2"), ("so " * 19, "T2"), ("so " * 20, "T3"), ("so " * 200, "T3")],
)
def test_prose_is_told_apart_by_its_length(text: str, tier: str) -> None:
    found = classify(text)
    assert (found.tier, found.confidence, found.reasons) == (tier, 0.65, ())


@pytest.mark.parametrize(
    ("text", "confidence", "reasons"),
    [
        ("permission denied", 0.75, ("failure_signature",)),
        ("see https://a.example/x", 0.8, ("url", "file_path")),
        ('{"a": 1}', 0.8, ("json_structure", "high_special_char_ratio")),
    ],
)
def test_every_reason_makes_structure_more_likely(
    text: str, confidence: float, reasons: tuple[str, ...]
) -> None:
    found = classify(text)
    assert (found.tier, found.confidence, found.reasons) == ("T0", confidence, reasons)


def test_nothing_is_certain() -> None:
    text = "v1.2 at https://a.example/x/y, 10.0.0.1, me@a.example, 5 km, whereas permission denied"
    found = classify(text)
    assert len(found.reasons) > 5
    assert found.confidence == 0.95


def talk(number: int) -> Conversation:
    return [
        {"id": f"{number}-{n}", "role": role, "content": f"Talk {number}, turn {n}. {PROSE}"}
        for n, role in enumerate(["user", "assistant"] * 4)
    ]


def test_one_compressor_serves_many_threads() -> None:
    store = MemoryStore()
    shared = Compressor(Options(recency_window=1, fuzzy_dedup=True), store=store)
    talks = [talk(number) for number in range(16)]
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(shared.compress, talks))
    for messages, result in zip(talks, results, strict=True):
        alone = compress(messages, recency_window=1, fuzzy_dedup=True, store=MemoryStore())
        assert result == alone
        assert uncompress(result.messages, store).messages == messages
