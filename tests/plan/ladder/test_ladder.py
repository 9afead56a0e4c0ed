"""How the ladder is climbed: which rungs, what they may not do, what the report says of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refold import BudgetError, BudgetReport, MemoryStore, uncompress
from tests.classic import compress
from tests.conversations import SENTENCES, Conversation, rules, spelled, texts_of
from tests.plan.ladder.promise import (
    assert_kept,
    assert_pairs,
    assert_references,
    assert_restored,
    characters,
    cut_short,
    kept_indices,
    smallest,
    tokens_of,
    words,
)
from tests.plan.ladder.test_promise import shares, squeeze

PROSE = " ".join(SENTENCES[n] for n in (0, 1, 7, 6))
ORDER = (
    *("gentle", "moderate", "aggressive", "roll_up", "truncated", "stub"),
    *("gentle (recent)", "moderate (recent)", "aggressive (recent)"),
    *("truncated (recent)", "stub (recent)", "roll_up (recent)"),
)


def talk(turns: int, text: str = PROSE) -> Conversation:
    """Alternate long turns, each with a number of its own."""
    roles = ("user", "assistant")
    return [
        {"id": f"t{n}", "role": roles[n % 2], "content": f"Turn {n}. {text}"} for n in range(turns)
    ]


# rungs


def test_no_rung_is_named_where_an_anchor_would_cost_more_than_it_saves() -> None:
    call = {"type": "tool_use", "id": "toolu_0", "name": "grep", "input": {"p": "a.py"}}
    more = {**call, "id": "toolu_1"}
    messages: Conversation = [
        {"role": "user", "content": f"Find out why the disk is full, please. {PROSE}"},
        {"role": "assistant", "content": [{"type": "text", "text": "Looking."}, call, more]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_0", "content": []},
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": []},
            ],
        },
    ]
    result = compress(messages, token_budget=0, recency_window=0)
    assert result.messages == messages
    assert result.budget is not None
    assert (result.budget.rungs, result.budget.recency_window) == ((), 3)


@given(cut_short(), shares, rules())
def test_rungs_are_known_and_climbed_in_order(
    messages: Conversation, share: float, chosen: dict[str, Any]
) -> None:
    result = squeeze(messages, share, **chosen)
    assert result.budget is not None
    rungs = result.budget.rungs
    assert rungs == tuple(rung for rung in ORDER if rung in rungs)
    assert bool(rungs) == (result.messages != messages)


@given(cut_short(), shares, rules())
def test_the_rungs_name_what_was_done(
    messages: Conversation, share: float, chosen: dict[str, Any]
) -> None:
    result = squeeze(messages, share, **chosen)
    assert result.budget is not None
    reached = {rung.removesuffix(" (recent)") for rung in result.budget.rungs}
    did = {(entry.action, entry.reason) for entry in result.decisions}
    if ("compressed", "rolled_up") in did:
        assert "roll_up" in reached
    if any(action == "truncated" for action, _ in did):
        assert reached & {"truncated", "stub", "roll_up"}
    if any(reason != "rolled_up" for action, reason in did if action == "compressed"):
        assert reached & {"gentle", "moderate", "aggressive"}


def test_the_oldest_are_rolled_up_before_anything_is_cut() -> None:
    record = json.dumps({"rows": [f"row {n} of the report" for n in range(90)]})
    messages: Conversation = [{"role": "user", "content": "Go through the reports."}]
    messages += [{"role": "assistant", "content": f"{record}{' ' * n}"} for n in range(10)]
    total = tokens_of(messages, model="gpt-4o")
    result = compress(messages, token_budget=total // 2, model="gpt-4o", dedup=False)
    assert result.budget is not None
    assert result.budget.rungs == ("roll_up",)
    assert result.messages[0] == messages[0]
    assert result.messages[2:] == messages[-len(result.messages) + 2 :]
    tight = compress(messages, token_budget=total // 5, model="gpt-4o", dedup=False)
    assert tight.budget is not None
    assert tight.budget.rungs == ("roll_up", "truncated (recent)")
    assert len(tight.messages) == 2 + 4, "the recent ones are cut, one by one"


def test_the_oldest_go_first() -> None:
    messages = talk(12)
    total = tokens_of(messages, counter=words)
    result = compress(messages, token_budget=int(0.9 * total), counter=words)
    assert result.fits
    changed = [a != b for a, b in zip(messages, result.messages, strict=True)]
    assert changed == [False, *sorted(changed[1:], reverse=True)]  # the task stays
    assert result.budget is not None
    assert result.budget.rungs == ("gentle",)
    assert result.recency_window == changed[::-1].index(True)


@pytest.mark.parametrize("part", ["image_url", "hologram"])
def test_a_question_without_words_survives_too(part: str) -> None:
    shown = {"role": "user", "content": [{"type": part, part: {"url": "https://a.test/x.png"}}]}
    messages = [*talk(8), shown]
    for budget in (0, 50, 150):
        result = compress(messages, token_budget=budget, recency_window=0)
        assert result.messages[-1] == shown


def test_a_smaller_budget_never_gives_more() -> None:
    messages = talk(12)
    total = tokens_of(messages, counter=words)
    sizes = [
        compress(messages, token_budget=budget, counter=words).token_count
        for budget in range(0, total, 40)
    ]
    assert sizes == sorted(sizes)


def test_every_budget_is_kept_down_to_the_protected_part() -> None:
    messages = talk(12)
    kept = list(kept_indices(messages))
    floor = smallest(messages, kept, lambda some: tokens_of(some, counter=words))
    for budget in range(floor, tokens_of(messages, counter=words), 23):
        result = compress(messages, token_budget=budget, counter=words, trace=True)
        assert result.token_count <= budget
        assert_restored(messages, result)
        assert_kept(messages, result, kept)


# never more tokens


def test_nothing_is_rolled_up_into_something_longer() -> None:
    messages: Conversation = [{"role": "user", "content": None}]
    result = compress(messages, token_budget=0)
    assert result.tokens_after <= result.tokens_before
    assert result.messages == messages


def test_short_stretches_between_protected_messages_stay() -> None:
    messages: Conversation = []
    for n in range(6):
        messages.append({"role": "assistant", "content": "ok"})
        messages.append({"role": "system", "content": f"Rule {n}: {PROSE}"})
    for counting in ({}, {"model": "gpt-4o"}, {"counter": words}):
        result = compress(messages, token_budget=10, **counting)
        assert result.tokens_after <= result.tokens_before
        assert result.messages == messages


# references


@pytest.mark.parametrize("keep", ["first", "latest"])
@pytest.mark.parametrize("window", [0, 2, 4])
def test_a_reference_never_outlives_its_target(keep: str, window: int) -> None:
    copy = json.dumps({"report": PROSE * 4})
    messages: Conversation = [
        {"id": "task", "role": "user", "content": "Fix it."},
        {"id": "start", "role": "assistant", "content": "ok then"},
        {"id": "one", "role": "assistant", "content": copy},
        {"id": "on", "role": "user", "content": "go on"},
        {"id": "two", "role": "assistant", "content": copy},
        {"id": "now", "role": "user", "content": "and now?"},
    ]
    for budget in range(20, 900, 12):
        result = compress(
            messages,
            token_budget=budget,
            keep_duplicate=keep,
            recency_window=window,
            trace=True,
            counter=words if budget % 8 else characters,
        )
        assert_references(messages, result)


@pytest.mark.parametrize("keep", ["first", "latest"])
@pytest.mark.parametrize("share", [0.1, 0.2, 0.3])
def test_a_copy_that_is_too_short_to_be_cut_stands_alone(keep: str, share: float) -> None:
    """In words, which a counter may count, a cut would be longer than the text."""
    copy = "a b c d e f g h i j " + "word" * 60
    messages: Conversation = [
        {"id": "a", "role": "assistant", "content": f"{PROSE} {PROSE}"},
        {"id": "first", "role": "assistant", "content": copy},
        {"id": "b", "role": "assistant", "content": f"{PROSE} Also. {PROSE}"},
        {"id": "rule", "role": "system", "content": "Be brief."},
        {"id": "second", "role": "assistant", "content": copy},
        {"id": "ask", "role": "user", "content": "And now?"},
    ]
    result = squeeze(messages, share, counter=words, keep_duplicate=keep, recency_window=0)
    assert_references(messages, result)
    assert_restored(messages, result)


@pytest.mark.parametrize("keep", ["first", "latest"])
def test_a_near_copy_never_outlives_its_target(keep: str) -> None:
    lines = [f"The lamp at pier {n} was checked by the night crew." for n in range(20)]
    messages: Conversation = [
        {"id": "task", "role": "user", "content": "Fix it."},
        {"id": "one", "role": "assistant", "content": "\n".join(lines)},
        {"id": "on", "role": "user", "content": "go on"},
        {"id": "two", "role": "assistant", "content": "\n".join([*lines, "The gate was not."])},
        {"id": "now", "role": "user", "content": "and now?"},
    ]
    for budget in range(10, 420, 9):
        result = compress(
            messages,
            token_budget=budget,
            keep_duplicate=keep,
            fuzzy_dedup=True,
            recency_window=2,
            trace=True,
            counter=words,
        )
        assert_references(messages, result)


def test_a_correction_is_readable_as_long_as_something_names_it() -> None:
    plan = "For the session cache we use Redis with three replicas and a ttl of one hour. "
    correction = "Actually, use Memcached for the session cache, not Redis with three replicas. "
    messages: Conversation = [
        {"id": "task", "role": "user", "content": "Plan the session cache."},
        {"id": "plan", "role": "assistant", "content": plan * 8},
        {"id": "ok", "role": "user", "content": "ok"},
        {"id": "new", "role": "assistant", "content": correction * 8},
        {"id": "ok2", "role": "user", "content": "ok, next"},
    ]
    for budget in range(10, 260, 5):
        result = compress(
            messages,
            token_budget=budget,
            contradiction_detection=True,
            recency_window=0,
            counter=words,
        )
        shown = {message["id"]: message["content"] for message in result.messages}
        if "superseded by new" in shown.get("plan", ""):
            assert shown["new"] == correction * 8


# what no budget touches


def test_an_open_call_survives_although_its_id_was_used_before() -> None:
    def call() -> dict[str, Any]:
        function = {"name": "read", "arguments": "{}"}
        calls = [{"id": "call_0", "type": "function", "function": function}]
        return {"role": "assistant", "content": None, "tool_calls": calls}

    messages: Conversation = [
        {"role": "user", "content": "Read both files."},
        call(),
        {"role": "tool", "tool_call_id": "call_0", "content": PROSE * 4},
        {"role": "user", "content": "And the other one."},
        call(),
    ]
    result = compress(messages, token_budget=12, counter=words)
    assert result.messages[-1] == messages[-1]
    assert_restored(messages, result)


def test_what_a_user_says_beside_a_tool_result_survives() -> None:
    said = "Stop: read the billing tables as often as you like, but never write to any of them. "
    messages: Conversation = [
        {"role": "user", "content": "Find the lost invoices."},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "a", "name": "query", "input": {}}],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": PROSE * 9},
                {"type": "text", "text": said * 3},
            ],
        },
    ]
    result = compress(messages, token_budget=80, counter=words)
    assert said * 3 in [text for message in result.messages for text in texts_of(message)]
    assert_pairs(messages, result.messages)


def test_open_results_are_cut_short_but_stay() -> None:
    """Of two calls in one message one is answered: neither may go."""
    calls = [
        {"id": id_, "type": "function", "function": {"name": "read", "arguments": "{}"}}
        for id_ in ("a", "b")
    ]
    messages: Conversation = [
        {"role": "user", "content": "Read both."},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "a", "content": json.dumps({"text": PROSE * 9})},
    ]
    result = compress(messages, token_budget=60, counter=words)
    assert result.fits
    assert result.messages[:2] == messages[:2]
    assert result.messages[2]["tool_call_id"] == "a"
    assert result.messages[2]["content"].startswith("[truncated — ")
    assert_restored(messages, result)


def test_session_records_without_a_role_can_be_rolled_up() -> None:
    """Calls and results of a Codex rollout have no role: that must not make a budget fail."""
    messages: Conversation = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go."}]}
    ]
    for n in range(40):
        messages.append(
            {"type": "function_call", "call_id": f"c{n}", "name": "run", "arguments": PROSE}
        )
        messages.append({"type": "function_call_output", "call_id": f"c{n}", "output": "done"})
    result = compress(messages, token_budget=200, counter=words)
    assert result.fits
    assert_restored(messages, result)


# when it does not fit


@given(cut_short(), st.sampled_from((0, 1, 2)), st.sampled_from((0.0, 0.05, 0.1)))
def test_obstacles_name_what_is_in_the_way(
    messages: Conversation, window: int, share: float
) -> None:
    result = squeeze(messages, share, min_recency_window=window)
    report = result.budget
    assert report is not None
    if report.fits:
        assert report.obstacles == ()
        assert report.over_by == 0
        return
    kept = kept_indices(messages, window=window)
    named = {o.message_index: o.reason for o in report.obstacles}
    assert kept.items() <= named.items()
    in_the_way = tokens_of([messages[index] for index in kept])
    assert (named == kept) is (in_the_way > report.token_budget)
    assert report.over_by == report.token_count - report.token_budget
    sizes = [obstacle.tokens for obstacle in report.obstacles]
    assert sizes == sorted(sizes, reverse=True)
    for obstacle in report.obstacles:
        if obstacle.message_index in kept:
            assert obstacle.tokens == tokens_of([messages[obstacle.message_index]])
    if report.obstacles:
        assert f"messages[{report.obstacles[0].message_index}]" in report.explain()


def test_the_standard_profile_names_all_that_it_keeps_over_a_budget() -> None:
    messages: Conversation = [{"role": "system", "content": "Be brief."}, *talk(5)]
    report = compress(messages, token_budget=2, profile="standard", counter=words).budget
    assert report is not None
    assert [(o.message_index, o.reason) for o in report.obstacles] == [
        (1, "first_task"),
        (5, "last_user_message"),
        (0, "preserved_role"),
    ]
    assert report.obstacles[2].tokens == tokens_of(messages[:1], counter=words)


def test_strict_raises_and_names_the_place() -> None:
    store = MemoryStore()
    messages: Conversation = [{"role": "user", "content": "hi"}, *talk(2)]
    messages.append({"role": "system", "content": PROSE})
    before = spelled(messages)
    with pytest.raises(
        BudgetError, match=r"do not fit into 20.*messages\[3\].*its role is never touched"
    ):
        compress(messages, token_budget=20, strict=True, store=store)
    assert spelled(messages) == before
    assert len(store) == 0


@given(cut_short(), shares)
def test_strict_raises_exactly_when_it_does_not_fit(messages: Conversation, share: float) -> None:
    loose = squeeze(messages, share)
    if loose.fits:
        assert squeeze(messages, share, strict=True).messages == loose.messages
    else:
        with pytest.raises(BudgetError):
            squeeze(messages, share, strict=True)


# options


@given(cut_short(), shares, rules())
def test_tiered_keeps_every_promise(
    messages: Conversation, share: float, chosen: dict[str, Any]
) -> None:
    result = squeeze(messages, share, budget_strategy="tiered", **chosen)
    assert_restored(messages, result)
    assert_pairs(messages, result.messages)
    assert_references(messages, result)
    kept = list(kept_indices(messages))
    assert_kept(messages, result, kept)
    if not result.fits:
        assert result.budget is not None
        assert smallest(messages, kept, tokens_of) > result.budget.token_budget


@pytest.mark.parametrize("depth", ["gentle", "moderate", "aggressive", "auto"])
def test_tiered_shortens_all_alike_before_it_goes_deeper(depth: str) -> None:
    messages = talk(12)
    total = tokens_of(messages, counter=words)
    result = compress(
        messages,
        token_budget=int(0.9 * total),
        counter=words,
        budget_strategy="tiered",
        compression_depth=depth,
    )
    changed = [a != b for a, b in zip(messages, result.messages, strict=True)]
    assert changed == [False] + [True] * 7 + [False] * 4


@given(cut_short(), shares, rules(), st.sampled_from(("binary-search", "tiered")))
def test_without_convergence_nothing_is_cut_or_rolled_up(
    messages: Conversation, share: float, chosen: dict[str, Any], strategy: str
) -> None:
    result = squeeze(messages, share, force_converge=False, budget_strategy=strategy, **chosen)
    assert all(entry.action != "truncated" for entry in result.decisions)
    assert all(entry.reason != "rolled_up" for entry in result.decisions)
    assert result.budget is not None
    assert not {"truncated", "stub", "roll_up"} & {r.split()[0] for r in result.budget.rungs}
    assert_restored(messages, result)


def test_without_convergence_structure_stays() -> None:
    record = json.dumps({"rows": list(range(200))})
    messages: Conversation = [*talk(3), {"role": "assistant", "content": record}]
    messages.append({"role": "user", "content": "now?"})
    result = compress(messages, token_budget=20, force_converge=False)
    assert not result.fits
    assert record in [message["content"] for message in result.messages]
    report = result.budget
    assert report is not None
    assert report.stopped_by == "force_converge=False"
    assert f"{report.other_tokens} tokens that may not be folded" in report.explain()
    assert report.other_tokens + sum(o.tokens for o in report.obstacles) == result.token_count


def test_a_profile_that_loses_nothing_says_so() -> None:
    report = compress(talk(12), token_budget=300, profile="lossless").budget
    assert report is not None
    assert report.stopped_by == "profile='lossless'"
    assert compress(talk(12), token_budget=10**6, profile="lossless").budget == BudgetReport(
        token_budget=10**6, token_count=tokens_of(talk(12)), recency_window=12
    )


def test_what_cannot_be_folded_any_further_is_in_the_way() -> None:
    report = compress([{"role": "assistant", "content": "no"}], token_budget=1).budget
    assert report is not None
    assert [o.reason for o in report.obstacles] == ["short_content"]
    why = "cannot be shortened: messages[0] 5 tokens (too short to be worth folding)"
    assert f"{why}; a budget of" in report.explain()


@pytest.mark.parametrize("depth", ["gentle", "moderate", "aggressive", "auto"])
def test_the_depth_is_where_the_ladder_starts(depth: str) -> None:
    messages = talk(12)
    total = tokens_of(messages, counter=words)
    result = compress(
        messages, token_budget=int(0.9 * total), counter=words, compression_depth=depth
    )
    assert result.budget is not None
    assert result.budget.rungs == ("gentle" if depth == "auto" else depth,)
    floor = smallest(messages, [0, 10], lambda some: tokens_of(some, counter=words))
    assert compress(messages, token_budget=floor, counter=words, compression_depth=depth).fits


def test_deeper_is_shorter() -> None:
    messages = talk(12, PROSE * 6)
    sizes = [
        compress(messages, compression_depth=depth).tokens_after
        for depth in ("gentle", "moderate", "aggressive")
    ]
    assert sizes[0] > sizes[1] > sizes[2]


@settings(suppress_health_check=list(HealthCheck))
@given(cut_short(), st.sampled_from(("gentle", "moderate", "aggressive", "auto")))
def test_every_depth_comes_back(messages: Conversation, depth: str) -> None:
    result = compress(messages, compression_depth=depth, recency_window=0)
    assert_restored(messages, result)
    assert result.tokens_after <= result.tokens_before


def test_a_threshold_does_not_hide_a_broken_budget() -> None:
    messages = talk(3)
    result = compress(messages, token_budget=10, compression_threshold=100_000)
    assert result.fits is False
    assert result.budget is not None
    assert result.budget.explain().endswith(
        f"{result.token_count} tokens that may not be folded (compression_threshold=100000); "
        f"a budget of {result.token_count} would be enough"
    )
    roomy = compress(messages, token_budget=10_000, compression_threshold=100_000).budget
    assert roomy is not None
    assert (roomy.fits, roomy.stopped_by) == (True, "")


def test_originals_are_in_the_store() -> None:
    messages = talk(30)
    bare: Conversation = [{"role": m["role"], "content": m["content"]} for m in messages]
    for given_messages in (messages, bare):
        store = MemoryStore()
        result = compress(given_messages, token_budget=300, store=store)
        assert result.fits
        assert uncompress(result.messages, store).messages == given_messages


def test_an_empty_conversation_fits_any_budget() -> None:
    result = compress([], token_budget=0)
    assert result.fits
    assert result.messages == []
    assert result.budget is not None
    assert result.budget.explain() == "0 of 0 tokens (nothing to do)"


def test_a_budget_that_an_anchor_breaks_names_what_is_in_the_way() -> None:
    said = "The harbour office opens at nine and the clerk sorts the letters before the ferry. "
    read = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    messages: Conversation = [
        {"role": "assistant", "content": said * 3, "tool_calls": [read]},
        {"role": "tool", "tool_call_id": "c1", "content": "Great, thanks. I will look later."},
    ]
    for budget in range(8, 16):
        report = compress(messages, token_budget=budget).budget
        assert report is not None
        assert report.fits or report.obstacles
