"""What the user said last is there whenever it fits; what is in a budget's way has a name."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold import Result, Session, compress, uncompress
from tests.plan.runs import call, source_code

PICTURE = {"type": "image_url", "image_url": {"url": "https://tide.test/gauge.png"}}
STEPS = [step for n in range(5) for step in call(n, "read", {"n": n}, source_code(n))]
TASK = {"role": "user", "content": "Fix the queue."}


def words(text: str) -> int:
    return len(text.split())


def asked(count: int) -> dict[str, Any]:
    chosen = random.Random(count)
    return {"role": "user", "content": " ".join(f"why{chosen.randrange(99)}" for _ in range(count))}


def fold(messages: list[Any], budget: int, **chosen: Any) -> Result:
    chosen = {"counter": words, **chosen}
    result = compress(messages, profile="standard", token_budget=budget, **chosen)
    assert uncompress(result.messages, result.verbatim).messages == messages
    return result


@pytest.mark.parametrize("count", [10, 100, 290, 300, 340, 347])
def test_the_last_question_is_whole_if_it_fits(count: int) -> None:
    messages = [TASK, *STEPS, asked(count)]
    result = fold(messages, 360)
    assert result.messages[-1] == messages[-1]
    assert result.fits


@pytest.mark.parametrize("count", [150, 200, 230])
def test_also_where_tokens_are_estimated(count: int) -> None:
    messages = [TASK, *STEPS, asked(count)]
    question = compress([messages[-1]]).compression.tokens_before
    result = fold(messages, question + 30, counter=None)
    assert result.messages[-1] == messages[-1]
    assert result.fits


def test_a_question_that_cannot_fit_is_excerpted() -> None:
    result = fold([TASK, *STEPS, asked(900)], 360)
    assert result.fits
    assert result.messages[-1]["role"] == "user"


@given(st.integers(5, 330), st.integers(0, 4), st.integers(20, 400), st.booleans())
def test_however_long_it_is(count: int, steps: int, budget: int, has_rules: bool) -> None:
    rules = [{"role": "system", "content": "Mind the queue."}] * has_rules
    messages = [*rules, TASK, *STEPS[: 2 * steps], asked(count)]
    result = fold(messages, budget)
    whole = count + 4 + 7 * has_rules
    if whole + 2 * 8 <= budget:
        assert result.messages[-1] == messages[-1]
        assert result.fits


@pytest.mark.parametrize(
    "later",
    [
        {"role": "user", "content": ""},
        {"role": "user", "content": " \n"},
        {"role": "user", "name": "ann", "content": ""},
        {"role": "user", "content": []},
        {"role": "user", "content": [{"type": "text", "text": ""}]},
    ],
)
@pytest.mark.parametrize("profile", ["standard", "classic"])
def test_an_empty_message_does_not_take_its_place(later: Any, profile: Any) -> None:
    question = asked(200)
    result = compress(
        [TASK, *STEPS, question, *STEPS, later], profile=profile, token_budget=330, counter=words
    )
    assert question in result.messages


@pytest.mark.parametrize("profile", ["standard", "classic"])
def test_neither_does_a_picture_which_stays_beside_it(profile: Any) -> None:
    question, picture = asked(200), {"role": "user", "content": [PICTURE]}
    messages = [TASK, *STEPS, question, *STEPS, picture]
    for budget in (330, 1_500):
        result = compress(messages, profile=profile, token_budget=budget, counter=words)
        assert result.messages[-1] == picture
        assert question in result.messages
        assert result.fits is (budget > 1_400)
    seen = [TASK, *STEPS, picture, *STEPS, question]
    assert compress(seen, profile=profile, token_budget=330, counter=words).fits


def test_a_session_keeps_it_whole_though_it_lands_lower() -> None:
    session = Session(profile="standard", token_budget=400, counter=words)
    session.extend([TASK, *STEPS])
    session.view()
    session.extend([*STEPS, asked(350)])
    assert session.view()[-1] == asked(350)
    assert session.report.budget is not None
    assert session.report.budget.fits


def test_words_beside_results_are_whole_if_they_fit() -> None:
    said = {"type": "text", "text": asked(200)["content"]}
    use = {"type": "tool_use", "id": "u", "name": "read", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "u", "content": source_code(7)}
    messages = [
        TASK,
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [result, said]},
    ]
    folded = fold(messages, 240)
    assert folded.fits
    assert said in folded.messages[-1]["content"]


@given(
    st.lists(st.sampled_from(("step", "say", "picture", "empty", "ask", "rule")), max_size=8),
    st.integers(0, 900),
    st.sampled_from(("standard", "classic")),
)
def test_what_is_in_the_way_is_named(kinds: list[str], budget: int, profile: Any) -> None:
    made: dict[str, list[Any]] = {
        "step": call(1, "read", {"n": 1}, source_code(1)),
        "say": [{"role": "assistant", "content": source_code(2)}],
        "picture": [{"role": "user", "content": [PICTURE]}],
        "empty": [{"role": "user", "content": ""}],
        "ask": [asked(60)],
        "rule": [{"role": "system", "content": "Mind the queue. " * 10}],
    }
    messages = [message for kind in kinds for message in made[kind]]
    result = compress(messages, profile=profile, token_budget=budget, counter=words)
    report = result.budget
    assert report is not None
    if report.fits:
        assert report.obstacles == ()
        return
    assert report.obstacles
    assert all(obstacle.reason for obstacle in report.obstacles)
    named = sum(obstacle.tokens for obstacle in report.obstacles)
    assert named > budget or named == report.token_count
    shown = [json.dumps(message) for message in result.messages]
    for obstacle in report.obstacles:
        if obstacle.reason in ("first_task", "last_user_message", "preserved_role", "user_turn"):
            assert json.dumps(messages[obstacle.message_index]) in shown


def look(number: int, *more: dict[str, Any]) -> list[dict[str, Any]]:
    """Make a call in Anthropic's shape and its result, with *more* beside the result."""
    use = {"type": "tool_use", "id": f"t{number}", "name": "read", "input": {"n": number}}
    result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": source_code(number)}
    return [
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [result, *more]},
    ]


@pytest.mark.parametrize("budget", [80, 120, 300, 600, 1000])
def test_what_is_asked_beside_a_picture_that_takes_too_much_is_asked_by_the_user(
    budget: int,
) -> None:
    png = {"type": "base64", "media_type": "image/png", "data": "iVBOR" + "A" * 400}
    question = "Which of the queues failed?"
    last = look(3, {"type": "image", "source": png}, {"type": "text", "text": question})
    messages = [TASK, *look(0), *look(1), *look(2), *last]
    result = compress(messages, token_budget=budget)
    assert result.fits
    assert result.messages[-1]["role"] == "user"
    assert question in str(result.messages[-1])
    assert question not in str(result.messages[:-1]), "said once"
    assert uncompress(result.messages, result.verbatim).messages == messages


@pytest.mark.parametrize("budget", range(10, 100, 5))
@pytest.mark.parametrize("conversation", [None, "desk"])
def test_what_cannot_fit_has_the_task_and_the_question(
    budget: int, conversation: str | None
) -> None:
    task = {"role": "user", "content": "Find out why the queue stops. Do not modify the tests."}
    messages = [task, *STEPS, {"role": "user", "content": "What failed?"}]
    result = compress(messages, token_budget=budget, conversation=conversation, counter=words)
    holds_both = result.messages[0] == task and result.messages[-1] == messages[-1]
    assert result.fits or holds_both
    if budget >= 34:
        assert holds_both
