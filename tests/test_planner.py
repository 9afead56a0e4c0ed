"""Which rungs are climbed, and what may never be touched on them."""

from __future__ import annotations

import json
import re
from typing import Any, get_args

import pytest

from refold.messages.folds import Plan
from refold.options import Options, PreservePattern, Profile
from refold.planner import Fitter, Planner
from refold.result import BudgetReport
from refold.text_cache import TextCache
from tests.conversations import Conversation
from tests.plan.runs import call, counted, read, shown_lines, source_code

RECORDS = json.dumps([{"id": n, "name": f"row {n}", "ok": True} for n in range(40)], indent=2)


@pytest.mark.parametrize("profile", get_args(Profile))
def test_every_profile_keeps_what_fits_already(profile: Profile) -> None:
    messages, text_cache = read(work(2)), TextCache(counted())
    options = Options(profile=profile, token_budget=10_000)
    plan, report = Fitter(messages, options, text_cache).fit(10_000, 10_000)
    assert [fold.sources for fold in plan] == [(message,) for message in messages]
    assert report.rungs == ()


def work(steps: int) -> Conversation:
    messages: Conversation = [{"role": "user", "content": "Fix the queue."}]
    for n in range(steps):
        messages += call(n, "read_file", {"path": f"src/mod{n}.py"}, source_code(n))
    return messages


def make(
    messages: Conversation, target: int | None, **chosen: Any
) -> tuple[Plan, BudgetReport | None]:
    options = Options(**{"profile": "standard", "token_budget": target, **chosen})
    text_cache = TextCache(counted())
    if target is None:
        return Planner(options, len, None).plan(read(messages), text_cache, options)
    return Fitter(read(messages), options, text_cache).fit(target, target)


def rungs(messages: Conversation, target: int, **chosen: Any) -> tuple[str, ...]:
    report = make(messages, target, **chosen)[1]
    assert report is not None
    return report.rungs


def test_enough_room_changes_nothing() -> None:
    plan, report = make(work(3), 10_000)
    assert all(fold.is_kept for fold in plan)
    assert report is not None
    assert report.rungs == ()
    assert report.fits


def test_lossless_comes_first_and_is_enough_if_it_fits() -> None:
    messages = [*work(0), *call(1, "list", {}, RECORDS), {"role": "user", "content": "And?"}]
    before = sum(map(counted().message, read(messages)))
    assert rungs(messages, before - 5) == ("lossless",)
    assert rungs(messages, before // 10) == ("lossless", "select")


@pytest.mark.parametrize("room", [1_500, 500])
def test_the_newest_result_is_said_shorter_before_any_of_it_is_left_out(room: int) -> None:
    plan, report = make([*work(20), *call(99, "list", {}, RECORDS)], room)
    assert report is not None
    assert report.rungs == ("lossless", "select")
    assert plan[-1].outcomes[0][0].reason == "recoded:records"
    assert "row 39" in plan[-1].texts.get(0, RECORDS)


def test_a_part_is_never_shown_of_what_only_the_whole_explains() -> None:
    """Rows of a template mean nothing without its heading, which a part may not show."""
    lines = [f"2026-03-01 12:00:{n % 60:02} render took {n * 7} ms for page {n}" for n in range(80)]
    messages = [*work(0), *call(1, "run", {}, "\n".join(lines)), {"role": "user", "content": "?"}]
    before = sum(map(counted().message, read(messages)))
    whole, report = make(messages, before * 3 // 4)
    assert report is not None
    assert report.rungs == ("lossless",)
    assert [fold.outcomes[0][0].reason for fold in whole][2] == "recoded:log_templates"
    part, report = make(messages, before // 4)
    assert report is not None
    assert report.rungs == ("lossless", "select")
    shown = [line for fold in part for text in fold.texts.values() for line in shown_lines(text)]
    assert shown
    assert all(any(line.endswith(said) for said in lines) for line in shown if "took" in line)
    assert not any("|" in line for line in shown)


@pytest.mark.parametrize("chosen", [{"profile": "lossless"}, {"force_converge": False}])
def test_without_leave_nothing_is_selected(chosen: dict[str, Any]) -> None:
    plan, report = make(work(6), 50, **chosen)
    assert report is not None
    assert report.rungs == ("lossless",)
    assert not report.fits
    assert report.obstacles
    assert {o.action for fold in plan for row in fold.outcomes for o in row} <= {
        "preserved",
        "recoded",
    }


@pytest.mark.parametrize("profile", ["standard", "lossless"])
def test_without_a_budget_everything_is_said_shorter(profile: Profile) -> None:
    messages = [*work(0), *call(1, "list", {}, RECORDS), *work(3)[1:]]
    plan, _ = make(messages, None, profile=profile)
    assert not plan[2].is_kept


def test_without_a_budget_the_latest_messages_and_the_pinned_stay() -> None:
    messages = [step for n in range(4) for step in call(n, "list", {}, RECORDS + " " * n)]
    plan, _ = make(
        messages,
        None,
        profile="lossless",
        recency_window=2,
        preserve_patterns=[PreservePattern(label="last", pattern=re.compile(r"\] \Z"))],
    )
    assert [fold.is_kept for fold in plan] == [True, False, True, True, True, False, True, True]
    assert plan[3].outcomes[0][0].reason == "pattern:last"
    assert plan[7].outcomes[0][0].reason == "recency_window"


def test_the_least_window_wins_over_a_question_that_may_yield() -> None:
    messages = [*work(4), {"role": "user", "content": "why " * 298}]
    plan, _ = make(messages, 300)
    assert not plan[-1].is_kept
    plan, report = make(messages, 300, min_recency_window=1)
    assert plan[-1].is_kept
    assert report is not None
    assert [o.reason for o in report.obstacles[:1]] == ["min_recency_window"]


def test_a_fold_that_costs_more_than_it_saves_is_not_used() -> None:
    """Whatever the counter makes of our marks, nothing gets longer."""

    def hates_marks(text: str) -> int:
        return len(text.split()) + 1_000 * text.startswith("[")

    messages = work(5)
    options = Options(profile="standard", token_budget=100, counter=hates_marks)
    tokens = TextCache(counted()).tokens
    tokens = type(tokens)(hates_marks, hates_marks)
    plan, _ = Fitter(read(messages), options, TextCache(tokens)).fit(100, 100)
    assert sum(map(tokens.fold, plan)) <= sum(map(tokens.message, read(messages)))


def test_a_counter_that_charges_for_nothing_does_no_harm() -> None:
    messages: Conversation = [
        {"role": "user", "content": "Go on."},
        {"role": "assistant", "content": ""},
        *call(1, "run", {}, ""),
        *call(2, "read", {}, source_code(1)),
    ]
    charge = type(counted())(lambda text: 20 + len(text), len)
    options = Options(profile="standard", token_budget=400)
    plan, _ = Fitter(read(messages), options, TextCache(charge)).fit(400, 400)
    assert [m.index for fold in plan for m in fold.sources] == list(range(len(messages)))
