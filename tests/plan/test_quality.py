"""The measures of what is still shown, taken from the text and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refold.plan.quality import measure_quality
from refold.result import Quality
from refold.scan.entities import NameFinder, TextsByMessage
from tests.classic import compress
from tests.conversations import SENTENCES, conversations, texts


def measure(before: Sequence[str], after: Sequence[str]) -> Quality:
    places = range(len(before)) if len(after) == len(before) else [0] * len(before)
    return measure_quality(
        TextsByMessage(list(before), list(places)),
        TextsByMessage(list(after), [*range(len(after))]),
        NameFinder(),
    )


@settings(max_examples=60)
@given(st.lists(texts(), max_size=5))
def test_the_same_is_perfect(several: list[str]) -> None:
    assert measure(several, several) == Quality(
        entity_retention=1.0, structural_integrity=1.0, reference_coherence=1.0, quality_score=1.0
    )


def test_a_fence_replaced_by_a_stub() -> None:
    quality = measure(["Use getTide:\n```\nx\n```"], ["[summary: x]"])
    assert quality.entity_retention == 0
    assert quality.structural_integrity == 0
    assert quality.reference_coherence == 1
    assert quality.quality_score == 0.2


def test_retention_is_the_share_of_names() -> None:
    quality = measure(["getTide, TideBox, tide_box and open_gate."], ["getTide and tide_box."])
    assert quality.entity_retention == 0.5


def test_what_only_a_list_of_entities_names_counts_as_shown_not_as_said() -> None:
    quality = measure(["calm", "getTide fails."], ["getTide", "[summary: …]"])
    assert quality.entity_retention == 1.0
    assert quality.reference_coherence == 0.0


@pytest.mark.parametrize(
    ("before", "after", "integrity"),
    [
        ("```\na\n```\n```\nb\n```", "```\na\n```", 0.5),
        ("| a | b |\n| 1 | 2 |", "| a | b |", 0.0),
        ("| a | b |\n| 1 | 2 |", "| a | b |\n| 1 | 2 |", 1.0),
        ("{\n 1\n", "{\n", 1.0),
        ("[\n[\n{\n", "[\n[", 0.667),
        ("f() {\n}", "x", 1.0),
        ("a\n   ```\nb\n```", "a\n    ```\nb\n```", 0.0),
        ("```\na\n```", "use ``` here\n```", 0.0),
        ("plain", "other", 1.0),
        ("plain", "```\nx\n```", 1.0),
    ],
)
def test_structure(before: str, after: str, integrity: float) -> None:
    assert measure([before], [after]).structural_integrity == integrity


def test_a_merged_message_is_looked_up_in_its_place() -> None:
    quality = measure_quality(
        TextsByMessage(["getTide", "open_gate", "getTide again"], [0, 0, 1]),
        TextsByMessage(["getTide … open_gate", "getTide again"], [0, 1]),
        NameFinder(),
    )
    assert quality.reference_coherence == 1.0


@settings(max_examples=60)
@given(conversations())
def test_all_figures_are_shares(messages: list[dict[str, object]]) -> None:
    figures = compress(messages, recency_window=0).compression
    for name in (
        "entity_retention",
        "structural_integrity",
        "reference_coherence",
        "quality_score",
    ):
        value = getattr(figures, name)
        assert value is None or 0 <= value <= 1


def test_deeper_folding_scores_no_better() -> None:
    messages = [
        {"role": role, "content": " ".join(SENTENCES) + f" See item_{n} and crate_{n * 7}."}
        for n, role in enumerate(["user", "assistant"] * 6)
    ]
    scores = [
        compress(messages, recency_window=0, compression_depth=depth).compression.entity_retention
        for depth in ("gentle", "moderate", "aggressive")
    ]
    kept = [score for score in scores if score is not None]
    assert len(kept) == 3
    assert kept == sorted(kept, reverse=True)
    assert kept[-1] < 1
