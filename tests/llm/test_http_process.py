"""Each misbehaviour of a model, over HTTP, with the model in a process of its own."""

from __future__ import annotations

import os

import pytest

from refold.llm.summarizers import OpenAISummarizer
from tests.llm.notes import content, fold, gates_of, plainly, report_of, talk
from tests.llm.test_http import GOOD, INJECTED, TEXT
from tests.server_process import BEHAVIOURS, start_server

GATES = {
    "empty": "not_empty",
    "refusal": "no_refusal",
    "longer": "shorter",
    "hallucinating": "nothing_invented",
    "injected": "facts_present",
}
"""Who refuses an answer; what is not here fails on the way, or takes time."""
TIMES = 3


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_once_then_all_is_well(behaviour: str) -> None:
    text = INJECTED if behaviour == "injected" else TEXT
    with start_server(behaviour) as server:
        assert server.pid != os.getpid()
        result = fold(talk(text), summarizer=OpenAISummarizer("test", base_url=server.openai_url))
    report = report_of(result)
    assert content(result).startswith(f"[summary: {GOOD}")
    assert (report.asked, report.accepted, report.failures) == (1, 1, ())
    assert GATES.get(behaviour) in {*gates_of(result), None}
    assert server.times_asked == (1 if behaviour == "slow" else 2)


@pytest.mark.parametrize("behaviour", [name for name in BEHAVIOURS if name != "slow"])
def test_always_then_there_is_no_harm(behaviour: str) -> None:
    messages = talk(INJECTED if behaviour == "injected" else TEXT)
    with start_server(*[behaviour] * TIMES) as server:
        model = OpenAISummarizer("test", base_url=server.openai_url)
        result = fold(messages, summarizer=model)
    report = report_of(result)
    assert result.messages == plainly(messages)
    assert (report.accepted, report.repaired) == (0, 0)
    assert server.times_asked == (2 if behaviour in GATES else TIMES)
    assert bool(report.failures) == (behaviour not in GATES)
