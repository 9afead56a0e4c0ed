"""The compression manager, requirement by requirement: C1 to C13."""

from __future__ import annotations

import asyncio
import copy
import gc
import json
import logging
import subprocess
import sys
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

from refold.errors import ConfigError, MessageError
from refold.llm.summarizers.clients import OpenAISummarizer
from refold.tools.manager import CompressionManager, ManagerOptions
from refold.tools.report import ManagerReport
from tests.llm.summarizers.contract import run, run_in_threads
from tests.model_server import ModelServer
from tests.tools.managing import (
    FACTS,
    FILLER,
    Clock,
    Model,
    call,
    data_of,
    reencoded,
    result_text,
    shown,
    talk,
    turn,
)
from tests.tools.managing import well as shorten_well
from tests.tools.test_shapes import SHAPES


def without(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{k: v for k, v in m.items() if k != "compressed_content"} for m in messages]


class TestC01:
    def test_c01_defaults(self) -> None:
        options = CompressionManager().options
        assert options.compress_tool_results
        assert options.compress_tool_results_limit == 3
        assert options.compress_token_limit == 0
        assert options.compress_context_limit is None
        assert not options.debug

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("compress_tool_results", 1),
            ("compress_tool_results_limit", 0),
            ("compress_tool_results_limit", True),
            ("compress_token_limit", -1),
            ("compress_token_limit", 1.5),
            ("compress_context_limit", 0),
            ("prompt", " "),
            ("debug", "yes"),
            ("policies", 3),
            ("keep_recent", -1),
            ("min_tokens", None),
            ("min_saving", 1),
            ("expected_uses", -1),
            ("price_factor", "a"),
            ("cool_down_seconds", float("nan")),
            ("pass_seconds", -1),
            ("call_seconds", 0),
            ("max_concurrent", 0),
            ("summarizer_window_tokens", 0),
            ("price_per_million_input", -1),
            ("price_per_million_output", float("inf")),
            ("price_per_million", -1),
            ("price_per_million", "2"),
            ("cache_version", None),
            ("find_secrets", 1),
            ("counter", None),
            ("store", object()),
            ("cache", object()),
            ("on_event", 1),
            ("clock", 1),
            ("compress_tool_result_limit", 3),
        ],
    )
    def test_c01_bad_values_are_named(self, name: str, value: Any) -> None:
        with pytest.raises(ConfigError, match="rules" if name == "policies" else name):
            CompressionManager(**{name: value})

    def test_c01_every_option_is_checked(self) -> None:
        with pytest.raises(ConfigError, match="did you mean 'keep_recent'"):
            CompressionManager(keep_resent=1)  # type: ignore[call-arg]
        with pytest.raises(ConfigError, match="not both"):
            CompressionManager(ManagerOptions(), keep_recent=1)
        with pytest.raises(ConfigError, match="only one"):
            CompressionManager(generate=Model(), model="openai:m")
        with pytest.raises(ConfigError, match="generate"):
            CompressionManager(generate=3)  # type: ignore[arg-type]
        with pytest.raises(ConfigError, match="nobody:x"):
            CompressionManager(model="nobody:x")

    @pytest.mark.parametrize(
        "answer",
        [
            lambda text: text,
            lambda text: {"text": text, "usage": {"prompt_tokens": 9, "completion_tokens": 2}},
            lambda text: SimpleNamespace(content=text, usage=SimpleNamespace(input_tokens=9)),
        ],
    )
    def test_c01_generate_may_be_sync_and_return_objects(self, answer: Any) -> None:
        cm = CompressionManager(generate=lambda asked: answer(shorten_well(data_of(asked))))
        messages = talk()
        assert cm.compress(messages).compressed == 4
        assert messages[2]["compressed_content"] == shown(result_text(0))
        assert cm.stats.usage.calls == 4
        assert cm.stats.usage.input_tokens == (0 if answer("") == "" else 36)

    def test_c01_model_by_name(self) -> None:
        with ModelServer() as server:
            cm = CompressionManager(
                model=OpenAISummarizer("m", base_url=server.openai_url, api_key="k")
            )
            messages = talk()
            assert cm.compress(messages).compressed == 4
        named = CompressionManager(model="openai:gpt-5-mini@http://localhost:9/v1")
        assert isinstance(named, CompressionManager)

    def test_c01_debug_says_what_becomes_of_every_text(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.DEBUG, logger="refold.tools"):
            CompressionManager(generate=Model()).compress(talk(1))
            assert not caplog.records
            report = CompressionManager(generate=Model(), debug=True).compress(talk(2, end=False))
        said = [record.getMessage().partition(":")[0] for record in caplog.records]
        assert sorted(said) == sorted(f"{item.place} {item.status}" for item in report.items)
        assert "messages[2].content compressed" in said
        assert "; the model has not seen it yet" in caplog.text
        assert result_text(0) not in caplog.text

    def test_c01_debug_is_seen_where_nobody_has_set_up_logging(self) -> None:
        code = (
            "from refold import CompressionManager\n"
            "text = 'The ferry of 10:45 is late by 4 hours. ' * 30\n"
            "messages = [{'role': 'tool', 'tool_call_id': 'c', 'content': text}]\n"
            "CompressionManager(debug=SWITCH).compress(messages)\n"
        )
        for switch, expected in (
            (True, "refold.tools: messages[0].content compressed: "),
            (False, ""),
        ):
            command = [sys.executable, "-c", code.replace("SWITCH", str(switch))]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            assert done.stderr.startswith(expected)
            assert bool(done.stderr) is switch
            assert not done.stdout


class TestC02:
    def test_c02_count(self) -> None:
        cm = CompressionManager(compress_tool_results_limit=3)
        assert not cm.should_compress(talk(2))
        assert cm.should_compress(talk(3))
        assert "3 tool results" in cm.explain(talk(3))

    def test_c02_tokens_of_a_message(self) -> None:
        cm = CompressionManager(compress_tool_results_limit=99, compress_token_limit=60)
        assert not cm.should_compress(talk(1, end=True)[:1])
        assert "a message of" in cm.explain(talk(1))
        parts = [{"type": "text", "text": FACTS}, {"type": "text", "text": FILLER * 3}]
        messages = [call(0), {"role": "tool", "tool_call_id": "c0", "content": parts}]
        assert cm.should_compress([*messages, {"role": "assistant", "content": "ok"}])

    @pytest.mark.parametrize("role", ["system", "developer", "user", "assistant"])
    def test_c02_a_message_over_the_limit_is_shortened_whoever_says_it(self, role: str) -> None:
        long = {"role": role, "content": f"{FACTS} {FILLER * 6}"}
        short = {"role": role, "content": "And now?"}
        messages = [long, {"role": "assistant", "content": "fine"}, short]
        before = copy.deepcopy(messages)
        cm = CompressionManager(compress_token_limit=60)
        assert cm.should_compress(messages)
        assert "a message of" in cm.explain(messages)
        report = cm.compress(messages)
        assert [item.place for item in report.items] == ["messages[0].content"]
        assert report.compressed == 1
        assert len(messages[0]["compressed_content"]) < len(messages[0]["content"])
        assert without(messages) == before
        assert not cm.should_compress(messages)
        assert not CompressionManager().should_compress(before)
        assert not CompressionManager().compress(before).items

    def test_c02_what_a_user_asked_before_is_the_task_of_a_long_question(self) -> None:
        model = Model()
        first = {"role": "user", "content": "Find the ferry."}
        long = {"role": "user", "content": f"{FACTS} {FILLER * 6}"}
        messages = [first, {"role": "assistant", "content": "fine"}, long]
        CompressionManager(generate=model, compress_token_limit=60).compress(messages)
        assert "Task: Find the ferry." in str(model.asked[0])

    def test_c02_tokens_in_all(self) -> None:
        low = CompressionManager(compress_tool_results_limit=99, compress_context_limit=100)
        high = CompressionManager(compress_tool_results_limit=99, compress_context_limit=9_000)
        assert "in all" in low.explain(talk(2))
        assert not high.should_compress(talk(2))

    def test_c02_pictures_and_arguments_count(self) -> None:
        cm = CompressionManager(compress_tool_results_limit=99, compress_context_limit=1_200)
        picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
        messages = talk(1)
        assert not cm.should_compress(messages)
        assert cm.should_compress([{"role": "user", "content": [picture]}, *messages])
        nested = {"type": "tool_result", "tool_use_id": "t", "content": [picture]}
        assert cm.should_compress([{"role": "user", "content": [nested]}, *messages])
        long = [call(9, arguments='{"x": "' + "word " * 1_500 + '"}'), *messages]
        assert cm.should_compress(long)

    def test_c02_async_twin(self) -> None:
        cm = CompressionManager()
        assert run(cm.ashould_compress(talk(3)))
        assert not run(cm.ashould_compress(talk(2)))


def test_c03_only_if_something_can_be_done() -> None:
    cm = CompressionManager(compress_token_limit=10, compress_context_limit=10)
    small = [m for n in range(5) for m in turn(n, "ok")]
    failed = [m for n in range(5) for m in turn(n, "Error: no such pump " + FACTS)]
    for told in (small, failed, []):
        messages = [*told, {"role": "assistant", "content": "done"}]
        assert not cm.should_compress(messages)
        assert cm.explain(messages) == ""
    asked = [{"role": "user", "content": FILLER * 20}]
    assert not CompressionManager(compress_context_limit=10).should_compress(asked)


@pytest.mark.parametrize("is_async", [False, True])
def test_c04_short_forms_beside_untouched_content(is_async: bool) -> None:
    model = Model()
    cm = CompressionManager(generate=model)
    messages = talk(5)
    before = json.dumps(messages)
    report = run(cm.acompress(messages)) if is_async else cm.compress(messages)
    assert report.compressed == 5
    assert json.dumps(without(messages)) == before
    for number in range(5):
        assert messages[2 + 2 * number]["compressed_content"] == shown(result_text(number))
    assert sorted(model.texts) == [result_text(n) for n in range(5)]
    assert (model.most_at_once == 1) is not is_async
    cm.compress(messages)
    assert len(model.asked) == 5


def test_c04_a_synchronous_call_inside_a_running_loop() -> None:
    async def main() -> int:
        return CompressionManager(generate=Model()).compress(talk()).compressed

    assert run(main()) == 4


def test_c05_counts_and_sizes() -> None:
    cm = CompressionManager(generate=Model())
    assert cm.compression_count == 0
    messages = talk(3)
    report = cm.compress(messages)
    stats = cm.stats
    assert cm.compression_count == stats.compressed == 3
    assert stats.chars_before == sum(len(result_text(n)) for n in range(3))
    assert stats.chars_after == sum(len(shown(result_text(n))) for n in range(3))
    assert 0 < stats.tokens_after < stats.tokens_before
    assert stats.tokens_saved == report.tokens_saved
    cm.compress(talk(4))
    assert (cm.stats.passes, cm.stats.compressed, cm.stats.cache_hits) == (2, 7, 3)


def test_c05_money_saved_where_a_price_is_given() -> None:
    cm = CompressionManager(generate=Model(), price_per_million=2.5)
    report = cm.compress(talk(3))
    assert report.tokens_saved > 0
    assert report.saved_usd == report.tokens_saved * 2.5 / 1_000_000
    cm.compress(talk(5))
    assert cm.stats.saved_usd == cm.stats.tokens_saved * 2.5 / 1_000_000 > report.saved_usd
    assert cm.last_report.saved_usd is not None


def test_c05_no_price_is_invented() -> None:
    cm = CompressionManager(generate=Model())
    assert cm.compress(talk(3)).saved_usd is None
    assert cm.stats.saved_usd is None
    assert CompressionManager(price_per_million=0).compress(talk(3)).saved_usd == 0


def test_c05_totals_from_many_threads_and_no_items_kept() -> None:
    cm = CompressionManager()

    async def main() -> None:
        await asyncio.gather(*(asyncio.to_thread(cm.compress, talk(3)) for _ in range(20)))

    run(main())
    assert cm.compression_count == 60
    assert cm.stats.passes == 20
    assert not hasattr(cm.stats, "items")


def test_c05_two_threads_on_one_conversation_count_once() -> None:
    parts = [{"type": "text", "text": result_text(n)} for n in range(12)]
    messages: list[dict[str, Any]] = [{"role": "tool", "content": parts}]
    cm = CompressionManager(generate=Model())
    run_in_threads(4, lambda number: run(cm.acompress(messages)))
    assert cm.compression_count == 12
    short = messages[0]["compressed_content"]
    assert [part["text"] for part in short] == [shown(part["text"]) for part in parts]


def test_c04_an_empty_short_form_is_none() -> None:
    messages = talk(1)
    messages[2]["compressed_content"] = ""
    cm = CompressionManager(generate=Model())
    assert cm.view(messages)[2]["content"] == result_text(0)
    assert cm.compress(messages).compressed == 1


def test_c04_lone_surrogates() -> None:
    messages = talk(1)
    messages[2]["content"] += " \ud800"
    assert CompressionManager(generate=Model()).compress(messages).compressed == 1


def test_c06_one_failure_harms_nobody_else() -> None:
    def answer(text: str) -> str:
        if "1001" in text:
            raise ValueError("no")
        return shorten_well(text)

    cm = CompressionManager(generate=Model(answer))
    messages = talk(3)
    report = run(cm.acompress(messages))
    assert [item.status for item in report.items] == ["compressed", "failed", "compressed"]
    assert "compressed_content" not in messages[4]
    assert cm.compression_count == 2
    assert cm.stats.failed == 1


LONG = result_text(0)


def long_result(shape: str) -> list[dict[str, Any]]:
    (result,) = json.loads(json.dumps(SHAPES[shape][1:]).replace('"body"', json.dumps(LONG)))
    return [result]


@pytest.mark.parametrize("shape", SHAPES)
def test_c07_tool_results_of_every_shape(shape: str) -> None:
    messages = long_result(shape)
    before = copy.deepcopy(messages)
    cm = CompressionManager(generate=Model(), compress_tool_results_limit=1)
    assert cm.should_compress(messages)
    assert cm.compress(messages).compressed == 1
    assert without(messages) == before
    view = json.dumps(cm.view(messages))
    assert shorten_well(LONG) in view
    assert FILLER not in view
    assert "compressed_content" not in view


def test_c07_text_beside_calls_but_never_the_calls() -> None:
    spoken = {**call(0, arguments=json.dumps({"text": LONG})), "content": LONG}
    messages = [spoken, *turn(1), {"role": "assistant", "content": LONG}]
    calls = copy.deepcopy(spoken["tool_calls"])
    cm = CompressionManager(generate=Model())
    cm.compress(messages)
    assert messages[0]["compressed_content"] == shown(LONG)
    assert messages[0]["tool_calls"] == cm.view(messages)[0]["tool_calls"] == calls
    assert "compressed_content" not in messages[-1]


@dataclass
class Noted:
    role: str
    content: Any
    compressed_content: Any = None


@dataclass(frozen=True)
class Frozen:
    role: str
    content: Any


class Typed(BaseModel):
    role: str
    content: Any
    compressed_content: Any = None


class TestC08:
    @pytest.mark.parametrize("make", [dict, Noted, Typed, SimpleNamespace])
    def test_c08_dicts_and_objects(self, make: Any) -> None:
        messages = [make(role="tool", content=result_text(n)) for n in range(3)]
        before = copy.deepcopy(messages)
        cm = CompressionManager(generate=Model())
        assert cm.should_compress(messages)
        assert cm.compress(messages).compressed == 3
        copied = copy.deepcopy(messages)
        view = cm.view(messages)
        assert messages == copied != before
        first = view[0]["content"] if isinstance(view[0], dict) else view[0].content
        assert first == shown(result_text(0))

    def test_c08_pure_mode_touches_nothing(self) -> None:
        messages = [Frozen("tool", result_text(n)) for n in range(3)]
        before = copy.deepcopy(messages)
        cm = CompressionManager(generate=Model())
        report = cm.compress(messages, in_place=False)
        assert report.compressed == 3
        assert messages == before
        assert [m.content for m in cm.view(messages)] == [shown(result_text(n)) for n in range(3)]

    def test_c08_what_cannot_be_changed_says_so(self) -> None:
        with pytest.raises(MessageError, match="compressed_content"):
            run(CompressionManager(generate=Model()).acompress([Frozen("tool", LONG)]))
        with pytest.raises(MessageError, match="messages"):
            CompressionManager().compress("text")

    def test_c08_nothing_to_do_twice_when_messages_stay_as_they_are(self) -> None:
        messages = talk()
        cm = CompressionManager(generate=Model(), compress_context_limit=200)
        assert cm.should_compress(messages, in_place=False)
        first = cm.compress(messages, in_place=False)
        stats, view = cm.stats, cm.view(messages)
        assert first.compressed == 4
        assert not cm.should_compress(messages, in_place=False)
        assert not run(cm.ashould_compress(messages, in_place=False))
        second = run(cm.acompress(messages, in_place=False))
        assert [item.reason for item in second.items] == ["it is short already"] * 4
        assert (cm.compression_count, cm.stats.tokens_saved) == (4, stats.tokens_saved)
        assert cm.view(messages) == view
        assert messages == talk()
        assert cm.should_compress(messages), "nothing stands beside the contents"

    def test_c08_a_tighter_form_is_shown_where_messages_stay_as_they_are(self) -> None:
        messages = talk(1)
        cm = CompressionManager(generate=Model())
        cm.compress(messages, in_place=False)
        loose = cm.view(messages)[2]["content"]
        report = cm.compress(messages, again=True, in_place=False)
        tight = cm.view(messages)[2]["content"]
        assert report.compressed == 1
        assert len(tight) < len(loose)
        assert messages == talk(1)

    @pytest.mark.parametrize("messages", [None, "text", {}, [3]])
    def test_c08_what_is_no_list_of_messages_says_so(self, messages: Any) -> None:
        cm = CompressionManager()
        for use in (cm.view, cm.compress, cm.should_compress, cm.explain):
            with pytest.raises(MessageError, match="messages"):
                use(messages)


class TestC09:
    def test_c09_reports_go_with_their_managers(self) -> None:
        def count() -> int:
            gc.collect()
            return sum(isinstance(kept, ManagerReport) for kept in gc.get_objects())

        before = count()
        for _ in range(5):
            cm = CompressionManager()
            cm.compress(talk(1))
        assert len(cm.last_report.items) == 1
        assert count() <= before + 1

    def test_c09_attempts_are_the_calls_that_were_made(self) -> None:
        busy = Model(lambda text: 1 / 0)
        report = CompressionManager(generate=busy).compress(talk(2))
        assert [item.attempts for item in report.items] == [1, 1]
        calling = Model(lambda text: '<tool_call>{"name": "look"}</tool_call>')
        report = CompressionManager(generate=calling).compress(talk(2))
        assert [item.attempts for item in report.items] == [1, 1]

    def test_c09_report_per_text(self) -> None:
        lossy = Model(lambda text: "The ledger was closed for nine hours on 14 March.")
        clock = Clock()
        cm = CompressionManager(generate=lossy, clock=clock)
        messages = [*talk(1), *turn(7, "ok"), *turn(8, "Error: " + LONG), *turn(9)]
        report = cm.compress(messages)
        first, small, failed, fresh = report.items
        assert (first.index, first.place, first.tool) == (2, "messages[2].content", "look")
        assert first.attempts == 1
        assert first.reason == ""
        assert first.tokens_after < first.tokens_before
        assert first.usage.calls == 1
        assert [small.status, failed.status, fresh.status] == ["skipped"] * 3
        assert "fewer than" in small.reason
        assert "failed" in failed.reason
        assert "not seen" in fresh.reason

    def test_c09_latency_and_usage(self) -> None:
        clock = Clock()

        async def slowly(asked: Any) -> Any:
            clock.now += 1.5
            usage = {"prompt_tokens": 90, "completion_tokens": 9}
            return {"text": shorten_well(data_of(asked)), "usage": usage}

        report = CompressionManager(generate=slowly, clock=clock).compress(talk(2))
        assert [item.seconds for item in report.items] == [1.5, 1.5]
        assert report.usage.input_tokens == 180

    def test_c09_cache_hit(self) -> None:
        cm = CompressionManager(generate=Model())
        cm.compress(talk(2))
        report = cm.compress(talk(2))
        assert [(i.from_cache, i.attempts) for i in report.items] == [(True, 0)] * 2
        assert report.compressed == 2
        assert report.usage.calls == 0

    def test_c09_last_report_is_per_task(self) -> None:
        cm = CompressionManager(generate=Model())
        assert cm.last_report.items == ()
        assert cm.compress(talk(2)) == cm.last_report

        async def other() -> int:
            await cm.acompress(talk(5))
            return len(cm.last_report.items)

        async def main() -> list[int]:
            counts = await asyncio.gather(
                asyncio.create_task(other()), asyncio.create_task(other())
            )
            return [*counts, len(cm.last_report.items)]

        assert run(main()) == [5, 5, 2]
        assert "compressed=2" in repr(cm.last_report)
        saved = cm.stats.tokens_saved
        assert repr(cm) == f"CompressionManager(compressed=12, tokens_saved={saved})"


class TestC10:
    def test_c10_lost_facts_are_asked_for_again(self) -> None:
        def answer(text: str) -> str:
            return shorten_well(text) if model.asked[1:] else "The ledger was closed."

        model = Model(answer)
        messages = talk(1)
        report = CompressionManager(generate=model).compress(messages)
        assert len(model.asked) == 2
        assert "P-77" in model.asked[1][-1]["content"].partition("data>>>")[2]
        assert messages[2]["compressed_content"] == shown(result_text(0))
        assert report.items[0].by == "model"

    def test_c10_lost_facts_are_appended(self) -> None:
        model = Model(lambda text: FACTS.strip())  # the case number is lost both times
        messages = talk(1)
        CompressionManager(generate=model).compress(messages)
        assert "1000" in messages[2]["compressed_content"]
        assert messages[2]["compressed_content"].startswith(FACTS.strip())

    def test_c10_invented_facts_are_left_out(self) -> None:
        model = Model(lambda text: shorten_well(text) + " It cost 777 euros.")
        messages = talk(1)
        CompressionManager(generate=model).compress(messages)
        assert "777" not in messages[2]["compressed_content"]

    def test_c10_inventions_fall_back_to_the_engine(self) -> None:
        model = Model(lambda text: "It cost 777 euros. It took 888 days. The valves are fine.")
        messages = talk(1)
        report = CompressionManager(generate=model).compress(messages)
        assert report.items[0].by == "engine"
        assert "777" not in messages[2]["compressed_content"]
        assert "shortened from" in messages[2]["compressed_content"]

    def test_c10_too_little_saved(self) -> None:
        model = Model(lambda text: text.replace("as usual ", "", 1))
        messages = talk(1)
        report = CompressionManager(generate=model, min_saving=0.3).compress(messages)
        assert report.items[0].by != "model"
        assert "too little" in report.items[0].reason


class TestC12:
    def test_c12_newest_results_stay_raw(self) -> None:
        messages = talk(5)
        CompressionManager(generate=Model(), keep_recent=2).compress(messages)
        done = ["compressed_content" in m for m in messages if m["role"] == "tool"]
        assert done == [True, True, True, False, False]

    def test_c12_unseen_results_stay_raw(self) -> None:
        messages = talk(3, end=False)
        CompressionManager(generate=Model()).compress(messages)
        done = ["compressed_content" in m for m in messages if m["role"] == "tool"]
        assert done == [True, True, False]
        gemini = [
            {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
            *long_result("gemini"),
        ]
        assert CompressionManager().compress(gemini).compressed == 0
        assert (
            CompressionManager()
            .compress([*gemini, {"role": "model", "parts": [{"text": "ok"}]}])
            .compressed
        )

    def test_c12_unless_they_alone_do_not_fit(self) -> None:
        messages = talk(1, end=False)
        cm = CompressionManager(generate=Model(), compress_context_limit=50)
        assert cm.should_compress(messages)
        cm.compress(messages)
        assert "compressed_content" in messages[2]


class TestC13:
    def test_c13_small_texts_are_left_alone(self) -> None:
        model = Model()
        messages = [*turn(0, "fine"), *turn(1, FACTS[:60]), *talk(1)]
        CompressionManager(generate=model, min_tokens=60).compress(messages)
        assert len(model.asked) == 1

    def test_c13_what_is_short_without_loss_needs_no_model(self) -> None:
        model = Model()
        rows = json.dumps([{"a": n, "b": [n, n]} for n in range(30)], indent=12)
        messages = [*turn(0, rows), {"role": "assistant", "content": "ok"}]
        CompressionManager(generate=model).compress(messages)
        assert not model.asked
        short = messages[1]["compressed_content"]
        assert short == reencoded(rows)
        assert len(short) < len(rows) / 2

    def test_c13_a_model_only_if_it_pays(self) -> None:
        model = Model()
        report = CompressionManager(generate=model, expected_uses=1).compress(talk(2))
        assert not model.asked
        assert {item.by for item in report.items} == {"engine"}
        CompressionManager(generate=model, price_factor=50.0).compress(talk(2))
        assert not model.asked
