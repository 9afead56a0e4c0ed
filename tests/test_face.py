"""What people use first: a budget as a share, generators, and results that can be read."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold import Compressor, ConfigError, Options, Session, acompress, compress, uncompress
from refold.options import read_share
from tests.cli.session import chat
from tests.plan.runs import call, source_code


def run() -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Fix the queue."}]
    for n in range(8):
        messages += call(n, "read_file", {"path": f"src/mod{n}.py"}, source_code(n))
    return [*messages, {"role": "user", "content": "And now?"}]


def test_a_budget_may_be_a_share_of_the_tokens() -> None:
    result = compress(run(), token_budget="30%")
    assert result.budget is not None
    assert result.budget.token_budget == int(result.tokens_before * 0.3)
    assert result.fits
    same = compress(run(), token_budget=int(result.tokens_before * 0.3))
    assert (result.messages, result.verbatim) == (same.messages, same.verbatim)
    assert asyncio.run(acompress(run(), token_budget="30%")).messages == result.messages
    folder = Compressor(Options(token_budget="30%"))  # type: ignore[arg-type]
    assert folder.compress(run()).messages == result.messages
    assert folder.compress(chat(40)).fits


@given(st.integers(0, 10**7), st.integers(0, 100))
def test_a_share_is_rounded_down(total: int, percent: int) -> None:
    options = Options(token_share=read_share(f"{percent}%")).with_share_of(total)
    assert options.token_budget == total * percent // 100


def test_the_last_budget_that_was_said_counts() -> None:
    options = Options(token_budget="30%")  # type: ignore[arg-type]
    assert replace(options, model="gpt-5").token_share == 0.3
    assert replace(options, token_budget=900).token_share is None
    assert Compressor(options, token_budget=None).options == replace(Options(), token_share=None)
    assert Compressor(options, token_budget="50%").options.token_share == 0.5
    assert Session(options)._budget == Session(token_budget="30%")._budget


@pytest.mark.parametrize("budget", ["half", "8k", "101%", "-5%", "%", "auto", ""])
def test_a_budget_that_is_none(budget: str) -> None:
    with pytest.raises(ConfigError, match="whole number of tokens, such as 8000, or a share"):
        compress(chat(), token_budget=budget)


def test_generators_are_read_to_their_end() -> None:
    result = compress((message for message in run()), token_budget="30%")
    assert result.messages == compress(run(), token_budget="30%").messages
    assert uncompress(iter(result.messages), result.verbatim).messages == run()
    assert asyncio.run(acompress(iter(run()))).messages == compress(run()).messages


def test_a_result_is_shown_as_a_model_reads_it(capsys: pytest.CaptureFixture[str]) -> None:
    result = compress(run(), token_budget="30%")
    result.show()
    shown = capsys.readouterr().out
    for message in result.messages:
        assert (message["content"] or "") in shown
    assert "calls read_file" in shown
    heads = re.findall(r"^── #(\d+)(?:–(\d+))? \w+ ──$", shown, re.MULTILINE)
    ends = [(int(first), int(last or first)) for first, last in heads]
    assert [first for first, _ in ends] == [0, *(last + 1 for _, last in ends[:-1])]
    assert ends[-1][1] == len(run()) - 1
    uncompress(result).messages  # noqa: B018 - still usable


def test_a_result_explains_every_message_without_a_trace() -> None:
    result = compress(run(), token_budget="30%")
    assert result.decisions == ()
    first, budget, *lines = result.explain().splitlines()
    assert first.startswith(f"{len(run())} → {len(result.messages)} messages · ")
    assert budget.startswith("budget: ")
    numbers = [int(n) for line in lines for n in re.findall(r"^#(\d+)|–(\d+) ", line)[0] if n]
    assert numbers == sorted(numbers)
    assert lines[0].startswith("#0 kept: the first task")
    assert not any("_" in line.partition(":")[2] for line in lines)
    traced = compress(run(), token_budget="30%", trace=True)
    assert traced.explain() == result.explain()


def test_the_repr_says_what_was_saved() -> None:
    result = compress(run(), token_budget="30%")
    saved = 100 * (1 - result.tokens_after / result.tokens_before)
    assert f"change='−{saved:.1f} %'" in repr(result)
    assert "change='±0 %'" in repr(compress([]))


def test_nothing_is_shown_of_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    compress([]).show()
    assert capsys.readouterr().out == "0 messages · 0 tokens (±0 %)\n"
    assert compress([]).explain() == "0 messages · 0 tokens (±0 %)"
