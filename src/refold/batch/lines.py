"""JSON lines, plain or packed by zstd: one record a line, read and written one at a time."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any, BinaryIO, Final

from refold.batch.extras import need
from refold.batch.job import Shard
from refold.batch.record import FoldedRecord, parse_json, unfold_record
from refold.batch.work import Work
from refold.errors import MessageError
from refold.json_style import Style

REFOLD_KEY: Final = "refold"
"""Under which a folded line has what `refold batch --unfold` needs."""
_LIST_KEY: Final = "messages"
"""Under which a folded line has the messages of a record that was a list."""
_LEVEL: Final = 3  # the default of zstd, said here because the bytes of parts depend on it
_STYLE: Final = Style(item_separator=",", key_separator=":", ascii_only=False)


def plan_lines(path: Path, part_bytes: int) -> Iterator[tuple[int, int, int]]:
    """Cut a file at the ends of lines; yield start, stop and size of each piece."""
    size = path.stat().st_size
    with path.open("rb") as file:
        start = 0
        while start < size:
            file.seek(min(start + part_bytes, size) - 1)
            file.readline()
            yield start, file.tell(), file.tell() - start
            start = file.tell()


def plan_packed_lines(path: Path, part_bytes: int) -> Iterator[tuple[int, int, int]]:
    """Take the whole file: what is packed cannot be read from the middle."""
    del part_bytes
    size = path.stat().st_size
    if size:
        yield 0, size, size


def work_on_lines(shard: Shard, work: Work, out: BinaryIO) -> None:
    """Change every record of *shard* and write the results to *out*."""
    change = partial(_unfold_line if work.job.unfold else _fold_line, work)
    with _reading(shard) as lines, _writing(shard, out) as write:
        for number, raw in enumerate(lines, start=1):
            work.lines = number
            if raw.strip():
                line = work.attempt(number, raw.removesuffix(b"\n"), change)
                if line is not None:
                    write.write(line.encode() + b"\n")


def _fold_line(work: Work, text: str) -> str:
    record, result = work.folder.fold(text)
    line = join_line(record)
    work.count(result)
    return line


def _unfold_line(work: Work, line: str) -> str:
    folded, originals = split_line(line)
    text = unfold_record(folded, originals, store=work.store)
    if "\n" in text:
        raise MessageError("its text has several lines, which JSON lines cannot hold")
    return text


def join_line(record: FoldedRecord) -> str:
    """Write a folded record as one line: the record itself, with one key more."""
    value = parse_json(record["folded"], "folded")
    if isinstance(value, list):
        value = {_LIST_KEY: value}
    if REFOLD_KEY in value:
        raise MessageError(f"it has a key {REFOLD_KEY!r} already: it was folded before")
    note = {name: record[name] for name in ("tokens_before", "tokens_after", "originals")}
    return _STYLE.dump({**value, REFOLD_KEY: note})


def split_line(line: str) -> tuple[str, str]:
    """Return the folded record and its originals from a line that `join_line` has written."""
    value = parse_json(line, "record")
    match value:
        case {"refold": {"originals": str() as originals}}:
            pass
        case _:
            raise MessageError(f"no folded record: it has no originals under {REFOLD_KEY!r}")
    del value[REFOLD_KEY]
    is_list = parse_json(originals, "originals").get("key", "") is None
    return _STYLE.dump(value[_LIST_KEY] if is_list else value), originals


@contextmanager
def _reading(shard: Shard) -> Iterator[Iterator[bytes]]:
    with Path(shard.source).open("rb") as file:
        if shard.kind == "jsonl.zst":
            zstandard = need("zstandard", "batch")
            unpacked = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
            yield iter(io.BufferedReader(unpacked))
        else:
            file.seek(shard.start)
            yield _lines_until(file, shard.stop)


def _lines_until(file: IO[bytes], stop: int) -> Iterator[bytes]:
    place = file.tell()
    while place < stop and (line := file.readline()):
        place += len(line)
        yield line


@contextmanager
def _writing(shard: Shard, out: BinaryIO) -> Iterator[Any]:
    if shard.kind == "jsonl.zst":
        packer = need("zstandard", "batch").ZstdCompressor(level=_LEVEL)
        with packer.stream_writer(out, closefd=False) as packed:
            yield packed
    else:
        yield out
