"""A growing conversation: stable beginnings, kept budgets, true reports, nothing lost."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold import (
    BudgetError,
    CalibratedCounter,
    ConfigError,
    MemoryStore,
    MessageError,
    uncompress,
)
from tests.classic import Options, Session, compress
from tests.conversation.driving import (
    PROSE,
    Step,
    assert_whole,
    session_options,
    steps,
)
from tests.conversation.histories import tool_turn
from tests.conversations import (
    Conversation,
    Wire,
    options,
    spelled,
    texts_of,
    without_thinking,
)
from tests.plan.ladder.promise import (
    assert_pairs,
    cut_short,
    kept_indices,
    smallest,
    tokens_of,
    words,
)


def talk(count: int, start: int = 0) -> Conversation:
    roles = ("user", "assistant")
    return [
        {"id": f"t{n}", "role": roles[n % 2], "content": f"Turn {n}. {PROSE * 2}"}
        for n in range(start, start + count)
    ]


# a fresh session is a compression


def test_a_session_keeps_the_first_copy_whatever_is_chosen() -> None:
    assert Session().options.keep_duplicate == "first"
    assert Session(keep_duplicate="latest").options.keep_duplicate == "first"
    assert Session(Options(keep_duplicate="latest")).options.keep_duplicate == "first"


def test_a_session_says_how_large_it_is() -> None:
    session = Session(token_budget=400)
    assert repr(session) == "Session(messages=0, tokens=0, folds=0)"
    session.extend(talk(20))
    session.view()
    tokens, folds = session.report.tokens, session.report.folds
    assert repr(session) == f"Session(messages=20, tokens={tokens}, folds={folds})"


@pytest.mark.parametrize("is_stored", [True, False])
def test_a_stand_in_that_is_appended_to_what_was_folded_is_found(is_stored: bool) -> None:
    """There is a stand-in before it in the view that was not there where it was folded."""
    store = MemoryStore() if is_stored else None
    told = [{"role": message["role"], "content": message["content"]} for message in talk(3)]
    given = compress(told, store=store, recency_window=0, pins=("role:user",))
    session = Session(store=store, recency_window=0)
    session.append(given.messages[0])
    session.view()
    session.extend(given.messages[1:])
    view = session.view()
    known = store or {**given.verbatim, **session.verbatim}
    assert uncompress(view, known).messages == told
    session.append({"role": "user", "content": "and now?"})
    assert session.view()[: len(view)] == view


@pytest.mark.parametrize("is_stored", [True, False])
@pytest.mark.parametrize("name", [None, "desk"])
def test_a_copy_of_what_a_session_has_shown_is_what_somebody_typed(
    is_stored: bool, name: str | None
) -> None:
    """Of what was given, nothing before the copy reads like a stand-in: its place cannot tell."""
    told = [{"role": message["role"], "content": message["content"]} for message in talk(8)]
    store = MemoryStore() if is_stored else None
    session = Session(store=store, conversation=name, recency_window=0)
    session.extend(told)
    for pasted in [message for message in session.view(200) if message not in told]:
        told.append(dict(pasted))
        session.append(pasted)
        for one in (session, session.fork()):
            for budget in (200, 60, None):
                view = one.view(budget)
                known = store or one.verbatim
                assert uncompress(view, known, conversation=name).messages == told


def test_an_empty_session_has_an_empty_view() -> None:
    session = Session(token_budget=10)
    assert session.view() == []
    assert session.report.cached_share == 0.0
    session.append({"role": "user", "content": "hi"})
    assert session.view() == [{"role": "user", "content": "hi"}]


# driven step by step

Check = Callable[[Session, Step, Conversation, Conversation, Conversation], None]


def drive(cut: list[Step], chosen: dict[str, Any], check: Check) -> None:
    """Check after each view: session, step, all given so far, the view before, the view."""
    session = Session(**chosen)
    told: Conversation = []
    before: Conversation = []
    for step in cut:
        session.extend(step.messages)
        told += step.messages
        view = session.view(step.token_budget)
        check(session, step, told, before, copy.deepcopy(view))
        before = copy.deepcopy(view)


def test_the_first_fold_lands_where_later_ones_do() -> None:
    session = Session(token_budget=1_000)
    session.extend(talk(40))
    session.view()
    assert session.report.folds == 1
    assert session.report.tokens <= 500
    session.append({"role": "assistant", "content": "Looking."})
    session.view()
    assert session.report.folds == 1


@given(steps(), session_options())
def test_nothing_is_ever_lost(cut: list[Step], chosen: dict[str, Any]) -> None:
    drive(cut, chosen, lambda session, _, told, __, view: assert_whole(session, told, view))


def test_what_was_rolled_up_is_not_lost_when_the_tail_is_folded() -> None:
    session = Session(counter=words)
    told = [*talk(9), {"id": "q", "role": "user", "content": "and now?"}]
    session.extend(told)
    session.view(token_budget=170)
    assert session.report.budget is not None
    assert "roll_up (recent)" in session.report.budget.rungs
    session.extend(talk(14, 20))
    view = session.view()
    assert_whole(session, [*told, *talk(14, 20)], view)


@given(steps(), session_options())
def test_calls_and_results_stay_together(cut: list[Step], chosen: dict[str, Any]) -> None:
    drive(cut, chosen, lambda _, __, told, ___, view: assert_pairs(told, view))


def waits_for_results(told: Conversation) -> bool:
    """Tell whether some results of parallel calls are still to come: no provider takes a part."""
    called = {call["id"] for message in told for call in message.get("tool_calls") or ()}
    answered = {message.get("tool_call_id") for message in told}
    return told[-1]["role"] == "tool" and not called <= answered


@given(steps(), session_options())
def test_a_view_fits_whenever_it_can(cut: list[Step], chosen: dict[str, Any]) -> None:
    def check(
        session: Session, step: Step, told: Conversation, _: Conversation, view: Conversation
    ) -> None:
        budget = step.token_budget
        size = tokens_of(view, counter=words)
        assert session.report.tokens == size
        if budget is not None and size > budget and not waits_for_results(told):
            kept = list(kept_indices(told, window=chosen.get("min_recency_window", 0)))
            assert smallest(told, kept, lambda some: tokens_of(some, counter=words)) > budget

    drive(cut, chosen, check)


@pytest.mark.parametrize("name", [None, "desk"])
def test_a_view_that_cannot_fit_is_not_longer_than_its_messages(name: str | None) -> None:
    """The call and its result are shorter than a digest with a last line in the user's role."""
    told = [{"role": "user", "content": PROSE}, *tool_turn(0, "ok")]
    session = Session(profile="standard", token_budget=4, counter=words, conversation=name)
    session.extend(told)
    assert session.view() == told
    assert session.report.tokens == session.report.tokens_unfolded
    assert session.report.budget is not None
    assert session.report.budget.token_count == session.report.tokens
    assert not session.report.budget.fits


@given(steps(), session_options())
def test_what_no_budget_may_touch_is_in_every_view(cut: list[Step], chosen: dict[str, Any]) -> None:
    """Word for word, except for thinking that is bound to messages that have changed."""

    def check(
        session: Session, step: Step, told: Conversation, before: Conversation, view: Conversation
    ) -> None:
        if step.token_budget is None:
            return
        shown = [spelled(without_thinking(message)) for message in view]
        for index, reason in kept_indices(told).items():
            if reason in ("preserved_role", "last_user_message", "open_tool_call"):
                assert spelled(without_thinking(told[index])) in shown
        assert_thinking(session, told, [*before, *step.messages], view)

    drive(cut, chosen, check)


@pytest.mark.parametrize("model", [None, "claude-opus-5-5", "claude-opus-5-4"])
def test_thinking_beside_an_open_call_goes_only_where_it_is_checked(model: str | None) -> None:
    """What precedes it has changed, so a provider that checks it would reject it."""
    thought = {"type": "thinking", "thinking": PROSE, "signature": "c2ln"}
    use = {"type": "tool_use", "id": "c0", "name": "grep", "input": {"p": "a.py"}}
    asked = {"role": "assistant", "content": [thought, {"type": "text", "text": "Hm."}, use]}
    told = [*talk(3), {"role": "user", "content": "and now?"}, asked]
    session = Session(counter=words, token_budget=60, recency_window=0, model=model)
    session.extend(told)
    view = session.view()
    assert view[1] != told[1]
    assert (view[-1] == asked) == (model == "claude-opus-5-4")
    assert without_thinking(view[-1]) == without_thinking(asked)
    assert ("thinking" in spelled(view)) == (model == "claude-opus-5-4")
    assert_whole(session, told, view)


def assert_thinking(
    session: Session, told: Conversation, sent: Conversation, view: Conversation
) -> None:
    """Thinking is in the *view* exactly as long as all before it is as it was *sent*."""
    thought = {spelled(without_thinking(message)): message for message in told if _thinks(message)}
    is_first = session.report.folds <= 1
    for place, message in enumerate(view):
        given = thought.get(spelled(without_thinking(message)))
        if given is None:
            continue
        is_same = view[:place] == sent[:place]
        if _thinks(message):
            assert message == given
            assert is_same
        else:
            assert session.report.thinking == "stripped"
            # The first fold cannot know in which form the beginning was sent before.
            assert is_first or not is_same or message == sent[place]


def _thinks(message: Wire) -> bool:
    content = message["content"]
    return isinstance(content, list) and any(block["type"] == "thinking" for block in content)


@pytest.mark.parametrize("has_view_of_the_task", [True, False])
def test_the_task_of_an_agent_survives_all_its_tool_calls(has_view_of_the_task: bool) -> None:
    """One user message, then nothing but tools: it is the task and the last question at once."""
    task = {"role": "user", "content": f"Find the lost rows and write a test. {PROSE}"}
    session = Session(counter=words, token_budget=4_000)
    session.append(task)
    if has_view_of_the_task:
        session.view()
    for number in range(40):
        function = {"name": "read", "arguments": "{}"}
        call = {"id": f"c{number}", "type": "function", "function": function}
        session.append({"role": "assistant", "content": None, "tool_calls": [call]})
        output = f"{number} {PROSE * 6}"
        session.append({"role": "tool", "tool_call_id": f"c{number}", "content": output})
        assert task in session.view()
        assert session.report.tokens <= 4_000


@given(steps(), session_options())
def test_the_report_is_true(cut: list[Step], chosen: dict[str, Any]) -> None:
    folds = 0

    def check(
        session: Session, _: Step, told: Conversation, before: Conversation, view: Conversation
    ) -> None:
        nonlocal folds
        report = session.report
        assert report.messages == len(view)
        assert report.tokens == tokens_of(view, counter=words)
        assert report.tokens_unfolded == tokens_of(told, counter=words)
        same = 0
        while same < min(len(before), len(view)) and before[same] == view[same]:
            same += 1
        assert report.first_changed == same
        cached = tokens_of(view[:same], counter=words) if same else 0
        expected = cached / report.tokens if report.tokens else 0.0
        assert report.cached_share == pytest.approx(expected)
        assert report.folds - folds in (0, 1)
        if report.folds == folds:
            assert same == len(before)
        folds = report.folds

    drive(cut, chosen, check)


@given(steps(), session_options())
def test_the_beginning_stays_between_triggers(cut: list[Step], chosen: dict[str, Any]) -> None:
    folds = 0

    def check(
        session: Session, _: Step, __: Conversation, before: Conversation, view: Conversation
    ) -> None:
        nonlocal folds
        if session.report.folds == folds:
            assert spelled(view[: len(before)]) == spelled(before)
        folds = session.report.folds

    drive(cut, chosen, check)


@given(steps(), session_options(), st.sampled_from(("first", "latest")))
def test_every_reference_leads_to_readable_text(
    cut: list[Step], chosen: dict[str, Any], keep: str
) -> None:
    def check(
        session: Session, _: Step, told: Conversation, __: Conversation, view: Conversation
    ) -> None:
        assert_references(session, told, view)

    drive(cut, {**chosen, "keep_duplicate": keep}, check)


def assert_references(session: Session, told: Conversation, view: Conversation) -> None:
    """Every duplicate tag names a message of which the full text can be read."""
    readable = {text for message in view for text in texts_of(message)}
    for message in view:
        sources = uncompress([message], session.verbatim).messages
        if sources == [message] or len(sources) > 1:
            continue
        for shown, said in zip(texts_of(message), texts_of(sources[0]), strict=False):
            if shown.startswith("[cce:dup of ") and shown != said:
                named = shown.removeprefix("[cce:dup of ").split(" — ")[0]
                assert said in readable, shown
                ids = [one["id"] for one in view if said in texts_of(one) and "id" in one]
                assert named in ids or "id" not in sources[0], shown


@pytest.mark.parametrize("keep", ["first", "latest"])
@pytest.mark.parametrize(("window", "budget"), [(0, None), (2, 250), (4, 700), (0, 250)])
def test_copies_that_keep_coming_never_refer_to_each_other_in_vain(
    keep: str, window: int, budget: int | None
) -> None:
    copy_ = json.dumps([{"id": n, "name": f"row {n}"} for n in range(30)])
    session = Session(counter=words, keep_duplicate=keep, recency_window=window)
    told: Conversation = []
    for number in range(24):
        text = copy_ if number % 3 else f"{number}. {PROSE * 3}"
        role = ("assistant", "user")[number % 3 == 0]
        told.append({"id": f"m{number}", "role": role, "content": text})
        session.append(told[-1])
        view = session.view(budget)
        assert_references(session, told, view)
        assert_whole(session, told, view)


@given(steps(), session_options())
def test_originals_are_in_the_store_before_a_view_is_returned(
    cut: list[Step], chosen: dict[str, Any]
) -> None:
    store = MemoryStore()

    def check(
        _: Session, __: Step, told: Conversation, ___: Conversation, view: Conversation
    ) -> None:
        assert spelled(uncompress(view, store).messages) == spelled(told)

    session_choices = {**chosen, "store": store}
    drive(cut, session_choices, check)


@given(steps(), session_options())
def test_the_whole_conversation_can_be_asked_for(cut: list[Step], chosen: dict[str, Any]) -> None:
    drive(
        cut,
        chosen,
        lambda session, _, told, __, ___: _assert_same(session.messages, told),
    )


def _assert_same(got: Conversation, wanted: Conversation) -> None:
    assert spelled(got) == spelled(wanted)


# triggers


def test_a_budget_folds_at_the_trigger_and_lands_lower() -> None:
    session = Session(counter=words, token_budget=3_000)
    n = 0
    while session.report.folds == 0 and n < 100:
        before = session.report.tokens
        session.extend(talk(1, n))
        session.view()
        n += 1
    assert session.report.folds == 1
    assert before <= 3_000
    assert session.report.tokens <= 0.5 * 3_000


def test_what_a_counter_learns_holds_for_what_was_counted_before() -> None:
    counter = CalibratedCounter()
    session = Session(counter=counter)
    session.extend(talk(30))
    session.view(token_budget=3_000)
    counter.observe(estimated=1_000, reported=1_600)
    session.append({"role": "user", "content": "And now?"})
    view = session.view(token_budget=3_000)
    truth = compress(view, counter=counter, recency_window=len(view)).tokens_before
    assert session.report.tokens == truth <= 3_000
    whole = compress(session.messages, counter=counter, recency_window=99).tokens_before
    assert session.report.tokens_unfolded == whole


def test_what_a_counter_hardly_learns_changes_nothing() -> None:
    counter = CalibratedCounter()
    session = Session(counter=counter)
    session.extend(talk(8))
    session.view(token_budget=3_000)
    before = session.report.tokens
    counter.observe(estimated=1_000, reported=1_005)
    session.view(token_budget=3_000)
    assert session.report.tokens == before


def test_a_counter_that_fails_is_reported() -> None:
    def fail(text: str) -> int:
        raise OSError("no tokenizer here")

    session = Session(counter=fail, summarizer=lambda text: text[: len(text) // 2])
    session.extend(talk(12))
    session.view(token_budget=800)
    assert session.report.tokens <= 800
    assert session.report.counter_failures > 0


def test_views_without_news_change_nothing() -> None:
    session = Session(counter=words, token_budget=600)
    session.extend(talk(20))
    first = copy.deepcopy(session.view())
    for _ in range(3):
        assert spelled(session.view()) == spelled(first)
        assert session.report.first_changed == len(first)
        assert session.report.cached_share == 1.0
    assert session.report.folds == 1


def test_a_strict_session_raises_and_goes_on() -> None:
    session = Session(counter=words, strict=True)
    session.extend(talk(6))
    session.append({"role": "system", "content": PROSE * 4})
    view = copy.deepcopy(session.view())
    report = session.report
    with pytest.raises(BudgetError, match=r"messages\[6\]"):
        session.view(token_budget=20)
    assert session.report == report
    assert spelled(session.view()) == spelled(view)


@pytest.mark.parametrize("budget", [-1, 1.5, "9", True])
def test_a_budget_that_is_none_is_refused(budget: Any) -> None:
    session = Session()
    session.extend(talk(3))
    with pytest.raises(ConfigError, match="token_budget"):
        session.view(token_budget=budget)
    session.view()
    with pytest.raises(ConfigError, match="token_budget"):
        session.view(token_budget=budget)


# marks


def test_unknown_options_are_refused() -> None:
    with pytest.raises(ConfigError, match="did you mean 'token_budget'"):
        Session(token_buget=3)


def test_options_can_be_given_as_a_value() -> None:
    session = Session(Options(recency_window=1), counter=words)
    assert session.options.recency_window == 1
    assert session.options.counter is words


# the caller's objects


@given(cut_short(), options())
def test_the_callers_messages_are_neither_changed_nor_shared(
    messages: Conversation, chosen: dict[str, Any]
) -> None:
    before = copy.deepcopy(messages)
    session = Session(**chosen)
    session.extend(messages)
    first = spelled(session.view())
    assert spelled(messages) == spelled(before)
    for message in messages:
        message["role"] = "changed"
        message["content"] = "changed"
    assert spelled(session.view()) == first
    assert spelled(session.messages) == spelled(before)
    for message in session.messages:
        message["content"] = "changed"
    assert spelled(session.messages) == spelled(before)


def test_the_list_of_a_view_is_the_callers() -> None:
    session = Session()
    session.extend(talk(3))
    session.view().clear()
    assert len(session.view()) == 3


# bad messages


@pytest.mark.parametrize(
    ("bad", "place"),
    [
        (5, "messages[3]"),
        (None, "messages[3]"),
        ("hello", "messages[3]"),
        (["a"], "messages[3]"),
        ({"content": "no role"}, "messages[3]"),
        ({"role": "user", "content": 5}, "messages[3].content"),
        ({"role": "user", "content": [{"type": "text", "text": 5}]}, "messages[3].content[0].text"),
        ({"role": "user", "content": [7]}, "messages[3].content[0]"),
        ({"id": "t1", "role": "user", "content": "again"}, "messages[3].id"),
        ({"id": "", "role": "user", "content": "x"}, "messages[3].id"),
        ({"role": "assistant", "tool_calls": 5}, "messages[3].tool_calls"),
    ],
)
def test_a_bad_message_is_refused_with_its_place(bad: Any, place: str) -> None:
    session = Session()
    session.extend(talk(3))
    view = copy.deepcopy(session.view())
    with pytest.raises(MessageError) as caught:
        session.append(bad)
    assert caught.value.place == place
    assert spelled(session.view()) == spelled(view)
    assert session.messages == talk(3)
    session.extend(talk(1, 3))
    assert session.messages == talk(4)
    assert len(session.view()) == 4


def test_a_bad_record_does_not_change_how_the_next_ones_are_read() -> None:
    session = Session()
    with pytest.raises(MessageError):
        session.append({"type": "response_item", "payload": {"type": "message", "role": 5}})
    session.append({"role": "user", "content": PROSE})
    session.view()
    assert session.report.tokens == tokens_of([{"role": "user", "content": PROSE}])


def test_strict_roles_hold_in_a_session() -> None:
    session = Session(strict_roles=True)
    with pytest.raises(MessageError, match="unknown role 'narrator'"):
        session.append({"role": "narrator", "content": "Once upon a time."})


def test_a_session_file_may_begin_with_a_record_that_is_no_turn() -> None:
    records: Conversation = [
        {"type": "summary", "summary": "Fixing the export", "leafUuid": "u9"},
        {"type": "user", "uuid": "u1", "message": {"role": "user", "content": PROSE}},
        {"type": "assistant", "uuid": "u2", "message": {"role": "assistant", "content": PROSE * 3}},
    ]
    result = compress(records, recency_window=0, keep_duplicate="first", conversation="c")
    session = Session(recency_window=0)
    session.extend(records)
    assert spelled(session.refold()) == spelled(result.messages)
