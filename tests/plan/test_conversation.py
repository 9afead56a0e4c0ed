"""What a conversation says is read once; plain talk is told from work."""

from __future__ import annotations

import pytest

from refold.plan.conversation import Conversation as Reading
from refold.plan.conversation import is_talk
from tests.conversations import Conversation
from tests.plan.runs import call, counted, read


def is_read_as_talk(messages: Conversation) -> bool:
    return Reading(read(messages), counted(), ("system",), {}).talk


@pytest.mark.parametrize(
    ("text", "talk"),
    [
        ("", True),
        ("harbour Maria", True),
        ("#W42 src/a.py harbour", False),
        ("数据 酒店 餐馆 199", True),
        ("数据 酒店 src/a.py 199 200", False),
    ],
)
def test_talk_is_told_from_work_by_its_values(text: str, talk: bool) -> None:
    assert is_talk([text]) is talk
    assert is_read_as_talk([{"role": "user", "content": text}]) is talk


def test_who_works_with_tools_does_not_only_talk() -> None:
    question = {"role": "user", "content": "How is the harbour?"}
    assert is_read_as_talk([question])
    assert not is_read_as_talk([question, *call(1, "look", {}, "calm")])


def test_values_count_every_time_they_are_said() -> None:
    assert is_talk(["harbour " * 7 + "src/a.py"])
    assert not is_talk(["harbour " * 7 + "src/a.py " * 2])


def test_what_is_preserved_does_not_count() -> None:
    system = {"role": "system", "content": "#W42 src/a.py 17.5 /etc/hosts"}
    assert is_read_as_talk([system, {"role": "user", "content": "How is the harbour?"}])
