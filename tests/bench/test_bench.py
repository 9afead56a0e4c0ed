"""The bench scripts run on inputs of our own, say what they should, and fail when they must."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.bench.scripts import run, start

PROSE = "The gardener counted the pots behind the long wall again. " * 8


def write_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


def classified(text: str, tier: str, *reasons: str) -> dict[str, Any]:
    result = {"decision": tier, "confidence": 0.65, "reasons": list(reasons)}
    return {"fn": "classifyMessage", "args": [text], "result": result}


def compressed(decision: tuple[str, str], **options: Any) -> dict[str, Any]:
    action, reason = decision
    message = {"id": "a", "index": 0, "role": "user", "content": PROSE}
    entry = {"messageId": "a", "messageIndex": 0, "action": action, "reason": reason}
    return {
        "fn": "compress",
        "args": [[message], {"recencyWindow": 0, "trace": True, **options}],
        "result": {"messages": [], "compression": {"decisions": [entry]}},
    }


PEOPLE = ["Pavel", "Ines Roy"]
COPIES = [{"id": str(n), "role": "user", "content": PROSE} for n in range(2)]
AGREEING = [
    classified("The pots are dry.", "T2"),
    compressed(("compressed", "compressible_prose")),
    {"fn": "scoreContentSignals", "args": ["We must go."], "result": 0.15},
    {"fn": "extractEntities", "args": ["Pavel met Ines Roy at noon", 20], "result": PEOPLE},
    {"fn": "splitSentences", "args": ["It rained. We left."], "result": ["It rained.", "We left."]},
    {"fn": "bestSentenceScore", "args": ["Thus it is."], "result": 3},
    {
        "fn": "computeImportance",
        "args": [[{"id": "a", "content": "Calm sea."}]],
        "result": [[0, 0]],
    },
    {"fn": "analyzeDuplicates", "args": [COPIES[:1], 0, ["system"]], "result": []},
    {"fn": "analyzeFuzzyDuplicates", "args": [COPIES[:1], 0, [], [], 0.7], "result": []},
    {"fn": "analyzeContradictions", "args": [COPIES[:1], 0.15, []], "result": []},
    {"fn": "uncompress", "args": ["x", {}], "error": "TypeError", "message": "not an array"},
]


@pytest.mark.parametrize("name", ["vectors.jsonl", "vectors.jsonl.gz"])
def test_vectors_agree(tmp_path: Path, name: str) -> None:
    done = run("vectors.py", str(write_lines(tmp_path / name, AGREEING)), "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["differences"] == []
    assert {f["decisions_agreed"] for f in report["functions"].values()} == {1}


def test_vectors_see_duplicates(tmp_path: Path) -> None:
    found = [[0, {"duplicateOfIndex": 1, "contentLength": len(PROSE)}]]
    rows = [{"fn": "analyzeDuplicates", "args": [COPIES, 0, ["system"]], "result": found}]
    done = run("vectors.py", str(write_lines(tmp_path / "vectors.jsonl", rows)), "--json")
    assert json.loads(done.stdout)["functions"]["analyzeDuplicates"]["decisions_agreed"] == 2


def test_vectors_name_what_a_known_failure_asks_for(tmp_path: Path) -> None:
    rows = [*AGREEING, classified("a returning gardener", "T0", "sql_content")]
    done = run("vectors.py", str(write_lines(tmp_path / "vectors.jsonl", rows)), "--verbose")
    assert done.returncode == 0, done.stderr
    assert "known failure 16" in done.stdout
    assert "unexplained, line" not in done.stdout


def test_vectors_fail_below_the_target(tmp_path: Path) -> None:
    rows = [*AGREEING, compressed(("preserved", "json_structure"))]
    done = run("vectors.py", str(write_lines(tmp_path / "vectors.jsonl", rows)), "--verbose")
    assert done.returncode == 1
    assert "missed by compress" in done.stdout
    assert "unexplained" in done.stdout


def test_vectors_count_options_that_do_not_exist(tmp_path: Path) -> None:
    rows = [*AGREEING, compressed(("compressed", "x"), noSuchThing=True)]
    done = run("vectors.py", str(write_lines(tmp_path / "vectors.jsonl", rows)), "--json")
    assert json.loads(done.stdout)["skipped"] == {"compress: no_such_thing": 1}


@pytest.mark.campaign
def test_adversarial_measures_every_input() -> None:
    done = start(
        "adversarial.py", "--size-kb", "1", "--repeat", "1", "--seconds-per-mb", "1e9", "--json"
    )
    timings = json.loads(done.stdout)
    assert len(timings) >= 15
    assert all(timing["restored"] for timing in timings), timings
    assert all(len(timing["milliseconds"]) == 3 for timing in timings)


@pytest.mark.campaign
def test_adversarial_flags_what_is_slow_under_a_budget_too() -> None:
    chosen = ("--size-kb", "1", "--only", "one letter", "--repeat", "1", "--budget-share", "0.5")
    done = start("adversarial.py", *chosen, "--seconds-per-mb", "0")
    assert done.returncode == 1
    assert "slow" in done.stdout


def test_adversarial_knows_its_inputs() -> None:
    assert run("adversarial.py", "--only", "no such input").returncode == 2


def test_corpus_comes_back(tmp_path: Path) -> None:
    turns = [{"role": ("user", "assistant")[n % 2], "content": f"{n} {PROSE}"} for n in range(8)]
    block = {"type": "tool_result", "tool_use_id": "t1", "content": PROSE}
    native = [
        {"role": "user", "content": PROSE},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "look"}]},
        {"role": "user", "content": [block]},
    ]
    record = {"messages": turns, "native": native, "native_format": "anthropic"}
    write_lines(tmp_path / "chat.own.jsonl.gz", [record, record])
    write_lines(tmp_path / "toolout.own.jsonl.gz", [{"text": PROSE}])
    done = start("corpus.py", str(tmp_path), "--options", "default,fuzzy,importance")
    assert done.returncode == 0, done.stdout + done.stderr
    for part in ("chat.own (anthropic)", "toolout.own", "fuzzy options", "saved %"):
        assert part in done.stdout


def test_corpus_reports_what_it_cannot_read(tmp_path: Path) -> None:
    write_lines(tmp_path / "chat.own.jsonl.gz", [{"messages": [{"content": "no role"}]}])
    done = start("corpus.py", str(tmp_path))
    assert done.returncode == 1
    assert "chat.own.jsonl.gz line 1" in done.stdout


def test_corpus_needs_data(tmp_path: Path) -> None:
    assert run("corpus.py", str(tmp_path)).returncode == 2


def test_the_generated_conversation_is_always_the_same_and_has_everything() -> None:
    done = run("generate.py", "--megabytes", "0.1")
    assert done.stdout == run("generate.py", "--megabytes", "0.1").stdout
    assert done.stdout != run("generate.py", "--megabytes", "0.1", "--seed", "8").stdout
    text = "\n".join(message["content"] or "" for message in json.loads(done.stdout))
    assert len(text.encode()) >= 100_000
    for kind in ("```python", "\n    return ", '"status": "open"', " WARN worker-", "。", ".py:"):
        assert kind in text
    assert len(json.loads(run("generate.py", "--messages", "30").stdout)) == 30


@pytest.mark.campaign
def test_speed_measures_everything_beside_a_peer(tmp_path: Path) -> None:
    peer = tmp_path / "peer.py"
    peer.write_text("import sys; sys.stdout.write(sys.stdin.read())")
    write_lines(tmp_path / "chat.own.jsonl.gz", [{"messages": COPIES}, {"messages": COPIES}])
    done = run(
        *("speed.py", "--megabytes", "0.005", "--runs", "1", "--json", "--cpu"),
        *("--data", str(tmp_path), "--peer", f"{sys.executable} {peer}"),
        *("--other", sys.executable, "--session-messages", "10"),
    )
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert {row["corpus"] for row in rows} == {"generated", "recorded", ""}
    names = {row["name"] for row in rows}
    for name in ("plain", "fuzzy", "budget", "lossless", "uncompress", "one more turn"):
        assert name in names
    assert all(row["cpu_seconds"] >= 0 for row in rows if row["name"] == "lossless")
    assert {"import refold", "times as fast as peer", "budget ÷ plain", "peak memory"} <= names
    assert all(row["least"] <= row["median"] <= row["most"] for row in rows)


@pytest.mark.campaign
def test_speed_fails_on_a_broken_promise_when_asked(tmp_path: Path) -> None:
    small = ("--megabytes", "0.005", "--runs", "1", "--session-messages", "10")
    done = run("speed.py", *small, "--data", str(tmp_path), "--check")
    assert ("NO" in done.stdout) == (done.returncode == 1)


@pytest.mark.campaign
def test_speed_prefers_recorded_runs_of_agents(tmp_path: Path) -> None:
    write_lines(tmp_path / "chat.own.jsonl.gz", [{"messages": COPIES}] * 3)
    write_lines(tmp_path / "trajectory.own.jsonl.gz", [{"messages": COPIES}])
    done = run("speed.py", "--megabytes", "0", "--runs", "1", "--data", str(tmp_path))
    assert f"recorded: {len(COPIES)} messages" in done.stderr


@pytest.mark.parametrize(
    "script", ["vectors.py", "adversarial.py", "corpus.py", "generate.py", "speed.py"]
)
def test_help_shows_examples(script: str) -> None:
    done = run(script, "--help")
    assert done.returncode == 0
    assert f"python bench/{script}" in done.stdout


@pytest.mark.campaign
def test_stores_compares_ways_to_pack() -> None:
    pytest.importorskip("zstandard", reason="zstandard is not installed")
    done = run("stores.py", "packing", "--cap", "1")
    assert done.returncode == 0, done.stderr
    assert "a record, zstd" in done.stdout


@pytest.mark.campaign
def test_stores_fills_a_store_and_looks_things_up() -> None:
    done = run("stores.py", "growth", "--originals", "500", "--stores", "sqlite")
    assert done.returncode == 0, done.stderr
    assert "p99 ms" in done.stdout


def test_batches_are_measured() -> None:
    done = run("batch.py", "--records", "2,4", "--messages", "4")
    assert done.returncode == 0, done.stderr
    for words in ("growth of CPU", "× for 2×", "json.loads and dumps alone", "by CPU time"):
        assert words in done.stdout
