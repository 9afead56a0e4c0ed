"""The requirements on the window manager, one by one: W1 to W16 of the specification."""

from __future__ import annotations

import asyncio
import threading
from itertools import pairwise
from typing import Any

import pytest

from refold import MemoryStore, Session, retrieve_tool, uncompress
from refold.conversation import (
    DEFAULT_REGISTRY,
    ContextWindowManager,
    window_of,
)
from refold.errors import BudgetError, ConfigError, MessageError
from refold.messages.token_count import IMAGE_TOKENS
from refold.scan.tokens.counter import RememberingCounter
from tests.conversation.histories import STRATEGIES, talk, tool_turn, violations, words
from tests.conversations import Conversation, spelled
from tests.plan.ladder.promise import tokens_of


def small(limit: int = 400, **choices: Any) -> ContextWindowManager:
    return ContextWindowManager(
        **{"context_limit": limit, "reserve_output_tokens": 0, "counter": words, **choices}
    )


def cost(messages: Conversation) -> int:
    return tokens_of(messages, counter=words)


def holds(messages: Conversation, wanted: dict[str, Any]) -> bool:
    return any(message == wanted for message in messages)


# W1 options and the two ways to call it


def test_w01_options_and_enforce_limit() -> None:
    manager = ContextWindowManager(
        model="gpt-4o", strategy="sliding_window", max_messages=2, reserve_output_tokens=2_000
    )
    assert manager.get_context_limit() == 128_000
    assert manager.available().output == 2_000
    messages = talk(20)
    result = asyncio.run(small(strategy="truncate").enforce_limit(messages))
    assert result.fits
    assert result.dropped == len(messages) - len(result.messages)
    assert not result.summarized


def test_w01_a_list_that_fits_comes_back_equal_but_not_shared() -> None:
    messages = talk(2)
    result = small(10_000).fit(messages)
    assert result.messages == messages
    assert result.messages[0] is not messages[0]
    assert (result.steps, result.dropped, result.first_changed) == ((), 0, len(messages))


# W2 figures


def test_w02_figures() -> None:
    manager = small(400)
    messages = talk(1)
    assert manager.get_remaining_token_budget(messages) == 400 - cost(messages)
    assert manager.get_remaining_token_budget(talk(99)) == 0
    assert manager.get_max_prompt_tokens() == 400
    assert window_of("openai:gpt-4o").context_tokens == 128_000
    assert window_of("openai:gpt-4o-2024-08-06").model == window_of("GPT-4o").model


# W3 the result


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_w03_the_result_says_what_was_done(strategy: Any) -> None:
    messages = talk(20)
    result = small(strategy=strategy).fit(messages)
    assert result.fits
    assert result.tokens_before == cost(messages)
    assert result.tokens_after == cost(result.messages) <= result.tokens_available == 400
    assert result.steps
    named = {*result.dropped_ids, *result.summarized_ids, *result.compressed_ids}
    assert named
    first = result.first_changed
    assert result.messages[:first] == messages[:first]
    assert result.messages[first] != messages[first]


def test_w02_a_manager_says_how_large_its_window_is() -> None:
    assert repr(small()) == "ContextWindowManager(strategy='fold', context_limit=400)"


def test_w03_strict_raises_and_names_the_obstacle() -> None:
    messages = [{"role": "system", "content": "rule " * 500}, {"role": "user", "content": "hi"}]
    result = small().fit(messages)
    assert not result.fits
    assert result.obstacles[0].message_index == 0
    assert "messages[0]" in result.warnings[-1]
    with pytest.raises(BudgetError, match=r"messages\[0\] 504 tokens"):
        small(strict=True).fit(messages)


# W5 groups


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_w05_calls_and_results_go_together_wherever_they_stand(strategy: Any) -> None:
    call = tool_turn(1, "fine " * 300)
    call[0]["tool_calls"] = [*call[0]["tool_calls"], *tool_turn(2, "")[0]["tool_calls"]]
    late = {"role": "tool", "tool_call_id": "c2", "content": "late " * 300}
    asked = {"role": "user", "content": "and now?"}
    messages = [*talk(3), call[0], call[1], {"role": "user", "content": "wait"}, late, asked]
    result = small(strategy=strategy).fit(messages)
    assert list(violations(messages, result, cost)) == []
    assert result.fits


def test_w05_the_same_id_may_come_again() -> None:
    messages = [*talk(2), *tool_turn(1, "a " * 400), *tool_turn(1, "b " * 400), *talk(2)[1:]]
    for strategy in STRATEGIES:
        result = small(strategy=strategy).fit(messages)
        calls = sum(bool(m.get("tool_calls")) for m in result.messages)
        assert calls == sum(m["role"] == "tool" for m in result.messages)
        assert result.fits


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_w05_a_pending_call_stays_and_a_dead_one_is_named(strategy: Any) -> None:
    dead, pending = tool_turn(1, "")[0], tool_turn(2, "")[0]
    messages = [*talk(4), dead, *talk(9)[1:], pending]
    result = small(500, strategy=strategy).fit(messages)
    assert result.fits
    assert holds(result.messages, pending)
    assert [w for w in result.warnings if w.startswith("messages[5] calls a tool")]
    assert not [w for w in result.warnings if f"messages[{len(messages) - 1}]" in w]


def test_w05_an_orphan_result_is_named() -> None:
    messages = [*talk(1), tool_turn(7, "x")[1]]
    assert any("'c7'" in warning for warning in small(9_000).fit(messages).warnings)


# W6 the ladder


def test_w06_rungs_stop_as_soon_as_it_fits() -> None:
    messages = [*talk(2), *tool_turn(1, "\n".join(f"line {n} is fine" for n in range(200)))]
    messages += talk(12)[1:]
    gentle = small(cost(messages) - 60, low_water=1.0).fit(messages)
    tight = small(300).fit(messages)
    assert gentle.fits
    assert tight.fits
    assert gentle.steps[-1] == tight.steps[-1] == "select"
    assert len(gentle.messages) > len(tight.messages)


def test_w06_a_huge_last_result_is_clipped_not_lost() -> None:
    messages = [*talk(1), *tool_turn(1, "row " * 3_000)]
    for strategy in STRATEGIES:
        result = small(strategy=strategy).fit(messages)
        assert result.fits
        assert result.messages[-1] != messages[-1]


def test_w06_what_no_line_fits_beside_is_dropped_but_kept_apart() -> None:
    messages = talk(5, sentences=1)
    must = [messages[0], messages[1], messages[5]]
    for strategy in STRATEGIES:
        result = small(cost(must), strategy=strategy).fit(messages)
        assert result.fits
        assert result.messages == must
        assert result.dropped_ids
        assert all(m in result.verbatim.values() for m in messages[2:5])


# W7 high_water, low_water, minimum gain, no progress


def test_w07_nothing_below_the_trigger_and_low_after_it() -> None:
    messages = talk(12)
    limit = cost(messages)
    assert small(limit).fit(messages).steps == ()
    landed = small(limit, high_water=0.8, low_water=0.5).fit(messages)
    assert landed.tokens_after <= 0.5 * limit


def test_w07_less_than_the_minimum_gain_is_left_alone() -> None:
    messages = talk(12)
    limit = cost(messages)
    result = small(limit, high_water=0.8, low_water=0.5, clear_at_least=limit).fit(messages)
    assert result.messages == messages
    forced = small(limit - 1, clear_at_least=300, low_water=1.0).fit(messages)
    assert forced.fits
    assert forced.tokens_before - forced.tokens_after >= 300


def test_w07_what_cannot_be_helped_is_not_tried_at_every_turn() -> None:
    asked: list[str] = []

    def llm(messages: Any) -> str:
        asked.append(messages[-1]["content"])
        raise RuntimeError("down")

    limit = cost(talk(12))
    manager = small(limit, high_water=0.5, low_water=0.4, clear_at_least=limit, llm=llm)
    messages = talk(12)
    manager.fit(messages)
    before = len(asked)
    for _ in range(5):
        assert manager.fit(messages).messages == messages
    assert len(asked) == before > 0


def test_w07_the_beginning_stays_the_same_from_turn_to_turn() -> None:
    manager = small(1_200, strategy="fold")
    messages = talk(30)
    views: list[Conversation] = []
    for turn in range(12, 31):
        views.append(manager.fit(messages[: turn + 1]).messages)
    changes = sum(spelled(new[: len(old)]) != spelled(old) for old, new in pairwise(views))
    assert changes <= 6


@pytest.mark.parametrize(
    "choices",
    [
        {"high_water": 0},
        {"high_water": 1.1},
        {"low_water": 0.9, "high_water": 0.8},
        {"prepare_at": 0.1},
        {"clear_at_least": -1},
        {"high_water": "high"},
        {"max_passes": (0, 5)},
        {"max_passes": (1, 0)},
        {"max_passes": 3},
        {"max_passes": (1, 2, 3)},
    ],
)
def test_w07_marks_are_checked(choices: Any) -> None:
    with pytest.raises(ConfigError):
        small(**choices)


def _passes(max_passes: tuple[int, int] | None, limit: int = 2_000) -> list[int]:
    """Let a conversation grow, and return the turns at which its beginning was changed."""
    manager = small(limit, high_water=0.3, low_water=0.29, max_passes=max_passes)
    messages = talk(61, sentences=1)
    views: list[Conversation] = [messages[:1]]
    changed: list[int] = []
    for turn in range(1, 60, 2):
        result = manager.fit(messages[: turn + 1])
        assert result.fits
        if spelled(result.messages[: len(views[-1])]) != spelled(views[-1]):
            changed.append(turn // 2)
        views.append(result.messages)
    return changed


def test_w07_no_more_passes_in_so_many_turns_than_is_said() -> None:
    free, capped = _passes(None), _passes((2, 8))
    assert len(free) > len(capped) > 1
    for start in range(30):
        assert sum(start <= turn < start + 8 for turn in capped) <= 2
    assert any(sum(start <= turn < start + 8 for turn in free) > 2 for start in range(30))


def test_w07_what_must_fit_is_made_to_fit_all_the_same() -> None:
    assert len(_passes((1, 1_000))) == 1
    assert len(_passes((1, 1_000), limit=300)) > 1


# W8 summarize


def test_w08_summaries_leave_system_task_and_user_words_outside() -> None:
    messages = talk(30)
    result = small(900, strategy="summarize").fit(messages)
    assert result.fits
    assert result.summarized
    users = [m for m in messages if m["role"] == "user"]
    assert holds(result.messages, messages[0])
    assert holds(result.messages, users[0])
    assert all(holds(result.messages, user) for user in users[-2:])
    summary = next(m for m in result.messages if " messages, shortened #" in m["content"])
    assert summary["role"] == "assistant"


def test_w08_a_summary_is_linked_to_what_it_stands_for() -> None:
    messages = [{**m, "id": f"id{n}"} for n, m in enumerate(talk(20))]
    result = small(strategy="summarize").fit(messages)
    assert set(result.summarized_ids) <= {m["id"] for m in messages}
    assert uncompress(result.messages, result.verbatim).messages == messages


@pytest.mark.parametrize("store", [None, MemoryStore()])
def test_w08_a_new_summary_is_made_from_the_originals_of_the_old(store: Any) -> None:
    told: list[str] = []

    def summarizer(text: str) -> str:
        told.append(text)
        return text[: len(text) // 3]

    manager = small(700, strategy="summarize", store=store, summarizer=summarizer)
    view = manager.fit(talk(20))
    assert view.summarized
    first = len(told)
    more = [*view.messages, *({**m, "content": f"Later. {m['content']}"} for m in talk(10)[1:])]
    again = manager.fit(more)
    assert again.fits
    assert again.summarized
    assert told[first:]
    assert not any("[summary" in text for text in told[first:])


def test_w08_a_summary_of_unknown_origin_is_kept_in_the_next_one() -> None:
    view = small(700, strategy="summarize").fit(talk(20))
    more = [*view.messages, *({**m, "content": f"Later. {m['content']}"} for m in talk(10)[1:])]
    again = small(700, strategy="summarize").fit(more)
    assert again.fits
    restored = uncompress(again.messages, {**view.verbatim, **again.verbatim})
    assert restored.messages[:20] == talk(20)[:20]


def test_w08_nothing_is_written_before_everything_is_decided() -> None:
    store = MemoryStore()

    def llm(messages: Any) -> str:
        assert len(store) == 0
        return ""

    assert small(strategy="summarize", llm=llm, store=store).fit(talk(20)).fits
    assert len(store) > 0


# W9 zero means zero


def test_w09_zero_messages_means_none_but_what_is_pinned() -> None:
    messages = talk(21)
    result = small(strategy="sliding_window", max_messages=0).fit(messages)
    assert result.messages == [messages[0], messages[1], messages[21]]


def test_w09_the_window_is_checked_in_tokens_afterwards() -> None:
    messages = [*talk(6, sentences=30), {"role": "user", "content": "go"}]
    result = small(700, strategy="sliding_window", max_messages=20).fit(messages)
    assert result.fits
    assert holds(result.messages, messages[0])


def test_w09_no_reserve_means_none() -> None:
    assert small(400).available().available == 400


# W10 the reserve


def test_w10_what_leaves_no_room_is_named() -> None:
    with pytest.raises(ConfigError, match="output reserve of 2000 tokens is too big"):
        ContextWindowManager(context_limit=1_500)
    tools = [{"name": f"t{n}", "input_schema": {"text": "word " * 200}} for n in range(9)]
    with pytest.raises(ConfigError, match="tool definitions"):
        small(600, tools=tools)
    with pytest.raises(ConfigError, match="tool definitions"):
        small(600).fit(talk(1), tools=tools)


def test_w10_tools_are_counted_and_a_call_may_bring_its_own() -> None:
    tools = [{"name": "look", "input_schema": {"text": "word " * 50}}]
    manager = small(2_000)
    assert manager.available(tools).available < manager.available().available
    assert manager.fit(talk(30), tools=tools).tokens_after <= manager.available(tools).available


def test_what_is_no_list_of_messages_is_refused_by_name() -> None:
    window = small()
    for wrong in (None, "hello", {"role": "user", "content": "hello"}, 7):
        for read in (window.fit, window.prepare, window.get_remaining_token_budget):
            with pytest.raises(MessageError, match="messages: must be a list of messages, got"):
                read(wrong)  # type: ignore[arg-type]


# W11 windows


def test_w11_unknown_models_are_never_guessed() -> None:
    with pytest.raises(ConfigError, match="never guessed"):
        ContextWindowManager()
    with pytest.raises(ConfigError, match="not known"):
        ContextWindowManager(model="no-such-model-9")
    registry = DEFAULT_REGISTRY.with_model("no-such-model-9", context_tokens=9_000)
    assert ContextWindowManager(model="No-Such-Model-9", registry=registry).get_context_limit() == (
        9_000
    )
    assert window_of("gpt-4o").as_of is not None
    assert window_of("gpt-4o").source


def test_w11_a_default_of_the_callers_is_used_with_one_warning() -> None:
    with pytest.warns(UserWarning, match="'no-such-model-9' is not known") as told:
        manager = ContextWindowManager(model="no-such-model-9", default_context_limit=32_000)
    assert len(told) == 1
    manager.fit(talk(2))  # any warning from here on would be an error
    assert told[0].filename == __file__
    assert manager.get_context_limit() == 32_000
    known = ContextWindowManager(model="gpt-4o", default_context_limit=32_000)
    assert known.get_context_limit() == 128_000
    for wrong in (0, -1, 1.5, True, "8k"):
        with pytest.raises(ConfigError, match="default_context_limit"):
            ContextWindowManager(model="gpt-4o", default_context_limit=wrong)  # type: ignore[arg-type]


# W12 counting


def test_w12_a_text_is_counted_once_in_the_life_of_a_manager() -> None:
    counted: list[str] = []

    def counter(text: str) -> int:
        counted.append(text)
        return words(text)

    manager = small(100_000, counter=counter)
    messages = talk(40)
    manager.fit(messages)
    counted.clear()
    manager.fit([*messages, {"role": "user", "content": "one more thing"}])
    assert counted == ["one more thing"]


def test_w12_the_memory_of_counts_is_bounded() -> None:
    counter = RememberingCounter(words, max_chars=100)
    for number in range(50):
        assert counter(f"text number {number}") == 3
    assert counter.remembered <= 10
    assert counter("x" * 500) == 1


def test_w12_estimates_learn_from_what_providers_report() -> None:
    manager = ContextWindowManager(context_limit=4_000, reserve_output_tokens=0)
    messages = talk(20)
    before = manager.fit(messages)
    assert before.steps == ()
    manager.observe(messages, 2 * before.tokens_before)
    after = manager.fit(messages)
    assert after.fits
    assert after.tokens_before == pytest.approx(2 * before.tokens_before, rel=0.1)
    assert after.steps
    for _ in range(3):
        manager.observe(messages, before.tokens_before)
    reused = manager.fit([*messages, {"role": "assistant", "content": "Aye. " * 300}])
    assert reused.tokens_after <= reused.tokens_available
    exact = ContextWindowManager(model="gpt-4o")
    figures = exact.fit(messages).tokens_before
    exact.observe(messages, 9 * figures)
    assert exact.fit(messages).tokens_before == figures


def test_w12_a_pass_is_counted_anew_when_the_counter_has_learned() -> None:
    manager = ContextWindowManager(context_limit=1_500, reserve_output_tokens=0)
    messages = talk(30)
    first = manager.fit(messages)
    assert first.fits
    manager.observe(messages, round(1.05 * first.tokens_before))
    again = manager.fit([*messages, {"role": "user", "content": "Well?"}])
    assert again.steps[0] == "reuse"
    factored = ContextWindowManager(context_limit=1_500, reserve_output_tokens=0)
    factored.observe(messages, round(1.05 * first.tokens_before))
    assert again.tokens_after == factored.fit(again.messages).tokens_before


def test_w12_a_failing_counter_ends_nothing() -> None:
    def counter(text: str) -> int:
        raise RuntimeError(text)

    result = small(600, counter=counter).fit(talk(20))
    assert result.fits


# W13 prepared in the background


def test_w13_what_was_prepared_is_taken_over() -> None:
    asked: list[str] = []

    def summarizer(text: str) -> str:
        asked.append(text)
        return text[: len(text) // 3]

    messages = talk(20)
    manager = small(cost(messages) + 5, strategy="summarize", summarizer=summarizer)
    thread = threading.Thread(target=manager.prepare, args=(messages,))
    thread.start()
    thread.join()
    assert asked
    asked.clear()
    longer = [*messages, {"role": "user", "content": "What is next on the list for today?"}]
    result = manager.fit(longer)
    assert asked == []
    assert result.fits
    assert result.steps[0] == "reuse"
    assert result.messages[-1] == longer[-1]
    assert list(violations(longer, result, cost)) == []


def test_w13_nothing_is_prepared_early_and_nothing_changes_by_preparing() -> None:
    messages = talk(20)
    manager = small(2 * cost(messages))
    assert not manager.prepare(messages)
    near = small(cost(messages) + 5)
    assert asyncio.run(near.aprepare(messages))
    assert near.fit(messages).messages == messages


def test_w13_a_changed_beginning_discards_it() -> None:
    messages = talk(20)
    manager = small(cost(messages) + 5)
    assert manager.prepare(messages)
    changed = [*messages, {"role": "user", "content": "more " * 20}]
    changed[3] = {"role": "user", "content": "Something else entirely was said here."}
    result = manager.fit([*changed, *talk(4)[1:]])
    assert result.fits
    assert "reuse" not in result.steps
    assert "Something else" in spelled(result.messages) + spelled(result.verbatim)


def test_w08_a_model_that_hangs_is_not_waited_for_longer_than_is_said() -> None:
    async def hang(messages: object) -> str:
        await asyncio.Event().wait()
        return ""

    choices: dict[str, Any] = {"strategy": "summarize", "reserve_output_tokens": 0}
    manager = ContextWindowManager(context_limit=900, llm=hang, pass_seconds=0.05, **choices)
    plain = ContextWindowManager(context_limit=900, **choices).fit(talk(30))
    result = manager.fit(talk(30))
    assert result.fits
    assert result.messages == plain.messages
    assert result.model is not None
    assert "the pass had ended" in result.model.failures[0]
    assert asyncio.run(manager.afit(talk(31))).fits
    with pytest.raises(ConfigError, match="pass_seconds"):
        ContextWindowManager(context_limit=900, llm=hang, pass_seconds=-1, **choices)


# W14 recovery


class RefusedError(Exception):
    pass


def _refusal(limit: int, prompt: int) -> RefusedError:
    return RefusedError(
        f"This model's maximum context length is {limit} tokens. However, your messages resulted "
        f"in {prompt} tokens. Please reduce the length of the messages."
    )


def test_w14_the_provider_knows_better() -> None:
    manager = ContextWindowManager(context_limit=4_000, reserve_output_tokens=0)
    messages = talk(20)
    before = manager.fit(messages)
    assert before.steps == ()
    result = manager.recover(messages, _refusal(2_000, 3 * before.tokens_after))
    assert result is not None
    assert result.fits
    assert manager.get_context_limit() == 2_000
    assert manager.recover(messages, ValueError("something else")) is None


def test_w14_shorter_at_every_refusal_and_then_a_typed_error() -> None:
    manager = ContextWindowManager(context_limit=4_000, reserve_output_tokens=0)
    sent = [manager.fit(talk(20))]

    def recover_again_and_again() -> None:
        while True:
            result = manager.recover(sent[-1].messages, _refusal(900, 3_000))
            assert result is not None
            sent.append(result)

    with pytest.raises(BudgetError, match="no shorter one"):
        recover_again_and_again()
    assert len(sent) > 1
    assert all(after.tokens_after < before.tokens_after for before, after in pairwise(sent))


def test_w14_recovered_without_blocking() -> None:
    manager = ContextWindowManager(context_limit=4_000, reserve_output_tokens=0)

    async def main() -> None:
        fitted = await manager.afit(talk(20))
        shorter = await manager.arecover(fitted.messages, _refusal(900, 3_000))
        assert shorter is not None
        assert shorter.tokens_after < fitted.tokens_after
        assert await manager.arecover(fitted.messages, KeyError("x")) is None

    asyncio.run(main())


def test_w14_what_cannot_shrink_is_an_error() -> None:
    messages = [{"role": "user", "content": "word " * 500}]
    manager = ContextWindowManager(context_limit=4_000, reserve_output_tokens=0)
    with pytest.raises(BudgetError, match="no shorter one"):
        manager.recover(messages, "prompt is too long")


def test_w14_a_window_without_room_for_messages_is_an_error_and_not_learned() -> None:
    manager = ContextWindowManager(context_limit=8_000, reserve_output_tokens=2_000)
    with pytest.raises(BudgetError, match="output reserve of 2000 tokens is too big"):
        manager.recover(talk(20), _refusal(1_500, 3_000))
    with pytest.raises(BudgetError, match="output reserve"):
        asyncio.run(manager.arecover(talk(20), _refusal(1_500, 3_000)))
    assert manager.get_context_limit() == 8_000
    assert manager.fit(talk(2)).fits


# W15 pins


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    "pin", ["todo", "role:critic", lambda m: "TODO" in str(m["content"])], ids=["id", "role", "if"]
)
def test_w15_what_is_pinned_stays(strategy: Any, pin: Any) -> None:
    todo = {"role": "critic", "id": "todo", "content": "TODO: 1. tar the hull 2. paint it"}
    messages = [*talk(6), todo, *talk(20)[1:]]
    result = small(500, strategy=strategy, pins=[pin]).fit(messages)
    assert result.fits
    assert holds(result.messages, todo)
    loose = small(500, strategy=strategy).fit(messages)
    assert not holds(loose.messages, todo)


@pytest.mark.parametrize("pins", [[3], "role:user", [None]])
def test_w15_pins_are_checked(pins: Any) -> None:
    with pytest.raises(ConfigError, match="pin"):
        small(pins=pins)


# W16 also offered


def test_w16_a_store_and_a_tool_and_a_stable_prefix() -> None:
    store = MemoryStore()
    session = Session(profile="classic", token_budget=600, counter=words, store=store)
    views: list[Conversation] = []
    for message in talk(30):
        session.append(message)
        views.append(session.view())
        assert cost(views[-1]) <= 600
    changes = sum(spelled(new[: len(old)]) != spelled(old) for old, new in pairwise(views))
    assert 0 < changes < 12
    folded = next(m for m in views[-1] if m["content"].startswith("[summary"))
    handle = folded["content"].rpartition("#")[2].strip("]")
    answer = retrieve_tool(store, messages=views[-1]).call({"handle": handle})
    assert "[summary" not in answer
    assert str(talk(30)[5]["content"]) in answer


# The short forms of CompressionManager


def test_short_forms_are_what_is_sent() -> None:
    turn = tool_turn(1, "row " * 300)
    turn[1]["compressed_content"] = "300 rows"
    messages = [*talk(1), *turn]
    result = small(400).fit(messages)
    assert result.messages[-1] == {"role": "tool", "tool_call_id": "c1", "content": "300 rows"}
    assert result.fits
    assert result.steps == ()
    assert messages[-1]["compressed_content"] == "300 rows"
    assert small(400).get_remaining_token_budget(messages) == 400 - result.tokens_after


def test_pictures_count() -> None:
    picture = {"type": "image_url", "image_url": {"url": "https://x.test/a.png"}}
    messages = [{"role": "user", "content": [{"type": "text", "text": "see"}, picture]}]
    assert small(5_000).fit(messages).tokens_before == 1 + IMAGE_TOKENS + 4
