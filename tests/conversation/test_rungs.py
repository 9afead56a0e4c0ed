"""W6 and C23: what the engine does step by step, and the rungs that are the window's own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from anthropic.types import MessageParam
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletionMessageParam
from pydantic import TypeAdapter

from refold import MemoryStore, Options, retrieve_tool, uncompress
from refold.conversation import ContextWindowManager, FitResult
from refold.conversation.strategies import RUNGS, clip_arguments
from refold.errors import ConfigError
from refold.messages.formats import load
from tests.conversation.histories import talk, tool_turn, violations, words
from tests.conversations import Conversation, spelled
from tests.plan.ladder.promise import tokens_of
from tests.properties.test_invariants import assert_valid

_OPENAI: TypeAdapter[Any] = TypeAdapter(list[ChatCompletionMessageParam])
_ANTHROPIC: TypeAdapter[Any] = TypeAdapter(list[MessageParam])
PIXELS = "data:image/png;base64," + "iVBO" * 300


def fit(messages: Conversation, limit: int, **choices: Any) -> FitResult:
    if choices.get("strategy", "fold") == "fold":
        choices = {"token_budget": None, **choices}
    choices = {"reserve_output_tokens": 0, "counter": words, "low_water": 1.0, **choices}
    return ContextWindowManager(context_limit=limit, **choices).fit(messages)


def cost(messages: Conversation) -> int:
    return tokens_of(messages, counter=words)


def rows(number: int, count: int = 400) -> str:
    return " ".join(f"row{number}-{n}" for n in range(count))


def loop(turns: int, **choices: Any) -> Conversation:
    """A conversation in which a tool is called so many times."""
    messages = talk(1)
    for number in range(turns):
        messages += tool_turn(number, rows(number), **choices)
    return [*messages, {"role": "assistant", "content": "That is all."}, *talk(1)[1:]]


def results(messages: Conversation) -> list[str]:
    return [message["content"] for message in messages if message["role"] == "tool"]


def restored(result: FitResult) -> Conversation:
    return uncompress(result.messages, result.verbatim).messages


def test_w06_the_order_of_the_rungs() -> None:
    assert list(RUNGS) == ["evict_media", "clip_arguments"]


# The engine's own steps


def test_w06_results_are_recoded_before_anything_is_lost() -> None:
    data = {"items": [{"id": n, "note": f"crate {n} of the ship"} for n in range(40)], "n": 1e3}
    view = "\n".join(f"{number:>6}→crate {number}" for number in range(1, 300))
    messages = [*talk(1), *tool_turn(1, json.dumps(data)), *tool_turn(2, view), *loop(3)[2:]]
    limit = tokens_of(messages, counter=len) - 700
    result = fit(messages, limit, counter=len)
    assert result.fits
    assert result.steps == (), "they are respelled on arrival, before any pass"
    shown = results(result.messages)
    assert [text.startswith("[reformatted #") for text in shown] == [
        *(True, True),
        *(False, False, False),
    ]
    assert restored(result) == messages
    assert fit(result.messages, limit, counter=len).messages == result.messages


def test_w06_the_oldest_results_are_cut_until_it_fits_and_can_be_fetched() -> None:
    store = MemoryStore()
    messages = loop(8)
    result = fit(messages, cost(messages) - 600, store=store)
    assert result.fits
    assert result.steps == ("lossless", "select")
    shown = results(result.messages)
    assert shown[-2:] == [rows(6), rows(7)]
    tool = retrieve_tool(store, messages=result.messages)
    handle = re.findall(r"#([a-z]+)\]", "\n".join(str(m) for m in result.messages))[0]
    assert "row" in str(tool.call({"handle": handle})) or tool.call({"handle": handle})
    assert restored(result) == uncompress(result.messages, store).messages == messages


@pytest.mark.parametrize("keep", [1, 3, 5])
def test_w06_the_newest_results_stay_whole_while_that_fits(keep: int) -> None:
    messages = loop(8)
    kept = fit(messages, 420 * keep + 400, keep_results=keep)
    assert kept.fits
    assert results(kept.messages)[-keep:] == [rows(n) for n in range(8 - keep, 8)]
    assert fit(messages, 400, keep_results=keep).fits


def test_w06_what_the_model_has_not_seen_is_whole_while_it_fits() -> None:
    calls = [tool_turn(n, rows(n, 200)) for n in range(6)]
    asked = {**calls[0][0], "tool_calls": [c[0]["tool_calls"][0] for c in calls]}
    fresh = [call[1] for call in calls]
    messages = [*loop(8)[:-2], asked, *fresh]
    result = fit(messages, 2_000)
    assert result.fits
    assert result.messages[-7:] == messages[-7:]


def test_w06_pinned_results_are_not_cut() -> None:
    pinned = tool_turn(93, rows(93))
    pinned[1]["id"] = "list"
    messages = [*talk(1), *pinned, *loop(6)[2:]]
    result = fit(messages, cost(messages) - 300, pins=["list"])
    assert result.fits
    assert pinned[1] in result.messages
    assert pinned[1] not in fit(messages, cost(messages) - 300).messages


def test_w06_a_summary_is_made_of_results_and_not_of_what_stands_for_them() -> None:
    told: list[str] = []

    def summarizer(text: str) -> str:
        told.append(text)
        return text[: len(text) // 4]

    messages = loop(12)
    result = fit(messages, 450, summarizer=summarizer)
    assert result.fits
    assert told
    assert not any("#" in text for text in told)
    assert restored(result) == messages


@pytest.mark.parametrize("profile", ["standard", "lossless", "classic"])
def test_w06_the_profile_of_the_options_is_the_one_that_folds(profile: Any) -> None:
    messages = loop(8)
    limit = cost(messages) - 600
    result = fit(messages, limit, options=Options(profile=profile))
    assert result.fits
    assert ("select" in result.steps) == (profile == "standard")
    assert ("drop" in result.steps) == (profile == "lossless")


# Arguments

LONG = {"path": "src/app.py", "text": "x = 1\n" * 200, "lines": [3, 9.50], "flag": True, "no": None}


def types_of(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: types_of(inner) for key, inner in value.items()}
    return [types_of(inner) for inner in value] if isinstance(value, list) else type(value)


def clipped(arguments: str) -> str | None:
    """Return the arguments of a call after the rung was taken; none if they stay."""
    [message] = load(tool_turn(1, "", arguments=arguments)[:1])
    wire = clip_arguments(message, "qwertzui")
    if wire is None:
        return None
    text: str = wire["tool_calls"][0]["function"]["arguments"]
    return text


def test_w06_long_arguments_are_clipped_to_valid_json() -> None:
    first = json.loads(clipped(json.dumps(LONG)) or "")
    assert types_of(first) == types_of(LONG)
    assert {**first, "text": ""} == {**LONG, "text": ""}
    assert re.fullmatch(r"(x = 1\n)+x = 1 … \[shortened, sent whole #qwertzui\]", first["text"])


@pytest.mark.parametrize(
    "arguments", ["word " * 500, '{"broken": "' + "word " * 500, json.dumps(["a b"] * 500)]
)
def test_w06_only_what_can_be_undone_and_read_is_clipped(arguments: str) -> None:
    assert clipped(arguments) is None


def test_w06_keys_are_never_clipped() -> None:
    first = json.loads(clipped(json.dumps({"key " * 300: "value " * 300})) or "")
    assert list(first) == ["key " * 300]


def test_w06_the_latest_call_is_clipped_before_it_is_given_up() -> None:
    messages = [*talk(1), *tool_turn(1, "done", arguments=json.dumps({"text": "word " * 900}))]
    result = fit(messages, 300)
    assert result.fits
    assert "sent whole #" in result.messages[-2]["tool_calls"][0]["function"]["arguments"]
    assert [message["role"] for message in result.messages] == [m["role"] for m in messages]
    assert restored(result) == messages
    assert_valid(_OPENAI, result.messages)


def anthropic_loop(turns: int, **extra: Any) -> Conversation:
    messages: Conversation = [{"role": "user", "content": "Unload the ship."}]
    for n in range(turns):
        call = {"type": "tool_use", "id": f"t{n}", "name": "write", "input": {**LONG, **extra}}
        done: list[dict[str, Any]] = [
            {"type": "text", "text": rows(n, 150)},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A"}},
        ]
        answer = {"type": "tool_result", "tool_use_id": f"t{n}", "content": done}
        messages += [
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [answer]},
        ]
    return messages


def test_w06_objects_of_anthropic_are_clipped_alike() -> None:
    messages = anthropic_loop(2)
    landed = fit(messages, 300)
    assert landed.fits
    assert {"evict_media", "clip_arguments"} <= set(landed.steps)
    last = landed.messages[-2]["content"][0]["input"]
    assert types_of(last) == types_of(LONG)
    assert re.fullmatch(r"(x = 1\n)+x = 1 … \[shortened, sent whole #\w+\]", last["text"])
    assert restored(landed) == messages
    assert_valid(_ANTHROPIC, landed.messages)


def test_w06_input_that_json_does_not_have_stays() -> None:
    landed = fit(anthropic_loop(2, when=(1, 2)), 300)
    assert landed.messages[-2]["content"][0]["input"]["when"] == (1, 2)


# C23 media


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ({"type": "image_url", "image_url": {"url": PIXELS}}, "image/png, 900 bytes"),
        (
            {"type": "image_url", "image_url": {"url": "https://x.test/a.png", "detail": "low"}},
            "low, https://x.test/a.png",
        ),
        (
            {
                "type": "image",
                "source": {"type": "base64", "media_type": "image/gif", "data": "AAAA" * 100},
            },
            "image/gif, 300 bytes",
        ),
        ({"type": "image", "source": {"type": "file", "file_id": "f9"}}, "f9"),
    ],
)
def test_c23_old_pictures_become_a_line_that_says_what_they_were(part: Any, said: str) -> None:
    seen = {"role": "user", "content": [{"type": "text", "text": "Look at this."}, part]}
    newest = {"role": "user", "content": [part]}
    messages = [*talk(1), seen, *loop(3)[2:], newest]
    result = fit(messages, cost(messages) - 500)
    assert result.steps == ("evict_media",)
    text, stub = result.messages[2]["content"]
    assert text == seen["content"][0]
    assert stub["type"] == "text"
    assert re.fullmatch(rf"\[image left out: {re.escape(said)} #\w+\]", stub["text"])
    assert result.messages[-1] == newest
    assert restored(result) == messages


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ({"type": "input_image", "image_url": PIXELS}, "image left out: image/png, 900 bytes"),
        (
            {"type": "input_audio", "input_audio": {"data": "AAAA" * 300, "format": "wav"}},
            "audio left out: wav, 900 bytes",
        ),
        (
            {"type": "file", "file": {"filename": "plan.pdf", "file_data": "AAAA" * 300}},
            "file left out: plan.pdf, 900 bytes",
        ),
        (
            {"type": "input_file", "file_url": "https://x.test/plan.pdf"},
            "file left out: https://x.test/plan.pdf",
        ),
    ],
)
def test_c23_old_recordings_and_files_do_too(part: Any, said: str) -> None:
    is_item = part["type"] in ("input_image", "input_file")
    rest = list(as_items(loop(3)[2:])) if is_item else loop(3)[2:]
    messages = [*talk(1), {"role": "user", "content": [part]}, *rest]
    result = fit(messages, cost(messages) - 500)
    assert result.steps == ("evict_media",)
    [stub] = result.messages[2]["content"]
    assert re.fullmatch(rf"\[{re.escape(said)} #\w+\]", stub["text"])
    assert restored(result) == messages


def as_items(messages: Conversation) -> Iterator[dict[str, Any]]:
    """Write *messages* as the Responses API has them."""
    for message in messages:
        if message["role"] == "tool":
            output = {"call_id": message["tool_call_id"], "output": message["content"]}
            yield {"type": "function_call_output", **output}
        elif message.get("content"):
            yield {"role": message["role"], "content": message["content"]}
        for call in message.get("tool_calls", ()):
            yield {"type": "function_call", "call_id": call["id"], **call["function"]}


def test_c23_pictures_stay_as_long_as_there_is_room() -> None:
    part = {"type": "image_url", "image_url": {"url": PIXELS}}
    messages = [*talk(1), {"role": "user", "content": [part]}, *loop(3)[2:]]
    assert fit(messages, cost(messages)).messages == messages


def test_messages_with_ids_carry_where_they_come_from() -> None:
    part = {"type": "image_url", "image_url": {"url": PIXELS}}
    messages = [
        *talk(1),
        {"role": "user", "content": [part]},
        *loop(6, arguments=json.dumps(LONG))[2:],
        *tool_turn(7, "done", arguments=json.dumps({"text": "word " * 900})),
    ]
    messages = [{"id": f"m{n}", **message} for n, message in enumerate(messages)]
    result = fit(messages, 900)
    assert result.fits
    assert "evict_media" in result.steps
    assert "sent whole #" in result.messages[-2]["tool_calls"][0]["function"]["arguments"]
    assert restored(result) == messages


@pytest.mark.parametrize("keep", [-1, 1.5, True, "3"])
def test_w06_how_many_are_kept_is_checked(keep: Any) -> None:
    with pytest.raises(ConfigError, match="keep_results"):
        fit([], 100, keep_results=keep)


# Together

_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text('a "\\\né', max_size=30)
    | st.integers(100, 200).map(lambda n: 'word " \\ é ' * n),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('kö"', max_size=3), inner),
    max_leaves=6,
)


@st.composite
def busy_loops(draw: Any) -> Conversation:
    """Loops with long arguments, long results, results in JSON, and pictures."""
    messages = talk(draw(st.integers(1, 3)))
    for number in range(draw(st.integers(1, 9))):
        arguments = draw(st.dictionaries(st.text("ab", max_size=2), _VALUES, max_size=3))
        data = draw(st.sampled_from((rows(number), "ok", json.dumps(arguments, indent=3))))
        turn = tool_turn(number, data, arguments=json.dumps(arguments))
        if draw(st.booleans()):
            turn[0]["content"] = draw(st.sampled_from(("", "I look.")))
        messages += turn
        if draw(st.integers(0, 3)) == 0:
            part = {"type": "image_url", "image_url": {"url": PIXELS}}
            messages.append({"role": "user", "content": [part]})
    return messages


@given(messages=busy_loops(), share=st.floats(0.1, 0.99), keep=st.none() | st.integers(0, 4))
def test_w06_whatever_the_rungs_do_holds_and_can_be_undone(
    messages: Conversation, share: float, keep: int | None
) -> None:
    before = spelled(messages)
    limit = max(60, int(share * cost(messages)))
    manager = ContextWindowManager(
        context_limit=limit, reserve_output_tokens=0, counter=words, keep_results=keep
    )
    result = manager.fit(messages)
    assert list(violations(messages, result, cost)) == []
    assert spelled(messages) == before
    assert spelled(manager.fit(result.messages).messages) == spelled(result.messages)
    if not result.dropped_ids:
        assert spelled(restored(result)) == before
    for message in result.messages:
        for call in message.get("tool_calls", ()):
            json.loads(call["function"]["arguments"])
    assert_valid(_OPENAI, result.messages)


@pytest.mark.parametrize("strategy", ["fold", "summarize", "truncate", "sliding_window"])
@pytest.mark.parametrize("name", [None, "desk"])
def test_what_cannot_fit_is_not_made_longer(strategy: Any, name: str | None) -> None:
    """The call and its result are shorter than a digest with a last line in the user's role."""
    messages = [*talk(1), *tool_turn(0, "ok")]
    result = fit(messages, 64, strategy=strategy, conversation=name, low_water=None)
    assert not result.fits
    assert result.messages == messages
    assert result.tokens_after == result.tokens_before == cost(messages)
    assert [o.reason for o in result.obstacles] == ["first_task", "preserved_role"]


@given(messages=busy_loops(), shares=st.lists(st.floats(0.3, 0.95), min_size=2, max_size=3))
def test_w06_what_is_fitted_again_and_again_comes_back(
    messages: Conversation, shares: list[float]
) -> None:
    store = MemoryStore()
    view = messages
    for share in shares:
        result = fit(view, max(60, int(share * cost(view))), store=store)
        if result.dropped_ids:
            return
        view = result.messages
    assert spelled(uncompress(view, store).messages) == spelled(messages)
