"""Show how far a batch has come: a bar on a terminal, a line now and then in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Protocol

from refold.cli.io import say

if TYPE_CHECKING:
    from refold.batch.job import Report, Shard

_LOG_SECONDS: Final = 30.0


class BatchProgress(Protocol):
    """Is told what there is to do, and of each shard that is done."""

    def start(self, shards: Sequence[Shard], done: Sequence[Report]) -> None:
        """Learn what there is to do, and what an earlier run has done of it."""

    def advance(self, report: Report) -> None:
        """Learn that a shard is done."""


@contextmanager
def counting(
    what: str, *, quiet: bool, clock: Callable[[], float] = time.monotonic
) -> Iterator[BatchProgress]:
    """Show progress in the way that fits standard error."""
    if quiet or not sys.stderr.isatty():
        yield _Log(what, clock, quiet=quiet)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.progress import TransferSpeedColumn as RateColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %  {task.fields[records]:,} records"),
        RateColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield _Bar(what, bar)


def _sums(done: Sequence[Report]) -> tuple[int, int]:
    """Return how many records and bytes of input are done."""
    return sum(one.figures.records for one in done), sum(one.shard.size for one in done)


class _Bar:
    def __init__(self, what: str, bar: Any) -> None:
        self._bar = bar
        self._task = bar.add_task(what, total=None, records=0)
        self._records = 0

    def start(self, shards: Sequence[Shard], done: Sequence[Report]) -> None:
        self._records, size = _sums(done)
        total = sum(shard.size for shard in shards)
        self._bar.update(self._task, total=total, completed=size, records=self._records)

    def advance(self, report: Report) -> None:
        self._records += report.figures.records
        self._bar.update(self._task, advance=report.shard.size, records=self._records)


class _Log:
    """Says how far it is, and when it will be done, at most twice a minute."""

    def __init__(self, what: str, clock: Callable[[], float], *, quiet: bool) -> None:
        self._what = what
        self._clock = clock
        self._quiet = quiet
        self._total = self._done = self._before = self._records = 0
        self._began = self._said = clock()

    def start(self, shards: Sequence[Shard], done: Sequence[Report]) -> None:
        self._records, self._done = _sums(done)
        self._before = self._done
        self._total = sum(shard.size for shard in shards)

    def advance(self, report: Report) -> None:
        self._done += report.shard.size
        self._records += report.figures.records
        now = self._clock()
        if now - self._said >= _LOG_SECONDS:
            self._said = now
            rate = (self._done - self._before) / (now - self._began)
            say(
                f"{self._what}: {100 * self._done / max(1, self._total):.0f} %, "
                f"{self._records:,} records, {rate / 1e6:.2f} MB/s, "
                f"{(self._total - self._done) / rate:,.0f} s left",
                quiet=self._quiet,
            )
