"""The golden bench: the same sources give the same digests, and a changed byte has a name."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "bench"))

from generate import generate_messages
from golden import GENERATED, WAYS, digest_all, find_conversations, find_differences, main

TALK = ("talk", generate_messages(14, seed=3))


def test_every_way_has_a_digest_of_its_own_that_comes_again() -> None:
    digests = digest_all(TALK)
    assert len(digests) == len(WAYS) == 12
    assert digest_all(TALK) == digests


def test_a_changed_byte_shows_and_says_where() -> None:
    name, messages = TALK
    other = [*messages[:-1], {**messages[-1], "content": "Something else."}]
    before, now = digest_all(TALK), digest_all((name, other))
    assert find_differences(before, now) == list(before)
    assert find_differences(before, before) == []
    assert find_differences(before, {}) == list(before)


@pytest.mark.campaign
def test_what_was_recorded_is_compared(tmp_path: Path) -> None:
    file = tmp_path / "golden.json"
    few = [str(file), "--most", "2", "--workers", "1"]
    assert main(["record", *few]) == 0
    assert main(["compare", *few]) == 0
    digests = json.loads(file.read_text())
    digests["generated 0: lossless"] = "another"
    file.write_text(json.dumps(digests))
    assert main(["compare", *few]) == 1


def test_the_quick_subset_is_part_of_the_whole() -> None:
    whole = dict(find_conversations(None, is_quick=False))
    quick = dict(find_conversations(None, is_quick=True))
    assert len(whole) > GENERATED > len(quick)
    assert quick.items() <= whole.items()
