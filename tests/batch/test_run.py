"""Files of conversations: every record once, the same bytes whoever does the work."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from refold import ConfigError, EncryptedStore, FormatError, Options, SqliteStore, StoreError
from refold.batch import BatchError, BatchResult, Job, run_batch
from refold.batch.job import Report, Shard, scratch_of
from refold.batch.shards import do_shard
from tests.batch.chats import chat, line, parts, tree, write_lines

SMALL = 20_000


def fold(inputs: Sequence[Path | str], out: Path, **choices: Any) -> BatchResult:
    job = Job(out=out, options=Options(token_budget=400))
    return run_batch([str(one) for one in inputs], job, **{"part_bytes": SMALL, **choices})


def unfold(folded: Path, out: Path, **choices: Any) -> BatchResult:
    return run_batch([str(folded)], Job(out=out, unfold=True, **choices), workers=1)


def test_every_record_comes_back(tmp_path: Path) -> None:
    write_lines(tmp_path / "in.jsonl", 20)
    result = fold([tmp_path / "in.jsonl"], tmp_path / "out", workers=1)
    assert len(result.manifest["parts"]) > 3
    assert result.manifest["totals"]["records"] == 20
    assert result.manifest["totals"]["tokens_after"] < result.manifest["totals"]["tokens_before"]
    unfold(tmp_path / "out", tmp_path / "back")
    assert parts(tmp_path / "back") == (tmp_path / "in.jsonl").read_bytes()


def test_the_number_of_workers_changes_nothing(tmp_path: Path) -> None:
    write_lines(tmp_path / "in.jsonl", 12)
    fold([tmp_path / "in.jsonl"], tmp_path / "one", workers=1)
    fold([tmp_path / "in.jsonl"], tmp_path / "two", workers=2)
    assert tree(tmp_path / "one") == tree(tmp_path / "two")


def test_a_folded_line_is_the_record_with_one_key_more(tmp_path: Path) -> None:
    records = [{"id": 1, "messages": chat(1), "label": "good"}, chat(2)]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
    fold([tmp_path / "in.jsonl"], tmp_path / "out", workers=1)
    first, second = map(json.loads, parts(tmp_path / "out").splitlines())
    assert list(first) == ["id", "messages", "label", "refold"]
    assert list(second) == ["messages", "refold"]
    assert first["refold"]["tokens_after"] < first["refold"]["tokens_before"]


def test_lines_have_their_originals_packed_and_notice_damage(tmp_path: Path) -> None:
    lines = write_lines(tmp_path / "in.jsonl", 4)
    fold([tmp_path / "in.jsonl"], tmp_path / "out", workers=1)
    notes = [json.loads(one)["refold"] for one in parts(tmp_path / "out").splitlines()]
    for note, whole in zip(notes, lines, strict=True):
        assert len(json.dumps(note)) < len(whole) / 2
    folded = parts(tmp_path / "out").decode().replace(notes[1]["packed"][40:80], "0" * 40)
    (tmp_path / "damaged.jsonl").write_text(folded)
    result = unfold(tmp_path / "damaged.jsonl", tmp_path / "back")
    assert result.manifest["errors"] == {"RecordError": 1}
    assert parts(tmp_path / "back").decode().splitlines() == [lines[0], *lines[2:]]


def test_the_manifest_has_a_checksum_for_every_file(tmp_path: Path) -> None:
    write_lines(tmp_path / "in.jsonl", 8)
    with (tmp_path / "in.jsonl").open("a") as file:
        file.write("broken\n")
    manifest = fold([tmp_path / "in.jsonl"], tmp_path / "out", workers=1).manifest
    assert json.loads((tmp_path / "out" / "_manifest.json").read_text()) == manifest
    for part in (*manifest["parts"], manifest["rejected"]):
        data = (tmp_path / "out" / part["file"]).read_bytes()
        assert hashlib.sha256(data).hexdigest() == part["sha256"]
    names = {part["file"] for part in manifest["parts"]}
    assert set(tree(tmp_path / "out")) == {*names, "_manifest.json", "_rejected.jsonl"}


def test_bad_records_are_set_aside_with_file_line_and_reason(tmp_path: Path) -> None:
    lines = [line(number).encode() for number in range(12)]
    lines[2:2] = [b"{broken", b""]
    lines[9:9] = [b'{"text": "no messages"}', b'["\xff"]', b'{"messages": [], "refold": 1}']
    file = tmp_path / "in.jsonl"
    file.write_bytes(b"".join(one + b"\n" for one in lines))
    manifest = fold([file], tmp_path / "out", workers=1).manifest
    assert len(manifest["parts"]) > 3
    assert manifest["totals"]["records"] == 12
    assert manifest["totals"]["rejected"] == 4
    assert manifest["errors"] == {"FormatError": 1, "MessageError": 2, "UnicodeDecodeError": 1}
    rejected = [
        json.loads(one) for one in (tmp_path / "out" / "_rejected.jsonl").read_text().splitlines()
    ]
    assert [(one["file"], one["line"]) for one in rejected] == [
        (str(file), number) for number in (3, 10, 11, 12)
    ]
    assert [one.get("record") for one in rejected] == [
        "{broken",
        '{"text": "no messages"}',
        None,
        '{"messages": [], "refold": 1}',
    ]
    assert "broken JSON" in rejected[0]["reason"]
    assert rejected[2]["record_base64"] == "WyL/Il0="
    good = [one for number, one in enumerate(lines) if number not in (2, 3, 9, 10, 11)]
    unfold(tmp_path / "out", tmp_path / "back")
    assert parts(tmp_path / "back") == b"".join(one + b"\n" for one in good)


@pytest.mark.parametrize("ending", [b"\r\n", b"\n"])
def test_line_ends_and_marks_of_other_systems_come_back(tmp_path: Path, ending: bytes) -> None:
    data = b"\xef\xbb\xbf" + ending.join(line(number).encode() for number in range(4)) + ending
    (tmp_path / "in.jsonl").write_bytes(data)
    fold([tmp_path / "in.jsonl"], tmp_path / "out", workers=1)
    unfold(tmp_path / "out", tmp_path / "back")
    assert parts(tmp_path / "back") == data


def test_originals_go_to_a_store(tmp_path: Path) -> None:
    write_lines(tmp_path / "in.jsonl", 6)
    store = str(tmp_path / "originals.db")
    for name, workers in (("one", 1), ("two", 2)):
        job = Job(out=tmp_path / name, options=Options(token_budget=400), store=store)
        run_batch([str(tmp_path / "in.jsonl")], job, workers=workers, part_bytes=SMALL)
    assert tree(tmp_path / "one") == tree(tmp_path / "two")
    assert b"packed" not in parts(tmp_path / "one")
    assert store not in (tmp_path / "one" / "_manifest.json").read_text()
    unfold(tmp_path / "one", tmp_path / "back", store=store)
    assert parts(tmp_path / "back") == (tmp_path / "in.jsonl").read_bytes()
    with pytest.raises(StoreError, match=r"other\.db"):
        unfold(tmp_path / "one", tmp_path / "none", store=str(tmp_path / "other.db"))
    with SqliteStore(tmp_path / "other.db") as other:
        other.put({})
    missing = unfold(tmp_path / "one", tmp_path / "none", store=str(tmp_path / "other.db"))
    assert missing.manifest["errors"] == {"RecordError": 6}


def test_an_encrypted_store_is_not_read_without_its_keys(tmp_path: Path) -> None:
    pytest.importorskip("cryptography", reason="cryptography is not installed")
    write_lines(tmp_path / "in.jsonl", 2)
    store = str(tmp_path / "originals.db")
    key = EncryptedStore.new_key()
    options = Options(token_budget=400)
    job = Job(out=tmp_path / "out", options=options, store=store, keys=(key,))
    run_batch([str(tmp_path / "in.jsonl")], job, workers=1)
    with pytest.raises(StoreError, match=r"originals\.db.* is encrypted: give its key"):
        unfold(tmp_path / "out", tmp_path / "back", store=store)
    unfold(tmp_path / "out", tmp_path / "back", store=store, keys=(key,))
    assert parts(tmp_path / "back") == (tmp_path / "in.jsonl").read_bytes()


def test_each_part_has_a_place_of_its_own_in_a_bucket(tmp_path: Path) -> None:
    pytest.importorskip("obstore", reason="obstore is not installed; see `make test-stores`")
    write_lines(tmp_path / "in.jsonl", 6)
    store = f"file://{tmp_path}/objects"
    job = Job(out=tmp_path / "out", options=Options(token_budget=400), store=store)
    done = run_batch([str(tmp_path / "in.jsonl")], job, workers=2, part_bytes=SMALL)
    places = [place.name for place in (tmp_path / "objects").iterdir()]
    assert len(places) == len(done.manifest["parts"]) > 1
    unfold(tmp_path / "out", tmp_path / "back", store=store)
    assert parts(tmp_path / "back") == (tmp_path / "in.jsonl").read_bytes()


def test_a_store_in_trouble_stops_the_batch(tmp_path: Path) -> None:
    write_lines(tmp_path / "in.jsonl", 3)
    job = Job(out=tmp_path / "out", store=str(tmp_path))
    for workers in (1, 2):
        with pytest.raises(StoreError, match="cannot open"):
            run_batch([str(tmp_path / "in.jsonl")], job, workers=workers, part_bytes=SMALL)
    assert not list((tmp_path / "out").glob("part-*"))


@pytest.mark.skipif(os.name == "nt", reason="no modes")
def test_parts_are_for_those_who_may_read_the_input(tmp_path: Path) -> None:
    write_lines(tmp_path / "in.jsonl", 1)
    for mode in (0o600, 0o640):
        (tmp_path / "in.jsonl").chmod(mode)
        fold([tmp_path / "in.jsonl"], tmp_path / f"out{mode}", workers=1)
        files = list((tmp_path / f"out{mode}").iterdir())
        assert {file.stat().st_mode & 0o777 for file in files} == {mode}


def test_a_budget_may_be_a_share(tmp_path: Path) -> None:
    write_lines(tmp_path / "in.jsonl", 3)
    job = Job(out=tmp_path / "out", options=Options(token_share=0.4))
    totals = run_batch([str(tmp_path / "in.jsonl")], job, workers=1).manifest["totals"]
    assert totals["tokens_after"] <= 0.4 * totals["tokens_before"]
    assert totals["over_budget"] == 0


class TestInputs:
    def test_folders_and_patterns_name_files(self, tmp_path: Path) -> None:
        lines = [
            *write_lines(tmp_path / "in" / "a.jsonl", 2),
            *write_lines(tmp_path / "in" / "deep" / "b.ndjson", 2, first=2),
        ]
        for name in (".hidden.jsonl", "_private.jsonl", "notes.txt", "cache-1.arrow"):
            (tmp_path / "in" / name).write_text("no\n")
        for given in (tmp_path / "in", tmp_path / "in" / "**" / "[ab]*"):
            out = tmp_path / "in" / "out"  # what is written is never read
            fold([given], out, workers=1)
            fold([given], out, workers=1)
            unfold(out, tmp_path / "back")
            assert parts(tmp_path / "back").decode().splitlines() == lines
            for folder in (out, tmp_path / "back"):
                for file in folder.iterdir():
                    file.unlink()

    def test_a_file_that_is_named_twice_is_read_once(self, tmp_path: Path) -> None:
        write_lines(tmp_path / "in" / "a.jsonl", 2)
        result = fold([tmp_path / "in" / "a.jsonl", tmp_path / "in"], tmp_path / "out", workers=1)
        assert result.manifest["totals"]["records"] == 2

    @pytest.mark.parametrize("name", ["none.jsonl", "empty", "notes.txt", "x/*.jsonl"])
    def test_what_cannot_be_read_is_named(self, tmp_path: Path, name: str) -> None:
        (tmp_path / "empty").mkdir()
        (tmp_path / "notes.txt").write_text("hello")
        with pytest.raises(FormatError, match=r"none\.jsonl|empty|notes\.txt|x/"):
            fold([tmp_path / name], tmp_path / "out")
        assert not (tmp_path / "out").exists()

    def test_an_empty_file_has_no_parts(self, tmp_path: Path) -> None:
        (tmp_path / "in.jsonl").touch()
        assert fold([tmp_path / "in.jsonl"], tmp_path / "out").manifest["parts"] == []

    def test_lines_longer_than_a_part_are_whole(self, tmp_path: Path) -> None:
        lines = write_lines(tmp_path / "in.jsonl", 5)
        result = fold([tmp_path / "in.jsonl"], tmp_path / "out", workers=1, part_bytes=10)
        assert [part["records"] for part in result.manifest["parts"]] == [1] * len(lines)

    def test_the_last_line_may_lack_its_end(self, tmp_path: Path) -> None:
        (tmp_path / "in.jsonl").write_text(line(1) + "\n" + line(2))
        result = fold([tmp_path / "in.jsonl"], tmp_path / "out", workers=1)
        assert result.manifest["totals"]["records"] == 2


class TestTakingUp:
    def test_what_is_done_is_not_done_again(self, tmp_path: Path) -> None:
        write_lines(tmp_path / "in.jsonl", 10)
        fold([tmp_path / "in.jsonl"], tmp_path / "whole", workers=1)
        done: list[Report] = []

        def stop(report: Report) -> None:
            done.append(report)
            if len(done) == 3:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            fold([tmp_path / "in.jsonl"], tmp_path / "out", workers=1, on_report=stop)
        times = {file: file.stat().st_mtime_ns for file in (tmp_path / "out").glob("part-*")}
        assert len(times) == 3
        fold([tmp_path / "in.jsonl"], tmp_path / "out", workers=1)
        assert {file: file.stat().st_mtime_ns for file in times} == times
        assert tree(tmp_path / "out") == tree(tmp_path / "whole")

    def test_a_finished_batch_is_left_alone(self, tmp_path: Path) -> None:
        write_lines(tmp_path / "in.jsonl", 4)
        first = fold([tmp_path / "in.jsonl"], tmp_path / "out", workers=1)
        before = tree(tmp_path / "out")
        again = fold([tmp_path / "in.jsonl"], tmp_path / "out", workers=1)
        assert again.manifest == first.manifest
        assert tree(tmp_path / "out") == before

    def test_a_part_that_got_lost_is_made_again(self, tmp_path: Path) -> None:
        write_lines(tmp_path / "in.jsonl", 6)
        fold([tmp_path / "in.jsonl"], tmp_path / "whole", workers=1)

        def stop(report: Report) -> None:
            (tmp_path / "out" / report.shard.part).unlink()
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            fold([tmp_path / "in.jsonl"], tmp_path / "out", workers=1, on_report=stop)
        fold([tmp_path / "in.jsonl"], tmp_path / "out", workers=1)
        assert tree(tmp_path / "out") == tree(tmp_path / "whole")

    def test_another_batch_is_refused(self, tmp_path: Path) -> None:
        write_lines(tmp_path / "in.jsonl", 6)

        def stop(_: Report) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            fold([tmp_path / "in.jsonl"], tmp_path / "out", workers=1, on_report=stop)
        with pytest.raises(BatchError, match="differs in the part size"):
            fold([tmp_path / "in.jsonl"], tmp_path / "out", workers=1, part_bytes=99)
        other = Job(out=tmp_path / "out", options=Options(token_budget=500))
        with pytest.raises(BatchError, match="differs in the options"):
            run_batch([str(tmp_path / "in.jsonl")], other, part_bytes=SMALL)
        fold([tmp_path / "in.jsonl"], tmp_path / "out", workers=1)
        with pytest.raises(BatchError, match=r"another batch \(it differs in the options\): name"):
            run_batch([str(tmp_path / "in.jsonl")], other, part_bytes=SMALL)

    def test_a_batch_that_came_to_nothing_is_in_nobodys_way(self, tmp_path: Path) -> None:
        write_lines(tmp_path / "in.jsonl", 4)
        inputs = [str(tmp_path / "in.jsonl")]
        for wrong in (tmp_path, tmp_path / "in.jsonl"):
            with pytest.raises(StoreError, match="cannot open"):
                run_batch(inputs, Job(out=tmp_path / "out", store=str(wrong)), workers=1)
        right = Job(out=tmp_path / "out", store=str(tmp_path / "originals.db"))
        assert run_batch(inputs, right, workers=1).manifest["totals"]["records"] == 4

    def test_what_was_done_before_is_told_at_the_start(self, tmp_path: Path) -> None:
        write_lines(tmp_path / "in.jsonl", 6)
        told: list[int] = []

        def stop(_: Report) -> None:
            raise KeyboardInterrupt

        def start(_: object, done: Sequence[Report]) -> None:
            told.extend(report.figures.records for report in done)

        with pytest.raises(KeyboardInterrupt):
            fold([tmp_path / "in.jsonl"], tmp_path / "out", workers=1, on_report=stop)
        told_then = {"on_start": start, "on_report": lambda one: told.append(one.figures.records)}
        fold([tmp_path / "in.jsonl"], tmp_path / "out", workers=1, **told_then)
        assert sum(told) == 6

    def test_nothing_goes_on_without_the_keys_of_its_originals(self, tmp_path: Path) -> None:
        pytest.importorskip("cryptography", reason="cryptography is not installed")
        write_lines(tmp_path / "in.jsonl", 8)
        old, new = EncryptedStore.new_key(), EncryptedStore.new_key()

        def go_on(*keys: bytes, name: str = "out", stop_after: int = 99) -> None:
            job = Job(out=tmp_path / name, store=str(tmp_path / f"{name}.db"), keys=keys)
            done: list[Report] = []

            def stop(report: Report) -> None:
                done.append(report)
                if len(done) == stop_after:
                    raise KeyboardInterrupt

            inputs = [str(tmp_path / "in.jsonl")]
            run_batch(inputs, job, workers=1, part_bytes=SMALL, on_report=stop)

        with pytest.raises(KeyboardInterrupt):
            go_on(old, stop_after=1)
        for others in ((), (new,)):
            with pytest.raises(BatchError, match=r"encrypted with the key [0-9a-f]{8}, which"):
                go_on(*others)
        with pytest.raises(KeyboardInterrupt):
            go_on(new, old, stop_after=3)
        with pytest.raises(BatchError, match="encrypted with the key"):
            go_on(old)
        go_on(new, old)
        store = str(tmp_path / "out.db")
        unfold(tmp_path / "out", tmp_path / "back", store=store, keys=(new, old))
        assert parts(tmp_path / "back") == (tmp_path / "in.jsonl").read_bytes()
        with pytest.raises(KeyboardInterrupt):
            go_on(name="plain", stop_after=1)
        with pytest.raises(BatchError, match="not encrypted so far"):
            go_on(new, name="plain")

    def test_a_folder_with_other_things_is_refused(self, tmp_path: Path) -> None:
        write_lines(tmp_path / "in.jsonl", 1)
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "precious.txt").write_text("mine")
        with pytest.raises(BatchError, match="not empty"):
            fold([tmp_path / "in.jsonl"], tmp_path / "out")
        assert tree(tmp_path / "out") == {"precious.txt": b"mine"}

    def test_two_batches_never_share_a_folder(self, tmp_path: Path) -> None:
        pytest.importorskip("fcntl", reason="folders cannot be locked here")
        write_lines(tmp_path / "in.jsonl", 4)
        refusals = []

        def intrude(_: Report) -> None:
            with pytest.raises(BatchError, match="another batch is working") as refusal:
                fold([tmp_path / "in.jsonl"], tmp_path / "out", workers=1)
            refusals.append(refusal)

        fold([tmp_path / "in.jsonl"], tmp_path / "out", workers=1, on_report=intrude)
        assert refusals

    def test_a_worker_that_is_killed_costs_a_try(self, tmp_path: Path) -> None:
        write_lines(tmp_path / "in.jsonl", 12)
        alive = [True]

        def kill(_: Report) -> None:
            for child in multiprocessing.active_children() if alive else ():
                child.kill()
            alive.clear()

        fold([tmp_path / "in.jsonl"], tmp_path / "out", workers=2, on_report=kill)
        assert not alive
        assert not multiprocessing.active_children()
        fold([tmp_path / "in.jsonl"], tmp_path / "whole", workers=1)
        assert tree(tmp_path / "out") == tree(tmp_path / "whole")

    @pytest.mark.skipif(os.name == "nt", reason="no SIGKILL")
    def test_a_part_that_kills_its_workers_is_set_aside(self, tmp_path: Path) -> None:
        lines = write_lines(tmp_path / "in.jsonl", 12)
        job = Job(out=tmp_path / "out", options=Options(token_budget=400, counter=deadly))
        result = run_batch([str(tmp_path / "in.jsonl")], job, workers=2, part_bytes=SMALL)
        notes = list(map(json.loads, (tmp_path / "out/_rejected.jsonl").read_text().splitlines()))
        assert 0 < len(notes) < 12
        assert {lines[note["line"] - 1] for note in notes} == {note["record"] for note in notes}
        assert any(DEADLY in note["record"] for note in notes)
        assert all("killed by signal 9" in note["reason"] for note in notes)
        assert result.manifest["totals"]["records"] == 12 - len(notes)
        assert result.manifest["errors"] == {"BatchError": len(notes)}
        unfold(tmp_path / "out", tmp_path / "back")
        aside = {note["record"] for note in notes}
        kept = [line for line in lines if line not in aside]
        assert parts(tmp_path / "back").decode().splitlines() == kept


DEADLY = "for day 7."


def deadly(text: str) -> int:
    """Count tokens until a text is too much for the process."""
    if DEADLY in text:
        os.kill(os.getpid(), signal.SIGKILL)
    return len(text) // 4


def test_a_script_without_a_main_guard_is_told_so(tmp_path: Path) -> None:
    write_lines(tmp_path / "in.jsonl", 8)
    script = tmp_path / "script.py"
    script.write_text(
        "from pathlib import Path\n"
        "from refold.batch import Job, run_batch\n"
        "run_batch(['in.jsonl'], Job(out=Path('out')), workers=2, part_bytes=4_000)\n"
    )
    command = [sys.executable, "script.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert 'below if __name__ == "__main__":' in last
    guarded = script.read_text().replace("run_batch([", "if __name__ == '__main__': run_batch([")
    script.write_text(guarded)
    subprocess.run(command, cwd=tmp_path, check=True)


def test_a_folder_has_ten_thousand_parts_at_most(tmp_path: Path) -> None:
    lines = write_lines(tmp_path / "in.jsonl", 1)
    whole = Shard(
        number=0, kind="jsonl", source=str(tmp_path / "in.jsonl"), start=0, stop=10**9, size=1
    )
    shards = [replace(whole, number=number) for number in range(0, 300_000, 2_500)]
    folders = Counter(Path(shard.part).parent for shard in shards)
    assert set(folders.values()) == {4}
    assert sorted(Path(shard.part) for shard in shards) == [Path(shard.part) for shard in shards]

    job = Job(out=tmp_path / "out")
    scratch_of(job).mkdir(parents=True)
    report = do_shard(job, shards[-1])
    assert report.figures.records == len(lines)
    assert (tmp_path / "out" / shards[-1].part).stat().st_size == report.figures.bytes_out


def test_choices_are_checked(tmp_path: Path) -> None:
    write_lines(tmp_path / "in.jsonl", 1)
    with pytest.raises(ConfigError, match="engine"):
        fold([tmp_path / "in.jsonl"], tmp_path / "out", engine="slurm")
    with pytest.raises(ConfigError, match="workers"):
        fold([tmp_path / "in.jsonl"], tmp_path / "out", workers=-1)
