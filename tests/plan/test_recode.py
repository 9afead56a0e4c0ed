"""Everything is said shorter and nothing is lost: each text decodes, each reference leads there."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings

from refold.codecs import Reencoded, decode, normal
from refold.codecs.rereads import apply_changes
from refold.messages.folds import Fold
from refold.messages.message import Message
from refold.plan.recode import cost_lossless, plan_lossless, recode
from tests.conversations import Conversation
from tests.plan.runs import (
    anthropic_call,
    call,
    counted,
    read,
    runs,
    source_code,
)

quick = settings(max_examples=15)
CODE = source_code(1)
CHANGED = CODE.replace("queue_3.pull", "queue_3.push")
RECORDS = json.dumps([{"id": n, "name": f"row {n}", "ok": True} for n in range(30)], indent=2)


def fold_all(messages: Conversation, **choices: Any) -> list[Fold]:
    loaded = read(messages)
    recoded = recode(loaded, choices.get("whole", {}), counted())
    return list(
        plan_lossless(loaded, choices.get("whole", {}), recoded, counted(), **_rest(choices))
    )


def _rest(choices: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in choices.items() if key != "whole"}


def body_of(shown: str) -> str:
    head, _, body = shown.partition("\n")
    assert head.startswith("[reformatted #")
    return body


def assert_readable(plan: list[Fold], hidden: frozenset[int] = frozenset()) -> None:
    """Every text that is not shown as it was can be had from what is shown before it."""
    readable: list[tuple[Message, str]] = []
    for fold in plan:
        message = fold.sources[0]
        for number, (part, shown) in enumerate(zip(message.parts, fold.texts_after, strict=True)):
            outcome = fold.outcomes[0][number]
            action, reason = outcome.action, outcome.reason
            if reason == "same_read":
                assert shown.startswith("[same as the ")
                assert any(text == part.text for _, text in readable)
            elif reason == "changed_read":
                diff = body_of(shown)
                assert any(_applies(diff, text, part.text) for _, text in readable)
            elif action == "recoded":
                by = tuple(reason.removeprefix("recoded:").split(","))
                assert decode(Reencoded(body_of(shown), by)) == normal(part.text)
            else:
                assert shown == part.text
            if reason not in ("same_read", "changed_read") and message.index not in hidden:
                readable.append((message, part.text))


def _applies(diff: str, earlier: str, text: str) -> bool:
    try:
        return apply_changes(diff, earlier) == text
    except Exception:  # noqa: BLE001 - the wrong one of several candidates
        return False


@quick
@given(runs())
def test_everything_can_be_read(messages: Conversation) -> None:
    plan = fold_all(messages)
    assert [fold.sources[0].index for fold in plan] == list(range(len(messages)))
    assert_readable(plan)


@quick
@given(runs())
def test_nothing_costs_more_and_only_results_change(messages: Conversation) -> None:
    tokens = counted()
    for fold in fold_all(messages):
        message = fold.sources[0]
        assert tokens.fold(fold) <= tokens.message(message)
        for number, text in fold.texts.items():
            assert message.is_result(message.parts[number])
            assert len(text) < len(message.parts[number].text)


def test_results_and_calls_are_said_shorter_but_no_words_of_people() -> None:
    messages: Conversation = [
        {"role": "user", "content": RECORDS},
        *call(1, "list", json.loads(RECORDS), RECORDS),
        {"role": "assistant", "content": RECORDS},
    ]
    found = recode(read(messages), {}, counted())
    assert (2, 0) in found
    assert set(found) == {(2, 0)}
    assert recode(read(messages), {1: "", 2: ""}, counted()) == {}


def test_an_unchanged_read_refers_to_the_earlier_one() -> None:
    look = {"path": "a.py"}
    plan = fold_all([*call(1, "read", look, CODE), *call(2, "read", look, CODE)])
    assert plan[1].outcomes[0][0].reason != "same_read"
    assert plan[3].outcomes[0][0].reason == "same_read"
    assert plan[3].texts[0].startswith("[same as the result of read path=a.py above #")
    assert_readable(plan)


def test_half_a_call_names_nothing() -> None:
    look = {"path": "a.py", "why": "to see what is in it, " * 8}
    plan = fold_all([*call(1, "read", look, CODE), *call(2, "read", look, CODE)])
    assert plan[3].texts[0].startswith("[same as the copy above #")


def test_a_changed_read_shows_what_has_changed() -> None:
    look = {"path": "a.py"}
    plan = fold_all([*call(1, "read", look, CODE), *call(2, "read", look, CHANGED)])
    assert plan[3].outcomes[0][0].reason == "changed_read"
    shown = plan[3].texts[0]
    assert "+     return queue_3.push(1003)" in shown
    assert "queue_7" not in shown
    assert apply_changes(body_of(shown), CODE) == CHANGED


def test_changes_are_against_a_read_that_stands_there_whole() -> None:
    look = {"path": "a.py"}
    third = CHANGED.replace("queue_5.pull", "queue_5.peek")
    plan = fold_all(
        [
            step
            for n, text in enumerate((CODE, CHANGED, third))
            for step in call(n, "read", look, text)
        ]
    )
    assert [fold.outcomes[0][0].reason for fold in plan[3::2]] == ["changed_read"] * 2
    assert apply_changes(body_of(plan[5].texts[0]), CODE) == third


def test_another_file_is_not_a_changed_read() -> None:
    plan = fold_all(
        [*call(1, "read", {"path": "a.py"}, CODE), *call(2, "read", {"path": "b.py"}, CHANGED)]
    )
    assert plan[3].outcomes[0][0].reason != "changed_read"


def test_short_answers_are_not_worth_a_reference() -> None:
    plan = fold_all([*call(1, "ls", {}, "a.py b.py"), *call(2, "ls", {}, "a.py b.py")])
    assert all(fold.is_kept for fold in plan)


def test_nothing_refers_to_what_is_hidden() -> None:
    look = {"path": "a.py"}
    messages = [step for n in range(3) for step in call(n, "read", look, CODE)]
    plan = fold_all(messages, hidden=frozenset({1}))
    assert plan[3].outcomes[0][0].reason != "same_read"
    assert plan[5].outcomes[0][0].reason == "same_read"
    assert_readable(plan[2:])
    changed = [*call(0, "read", look, CODE), *call(1, "read", look, CHANGED)]
    plan = fold_all(changed, hidden=frozenset({1}))
    assert plan[3].outcomes[0][0].reason != "changed_read"


def test_what_stays_whole_is_kept_for_its_reason_and_can_be_referred_to() -> None:
    look = {"path": "a.py"}
    messages = [step for n in range(3) for step in call(n, "read", look, CODE)]
    plan = fold_all(messages, whole={1: "open_tool_call", 5: "recency_window"})
    assert plan[1].is_kept
    assert plan[1].outcomes[0][0].reason == "open_tool_call"
    assert plan[3].outcomes[0][0].reason == "same_read"
    assert plan[5].is_kept


def test_every_part_of_a_result_is_seen() -> None:
    steps = anthropic_call(1, "list", {}, "")
    parts = [
        {"type": "text", "text": RECORDS},
        {"type": "text", "text": RECORDS.replace("row", "line")},
    ]
    steps[1]["content"][0]["content"] = parts
    plan = fold_all(steps)
    assert set(plan[1].texts) == {0, 1}
    assert_readable(plan)


def test_thinking_before_a_call_does_not_hide_a_changed_read() -> None:
    thinking = {"type": "thinking", "thinking": "Let me see.", "signature": "c2ln"}
    messages: Conversation = []
    for n, text in enumerate((CODE, CHANGED)):
        messages += anthropic_call(n, "read", {"path": "a.py"}, text)
        messages[-2]["content"].insert(0, {**thinking, "thinking": f"Look number {n}."})
    assert fold_all(messages)[3].outcomes[0][0].reason == "changed_read"


@quick
@given(runs())
def test_the_price_of_a_plan_is_known_without_it(messages: Conversation) -> None:
    loaded, tokens = read(messages), counted()
    whole = {loaded[-1].index: "newest"}
    recoded = recode(loaded, whole, tokens)
    plan = plan_lossless(loaded, whole, recoded, tokens)
    assert cost_lossless(loaded, whole, recoded, tokens) == sum(map(tokens.fold, plan))
