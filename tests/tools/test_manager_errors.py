"""What earlier compression managers get wrong: spec §6.3."""

from __future__ import annotations

import asyncio
import copy
import json
from typing import Any

import pytest

from refold.stores import MemoryStore
from refold.tools.manager import CompressionManager, Limiter
from tests.llm.summarizers.contract import run, until
from tests.patience import FOR_EVER
from tests.tools.managing import FILLER, Clock, Model, call, result_text, shown, talk, turn


def test_a_overlapping_calls_send_each_message_once() -> None:
    model = Model(wait=lambda number: asyncio.sleep(0.01))
    cm = CompressionManager(generate=model)
    messages = talk(3)

    async def main() -> None:
        await asyncio.gather(cm.acompress(messages), cm.acompress(messages))

    run(main())
    assert sorted(model.texts) == [result_text(n) for n in range(3)]
    assert cm.compression_count == 3


@pytest.mark.parametrize("bound", [1, 3])
def test_b_the_bound_holds(bound: int) -> None:
    model = Model(wait=lambda number: asyncio.sleep(0))
    cm = CompressionManager(generate=model, max_concurrent=bound)
    run(cm.acompress(talk(40)))
    assert len(model.asked) == 40
    assert model.most_at_once <= bound


def _fail(text: str) -> str:
    raise RuntimeError("out of order")


def _call(text: str) -> str:
    return '<tool_call>{"name": "look", "arguments": {}}</tool_call>'


def _refuse(text: str) -> str:
    return "I'm sorry, but I can't help with that."


@pytest.mark.parametrize(
    "answer",
    [_fail, _call, _refuse, lambda _: "", lambda _: " \n", lambda text: text + FILLER, lambda _: 3],
)
def test_cde_c11_no_good_answer_leaves_the_original_and_is_not_asked_for_each_step(
    answer: Any,
) -> None:
    model, clock = Model(answer), Clock()
    cm = CompressionManager(generate=model, clock=clock, cool_down_seconds=60)
    messages = talk(3)
    before = copy.deepcopy(messages)
    assert {item.status for item in run(cm.acompress(messages)).items} <= {"rejected", "failed"}
    asked = len(model.asked)
    assert asked
    clock.now += 59
    for _ in range(4):
        assert not cm.should_compress(messages)
        cm.compress(messages)
    assert len(model.asked) == asked
    clock.now += 2
    assert cm.should_compress(messages)
    assert {item.status for item in run(cm.acompress(messages)).items} <= {"rejected", "failed"}
    assert messages == before
    assert cm.compression_count == 0


def test_f_c18_a_cancel_keeps_what_is_finished() -> None:
    async def wait(number: int) -> None:
        await asyncio.sleep(FOR_EVER if number == 5 else 0)

    model = Model(wait=wait)
    cm = CompressionManager(generate=model, max_concurrent=5)
    messages = talk(5)

    async def main() -> None:
        task = asyncio.create_task(cm.acompress(messages))
        await until(
            lambda: sum("compressed_content" in m for m in messages) == 4 and len(model.asked) == 5
        )
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert model.at_once == 0

    run(main())
    assert sum("compressed_content" in m for m in messages) == 4
    assert cm.compression_count == 4
    model._wait = None
    assert run(cm.acompress(messages)).compressed == 1
    assert len(model.asked) == 6


@pytest.mark.parametrize("generate", [None, Model()])
def test_g_no_more_to_do_when_all_is_done(generate: Any) -> None:
    cm = CompressionManager(
        generate=generate, compress_token_limit=20, compress_context_limit=20, min_tokens=1
    )
    messages = [*talk(6), *turn(8, "aaa " * 100)]
    assert cm.should_compress(messages)
    for _ in range(2):
        cm.compress(messages)
    assert not cm.should_compress(messages)


def test_h_fresh_parallel_results_reach_the_model_raw() -> None:
    calls = call(0)
    calls["tool_calls"] = [call(n)["tool_calls"][0] for n in range(4)]
    fresh = [{"role": "tool", "tool_call_id": f"c{n}", "content": result_text(n)} for n in range(4)]
    messages = [{"role": "user", "content": "go"}, calls, *fresh]
    cm = CompressionManager(generate=Model())
    assert not cm.should_compress(messages)
    cm.compress(messages)
    assert cm.view(messages) == messages
    seen = [*messages, {"role": "assistant", "content": "I see."}]
    assert cm.should_compress(seen)


def test_i_copies_of_history_cost_nothing() -> None:
    model = Model()
    cm = CompressionManager(generate=model)
    history = talk(3)
    for turns in range(5):
        run_copy = copy.deepcopy(history)
        run_copy += [{"role": "user", "content": f"And now? {turns}"}]
        cm.compress(run_copy)
        assert run_copy[2]["compressed_content"] == shown(result_text(0))
    assert len(model.asked) == 3


def test_p_a_python_file_keeps_both_functions() -> None:
    body = "".join(f"    value_{n} = compute(value_{n - 1}, scale)\n" for n in range(1, 30))
    source = f"def first(scale):\n{body}\n\ndef second(scale):\n{body}    return value_9\n"
    messages = [*turn(0, source), {"role": "assistant", "content": "ok"}]
    cm = CompressionManager()
    cm.compress(messages)
    shown = cm.view(messages)[1]["content"]
    assert "def first(scale)" in shown
    assert "def second(scale)" in shown


def test_q_the_order_of_a_log_is_kept() -> None:
    lines = [f"10:{n:02d}:00 INFO worker-{n} took job {n * 7} from the queue" for n in range(59)]
    messages = [*turn(0, "\n".join(lines)), {"role": "assistant", "content": "ok"}]
    cm = CompressionManager()
    assert cm.compress(messages).compressed == 1
    short = messages[1]["compressed_content"]
    places = [short.find(f"10:{n:02d}:00") for n in range(59) if f"10:{n:02d}:00" in short]
    assert places
    assert places == sorted(places)


def test_r_two_addresses_are_both_remembered() -> None:
    text = (
        f"{FILLER * 3}See https://a.example/one?x=1 first. {FILLER * 3}Then https://b.example/2 ."
    )
    messages = [*turn(0, text), {"role": "assistant", "content": "ok"}]
    assert CompressionManager().compress(messages).compressed == 1
    short = messages[1]["compressed_content"]
    assert "https://a.example/one?x=1" in short
    assert "https://b.example/2" in short


@pytest.mark.parametrize("with_model", [False, True])
def test_s_same_input_same_bytes_and_handles(with_model: bool) -> None:
    def once() -> str:
        model = Model() if with_model else None
        cm = CompressionManager(generate=model, store=MemoryStore())
        messages = talk(4)
        run(cm.acompress(messages))
        return json.dumps([messages, cm.view(messages)])

    first = once()
    assert first == once()
    assert "whole text: #" in first


def test_b_several_managers_share_a_limiter() -> None:
    limiter = Limiter(2)
    model = Model(wait=lambda number: asyncio.sleep(0.001))
    managers = [CompressionManager(generate=model, max_concurrent=limiter) for _ in range(4)]

    async def main() -> None:
        await asyncio.gather(*(cm.acompress(talk(10)) for cm in managers))

    run(main())
    assert len(model.asked) == 40
    assert model.most_at_once == 2
