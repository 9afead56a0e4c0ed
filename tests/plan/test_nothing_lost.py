"""With these profiles everything comes back, nothing is invented, and what counts is shown."""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold import (
    MemoryStore,
    Result,
    SqliteStore,
    compress,
    uncompress,
)
from tests.conversations import (
    Conversation,
    all_text,
    calls_and_results,
    spelled,
    without_thinking,
)
from tests.plan.ladder.promise import (
    assert_restored,
    sources_by_place,
)
from tests.plan.runs import (
    COUNTERS,
    Draw,
    agent_runs,
    anthropic_call,
    call,
    check_log,
    cut_texts,
    is_cut,
    read,
    runs,
    shares,
    squeeze,
)

sys.path.append(str(Path(__file__).parents[2] / "bench"))

from undone import Seen, undo

counters = st.sampled_from(COUNTERS)
windows = st.sampled_from((0, 1, 4))
RECORDS = json.dumps([{"id": n, "name": f"row {n}", "ok": True} for n in range(50)], indent=2)


@st.composite
def runs_with_pastes(draw: Draw) -> Conversation:
    """Agent runs in which the user pastes what tools return, or have returned."""
    run: Conversation = draw(agent_runs())
    results = [message["content"] for message in run if message["role"] == "tool"]
    for _ in range(draw(st.integers(1, 3)) if results else 0):
        turns = [place for place, one in enumerate(run) if one["role"] != "tool"]
        place = draw(st.sampled_from(turns))
        run.insert(place, {"role": "user", "content": draw(st.sampled_from(results))})
    return run


# nothing is lost


@given(runs(), shares, counters, st.sampled_from(("standard", "lossless")))
def test_everything_comes_back(
    messages: Conversation, share: float, counting: dict[str, Any], profile: str
) -> None:
    assert_restored(messages, squeeze(messages, share, profile=profile, **counting))


@given(runs(), shares, st.sampled_from(("standard", "lossless")))
def test_everything_comes_back_from_a_file(
    messages: Conversation, share: float, profile: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        with SqliteStore(Path(folder) / "s.db") as store:
            folded = squeeze(messages, share, profile=profile, store=store).messages
        with SqliteStore(Path(folder) / "s.db") as store:
            restored = uncompress(folded, store)
    assert restored.missing_ids == []
    assert spelled(restored.messages) == spelled(messages)


@given(
    runs(),
    st.lists(st.tuples(st.sampled_from(("standard", "classic", "lossless")), shares), min_size=2),
)
def test_everything_comes_back_after_several_folds(
    messages: Conversation, rounds: list[tuple[str, float]]
) -> None:
    store = MemoryStore()
    verbatim: dict[str, Any] = {}
    folded = messages
    for profile, share in rounds[:3]:
        result = squeeze(folded, share, profile=profile, store=store)
        folded, verbatim = result.messages, {**verbatim, **result.verbatim}
    assert spelled(uncompress(folded, verbatim).messages) == spelled(messages)
    assert spelled(uncompress(folded, store).messages) == spelled(messages)


@given(runs(), runs(), shares)
def test_everything_comes_back_when_a_fold_goes_on(
    first: Conversation, second: Conversation, share: float
) -> None:
    for message in (*first, *second):
        message.pop("id", None)
    store = MemoryStore()
    folded = squeeze(first, share, store=store).messages
    folded = squeeze([*folded, *second], share, store=store).messages
    restored = uncompress(folded, store)
    assert spelled(restored.messages) == spelled([*first, *second])


# nothing is invented


@given(runs(), shares)
def test_omissions_are_marked(messages: Conversation, share: float) -> None:
    result = squeeze(messages, share, trace=True)
    cut = {text for text, _ in cut_texts(result)}
    for text in cut:
        assert is_cut(text)
    assert bool(cut) == any(e.action in ("excerpted", "digested") for e in result.decisions)


@given(agent_runs(), st.sampled_from((0.1, 0.2, 0.3, 0.5)))
def test_every_identifier_that_is_shown_was_there(messages: Conversation, share: float) -> None:
    result = squeeze(messages, share)
    pattern = re.compile(r"[A-Za-z]+_\w+|[\w/]+\.py")
    for text, sources in cut_texts(result):
        said = json.dumps(sources, ensure_ascii=False) + all_text(sources)
        for value in pattern.findall(text):
            assert value in said


# what counts most


@pytest.mark.parametrize(
    ("share", "counting"),
    [(0.3, COUNTERS[1]), (0.05, COUNTERS[0])],
)
def test_a_failing_test_among_ten_thousand_survives(share: float, counting: dict[str, Any]) -> None:
    failing = "tests/test_q.py::test_pull_is_fair"
    messages: Conversation = [
        {"role": "user", "content": "Run the tests."},
        *call(1, "run_tests", {}, check_log(10_000, failing)),
        {"role": "assistant", "content": "One failed."},
        {"role": "user", "content": "Which one?"},
    ]
    result = squeeze(messages, share, **counting)
    assert result.fits
    assert f"{failing} FAILED" in all_text(result.messages)


@pytest.mark.parametrize("shape", [call, anthropic_call])
def test_values_of_a_long_run_are_kept_rather_than_its_filler(shape: Any) -> None:
    messages: Conversation = [{"role": "user", "content": "Refund the order."}]
    for n in range(12):
        filler = "\n".join(f"nothing happened in hour {h} of the day" for h in range(40))
        messages += shape(
            n, "get_order", {"n": n}, f"{filler}\norder #W{n}4711 paid 2026-03-{n + 10}"
        )
    messages.append({"role": "assistant", "content": "Which one?"})
    messages.append({"role": "user", "content": "The last but one."})
    text = all_text(squeeze(messages, 0.2).messages)
    assert sum(f"#W{n}4711" in text for n in range(12)) >= 11


# lossless


@given(runs(), windows)
def test_lossless_loses_nothing(messages: Conversation, window: int) -> None:
    result = compress(messages, profile="lossless", recency_window=window, trace=True)
    assert len(result.messages) == len(messages)
    recent = zip(result.messages, messages, strict=True)
    for shown, given_message in islice(recent, max(0, len(messages) - window), None):
        assert shown in (given_message, without_thinking(given_message))  # if bound to a change
    assert result.tokens_after <= result.tokens_before
    assert calls_and_results(result.messages) == calls_and_results(messages)
    assert_readable(messages, result)


@given(runs() | runs_with_pastes(), windows)
def test_without_a_budget_standard_loses_nothing_of_what_tools_returned(
    messages: Conversation, window: int
) -> None:
    result = compress(messages, profile="standard", recency_window=window, trace=True)
    assert_readable(messages, result)
    assert_restored(messages, result)


@pytest.mark.parametrize("profile", ["standard", "lossless"])
def test_a_result_that_the_user_has_pasted_before(
    profile: Literal["standard", "lossless"],
) -> None:
    hits = "\n".join(f"src/app{n % 3}/views.py:{40 + n}: return render(x)" for n in range(9))
    messages: Conversation = [
        {"role": "user", "content": "Where is it rendered?"},
        {"role": "user", "content": hits},
        *call(1, "grep", {"q": "render"}, hits),
        {"role": "user", "content": "Go on."},
    ]
    result = compress(messages, profile=profile, recency_window=0, trace=True)
    assert_readable(messages, result)
    assert result.messages[1]["content"] == hits
    refers = result.messages[3]["content"].startswith("[same as the copy above #")
    assert refers == (profile == "standard")  # a user's words are no data to `lossless`


def test_a_result_that_the_user_has_pasted_before_and_that_is_shown_shorter() -> None:
    messages: Conversation = [
        {"role": "user", "content": "Which ones are there?"},
        {"role": "user", "content": RECORDS},
        *call(1, "list", {}, RECORDS),
        {"role": "user", "content": "Go on."},
    ]
    result = compress(messages, recency_window=0, trace=True)
    assert_readable(messages, result)
    assert result.messages[1]["content"].startswith("[reformatted #")
    assert result.messages[3]["content"].startswith("[same as the copy above #")


def assert_readable(messages: Conversation, result: Result) -> None:
    """Everything that was re-encoded can be read from what is shown, and so can all results."""
    reasons = {(entry.message_index, entry.part): entry.reason for entry in result.decisions}
    seen, readable = Seen(), list[str]()
    given_messages = iter(read(messages))
    places = zip(read(result.messages), sources_by_place(result), strict=True)
    for after, (_, sources) in places:
        behind = list(islice(given_messages, len(sources)))
        if len(behind) > 1:  # they share a summary
            assert not any(before.is_result(part) for before in behind for part in before.parts)
            continue
        [before] = behind
        for number, (said, shown) in enumerate(zip(before.parts, after.parts, strict=True)):
            reason = reasons[before.index, number]
            if shown.text == said.text or _is_read(said.text, shown.text, reason, seen, readable):
                readable.append(said.text)
            else:
                assert not before.is_result(said), f"{said.text!r} cannot be read: {shown.text!r}"
                assert not reason.startswith("recoded:")
            if after.is_result(shown):
                seen.add(shown.text)
        for made in after.calls:
            for text in (made.arguments or {}).values():
                seen.add(text if isinstance(text, str) else "")
    assert not list(given_messages)


def _is_read(said: str, shown: str, reason: str, seen: Seen, readable: Sequence[str]) -> bool:
    """Return whether *shown* says all that was *said*, after what was *seen* and *readable*."""
    body = shown.partition("\n")[2]
    if reason == "same_read":
        return said in readable
    if not reason.startswith("recoded:"):
        return False
    by = [name for name in reason.removeprefix("recoded:").split(",") if name != "shown"]
    return undo(body, by, said, seen if reason.endswith("shown") else None)


def test_lossless_saves_tokens_on_data() -> None:
    messages = [{"role": "user", "content": "List them."}, *call(1, "list", {}, RECORDS)]
    result = compress(messages, profile="lossless", recency_window=0, model="gpt-4o")
    assert result.tokens_after < 0.6 * result.tokens_before
    assert all(f"row {n}" in all_text(result.messages) for n in range(50))
