"""Arrow batches, Parquet and the files of datasets: the same rows, folded and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from refold import ConfigError, FormatError, Options, SqliteStore
from refold.batch import Job, fold_batch, run_batch, unfold_batch
from tests.batch.chats import chat, line, parts, tree, write_lines

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: run make test-batch")
pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed: run make test-batch")

SMALL = 30_000


def texts(count: int, **columns: Any) -> Any:
    """Return a table with conversations as JSON text, and other columns."""
    numbers = list(range(count))
    return pa.table({"id": numbers, "messages": [line(number) for number in numbers], **columns})


def structs(count: int) -> Any:
    """Return a table with conversations as lists of structs."""
    return pa.table({"messages": [chat(number) for number in range(count)]})


def read(folder: Path) -> Any:
    return pa.concat_tables([pq.read_table(file) for file in sorted(folder.glob("part-*"))])


def run(inputs: Path, out: Path, **choices: Any) -> dict[str, Any]:
    job = Job(out=out, options=Options(token_budget=400), **choices)
    return run_batch([str(inputs)], job, workers=1, part_bytes=SMALL).manifest


class TestBatches:
    @pytest.mark.parametrize("type_", [pa.string(), pa.large_string(), pa.string_view()])
    def test_text_comes_back(self, type_: Any) -> None:
        table = texts(4).set_column(1, "messages", texts(4)["messages"].cast(type_))
        (batch,) = table.to_batches()
        folded = fold_batch(batch, token_budget=300)
        assert folded.schema.names == ["id", "messages", *folded.schema.names[2:]]
        assert folded.schema.names[2:] == ["originals", "tokens_before", "tokens_after"]
        assert sum(folded["tokens_after"].to_pylist()) < sum(folded["tokens_before"].to_pylist())
        assert unfold_batch(folded).equals(batch, check_metadata=True)

    def test_lists_of_structs_come_back(self) -> None:
        (batch,) = structs(3).to_batches()
        folded = fold_batch(batch)
        assert folded.schema.field("messages").type == pa.string()
        first = json.loads(folded["messages"][0].as_py())
        assert "tool_calls" not in first[0], "nulls that only Arrow has written are no data"
        back = unfold_batch(folded)
        assert back.equals(batch)
        assert back.schema == batch.schema

    def test_originals_go_to_a_store(self, tmp_path: Path) -> None:
        (batch,) = texts(3).to_batches()
        with SqliteStore(tmp_path / "o.db") as store:
            folded = fold_batch(batch, store=store)
            assert unfold_batch(folded, store=store).equals(batch)

    def test_a_table_will_do(self) -> None:
        folded = fold_batch(texts(3))
        assert isinstance(folded, pa.Table)
        assert unfold_batch(folded).equals(texts(3))

    def test_an_empty_batch_stays_empty(self) -> None:
        batch = texts(0).to_batches(max_chunksize=1) or [
            pa.RecordBatch.from_pylist([], texts(1).schema)
        ]
        folded = fold_batch(batch[0])
        assert folded.num_rows == 0
        assert folded.schema == fold_batch(texts(1).to_batches()[0]).schema

    def test_bad_rows_raise_or_stay(self) -> None:
        batch = pa.RecordBatch.from_pydict({"messages": [line(1), "broken", None, "[]"]})
        with pytest.raises(FormatError):
            fold_batch(batch)
        folded = fold_batch(batch, errors="keep")
        assert folded["messages"].to_pylist()[1:3] == ["broken", None]
        assert [error is None for error in folded["error"].to_pylist()] == [
            True,
            False,
            False,
            True,
        ]
        assert unfold_batch(folded).equals(batch)

    def test_columns_are_checked(self) -> None:
        (batch,) = texts(1, chat=[line(3)], when=[1.5]).to_batches()
        assert unfold_batch(fold_batch(batch, column="chat"), column="chat").equals(batch)
        with pytest.raises(ConfigError, match="expected one column 'talk'"):
            fold_batch(batch, column="talk")
        with pytest.raises(ConfigError, match="'originals' already"):
            fold_batch(fold_batch(batch))
        with pytest.raises(ConfigError, match="no folded batch"):
            unfold_batch(batch)
        dates = pa.RecordBatch.from_pydict({"messages": pa.array([[1]], pa.list_(pa.date32()))})
        with pytest.raises(ConfigError, match="date32"):
            fold_batch(dates)


class TestFiles:
    def test_parquet_comes_back(self, tmp_path: Path) -> None:
        table = texts(20, label=["a", "b"] * 10)
        pq.write_table(table, tmp_path / "in.parquet", row_group_size=3)
        manifest = run(tmp_path / "in.parquet", tmp_path / "out")
        assert len(manifest["parts"]) > 2
        assert read(tmp_path / "out")["label"].to_pylist() == ["a", "b"] * 10
        run(tmp_path / "out", tmp_path / "back", unfold=True)
        assert read(tmp_path / "back").equals(table)

    def test_large_row_groups_are_cut_for_several_cores(self, tmp_path: Path) -> None:
        table = texts(150).rename_columns(["id", "talk"])
        pq.write_table(table, tmp_path / "in.parquet", row_group_size=140)
        manifest = run(tmp_path / "in.parquet", tmp_path / "out", key="talk")
        assert len(manifest["parts"]) > 10
        run(tmp_path / "out", tmp_path / "back", unfold=True, key="talk")
        assert read(tmp_path / "back").equals(table)

    def test_bad_rows_are_set_aside(self, tmp_path: Path) -> None:
        table = pa.table({"messages": [line(1), "broken", line(2), None]})
        pq.write_table(table, tmp_path / "in.parquet", row_group_size=1)
        manifest = run(tmp_path / "in.parquet", tmp_path / "out")
        assert manifest["totals"]["records"] == 2
        lines = (tmp_path / "out" / "_rejected.jsonl").read_text().splitlines()
        assert [json.loads(one)["line"] for one in lines] == [2, 4]
        run(tmp_path / "out", tmp_path / "back", unfold=True)
        assert read(tmp_path / "back")["messages"].to_pylist() == [line(1), line(2)]

    def test_what_is_no_table_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "in.parquet").write_text("no")
        with pytest.raises(FormatError, match=r"in\.parquet: cannot be read as parquet"):
            run(tmp_path / "in.parquet", tmp_path / "out")

    def test_a_file_without_the_column_is_named(self, tmp_path: Path) -> None:
        pq.write_table(texts(2).rename_columns(["id", "talk"]), tmp_path / "in.parquet")
        says = r"in\.parquet: expected one column 'messages', got 'id', 'talk'.*--column"
        with pytest.raises(ConfigError, match=says):
            run(tmp_path / "in.parquet", tmp_path / "out")
        assert run(tmp_path / "in.parquet", tmp_path / "out", key="talk")["totals"]["records"] == 2

    @pytest.mark.parametrize("is_file", [False, True])
    def test_arrow_files_come_back(self, tmp_path: Path, is_file: bool) -> None:
        table = structs(10)
        make = pa.ipc.new_file if is_file else pa.ipc.new_stream
        with make(tmp_path / "data.arrow", table.schema) as writer:
            writer.write_table(table, max_chunksize=2)
        manifest = run(tmp_path / "data.arrow", tmp_path / "out")
        assert len(manifest["parts"]) > 1
        run(tmp_path / "out", tmp_path / "back", unfold=True)
        assert read(tmp_path / "back").equals(table)

    def test_packed_lines_come_back(self, tmp_path: Path) -> None:
        zstandard = pytest.importorskip("zstandard", reason="run make test-batch")
        write_lines(tmp_path / "in.jsonl", 9)
        data = (tmp_path / "in.jsonl").read_bytes()
        pack = zstandard.ZstdCompressor().compress
        (tmp_path / "in.jsonl.zst").write_bytes(pack(data[:5000]) + pack(data[5000:]))
        assert len(run(tmp_path / "in.jsonl.zst", tmp_path / "packed")["parts"]) == 1
        run(tmp_path / "in.jsonl", tmp_path / "plain")
        run(tmp_path / "packed", tmp_path / "back", unfold=True)
        unpack = zstandard.ZstdDecompressor().stream_reader
        assert len(parts(tmp_path / "packed")) < len(parts(tmp_path / "plain"))
        assert unpack(parts(tmp_path / "back")).read() == data

    def test_packed_lines_are_cut_for_several_cores(self, tmp_path: Path) -> None:
        zstandard = pytest.importorskip("zstandard", reason="run make test-batch")
        lines = write_lines(tmp_path / "in.jsonl", 150)
        data = (tmp_path / "in.jsonl").read_bytes()[:-1]  # the last line may lack its end
        (tmp_path / "in.jsonl.zst").write_bytes(zstandard.ZstdCompressor().compress(data))
        job = Job(out=tmp_path / "out", options=Options(profile="lossless"))
        file = str(tmp_path / "in.jsonl.zst")
        manifest = run_batch([file], job, workers=2, part_bytes=100).manifest
        assert len(manifest["parts"]) > 1
        assert manifest["totals"]["records"] == len(lines)
        run(tmp_path / "out", tmp_path / "back", unfold=True)
        unpack = zstandard.ZstdDecompressor().stream_reader
        back = [
            unpack(file.read_bytes()).read() for file in sorted((tmp_path / "back").glob("part-*"))
        ]
        assert b"".join(back) == data + b"\n"

    def test_the_number_of_workers_changes_nothing(self, tmp_path: Path) -> None:
        pq.write_table(texts(12), tmp_path / "in.parquet", row_group_size=2)
        for name, workers in (("one", 1), ("two", 2)):
            job = Job(out=tmp_path / name)
            run_batch([str(tmp_path / "in.parquet")], job, workers=workers, part_bytes=SMALL)
        assert tree(tmp_path / "one") == tree(tmp_path / "two")


def test_datasets_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets", reason="run make test-batch")
    dataset = datasets.Dataset.from_list([{"messages": chat(n), "id": n} for n in range(6)])
    dataset.save_to_disk(tmp_path / "saved")
    run(tmp_path / "saved", tmp_path / "out")
    folded = datasets.load_dataset(
        "parquet", data_files=str(tmp_path / "out" / "part-*"), split="train", cache_dir=tmp_path
    )
    assert folded["id"][:] == list(range(6))
    run(tmp_path / "out", tmp_path / "back", unfold=True)
    assert read(tmp_path / "back").to_pylist() == list(dataset)

    (tmp_path / "hub").mkdir()
    write_lines(tmp_path / "hub" / "train.jsonl", 3)
    table = [{"messages": json.dumps(chat(n))} for n in range(3)]
    (tmp_path / "hub" / "train.jsonl").write_text("".join(json.dumps(one) + "\n" for one in table))
    job = Job(out=tmp_path / "from-hub")
    run_batch([f"hf:{tmp_path / 'hub'}@train"], job, workers=1)
    assert read(tmp_path / "from-hub").num_rows == 3
