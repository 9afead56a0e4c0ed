"""The values of a batch: a job, its shards, and a report on each."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Final, Literal, Self

from refold.options import Options

Kind = Literal["jsonl", "jsonl.zst", "parquet", "arrow"]
"""The kinds of input files."""
_PARTS_PER_FOLDER: Final = 10_000
"""File systems, and those who list folders, get slow with many more."""
SCRATCH: Final = ".refold"
"""The name of the folder for unfinished work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """A section of an input file, which becomes one part of the output."""

    number: int
    kind: Kind
    source: str
    start: int
    stop: int
    """Where it begins and ends, in bytes of JSON lines, rows of Parquet or batches of Arrow."""
    size: int
    """Its approximate size in bytes, by which progress is measured."""

    @property
    def part(self) -> str:
        """The path of its output file in the output folder.

        From 10,000 parts on, further ones are in folders of as many, which sort after the first.
        """
        name = f"part-{self.number:05}.{'parquet' if self.kind == 'arrow' else self.kind}"
        folder = self.number // _PARTS_PER_FOLDER
        return f"parts-{folder:05}/{name}" if folder else name


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What is done to every record, and where the results go; sent to every worker."""

    out: Path
    options: Options = field(default_factory=Options)
    key: str | None = None
    """The key or column with the messages of a record."""
    store: str | None = None
    """The address of the store for originals; without one, they stay with the record."""
    keys: tuple[bytes, ...] = field(default=(), repr=False)
    """The encryption keys of the store, the one to encrypt with first. They are part of the job,
    because the machines of a cluster have environments of their own."""
    unfold: bool = False

    def describe(self) -> dict[str, Any]:
        """Return what the output depends on as JSON-ready data, whatever the engine.

        The store is not named, because its address may contain a password.
        """
        usual = Options()
        chosen = {
            one.name: getattr(self.options, one.name)
            for one in fields(self.options)
            if getattr(self.options, one.name) != getattr(usual, one.name)
        }
        chosen.pop("trace", None)
        return {
            "does": "unfold" if self.unfold else "fold",
            "options": json.loads(json.dumps(chosen, default=str)),
            "key": self.key,
            "originals": "record" if self.store is None else "store",
        }


def scratch_of(job: Job) -> Path:
    """Return the folder for unfinished work; it is deleted when everything is done."""
    return job.out / SCRATCH


def report_of(job: Job, shard: Shard) -> Path:
    """Return the path of a shard's report, which exists if, and only if, the shard is done."""
    return scratch_of(job) / f"{shard.part}.json"


def rejects_of(job: Job, shard: Shard) -> Path:
    """Return the path of the records that a shard has set aside."""
    return scratch_of(job) / f"{shard.part}.rejected"


@dataclass(slots=True, kw_only=True)
class Figures:
    """Sums over records; they depend on the input alone, so the manifest can have them."""

    records: int = 0
    rejected: int = 0
    over_budget: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    bytes_in: int = 0
    bytes_out: int = 0

    def add(self, other: Figures) -> None:
        """Add the sums of other records to these."""
        for one in fields(Figures):
            setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))


@dataclass(slots=True, kw_only=True)
class Report:
    """The outcome of one shard."""

    shard: Shard
    sha256: str
    """The checksum of the part."""
    lines: int
    """The number of lines or rows, including blank ones: the next shard begins after them."""
    figures: Figures
    kinds: dict[str, list[int]]
    """By action: the number of texts, and their characters before and after."""
    errors: dict[str, int]
    """The number of records set aside, by the name of the error."""
    slowest: list[tuple[float, int]]
    """Seconds and line of the slowest records; lines are counted within the shard."""
    cpu_seconds: float
    peak_bytes: int
    """The peak memory of its worker so far; 0 if unknown."""
    worker: int

    def to_json(self) -> str:
        """Return it as JSON text."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Undo `to_json`."""
        data = json.loads(text)
        data["shard"] = Shard(**data["shard"])
        data["figures"] = Figures(**data["figures"])
        data["slowest"] = [(seconds, line) for seconds, line in data["slowest"]]
        return cls(**data)
