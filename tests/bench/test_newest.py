"""The bench of newest results: what counts is what only they have and the next call uses."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[2] / "bench"))

from tests.patience import FOR_EVER

from newest import find_jobs

BENCH = Path(__file__).parents[2] / "bench"


def _turn(number: int, name: str, arguments: object, result: str) -> list[dict[str, Any]]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": f"call_{number}", "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_{number}", "content": result},
    ]


def _run() -> list[dict[str, Any]]:
    return [
        {"role": "system", "content": "You book rooms."},
        {"role": "user", "content": "Book the room for Friday."},
        *_turn(1, "list_rooms", {"day": "Friday"}, "nothing free but the annex. " * 300),
        *_turn(2, "find_annex", {"day": "Friday"}, json.dumps({"room": "annex-4471"})),
        *_turn(3, "book", {"room": "annex-4471", "day": "Friday"}, "booked"),
    ]


def test_a_value_counts_if_only_the_newest_result_has_it() -> None:
    jobs = {len(job.messages): job.values for job in find_jobs("run", _run(), (30,))}
    assert jobs == {6: ("annex-4471",)}


@pytest.mark.campaign
def test_the_bench_prints_a_row_for_each_share(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "trajectory.rooms.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write(json.dumps({"messages": _run()}) + "\n")
    command = [sys.executable, str(BENCH / "newest.py"), str(tmp_path), "--shares", "50"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=FOR_EVER, check=False)
    assert not done.stderr
    assert "at 50 %       1  100.0%  ≥ 100%" in done.stdout
    assert done.returncode == 0
