"""With these profiles everything comes back, nothing is invented, and what counts is shown."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refold import (
    MemoryStore,
    SqliteStore,
    compress,
    uncompress,
)
from refold.codecs import Reencoded, decode, normal
from refold.codecs.shown import Shown
from refold.plan.recode import texts_in
from tests.conversations import (
    Conversation,
    all_text,
    calls_and_results,
    spelled,
)
from tests.plan.ladder.promise import (
    assert_restored,
)
from tests.plan.runs import (
    COUNTERS,
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

quick = settings(max_examples=15)
counters = st.sampled_from(COUNTERS)


# nothing is lost


@quick
@given(runs(), shares, counters, st.sampled_from(("standard", "lossless")))
def test_everything_comes_back(
    messages: Conversation, share: float, counting: dict[str, Any], profile: str
) -> None:
    assert_restored(messages, squeeze(messages, share, profile=profile, **counting))


@quick
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


@quick
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


@quick
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


@quick
@given(runs(), shares)
def test_omissions_are_marked(messages: Conversation, share: float) -> None:
    result = squeeze(messages, share, trace=True)
    cut = {text for text, _ in cut_texts(result)}
    for text in cut:
        assert is_cut(text)
    assert bool(cut) == any(e.action in ("excerpted", "digested") for e in result.decisions)


@quick
@given(agent_runs(), st.sampled_from((0.1, 0.2, 0.3, 0.5)))
def test_every_identifier_that_is_shown_was_there(messages: Conversation, share: float) -> None:
    result = squeeze(messages, share)
    pattern = re.compile(r"[A-Za-z]+_\w+|[\w/]+\.py")
    for text, sources in cut_texts(result):
        said = json.dumps(sources, ensure_ascii=False) + all_text(sources)
        for value in pattern.findall(text):
            assert value in said


# what counts most


@pytest.mark.parametrize("share", [0.5, 0.3, 0.1, 0.05])
@pytest.mark.parametrize("counting", COUNTERS[:3])
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


@quick
@given(runs(), st.sampled_from((0, 1, 4)))
def test_lossless_loses_nothing(messages: Conversation, window: int) -> None:
    result = compress(messages, profile="lossless", recency_window=window, trace=True)
    assert len(result.messages) == len(messages)
    assert result.messages[len(messages) - window :] == messages[len(messages) - window :]
    assert result.tokens_after <= result.tokens_before
    assert calls_and_results(result.messages) == calls_and_results(messages)
    seen = Shown()
    reasons = {(entry.message_index, entry.part): entry.reason for entry in result.decisions}
    for before, after in zip(read(messages), read(result.messages), strict=True):
        for number, (said, shown) in enumerate(zip(before.parts, after.parts, strict=True)):
            reason = reasons[before.index, number]
            if reason.startswith("recoded:"):
                body = shown.text.partition("\n")[2]
                by = reason.removeprefix("recoded:").split(",")
                if by[-1] == "shown":
                    body = seen.expand(body)
                codecs = tuple(name for name in by if name != "shown")
                assert decode(Reencoded(body, codecs)) == normal(said.text)
            if after.is_result(shown):
                seen.add(shown.text)
        for made in after.calls:
            for text in texts_in(made):
                seen.add(text)


@quick
@given(runs())
def test_without_a_budget_standard_loses_nothing_of_what_tools_returned(
    messages: Conversation,
) -> None:
    standard, lossless = (
        compress(messages, profile=name, conversation="desk") for name in ("standard", "lossless")
    )
    shown, wanted = (
        [m for m in result.messages if m["role"] == "tool"] for result in (standard, lossless)
    )
    assert spelled([m["content"] for m in shown]) == spelled([m["content"] for m in wanted])
    back = uncompress(standard.messages, standard.verbatim, conversation="desk")
    assert spelled(back.messages) == spelled(messages)


def test_lossless_saves_tokens_on_data() -> None:
    rows = json.dumps([{"id": n, "name": f"row {n}", "ok": True} for n in range(50)], indent=2)
    messages = [{"role": "user", "content": "List them."}, *call(1, "list", {}, rows)]
    result = compress(messages, profile="lossless", recency_window=0, model="gpt-4o")
    assert result.tokens_after < 0.6 * result.tokens_before
    assert all(f"row {n}" in all_text(result.messages) for n in range(50))
