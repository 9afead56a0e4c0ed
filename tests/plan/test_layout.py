"""Where each message stands: whole what must be, calls with their results, digests for the old."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refold import compress
from refold.messages.blocks import find_blocks
from refold.plan.layout import Layout, Place, lay_out
from tests.conversations import Conversation
from tests.plan.runs import (
    anthropic_call,
    call,
    counted,
    read,
    runs,
    source_code,
    untouchable,
)

quick = settings(max_examples=15)
targets = st.sampled_from((0, 20, 60, 150, 400, 1_500))


def place(messages: Conversation, target: int, *, talk: bool = False, **chosen: Any) -> Layout:
    kept = untouchable(messages, **chosen)
    return lay_out(read(messages), kept, counted(), target, limit=target, talk=talk)


@quick
@given(runs(), targets, st.booleans())
def test_every_message_has_a_place_and_what_is_whole_a_reason(
    messages: Conversation, target: int, talk: bool
) -> None:
    layout = place(messages, target, talk=talk)
    assert len(layout.places) == len(messages)
    whole = {index for index, at in enumerate(layout.places) if at is Place.WHOLE}
    assert whole == set(layout.reasons)


@quick
@given(runs(), targets, st.booleans())
def test_what_no_budget_may_touch_is_whole(messages: Conversation, target: int, talk: bool) -> None:
    layout = place(messages, target, talk=talk)
    for index, reason in untouchable(messages).items():
        if reason not in ("first_task", "last_user_message"):
            assert layout.places[index] is Place.WHOLE
            assert layout.reasons[index] == reason


@quick
@given(runs(), targets, st.booleans())
def test_a_call_and_its_results_go_into_a_digest_together(
    messages: Conversation, target: int, talk: bool
) -> None:
    layout = place(messages, target, talk=talk)
    loaded = read(messages)
    for block in find_blocks(loaded):
        assert len({layout.places[index] is Place.DIGEST for index in block}) == 1


def work(steps: int) -> Conversation:
    messages: Conversation = [{"role": "user", "content": "Fix the queue."}]
    for n in range(steps):
        messages += call(n, "read_file", {"path": f"src/mod{n}.py"}, source_code(n))
    return messages


def test_recent_steps_stay_in_their_places_and_older_ones_go_into_digests() -> None:
    messages = work(30)
    layout = place(messages, 900)
    kinds = [at.name for at in layout.places]
    assert kinds[0] == "WHOLE"
    border = kinds.index("EXCERPT")
    assert 1 < border < len(messages) - 1
    assert set(kinds[1:border]) == {"DIGEST"}
    assert "DIGEST" not in kinds[border:]


def test_with_more_room_more_steps_stay_in_their_places() -> None:
    messages = work(30)
    in_place = [
        sum(at is not Place.DIGEST for at in place(messages, target).places)
        for target in (100, 300, 900, 2_000)
    ]
    assert in_place == sorted(in_place)
    assert in_place[0] < in_place[-1]


def test_the_newest_step_is_whole_if_it_is_small() -> None:
    messages = [*work(10), *call(99, "ls", {}, "a.py b.py")]
    layout = place(messages, 600)
    assert layout.reasons[len(messages) - 1] == layout.reasons[len(messages) - 2] == "newest"


def test_plain_talk_has_no_structure_worth_keeping() -> None:
    said = "The ferry leaves at nine and the harbour office opens an hour before that. "
    messages: Conversation = [
        {"role": ("user", "assistant")[n % 2], "content": f"{n} {said * 3}"} for n in range(20)
    ]
    messages.append({"role": "user", "content": "When does it leave?"})
    layout = place(messages, 300, talk=True)
    assert set(layout.places[1:-1]) == {Place.DIGEST}


@pytest.mark.parametrize(("target", "is_whole"), [(60, False), (160, True), (300, True)])
def test_plain_talk_goes_on_from_what_was_said_last(target: int, is_whole: bool) -> None:
    messages: Conversation = [
        {"role": ("user", "assistant")[n % 2], "content": "The ferry leaves at nine. " * 12}
        for n in range(10)
    ]
    layout = place(messages, target, talk=True)
    assert (layout.reasons.get(9) == "newest") is is_whole


def test_a_long_last_question_of_plain_talk_keeps_its_place() -> None:
    messages: Conversation = [
        {"role": ("user", "assistant")[n % 2], "content": "The ferry leaves at nine. " * 12}
        for n in range(10)
    ]
    messages.append({"role": "user", "content": "When does the ferry leave the harbour? " * 60})
    layout = place(messages, 200, talk=True)
    assert layout.places[-1] is Place.EXCERPT
    assert set(layout.places[:-1]) == {Place.DIGEST}


def test_how_plain_talk_began_yields_sooner_than_a_task() -> None:
    messages: Conversation = [
        {"role": "user", "content": "The ferry leaves at nine. " * 8},
        *work(5)[1:],
        {"role": "user", "content": "Go on."},
    ]
    assert place(messages, 300).reasons[0] == "first_task"
    assert 0 not in place(messages, 300, talk=True).reasons


@pytest.mark.parametrize(("rules", "is_whole"), [(10, True), (400, False)])
def test_a_task_that_takes_too_much_of_the_budget_yields(rules: int, is_whole: bool) -> None:
    task = "Fix the queue. " + "Mind the rule. " * rules
    messages: Conversation = [
        {"role": "user", "content": task},
        *work(5)[1:],
        {"role": "user", "content": "Go on."},
    ]
    layout = place(messages, 300)
    assert (layout.places[0] is Place.WHOLE) is is_whole
    assert layout.reasons[len(messages) - 1] == "last_user_message"


@pytest.mark.parametrize(("rules", "is_whole"), [(60, True), (400, False)])
def test_a_task_that_is_also_the_last_question_yields_later(rules: int, is_whole: bool) -> None:
    task = "Fix the queue. " + "Mind the rule. " * rules
    layout = place([{"role": "user", "content": task}, *work(5)[1:]], 300)
    assert (layout.places[0] is Place.WHOLE) is is_whole


@pytest.mark.parametrize(("words", "is_whole"), [(150, True), (289, True), (290, False)])
def test_the_last_question_yields_only_if_it_cannot_fit(words: int, is_whole: bool) -> None:
    messages: Conversation = [*work(5), {"role": "user", "content": "why " * words}]
    layout = place(messages, 300)
    assert (layout.places[-1] is Place.WHOLE) is is_whole


@pytest.mark.parametrize("target", [300, 2_500])
def test_a_question_with_a_picture_stays_whole_even_if_it_cannot_fit(target: int) -> None:
    picture = {"type": "image_url", "image_url": {"url": "https://x.test/a.png"}}
    said = {"type": "text", "text": "What is that? " * 20}
    messages: Conversation = [*work(5), {"role": "user", "content": [said, picture]}]
    assert place(messages, target).places[-1] is Place.WHOLE


def test_a_task_yields_when_nothing_is_left_for_a_digest_of_the_rest() -> None:
    messages: Conversation = [
        {"role": "user", "content": "mind " * 40},
        *call(1, "write_file", {"path": "src/a.py"}, "wrote it"),
        *call(2, "run", {}, None),
    ]
    assert place(messages, 63).places[0] is Place.WHOLE
    assert place(messages, 62).places[0] is not Place.WHOLE


def beside_results(said: str) -> Conversation:
    messages: Conversation = [{"role": "user", "content": "Fix the queue."}]
    for n in range(6):
        messages += anthropic_call(n, "read_file", {"path": f"m{n}.py"}, source_code(n))
    messages[4]["content"].append({"type": "text", "text": said})
    messages.append({"role": "assistant", "content": source_code(9)})
    return messages


def test_the_users_last_words_beside_results_stay_where_they_are() -> None:
    layout = place(beside_results("Rename it to zanzibar, please."), 120)
    assert layout.last_words == {(4, 1)}
    assert layout.places[4] is Place.EXCERPT
    assert layout.places[3] is Place.EXCERPT


def test_last_words_that_leave_no_elbow_room_yield() -> None:
    assert place(beside_results("rename " * 200), 120).last_words == frozenset()


def test_words_beside_results_are_not_the_last_if_the_user_spoke_again() -> None:
    messages = [*beside_results("Rename it."), {"role": "user", "content": "And now?"}]
    assert place(messages, 120).last_words == frozenset()


def test_a_short_stretch_is_not_worth_a_digest() -> None:
    messages: Conversation = [
        {"role": "user", "content": "Fix it."},
        {"role": "assistant", "content": "Certainly, at once."},
        {"role": "system", "content": "Mind the queue."},
        {"role": "assistant", "content": source_code(1, 200)},
        {"role": "user", "content": "And?"},
    ]
    layout = place(messages, 60)
    assert layout.reasons[1] == "short_content"
    assert layout.places[3] is not Place.WHOLE


def long_run(steps: int) -> Conversation:
    """Return a run in which an agent reads one file after the other, and says what it found."""
    messages: Conversation = [{"role": "user", "content": "Find out why orders are lost."}]
    for step in range(steps):
        seen = f"shop/part_{step}.py has no lock around the write; the next file may tell more."
        messages += call(step, "read_file", {"path": f"shop/part_{step}.py"}, source_code(step))
        messages.append({"role": "assistant", "content": seen})
    return messages


@pytest.mark.parametrize("steps", [40, 160])
def test_a_long_run_stays_a_conversation_as_a_short_one_does(steps: int) -> None:
    messages = long_run(steps)
    cost = sum(map(counted().message, read(messages)))
    layout = place(messages, int(cost * 0.3))
    assert layout.places.count(Place.DIGEST) < 0.6 * len(messages)


def test_outcomes_of_edits_are_whole_in_their_places() -> None:
    done = "The file was changed as you asked, and nothing else has to be done for it now."
    messages: Conversation = long_run(20)
    messages[-3:-3] = [
        wire
        for number in range(90, 94)
        for wire in call(number, "edit_file", {"path": f"shop/{number}.py", "new": "x = 1"}, done)
    ]
    cost = sum(map(counted().message, read(messages)))
    view = compress(messages, token_budget=int(cost * 0.3)).messages
    assert [message["content"] for message in view].count(done) == 4
