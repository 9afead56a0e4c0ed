"""What is chosen when nobody chooses, and that nobody can change it afterwards."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError

import pytest

from refold import Options


def test_what_is_chosen_when_nobody_chooses() -> None:
    options = Options()
    assert options.preserve == ("system", "developer")
    assert options.recency_window == 4
    assert options.dedup
    assert options.keep_duplicate == "latest"
    assert not options.fuzzy_dedup
    assert options.fuzzy_threshold == 0.85
    assert not options.importance_scoring
    assert options.importance_threshold == 0.65
    assert not options.contradiction_detection
    assert options.contradiction_topic_threshold == 0.15
    assert not options.embed_summary_id
    assert options.compression_depth == "gentle"
    assert options.token_budget is None


def test_options_are_frozen() -> None:
    options = Options(recency_window=2)
    with pytest.raises(FrozenInstanceError):
        options.recency_window = 3  # type: ignore[misc]


def test_options_can_be_copied_and_sent_elsewhere() -> None:
    options = Options(recency_window=2, preserve_patterns=["[A-Z]+-[0-9]+"])  # type: ignore[arg-type]
    for other in (copy.deepcopy(options), pickle.loads(pickle.dumps(options))):
        assert other == options
