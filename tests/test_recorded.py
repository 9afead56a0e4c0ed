"""What is shown of generated conversations: byte for byte as when it was recorded.

Where a change is meant to show, `python bench/golden.py record tests/recorded.json --quick` records
it, and the commit says why.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "bench"))

from golden import digest_all, find_conversations, find_differences

RECORDED = json.loads(Path(__file__).with_name("recorded.json").read_text("utf-8"))
CONVERSATIONS = dict(find_conversations(None, is_quick=True))


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_it_is_shown_as_it_was_recorded(name: str) -> None:
    now = digest_all((name, CONVERSATIONS[name]))
    assert find_differences({case: RECORDED[case] for case in now}, now) == []


def test_nothing_else_is_recorded() -> None:
    assert {case.rpartition(": ")[0] for case in RECORDED} == CONVERSATIONS.keys()
