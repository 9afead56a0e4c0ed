"""A task that is too long to stay whole still says what it is about, forbids, and how it ends."""

from __future__ import annotations

from itertools import product

import pytest

from refold import compress
from tests.conversations import Conversation
from tests.plan.runs import call, source_code

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


WORDS = "amber birch cedar delta ember fjord grove heron islet jetty kelp larch".split()
EXAMPLES = "\n\n".join(
    f"Example: please approve at most {n + 3} {first} lamps by May {n + 2}, because "
    f"`{first}_{last}` failed in {last}/{first}.py, and we decided to pay ${n}00 for {last} oil. "
    f"If {first} burns well, you should order {n + 5} more, and the {last} crew will confirm that "
    f"it was delivered on time to the {first} quay, where {n + 7} barrels of {last} oil are "
    "expected before the next ferry."
    for n, (first, last) in enumerate(product(WORDS, WORDS))
)
SUBMIT = "Once all of it burns, please say so: LANTERNS READY."


@pytest.mark.parametrize("budget", [900, 1200])
def test_examples_do_not_hide_how_a_task_ends_and_what_it_forbids(budget: int) -> None:
    ban = "Rules:\n- Change only files below src.\n- Do not modify the tests."
    task = f"{TITLE}\n\n{EXAMPLES}\n\n{ban}\n\n{EXAMPLES}\n\n{SUBMIT}"
    view = compress(run(task), token_budget=budget, model="gpt-4o").messages
    shown = view[0]["content"]
    assert shown != task
    assert TITLE in shown
    assert "Do not modify the tests." in shown
    assert SUBMIT in shown
