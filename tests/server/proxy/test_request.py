"""Marks of the cache are no part of a message, nor is the block that a text needs to carry one."""

from __future__ import annotations

from typing import Any

import pytest

from refold.server.proxy.request import without_marks

MARK = {"cache_control": {"type": "ephemeral"}}
TEXT = {"type": "text", "text": "read the logs"}
RESULT = {"type": "tool_result", "tool_use_id": "t", "content": "fine"}


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ([{**TEXT, **MARK}], "read the logs"),  # Claude Code, with reminders in the system's name
        ([{**TEXT, **MARK}], [TEXT]),
        ([TEXT, {**TEXT, **MARK}], [TEXT, TEXT]),
        ([{**RESULT, **MARK}], [RESULT]),
    ],
)
def test_a_mark_that_has_moved_on_makes_no_difference(marked: Any, plain: Any) -> None:
    with_mark, without = ({"role": "system", "content": content} for content in (marked, plain))
    assert without_marks([with_mark]) == without_marks([without])


def test_blocks_that_say_more_than_their_text_stay() -> None:
    cited = {"role": "user", "content": [{**TEXT, "citations": []}]}
    assert without_marks([cited]) == [cited]
