"""Find the files of a batch, and cut them into shards, the same ones for every engine."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from refold.batch.job import Kind, Shard
from refold.batch.lines import plan_lines, plan_packed_lines
from refold.batch.tables import plan_arrow, plan_parquet
from refold.checks import need
from refold.errors import FormatError, RefoldError, describe

HUB: Final = "hf:"
"""How the name of a dataset on the Hugging Face hub begins: `hf:NAME` or `hf:NAME@SPLIT`."""
_SUFFIXES: Final[Mapping[str, Kind]] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".jsonl.zst": "jsonl.zst",
    ".parquet": "parquet",
    ".arrow": "arrow",
}
_PLANNERS: Final[Mapping[Kind, Callable[[Path, int], Iterator[tuple[int, int, int]]]]] = {
    "jsonl": plan_lines,
    "jsonl.zst": plan_packed_lines,
    "parquet": plan_parquet,
    "arrow": plan_arrow,
}
_HIDDEN: Final = (".", "_")
_CACHED: Final = "cache-"
"""How `datasets` names what it can make again: no data of their own."""
_PARTS: Final = 64
_MIN_PART_BYTES: Final = 250_000
_MAX_PART_BYTES: Final = 64_000_000
"""Enough parts for progress to be seen and for cores to share, few enough for a folder. A killed
batch does at most one part a worker again: 64 MB take a core half a minute at 2 MB/s."""


def find_files(inputs: Sequence[str], out: Path) -> list[Path]:
    """Return the files that are named by paths, folders, patterns and datasets, each of them once.

    In folders, hidden files and those below *out* are passed over.
    """
    found: dict[Path, None] = {}
    for given in inputs:
        files = sorted(_find(given, out.absolute()))
        if not files:
            wanted = ", ".join(_SUFFIXES)
            raise FormatError(f"no such file, or none in it that ends with {wanted}", given)
        found.update(dict.fromkeys(files))
    return list(found)


def _find(given: str, out: Path) -> Iterator[Path]:
    path = Path(given)
    if given.startswith(HUB):
        yield from _find_dataset(given.removeprefix(HUB))
    elif path.is_file():
        if kind_of(path) is None:
            raise FormatError(f"unknown kind of file: expected {', '.join(_SUFFIXES)}", given)
        yield path
    elif path.is_dir():
        yield from (file for file in path.rglob("*") if _is_data(file, path, out))
    else:
        # Not `Path.glob`, which takes no absolute pattern.
        matches = map(Path, glob.glob(given, recursive=True))  # noqa: PTH207
        yield from (file for file in matches if _is_data(file, file.parent, out))


def _is_data(file: Path, below: Path, out: Path) -> bool:
    steps = file.relative_to(below).parts
    is_hidden = any(step.startswith(_HIDDEN) for step in steps) or file.name.startswith(_CACHED)
    is_ours = file.absolute().is_relative_to(out)
    return kind_of(file) is not None and file.is_file() and not is_hidden and not is_ours


def _find_dataset(name: str) -> Iterator[Path]:
    """Yield the Arrow files that `datasets` keeps of a dataset once it is loaded."""
    name, _, split = name.partition("@")
    dataset = need("datasets", "datasets").load_dataset(name, split=split or "train")
    yield from (Path(file["filename"]) for file in dataset.cache_files)


def kind_of(path: Path) -> Kind | None:
    """Return what kind of file a name stands for."""
    return next((kind for end, kind in _SUFFIXES.items() if path.name.endswith(end)), None)


def plan_shards(files: Sequence[Path], part_bytes: int | None = None) -> list[Shard]:
    """Cut files into shards of about *part_bytes*, by default a 64th of everything."""
    if part_bytes is None:
        total = sum(file.stat().st_size for file in files)
        part_bytes = min(max(total // _PARTS, _MIN_PART_BYTES), _MAX_PART_BYTES)
    shards: list[Shard] = []
    for file in files:
        kind = kind_of(file)
        assert kind is not None, "only such files are found"
        for start, stop, size in _plan(file, kind, max(1, part_bytes)):
            number, source = len(shards), str(file)
            shard = Shard(
                number=number, kind=kind, source=source, start=start, stop=stop, size=size
            )
            shards.append(shard)
    return shards


def _plan(file: Path, kind: Kind, part_bytes: int) -> list[tuple[int, int, int]]:
    try:
        return list(_PLANNERS[kind](file, part_bytes))
    except RefoldError:
        raise
    except Exception as error:  # Arrow has many errors for files that are none of its own
        raise FormatError(f"cannot be read as {kind}: {describe(error)}", str(file)) from error
