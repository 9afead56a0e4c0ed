"""Ray and Spark on this machine: the same bytes as without them."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

from refold import Options
from refold.batch import Job, run_batch
from refold.batch.engines import Engine
from tests.batch.chats import parts, tree, write_lines

PACKAGES: dict[Engine, str] = {"ray": "ray", "spark": "pyspark"}


@pytest.mark.parametrize("engine", PACKAGES)
def test_engines_write_the_same_bytes(tmp_path: Path, engine: Engine) -> None:
    need = f"{PACKAGES[engine]} is not installed: run make test-batch"
    pytest.importorskip(PACKAGES[engine], reason=need)
    write_lines(tmp_path / "in" / "a.jsonl", 20)
    with (tmp_path / "in" / "a.jsonl").open("a") as file:
        file.write("broken\n")
    pq = pytest.importorskip("pyarrow.parquet", reason=need)
    table = importlib.import_module("pyarrow").table
    lines = (tmp_path / "in" / "a.jsonl").read_text(encoding="utf-8").splitlines()
    pq.write_table(table({"messages": lines}), tmp_path / "in" / "b.parquet", row_group_size=5)

    def run(name: str, **choices: Any) -> None:
        store = str(tmp_path / f"{name}.db")
        job = Job(out=tmp_path / name, options=Options(token_budget=400), store=store)
        run_batch([str(tmp_path / "in")], job, workers=2, part_bytes=30_000, **choices)

    run("local")
    run(engine, engine=engine)
    assert tree(tmp_path / engine) == tree(tmp_path / "local")
    back = Job(out=tmp_path / "back", unfold=True, store=str(tmp_path / f"{engine}.db"))
    run_batch([str(tmp_path / engine / "*.jsonl")], back, engine=engine, workers=2)
    assert parts(tmp_path / "back").decode().splitlines() == lines[:-1]
