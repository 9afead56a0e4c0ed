"""A task that is too long to stay whole still says what it is about and what it forbids."""

from __future__ import annotations

import pytest

from refold import compress
from tests.conversations import Conversation
from tests.planner.runs import call, source_code

TITLE = "Lanterns go out when the harbour clock strikes."
BAN = "Please do not modify the tests of the harbour, and keep the clock as it is."
TRACE = "\n".join(f'  File "lib/clock_{n}.py", line {n}, in strike_{n}' for n in range(60))
FACTS = " ".join(f"The lantern number {n} stands beside a quay of granite." for n in range(90))


def run(task: str) -> Conversation:
    reads = [
        message
        for n in range(6)
        for message in call(n, "read_file", {"path": f"src/m{n}.py"}, source_code(n, 60))
    ]
    return [{"role": "user", "content": task}, *reads, {"role": "user", "content": "Go on."}]


@pytest.mark.parametrize("budget", [600, 900])
def test_an_excerpt_of_the_task_has_its_title_and_what_it_forbids(budget: int) -> None:
    task = f"{TITLE}\n\n{FACTS}\n\n```\n{TRACE}\n```\n\n{FACTS}\n\n{BAN}\n\n{FACTS}"
    view = compress(run(task), token_budget=budget, model="gpt-4o").messages
    shown = view[0]["content"]
    assert shown != task
    assert TITLE in shown
    assert BAN in shown
