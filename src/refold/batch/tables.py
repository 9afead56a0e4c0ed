"""Parquet files, and the Arrow files of Hugging Face datasets, processed a few rows at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from refold.batch.arrow import COLUMN, fold_rows, unfold_rows
from refold.batch.job import Shard
from refold.batch.record import FoldedRecord, unfold_record
from refold.batch.work import Work
from refold.checks import need
from refold.errors import ConfigError

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS: Final = 64
"""How many rows are in memory at once, besides those that wait to be written."""
_GROUP_ROWS: Final = 4096
_GROUP_BYTES: Final = 16_000_000
"""A row group is written at this size, which is large enough to compress well."""
_MAX_PIECES: Final = 16
"""The most pieces of a row group; see the same limit for compressed files in `lines.py`."""
_FILE_FORMAT: Final = b"ARROW1"
_STALE: Final = b"huggingface"
"""The metadata of `datasets` with the former types of columns."""


def plan_parquet(path: Path, part_bytes: int) -> Iterator[tuple[int, int, int]]:
    """Cut large row groups and combine small ones; starts and stops are rows.

    Reading a piece of a row group means reading the group from its beginning, so there are only a
    few.
    """
    rows, sizes = [0], []
    with need("pyarrow.parquet", "batch").ParquetFile(path) as file:
        for number in range(file.metadata.num_row_groups):
            group = file.metadata.row_group(number)
            count, size = group.num_rows, group.total_byte_size
            pieces = max(1, min(-(-size // part_bytes), count, _MAX_PIECES))
            first = rows[-1]
            rows += [first + count * piece // pieces for piece in range(1, pieces + 1)]
            sizes += [size // pieces] * pieces
    for start, stop, size in _gather(sizes, part_bytes):
        yield rows[start], rows[stop], size


def plan_arrow(path: Path, part_bytes: int) -> Iterator[tuple[int, int, int]]:
    """Combine neighbouring batches until they have *part_bytes*."""
    with _open_batches(path) as (_, batches):
        sizes = [batch.nbytes for batch in batches]
    yield from _gather(sizes, part_bytes)


def _gather(sizes: list[int], part_bytes: int) -> Iterator[tuple[int, int, int]]:
    start = size = 0
    for place, more in enumerate(sizes):
        size += more
        if size >= part_bytes:
            yield start, place + 1, size
            start, size = place + 1, 0
    if start < len(sizes):
        yield start, len(sizes), size


def work_on_table(shard: Shard, work: Work, out: BinaryIO) -> None:
    """Change every row of *shard* and write the results to *out*."""
    pa, parquet = need("pyarrow", "batch"), need("pyarrow.parquet", "batch")
    column = work.job.key or COLUMN
    with _reading(shard) as (schema, batches):
        try:
            changed = _change(pa.RecordBatch.from_pylist([], schema), column, work).schema
        except ConfigError as error:
            raise ConfigError(f"{shard.source}: {error}") from error
        notes = {key: note for key, note in (changed.metadata or {}).items() if key != _STALE}
        with parquet.ParquetWriter(out, changed.with_metadata(notes), compression="zstd") as writer:
            waiting: list[Any] = []

            def write() -> None:
                if any(batch.num_rows for batch in waiting):
                    writer.write_table(pa.Table.from_batches(waiting))
                waiting.clear()

            for batch in batches:
                waiting.append(_change(batch, column, work).replace_schema_metadata(notes))
                rows = sum(batch.num_rows for batch in waiting)
                if rows >= _GROUP_ROWS or sum(batch.nbytes for batch in waiting) >= _GROUP_BYTES:
                    write()
            write()


def _change(batch: pa.RecordBatch, column: str, work: Work) -> Any:
    """Fold or unfold the rows of *batch*."""
    first = work.lines + 1
    work.lines += batch.num_rows

    def fold(text: str) -> FoldedRecord:
        record, result = work.folder.fold(text)
        work.count(result)
        return record

    def unfold_row(row: int, folded: str, originals: str) -> str | None:
        unfold = partial(unfold_record, originals=originals, store=work.store)
        return work.attempt(first + row, folded, unfold)

    if work.job.unfold:
        return unfold_rows(batch, column, unfold_row)
    return fold_rows(batch, column, lambda row, text: work.attempt(first + row, text, fold))


@contextmanager
def _reading(shard: Shard) -> Iterator[tuple[Any, Iterator[Any]]]:
    """Open the rows of *shard*; yield their schema and small batches."""
    path = Path(shard.source)
    if shard.kind == "parquet":
        with need("pyarrow.parquet", "batch").ParquetFile(path) as file:
            yield file.schema_arrow, _rows_between(file, shard.start, shard.stop)
    else:
        with _open_batches(path) as (schema, batches):
            yield schema, _slices(batches, shard)


def _rows_between(file: Any, start: int, stop: int) -> Iterator[Any]:
    place = 0
    for number in range(file.metadata.num_row_groups):
        rows = file.metadata.row_group(number).num_rows
        if place >= stop or place + rows <= start:
            place += rows
            continue
        for batch in file.iter_batches(batch_size=_ROWS, row_groups=[number]):
            low, high = max(0, start - place), min(batch.num_rows, stop - place)
            if low < high:
                yield batch.slice(low, high - low)
            place += batch.num_rows


def _slices(batches: Iterable[Any], shard: Shard) -> Iterator[Any]:
    for batch in islice(batches, shard.start, shard.stop):
        for row in range(0, batch.num_rows, _ROWS):
            yield batch.slice(row, _ROWS)


@contextmanager
def _open_batches(path: Path) -> Iterator[tuple[Any, Iterable[Any]]]:
    """Open a stream or a file of Arrow batches, mapped into memory; yield the schema and them."""
    pa, ipc = need("pyarrow", "batch"), need("pyarrow.ipc", "batch")
    with path.open("rb") as file:
        is_file = file.read(len(_FILE_FORMAT)) == _FILE_FORMAT
    with pa.memory_map(str(path)) as mapped:
        if is_file:
            reader = ipc.open_file(mapped)
            yield reader.schema, map(reader.get_batch, range(reader.num_record_batches))
        else:
            with ipc.open_stream(mapped) as stream:
                yield stream.schema, stream
