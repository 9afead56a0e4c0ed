"""JSON lines, plain or compressed by zstd: one record per line, processed one at a time."""

from __future__ import annotations

import base64
import io
import sys
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, Final

from refold.batch.job import Shard
from refold.batch.record import ONE_LINE, FoldedRecord, parse_json, unfold_record
from refold.batch.work import Work
from refold.checks import need
from refold.errors import MessageError, RecordError
from refold.stores.codec import pack, unpack

REFOLD_KEY: Final = "refold"
"""The key of a folded line for what `refold batch --unfold` needs."""
_LIST_KEY: Final = "messages"
"""The key of a folded line for the messages of a record that was a list."""
_MAX_PACKED_PIECES: Final = 16
"""The most pieces of a compressed file. All pieces together decompress it eight times, which at 500
MB/s or more is little compared with folding at 2 or 3 MB/s."""
_CHUNK_BYTES: Final = 1_000_000
"""How much is decompressed at a time; larger chunks only take memory. A guess."""
_LEVEL: Final = 3  # the default of zstd, fixed here because the bytes of parts depend on it


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
    """Cut the content of a compressed file at line ends; start and stop are in that content.

    Reading a piece means decompressing everything before it, so there are only a few.
    """
    size = path.stat().st_size
    pieces = min(-(-size // part_bytes), _MAX_PACKED_PIECES)
    if pieces > 1:
        ends = _line_ends(path)
        wanted = [ends[-1] * number // pieces for number in range(1, pieces + 1)]
        stops = sorted({ends[bisect_left(ends, place)] for place in wanted}) if ends[-1] else []
        for start, stop in zip((0, *stops), stops, strict=False):
            yield start, stop, size * (stop - start) // ends[-1]
    elif size:
        yield 0, sys.maxsize, size


def _line_ends(path: Path) -> list[int]:
    """Return positions of line ends in a compressed file, about one per megabyte, and its end."""
    ends: list[int] = []
    place = 0
    with path.open("rb") as file, _unpacked(file) as data:
        while chunk := data.read(_CHUNK_BYTES):
            if b"\n" in chunk:
                ends.append(place + chunk.rindex(b"\n") + 1)
            place += len(chunk)
    return [*ends, place] if ends[-1:] != [place] else ends


def work_on_lines(shard: Shard, work: Work, out: BinaryIO) -> None:
    """Change every record of *shard* and write the results to *out*."""
    is_packed = shard.kind == "jsonl" and work.store is None  # zstd packs better what is plain

    def fold(text: str) -> str:
        record, result = work.folder.fold(text)
        line = join_line(record, is_packed=is_packed)
        work.count(result)
        return line

    def unfold(line: str) -> str:
        text = unfold_record(*split_line(line), store=work.store)
        if "\n" in text:
            raise MessageError("its text has several lines, which JSON lines cannot hold")
        return text

    with _reading(shard) as lines, _writing(shard, out) as write:
        for number, raw in enumerate(lines, start=1):
            work.lines = number
            if raw.strip():
                change = unfold if work.job.unfold else fold
                line = work.attempt(number, raw.removesuffix(b"\n"), change)
                if line is not None:
                    write.write(line.encode() + b"\n")


def join_line(record: FoldedRecord, *, is_packed: bool) -> str:
    """Return a folded record as one line: the record itself with one more key.

    What `unfold_record` needs is packed as in a store, in letters that JSON need not escape.
    """
    value = parse_json(record["folded"], "folded")
    if isinstance(value, list):
        value = {_LIST_KEY: value}
    if REFOLD_KEY in value:
        raise MessageError(f"it already has a key {REFOLD_KEY!r}: it was folded before")
    note: dict[str, object] = {name: record[name] for name in ("tokens_before", "tokens_after")}
    if is_packed:
        note["packed"] = base64.b85encode(pack(b"", record["originals"].encode())).decode()
    else:
        note["originals"] = record["originals"]
    return ONE_LINE.dump({**value, REFOLD_KEY: note})


def split_line(line: str) -> tuple[str, str]:
    """Undo `join_line`: return the folded record and its originals."""
    value = parse_json(line, "record")
    match value.pop(REFOLD_KEY, None) if isinstance(value, dict) else None:
        case {"originals": str() as originals}:
            pass
        case {"packed": str() as packed}:
            try:
                originals = unpack(b"", base64.b85decode(packed)).decode()
            except ValueError as error:
                raise RecordError(f"the originals of this record are damaged: {error}") from error
        case _:
            raise MessageError(f"not a folded record: it has no originals under {REFOLD_KEY!r}")
    is_list = parse_json(originals, "originals").get("key", "") is None
    return ONE_LINE.dump(value[_LIST_KEY] if is_list else value), originals


@contextmanager
def _reading(shard: Shard) -> Iterator[Iterator[bytes]]:
    with Path(shard.source).open("rb") as file:
        if shard.kind == "jsonl.zst":
            with _unpacked(file) as data:
                left = shard.start
                while left and (skipped := len(data.read(min(left, _CHUNK_BYTES)))):
                    left -= skipped
                yield _lines_until(data, shard.start, shard.stop)
        else:
            file.seek(shard.start)
            yield _lines_until(file, shard.start, shard.stop)


def _unpacked(file: IO[bytes]) -> io.BufferedReader:
    packed = need("zstandard", "batch").ZstdDecompressor()
    return io.BufferedReader(packed.stream_reader(file, read_across_frames=True), _CHUNK_BYTES)


def _lines_until(file: IO[bytes], place: int, stop: int) -> Iterator[bytes]:
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
