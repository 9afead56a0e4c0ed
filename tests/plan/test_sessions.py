"""A growing conversation with these profiles: stable beginnings, nothing lost, all readable."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold import MemoryStore, Session, compress, uncompress
from refold.messages.blocks import open_calls
from tests.conversation.driving import Step, assert_whole, long_talk, steps
from tests.conversations import Conversation, spelled, texts_of, without_thinking
from tests.plan.ladder.promise import cut_short, kept_indices, smallest, tokens_of, words
from tests.plan.runs import agent_runs, assert_pairs, call, read, source_code

profiles = st.sampled_from(("standard", "standard", "lossless"))
windows = st.sampled_from((0, 1, 4))


@st.composite
def cut_runs(draw: Any) -> list[Step]:
    """Cut an agent's run, or any other conversation, into steps with views between."""
    if draw(st.booleans()):
        cut: list[Step] = draw(steps())
        return cut
    run: Conversation = draw(agent_runs())
    budget = draw(st.sampled_from((None, 150, 400, 1_000)))
    size = draw(st.integers(1, 5))
    return [Step(run[start : start + size], budget) for start in range(0, len(run), size)]


@given(
    st.one_of(cut_short(), long_talk(), agent_runs()),
    profiles,
    windows,
)
def test_without_a_budget_a_refold_is_no_longer_than_what_compress_gives(
    messages: Conversation, profile: Any, window: int
) -> None:
    # A session cannot know how somebody else sent what was thought before it: it goes its own way.
    messages = [dict(without_thinking(message)) for message in messages]
    chosen: dict[str, Any] = {"profile": profile, "recency_window": window}
    result = compress(messages, **chosen)
    session = Session(**chosen)
    session.extend(messages)
    view = session.refold()
    assert spelled(uncompress(view, session.verbatim).messages) == spelled(messages)
    assert session.report.tokens <= result.tokens_after


@given(cut_runs(), profiles, windows)
def test_nothing_is_lost_and_the_beginning_stays_between_folds(
    cut: list[Step], profile: Any, window: int
) -> None:
    session = Session(profile=profile, recency_window=window, counter=words)
    told: Conversation = []
    before: Conversation = []
    folds = 0
    for step in cut:
        session.extend(step.messages)
        told += step.messages
        view = copy.deepcopy(session.view(step.token_budget))
        assert_whole(session, told, view)
        assert_pairs(told, view)
        assert session.report.tokens == tokens_of(view, counter=words)
        if session.report.folds == folds:
            assert spelled(view[: len(before)]) == spelled(before)
        same = session.report.first_changed
        assert spelled(view[:same]) == spelled(before[:same])
        before, folds = view, session.report.folds


@given(cut_runs(), windows)
def test_a_view_fits_whenever_it_can(cut: list[Step], window: int) -> None:
    session = Session(profile="standard", recency_window=window, counter=words)
    told: Conversation = []
    for step in cut:
        session.extend(step.messages)
        told += step.messages
        view = session.view(step.token_budget)
        budget, size = step.token_budget, tokens_of(view, counter=words)
        waits = bool(open_calls(read(told)))  # a fold waits for the results of what was called
        if budget is not None and size > budget and not waits:
            kept = list(kept_indices(told))
            assert smallest(told, kept, lambda some: tokens_of(some, counter=words)) > budget


@given(cut_runs(), profiles, windows)
def test_every_reference_leads_to_readable_text(cut: list[Step], profile: Any, window: int) -> None:
    session = Session(profile=profile, recency_window=window, counter=words)
    for step in cut:
        session.extend(step.messages)
        assert_readable(session, session.view(step.token_budget))


def assert_readable(session: Session, view: Conversation) -> None:
    """What refers to an earlier text does so to one that is shown, whole or said shorter."""
    readable: list[str] = []
    for message in view:
        sources = uncompress([message], session.verbatim).messages
        if len(sources) > 1:
            continue
        for shown, said in zip(texts_of(message), texts_of(sources[0]), strict=False):
            if shown == said:
                readable.append(said)
            elif shown.startswith("[same as the "):
                assert said in readable, shown
            elif shown.startswith("[reformatted #"):
                readable.append(said)


@pytest.mark.parametrize(
    ("profile", "budget"),
    [
        ("standard", 400),
        ("lossless", None),
        pytest.param("standard", None, marks=pytest.mark.campaign),
        pytest.param("standard", 1_500, marks=pytest.mark.campaign),
        pytest.param("lossless", 400, marks=pytest.mark.campaign),
        pytest.param("lossless", 1_500, marks=pytest.mark.campaign),
    ],
)
def test_files_that_are_read_again_and_again_stay_readable(
    profile: Any, budget: int | None
) -> None:
    session = Session(profile=profile, counter=words, recency_window=2)
    session.append({"role": "user", "content": "Watch the file."})
    told = [{"role": "user", "content": "Watch the file."}]
    for n in range(40):
        text = source_code(1, 60).replace("queue_3", f"queue_{n // 4}_new")
        told += call(n, "read_file", {"path": "src/a.py"}, text)
        session.extend(told[-2:])
        view = copy.deepcopy(session.view(budget))
        assert_readable(session, view)
        assert_whole(session, told, view)
    if profile == "lossless" or budget is None:
        assert any("follow as before]" in t for m in view for t in texts_of(m))
        assert any("[same as the result of " in t for m in view for t in texts_of(m))


@given(cut_runs(), profiles, windows, st.integers(0, 20))
def test_a_saved_session_goes_on_as_if_it_had_never_stopped(
    cut: list[Step], profile: Any, window: int, stop: int
) -> None:
    chosen: dict[str, Any] = {"profile": profile, "recency_window": window, "counter": words}
    store = MemoryStore()
    steady, other = Session(**chosen), Session(**chosen)
    for number, step in enumerate(cut):
        for session in (steady, other):
            session.extend(step.messages)
        if number == stop % len(cut):
            other = Session.resume(other.save(store), store, counter=words)
        views = [session.view(step.token_budget) for session in (steady, other)]
        assert spelled(views[0]) == spelled(views[1])
        assert steady.report.folds == other.report.folds
        assert steady.report.tokens == other.report.tokens
    assert other.options.profile == profile


def test_a_long_run_stays_within_its_budget_and_mostly_cached() -> None:
    session = Session(profile="standard", counter=words, token_budget=2_000)
    session.append({"role": "user", "content": "Fix the queue."})
    shares = []
    for n in range(120):
        session.extend(call(n, "read_file", {"path": f"src/m{n}.py"}, source_code(n)))
        session.view()
        assert session.report.tokens <= 2_000
        shares.append(session.report.cached_share)
    assert session.report.folds < 60
    assert sum(share > 0.8 for share in shares) > 60


@pytest.mark.parametrize("lines", [200, 250])
def test_a_result_that_nobody_has_read_yet_stays_whole_while_it_fits(lines: int) -> None:
    """A fold that lands at half of the budget would otherwise cut what has just arrived."""
    newest = "\n".join(f"quay {n} holds {n * 37} crates" for n in range(lines))
    session = Session(token_budget=4_000, model="gpt-4o")
    session.append({"role": "user", "content": "Count all the crates."})
    for n in range(8):
        session.extend(call(n, "read_file", {"path": f"src/m{n}.py"}, source_code(n, 60)))
    session.extend(call(9, "count", {"what": "crates"}, newest))
    assert session.view()[-1]["content"] == newest
    assert session.report.folds == 1
