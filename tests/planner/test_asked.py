"""What is asked about is found among the pieces, and the question itself is no evidence."""

from __future__ import annotations

import pytest

from refold import compress
from refold.planner.asked import find_asking
from tests.conversations import Conversation
from tests.planner.runs import call, read

LOG = "\n".join(
    f"2026-03-14 10:{n // 60:02}:{n % 60:02} INFO worker-{n % 7} job {70_000 + 37 * n} took {n} ms"
    for n in range(400)
)
LINE = LOG.split("\n")[211]
JOB = LINE.split("job ")[1].split()[0]


def run(question: Conversation) -> Conversation:
    return [
        {"role": "user", "content": "Look at the log of last night."},
        *call(1, "read_log", {"name": "worker.log"}, LOG),
        {"role": "assistant", "content": "I have read it."},
        *question,
    ]


ASKED: dict[str, Conversation] = {
    "user": [{"role": "user", "content": f"How long did job {JOB} take?"}],
    "agent": [
        {"role": "assistant", "content": f"Now I look at job {JOB}."},
        {"role": "user", "content": "Go on."},
    ],
    "call": call(9, "explain_job", {"id": JOB}, "")[:1],
}


@pytest.mark.parametrize("share", [0.5, 0.3, 0.15])
@pytest.mark.parametrize("asker", ASKED)
def test_the_line_that_is_asked_about_is_shown(asker: str, share: float) -> None:
    messages = run(ASKED[asker])
    whole = compress(messages, profile="lossless").compression.tokens_before
    result = compress(messages, profile="standard", token_budget=int(share * whole))
    took = LINE.rsplit(" took ", 1)[1]
    shown = [line for m in result.messages for line in str(m.get("content")).split("\n")]
    assert any(JOB in line and took.split()[0] in line for line in shown if "How long" not in line)


def test_the_last_words_and_open_calls_ask() -> None:
    assert find_asking(read(run(ASKED["user"]))) == {3, 4}
    assert find_asking(read(run(ASKED["call"]))) == {0, 4}
