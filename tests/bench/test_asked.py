"""The bench of asked-for evidence: its cases can be answered, and only from what is asked about."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "bench"))

from tests.patience import FOR_EVER

from asked import Outcome, find_missed
from asked_cases import ASKERS, KINDS, NOBODY, make_case
from refold.messages.formats import load

BENCH = Path(__file__).parents[2] / "bench"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("asker", ASKERS)
def test_a_case_asks_for_what_only_one_entry_says(kind: str, asker: str) -> None:
    for number in range(4):
        case = make_case(kind, asker, number, seed=3)
        assert case == make_case(kind, asker, number, seed=3)
        assert len(load(case.messages)) == len(case.messages)
        spelled = [str(message) for message in case.messages]
        naming = [text for text in spelled if case.entry.number in text]
        assert len(naming) == 1
        assert case.entry.is_named_in("".join(spelled[-case.ending :])) == (asker != NOBODY)
        assert case.is_kept(case.messages)


@pytest.mark.parametrize("kind", KINDS)
def test_an_entry_is_kept_only_with_its_number(kind: str) -> None:
    case = make_case(kind, "user", 0, seed=3)
    question = case.messages[-1]
    gone = [m for m in case.messages[:-1] if case.entry.number not in str(m)]
    assert not case.is_kept([*gone, question])
    bare = {"role": "assistant", "content": f"seal {case.entry.number}"}
    assert not case.is_kept([bare, question])
    told = {"role": "assistant", "content": f"{case.entry.id}: seal {case.entry.number}"}
    assert case.is_kept([told, question])


def test_every_asker_must_get_what_they_ask_for() -> None:
    def outcomes(asker: str, kept: int) -> list[Outcome]:
        return [Outcome("log", asker, "id", 30, number < kept, "") for number in range(20)]

    assert find_missed(outcomes("user", 20) + outcomes(NOBODY, 0), (30,)) == []
    (line,) = find_missed(outcomes("user", 20) + outcomes("agent", 18), (30,))
    assert "agent at 30 %: 90.0%" in line


@pytest.mark.campaign
def test_the_bench_prints_a_row_for_each_source_and_asker() -> None:
    command = [sys.executable, str(BENCH / "asked.py"), "--cases", "1", "--shares", "30"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=FOR_EVER, check=False)
    assert not done.stderr
    assert all(asker in done.stdout for asker in ASKERS)
    assert all(kind in done.stdout for kind in KINDS)
    assert done.returncode == int("MISSED" in done.stdout)
