"""The values of a batch: a job, the shards it is cut into, and a report on each."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Final, Literal, Self

from refold.options import Options

Kind = Literal["jsonl", "jsonl.zst", "parquet", "arrow"]
"""Kinds of files that are read: what their names end with."""
SCRATCH: Final = ".refold"
"""The name of the folder for unfinished work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """A stretch of one input file, which becomes one part of the output."""

    number: int
    kind: Kind
    source: str
    start: int
    stop: int
    """Where it begins and ends: bytes of JSON lines, rows of Parquet, batches of Arrow."""
    size: int
    """About how many bytes of input it has: what progress is measured by."""

    @property
    def part(self) -> str:
        """The name of the file that it becomes."""
        return f"part-{self.number:05}.{'parquet' if self.kind == 'arrow' else self.kind}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What is done to every record, and where the results go; travels to every worker."""

    out: Path
    options: Options = field(default_factory=Options)
    token_share: float | None = None
    """The budget of a record as a share of its tokens, from 0 to 1."""
    key: str | None = None
    """Under which key, or in which column, a record has its messages."""
    store: str | None = None
    """Where the originals go; without one, they stay with the record."""
    keys: tuple[bytes, ...] = field(default=(), repr=False)
    """What they are encrypted with, the first, and decrypted; travels along, for the machines of a
    cluster have an environment of their own."""
    unfold: bool = False

    def describe(self) -> dict[str, Any]:
        """Say as JSON-ready data what the output depends on; nothing about who works, or where.

        The store is not named: its address may hold a password.
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
            "token_share": self.token_share,
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
    """Sums over records; they follow from the input alone, so they can stand in the manifest."""

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
    """How one shard went."""

    shard: Shard
    sha256: str
    """Of the part."""
    lines: int
    """How many lines or rows the shard has, blank ones too: the next one begins behind them."""
    figures: Figures
    kinds: dict[str, list[int]]
    """What was done to texts: how many, and their characters before and after."""
    errors: dict[str, int]
    """Why records were set aside: how many, by the name of the error."""
    slowest: list[tuple[float, int]]
    """Seconds and line of the slowest records, counted from the beginning of the shard."""
    cpu_seconds: float
    peak_bytes: int
    """The most memory that its worker had taken until then; 0 where that is not known."""
    worker: int

    def to_json(self) -> str:
        """Spell it as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read back what `to_json` has written."""
        data = json.loads(text)
        data["shard"] = Shard(**data["shard"])
        data["figures"] = Figures(**data["figures"])
        data["slowest"] = [(seconds, line) for seconds, line in data["slowest"]]
        return cls(**data)
