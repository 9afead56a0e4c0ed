"""The bench without a budget: what it takes for undone and for loss, on runs of our own."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[2] / "bench"))

import pytest
from tests.patience import FOR_EVER

from refold import Result, compress
from undone import Undoing

BENCH = Path(__file__).parents[2] / "bench"
ROWS = json.dumps(
    [{"crate": f"K{n}", "bay": n % 7, "state": "stored", "seal": n * 37} for n in range(40)]
)
CODE = "\n".join(f"    step_{n} = repair(gate[{n}], wall={n * 3})" for n in range(60))


def made_run(*outputs: str) -> list[dict[str, Any]]:
    run: list[dict[str, Any]] = [{"role": "user", "content": "Count the crates."}]
    for n, output in enumerate(outputs):
        function = {"name": "query", "arguments": json.dumps({"of": "crates"})}
        run += [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": f"c{n}", "type": "function", "function": function}],
            },
            {"role": "tool", "tool_call_id": f"c{n}", "content": output},
        ]
    return [*run, *({"role": "assistant", "content": f"Day {n} is done."} for n in range(4))]


def changed(run: list[dict[str, Any]], result: Result) -> list[tuple[int, bool]]:
    return Undoing(run, result).changed()


def test_what_a_profile_without_loss_does_is_undone() -> None:
    later = CODE.replace("step_30", "stop_30")
    run = made_run(ROWS, CODE, CODE, later, f"def mend():\n{CODE}")
    result = compress(run, profile="lossless", trace=True)
    found = changed(run, result)
    assert len(found) >= 3
    assert all(is_undone for _, is_undone in found)


def test_a_result_that_was_cut_or_dropped_is_a_loss() -> None:
    run = made_run(ROWS, CODE)
    result = compress(run, profile="lossless", trace=True)
    cut = [{**m, "content": m["content"][:90]} if m["role"] == "tool" else m for m in run]
    assert changed(run, replace(result, messages=cut)) == [(2, False), (4, False)]
    assert changed(run, replace(result, messages=run[:4])) == [(4, False)]


def test_a_copy_may_refer_to_the_same_text() -> None:
    run = made_run(CODE, CODE)
    result = compress(run, profile="lossless", trace=True)
    view = [dict(message) for message in run]
    view[2]["content"] = "[the same as the result below]"
    assert changed(run, replace(result, messages=view)) == [(2, True)]


def bench(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BENCH / "no_budget.py"), str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=FOR_EVER, check=False)


@pytest.mark.campaign
def test_the_bench_compares_two_profiles(tmp_path: Path) -> None:
    line = json.dumps({"messages": made_run(ROWS, CODE, CODE)}) + "\n"
    (tmp_path / "trajectory.own.jsonl.gz").write_bytes(gzip.compress(line.encode()))
    done = bench(tmp_path, "--profile", "lossless", "--workers", "1")
    assert not done.stderr
    assert done.returncode == 0
    assert "all targets reached" in done.stdout


@pytest.mark.campaign
def test_what_people_typed_must_be_as_it_was(tmp_path: Path) -> None:
    long = "The gardener counted the pots behind the long wall again. " * 12
    talk = [
        {"role": ("user", "assistant")[n % 2], "content": f"Bed {n}. {long}"} for n in range(12)
    ]
    line = json.dumps({"messages": talk}) + "\n"
    (tmp_path / "qa.own.jsonl.gz").write_bytes(gzip.compress(line.encode()))
    done = bench(tmp_path, "--profile", "classic", "--workers", "1", "--examples", "1")
    assert done.returncode == 1
    assert "short typed messages changed" in done.stdout
