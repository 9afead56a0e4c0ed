"""What is shown for a budget: the budget is kept, errors come first, nothing is invented."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refold import compress
from refold.codecs import TABLE
from refold.lazy import Lazy
from refold.messages.folds import Fold, Plan
from refold.plan.calls import spell_call, subject_of
from refold.plan.conversation import Conversation as Reading
from refold.plan.conversation import item_relevance
from refold.plan.recode import recode
from refold.plan.relevance import learned_weights
from refold.plan.selection import Selection
from tests.conversations import Conversation
from tests.plan.runs import (
    call,
    check_log,
    counted,
    is_cut,
    read,
    runs,
    shown_lines,
    source_code,
    untouchable,
    what_happens,
)

quick = settings(max_examples=15)
targets = st.sampled_from((0, 20, 60, 150, 400, 1_500))


def select(messages: Conversation, target: int, **chosen: Any) -> Plan:
    loaded, tokens = read(messages), counted()
    kept = untouchable(messages, **chosen)
    recoded = recode(loaded, kept, tokens, TABLE.in_parts)
    shorter = {key: made.text for key, made in recoded.items()}
    conversation = Reading(loaded, tokens, ("system", "developer"), shorter)
    return Selection(
        conversation,
        tokens,
        target=target,
        limit=target,
        untouchable=kept,
        relevance=Lazy(lambda: item_relevance(conversation, learned_weights(), target)),
    ).make()


def cost(plan: Sequence[Fold]) -> int:
    return sum(map(counted().fold, plan))


def shown(plan: Sequence[Fold]) -> str:
    return "\n".join(text for fold in plan for text in fold.texts_after)


@quick
@given(runs(), targets)
def test_the_folds_tile_the_conversation(messages: Conversation, target: int) -> None:
    plan = select(messages, target)
    assert [m.index for fold in plan for m in fold.sources] == list(range(len(messages)))
    for fold in plan:
        assert len(fold.outcomes) == len(fold.sources)


@quick
@given(runs(), targets)
def test_nothing_is_chosen_that_does_not_fit(messages: Conversation, target: int) -> None:
    plan = select(messages, target)
    if cost(plan) > target:
        cut = [text for fold in plan for text in fold.texts.values()]
        assert all(map(is_cut, cut))
        assert not any(map(shown_lines, cut))


@quick
@given(runs(), targets)
def test_every_line_that_is_shown_was_said(messages: Conversation, target: int) -> None:
    loaded, tokens = read(messages), counted()
    made = recode(loaded, {}, tokens, TABLE.in_parts)
    for fold in select(messages, target):
        indices = {message.index for message in fold.sources}
        said = [part.text for message in fold.sources for part in message.parts]
        said += [spell_call(call) for message in fold.sources for call in message.calls]
        said += [one.text for (index, _), one in made.items() if index in indices]
        own = [call for message in loaded for call in message.calls]
        calls = (name for call in own for name in (f"{call.name} {subject_of(call)}", call.name))
        roles = tuple(f"{name}:" for name in ("user", "assistant", "tool", *calls))
        for text in fold.texts.values():
            for line in shown_lines(text):
                bare = next((line.removeprefix(r) for r in roles if line.startswith(r)), line)
                bare = bare.removesuffix(" (failed)")
                assert any(bare.strip() in one or line in one for one in said), line


@pytest.mark.parametrize("share", [0.5, 0.3, 0.1, 0.05])
def test_a_failing_test_among_ten_thousand_survives(share: float) -> None:
    failing = "tests/test_q.py::test_pull_is_fair"
    messages: Conversation = [
        {"role": "user", "content": "Run the tests."},
        *call(1, "run_tests", {}, check_log(10_000, failing)),
        *call(2, "read_file", {"path": "src/a.py"}, source_code(1, 400)),
        {"role": "user", "content": "What failed?"},
    ]
    plan = select(messages, int(share * cost(select(messages, 10**9))))
    assert f"{failing} FAILED" in shown(plan)


@pytest.mark.parametrize("target", [45, 60, 100, 200])
def test_an_error_is_shown_even_if_nothing_else_fits(target: int) -> None:
    """Errors are chosen before all else, and must not be forgotten when nothing is added."""
    trouble = "ERROR disk full on node-17 at /var/data"
    messages: Conversation = [
        {"role": "user", "content": "Go on."},
        *call(1, "run", {}, f"{'filler ' * 900}\n{trouble}\n{'padding ' * 900}"),
        {"role": "user", "content": "And?"},
    ]
    assert trouble in shown(select(messages, target))


@pytest.mark.parametrize("target", range(90, 150, 6))
def test_errors_are_not_forgotten_when_there_is_no_room_for_anything_else(target: int) -> None:
    names = " ".join(f"n{k}" for k in range(40))
    log = "\n".join(f"ERROR {n} lost {names.replace('n', f'{n}')}" for n in range(20))
    messages: Conversation = [
        {"role": "user", "content": "Go on."},
        *call(1, "run", {}, log),
        {"role": "user", "content": "And?"},
    ]
    assert "ERROR" in shown(select(messages, target))


def test_errors_alone_fill_what_they_may() -> None:
    log = "\n".join(f"ERROR worker {n} lost db-{n}.internal after {n * 17} ms" for n in range(80))
    messages: Conversation = [
        {"role": "user", "content": "Go on."},
        *call(1, "run", {}, log),
        {"role": "user", "content": "And?"},
    ]
    plan = select(messages, 200)
    assert 120 <= cost(plan) <= 200
    assert shown(plan).count("ERROR") >= 10


def test_a_read_that_is_out_of_date_goes_before_others() -> None:
    def lines_left(written: str, answer: str) -> tuple[int, int]:
        messages: Conversation = [{"role": "user", "content": "Fix the queues."}]
        for n, path in enumerate(("src/one.py", "src/two.py")):
            messages += call(n, "read_file", {"path": path}, source_code(n + 1, 80))
        messages += call(7, "write_file", {"path": written}, answer)
        messages.append({"role": "user", "content": "Go on."})
        text = shown(select(messages, 150))
        return text.count("def step_1_"), text.count("def step_2_")

    first_written, second_written = lines_left("src/one.py", "ok"), lines_left("src/two.py", "ok")
    assert first_written[0] < second_written[0]
    assert second_written[1] < first_written[1]
    failed = lines_left("src/two.py", "error: disk full")
    assert failed[1] > second_written[1]


def test_what_is_shown_anyway_is_not_paid_for_again() -> None:
    fact = "The invoice INV-20931 of Harbour Lights Ltd was paid on 2026-03-14 by Maria Lopez."
    other = "The licence LIC-77120 of Northern Ferries was renewed on 2026-05-02 by Jan Novak."
    filler = "\n".join(f"row {n} is quite unremarkable and of no use at all" for n in range(60))
    messages: Conversation = [
        {"role": "user", "content": f"I know that already: {fact}"},
        *call(1, "search", {}, f"{fact}\n{filler}\n{other}"),
        {"role": "user", "content": "Go on."},
    ]
    text = shown(select(messages, 90))
    assert "LIC-77120" in text
    assert text.count("INV-20931") == 1


def test_the_same_conversation_gives_the_same_plan() -> None:
    messages: Conversation = [{"role": "user", "content": "Fix the queues."}]
    for n in range(12):
        messages += call(n, "read_file", {"path": f"src/m{n}.py"}, source_code(n % 5))
    assert what_happens(select(messages, 300)) == what_happens(select(messages, 300))


def test_an_error_that_came_again_and_again_leaves_room_for_the_rest() -> None:
    trouble = "ERROR disk full on node-17 at /var/data"
    log = "\n".join(f"step {n} done" for n in range(200))
    messages: Conversation = [
        {"role": "user", "content": "Go on."},
        *(wire for n in range(20) for wire in call(n, "run", {"try": n}, f"{log}\n{trouble}")),
        {"role": "user", "content": "And?"},
    ]
    assert 1 <= shown(select(messages, 180)).count(trouble) <= 2


def with_errors(words: Sequence[str]) -> Conversation:
    log = "\n".join(
        f"step {n} is done\n" * (n % 3 > 0) + f"Error: the drawer of {word} is stuck"
        for n, word in enumerate(words)
    )
    return [
        {"role": "user", "content": "Go on."},
        *call(1, "read_file", {"path": "src/a.py"}, source_code(1, 400)),
        *call(2, "run", {}, log),
        {"role": "user", "content": "And?"},
    ]


WORDS = ["".join(word) + "xyz" for word in product("abcde", repeat=3)]


def test_all_errors_are_shown_if_the_budget_allows_it() -> None:
    text = shown(select(with_errors(WORDS), 1_800))
    assert all(f"the drawer of {word} is stuck" in text for word in WORDS)
    assert "left out" not in text


@pytest.mark.parametrize("target", [90, 200, 500])
def test_errors_that_do_not_fit_are_counted_in_the_head(target: int) -> None:
    messages = with_errors(WORDS[:90])
    plan = select(messages, target)
    text = shown(plan)
    (left_out,) = map(int, re.findall(r", (\d+) errors left out #\w+\]\n", text))
    assert left_out == 90 - text.count("is stuck")
    assert cost(plan) <= target


def test_an_error_that_differs_in_numbers_alone_is_shown_with_a_count() -> None:
    log = "\n".join(f"step {n} is done\nError: drawer {n} is stuck" for n in range(40))
    messages: Conversation = [
        {"role": "user", "content": "Go on."},
        *call(1, "run", {}, log),
        {"role": "user", "content": "And?"},
    ]
    text = shown(select(messages, 60))
    assert "Error: drawer 0 is stuck ×40" in text
    assert "left out" not in text


def after_tests(output: str) -> Conversation:
    return [
        {"role": "user", "content": "Run the tests."},
        *call(1, "run_tests", {}, output),
        {"role": "user", "content": "What failed?"},
    ]


MAVEN = """[INFO] Scanning for projects...
[ERROR] com.example.QueueTest.pulls -- Time elapsed: 0.1 s <<< ERROR!
java.lang.IllegalStateException: the pool is closed since 12:04
[ERROR] com.example.QueueTest.pushes -- Time elapsed: 0.1 s <<< ERROR!
[INFO] Results:
[ERROR] Tests run: 5, Failures: 0, Errors: 2, Skipped: 0
[INFO] BUILD FAILURE
[ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:3.5.2:test (default) \
on project app: There are test failures, see the reports of each test for what went wrong in it
"""


def test_why_tests_failed_comes_before_the_tool_saying_that_they_did() -> None:
    text = shown(select(after_tests(MAVEN), 62))
    assert "the pool is closed" in text
    assert "QueueTest.pulls" in text
    assert "Failed to execute goal" not in text


PYTEST = """=================================== FAILURES ===================================
__________________________________ test_pull ___________________________________
>       assert queue.pull() == expected_after_all_the_waiting(queue, 17)
E       PoolClosedError: the pool was closed at noon
E         Expected a job from the queue that was filled by the fixture above it
E         Received nothing at all from the queue that was closed by the fixture
=========================== short test summary info ============================
FAILED tests/test_queue.py::test_pull
========================= 1 failed, 59 passed in 8.37s =========================
"""


def test_the_error_that_ended_a_test_comes_before_its_details() -> None:
    text = shown(select(after_tests(PYTEST), 48))
    assert "FAILED tests/test_queue.py::test_pull" in text
    assert "PoolClosedError" in text
    assert "Received nothing" not in text


def test_a_stretch_that_costs_no_more_as_it_is_stays_as_it_is() -> None:
    """A mark is paid for by leaving something out; if next to nothing is, it is not worth it."""
    messages: Conversation = [
        {"role": "user", "content": "When does the ferry leave?"},
        {
            "role": "assistant",
            "content": "The harbour office opens at nine, the ferry leaves. " * 3,
        },
    ]
    for target in range(20, 60):
        for fold in select(messages, target):
            if fold.texts:
                assert counted().fold(fold) < sum(map(counted().message, fold.sources))


@pytest.mark.parametrize("budget", range(20, 120, 3))
def test_what_was_said_last_leaves_room_for_the_mark_of_the_rest(budget: int) -> None:
    said = (
        "你好，请帮我找一家便宜的酒店。",
        "推荐您去港口酒店，评分很高。",
        "电话是多少？",
        "有人接。",
    )
    messages: Conversation = [
        {"role": ("user", "assistant")[n % 2], "content": said[n % 4] * (1 + n % 3)}
        for n in range(12)
    ]
    result = compress(
        messages, profile="standard", token_budget=budget, model="gpt-4o", conversation="hotel"
    )
    assert result.tokens_after <= budget


HITS = "".join(
    f"src/shop/till_{file}.py:{number}:    def open_{file}_{number}(drawer, coin_{number}):\n"
    for file in range(8)
    for number in range(11, 80, 9)
)
PEOPLE = json.dumps(
    [{"id": n * 7919, "name": f"Person {n}", "town": f"Town {n * 31}"} for n in range(80)], indent=2
)


@pytest.mark.parametrize("target", [200, 400, 800])
def test_a_hit_stands_below_the_file_it_is_in(target: int) -> None:
    messages = [
        {"role": "user", "content": "Find the tills."},
        *call(1, "bash", {"command": "grep -rn open src"}, HITS),
        *call(2, "read_file", {"path": "src/a.py"}, source_code(2)),
    ]
    path = ""
    hits = re.findall(r"(src\S+?)?:\d+: .*open_(\d)_", shown(select(messages, target)))
    assert hits
    for named, file in hits:
        path = named or path
        assert path == f"src/shop/till_{file}.py"


@pytest.mark.parametrize("target", [350, 400, 500, 600])
def test_what_a_digest_shows_of_a_result_names_the_call(target: int) -> None:
    def drawers(till: int) -> str:
        return "".join(f"drawer {till}.{n} holds EUR{n * 7919 + till}\n" for n in range(9))

    views = (call(till, "view", {"till": f"no. {till}"}, drawers(till)) for till in range(24))
    messages: Conversation = [
        {"role": "user", "content": "Look into all the tills."},
        *(wire for view in views for wire in view),
        {"role": "assistant", "content": "I have seen them all."},
        {"role": "user", "content": "Where are EUR7922, EUR15844, EUR7928 and EUR15851?"},
    ]
    brought = re.findall(r"(?m)^view (.*?): drawer (\d+)", shown(select(messages, target)))
    assert all(named == f"no. {till}" for named, till in brought)
    assert brought


@pytest.mark.parametrize("target", [200, 400, 800])
def test_a_row_stands_below_the_names_of_its_cells(target: int) -> None:
    messages = [
        {"role": "user", "content": "Find the people."},
        *call(1, "list_people", {}, PEOPLE),
        *call(2, "read_file", {"path": "src/a.py"}, source_code(2)),
    ]
    text = shown(select(messages, target))
    assert re.search(r"\d\|Person \d", text)
    assert text.index("rows of id|name|town:") < text.index("|Person ")


@pytest.mark.parametrize("spelled", [json.dumps, lambda jobs: "\n".join(map(json.dumps, jobs))])
def test_a_row_that_tells_of_an_error_is_kept_as_a_line_would_be(
    spelled: Callable[[list[dict[str, Any]]], str],
) -> None:
    jobs = [
        {"job": f"letters to harbour {n}", "status": "done", "took": n * 7 % 83, "by": f"clerk {n}"}
        for n in range(120)
    ]
    jobs[71]["status"] = "failed"
    messages = [
        {"role": "user", "content": "Look at the jobs."},
        *call(1, "list_jobs", {}, spelled(jobs)),
        *call(2, "read_file", {"path": "src/a.py"}, source_code(2)),
    ]
    text = shown(select(messages, 250))
    assert "rows of " in text
    assert "letters to harbour 71|failed|" in text


def test_output_in_the_users_role_keeps_that_role_between_turns_that_keep_their_places() -> None:
    messages = [{"role": "user", "content": "Solve the puzzle in chall.py and tell me the flag."}]
    for n in range(8):
        said = f"Let me look at part {n} of it.\n```\nopen part{n}.py\n```"
        messages.append({"role": "assistant", "content": said})
        lines = "\n".join(f"{i}:value_{n}_{i} = compute({i}, {n})" for i in range(40))
        shown = f"[File: part{n}.py (40 lines total)]\n{lines}\nbash-$"
        messages.append({"role": "user", "content": shown})
    view = compress(messages, token_budget=500, model="gpt-4o").messages
    roles = [message["role"] for message in view[1:]]
    assert roles[-8:] == ["assistant", "user"] * 4
