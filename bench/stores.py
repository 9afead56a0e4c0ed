"""Stores, measured: how they pack, how fast they are, and whether a million originals slow them.

`packing` compares ways to pack the originals of recorded conversations. `speed` puts and gets them
in every store, in one run, and weighs them at rest; the servers are started for it (see `make
test-stores`), those that are not installed are left out. `growth` fills a store and compares what a
put takes there and in a fresh one, and how long it takes to look up one original. `round-trip`
folds every conversation into every store and unfolds it from there.

DATA_DIR holds *.jsonl.gz files with recorded conversations; without it, made-up ones are folded.

examples:
  python bench/stores.py packing data
  python bench/stores.py speed data
  python bench/stores.py round-trip data --cap 1000
  python bench/stores.py growth --originals 1000000 --stores sqlite,postgres
"""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
import statistics
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

from generate import generate_messages
from records import read_records
from refold import MemoryStore, SqliteStore, compress, uncompress
from refold.stores.codec import encode_key, pack, spell_json, unpack
from table import draw

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

Entries = dict[str, Any]
ALL: Final = ("sqlite", "sqlite zstd", "postgres", "redis", "folder", "s3 (moto)")
MAX_GROWTH: Final = 1.3
"""The most that the time of a put may grow by, from the first original to the last."""
_PER_PUT: Final = 100
_LOOKUPS: Final = 5_000
_PER_FILL: Final = 2_000
_TURNS: Final = 400


def folded(data: Path | None, cap: int) -> list[Entries]:
    """Return what folding puts into a store, conversation by conversation."""
    puts = []
    for messages in _conversations(data, cap):
        store = MemoryStore()
        compress(messages, store=store)
        entries = store.get([entry.key for entry in store.entries()])
        if entries:
            puts.append(entries)
    return puts


def _conversations(data: Path | None, cap: int) -> Iterator[list[Any]]:
    if data is None:
        yield from (generate_messages(100, seed) for seed in range(20 * cap))
        return
    for recorded in read_records(sorted(data.glob("*.jsonl.gz")), cap):
        yield recorded.messages


# --- packing --------------------------------------------------------------------------------------


def compare_packing(puts: Sequence[Entries]) -> str:
    """Return a table of the ways to pack."""
    import zstandard

    plain = [
        (encode_key(key), spell_json(key, value))
        for entries in puts
        for key, value in entries.items()
    ]
    packer, unpacker = zstandard.ZstdCompressor(level=3), zstandard.ZstdDecompressor()
    ways: dict[str, tuple[Callable[[bytes, bytes], bytes], Callable[[bytes, bytes], bytes]]] = {
        "zlib 1": (lambda _, d: zlib.compress(d, 1), lambda _, p: zlib.decompress(p)),
        "zlib 6": (lambda _, d: zlib.compress(d, 6), lambda _, p: zlib.decompress(p)),
        "zstd 3": (lambda _, d: packer.compress(d), lambda _, p: unpacker.decompress(p)),
        "a record, zlib": (lambda k, d: pack(k, d, "zlib"), unpack),
        "a record, zstd": (lambda k, d: pack(k, d, "zstd"), unpack),
    }
    whole = sum(len(data) for _, data in plain)
    rows = []
    for name, (shorten, restore) in ways.items():
        start = time.perf_counter()
        packed = [(key, shorten(key, data)) for key, data in plain]
        middle = time.perf_counter()
        assert all(restore(k, p) == d for (k, p), (_, d) in zip(packed, plain, strict=True))
        end = time.perf_counter()
        size = sum(len(record) for _, record in packed)
        speeds = whole / (middle - start) / 1e6, whole / (end - middle) / 1e6
        rows.append((name, f"{100 * size / whole:.1f} %", *(f"{speed:.0f}" for speed in speeds)))
    title = f"{len(plain):,} originals, {whole / 1e6:.1f} MB of JSON\n\n"
    return title + draw(("way", "of the JSON", "pack MB/s", "unpack MB/s"), rows)


# --- speed ----------------------------------------------------------------------------------------


class EarlierSqlite:
    """SQLite as it was before records had digests: keys spelled out, and zlib where it pays."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute(
            "CREATE TABLE original (key BLOB PRIMARY KEY NOT NULL, written_at REAL NOT NULL, "
            "value BLOB NOT NULL)"
        )
        self._connection.execute("CREATE INDEX original_written_at ON original (written_at)")

    def put(self, entries: Mapping[str, Any]) -> None:
        """Keep every entry."""
        rows = []
        for key, value in entries.items():
            data = spell_json(key, value)
            short = zlib.compress(data, 1) if len(data) >= 256 else data
            rows.append((key.encode(), time.time(), min(short, data, key=len)))
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany(
            "INSERT INTO original VALUES (?, ?, ?) ON CONFLICT DO NOTHING", rows
        )
        self._connection.execute("COMMIT")

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()


@contextmanager
def stores(names: Sequence[str]) -> Iterator[dict[str, tuple[Any, Callable[[], int]]]]:
    """Open every store of *names* that can be, each with what it takes on its disk."""
    from tests.stores import servers

    with ExitStack() as stack:
        room = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        opened: dict[str, tuple[Any, Callable[[], int]]] = {}
        makers: dict[str, Callable[[], tuple[Any, Callable[[], int]]]] = {
            "sqlite": lambda: _sqlite(room / "zlib", stack, compression="zlib"),
            "sqlite zstd": lambda: _sqlite(room / "zstd", stack, compression="zstd"),
            "postgres": lambda: _postgres(servers, stack),
            "redis": lambda: _redis(servers, stack),
            "folder": lambda: _folder(room / "objects", stack),
            "s3 (moto)": lambda: _s3(servers, stack),
        }
        for name in names:
            try:
                opened[name] = makers[name]()
            except BaseException as error:  # what is missing is skipped, as tests are
                if type(error).__name__ not in ("Skipped", "StoreError"):
                    raise
                print(f"{name}: left out ({error})")
        yield opened


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _sqlite(folder: Path, stack: ExitStack, **choices: Any) -> tuple[Any, Callable[[], int]]:
    folder.mkdir()
    store = stack.enter_context(SqliteStore(folder / "s.db", **choices))

    def size() -> int:
        store.shrink()
        return _size(folder)

    return store, size


def _postgres(servers: Any, stack: ExitStack) -> tuple[Any, Callable[[], int]]:
    import psycopg

    from refold.stores.postgres import PostgresStore

    server = stack.enter_context(servers.PostgresServer(stack.enter_context(servers.folder())))
    store = stack.enter_context(PostgresStore(server.url))

    def size() -> int:
        with psycopg.connect(server.url) as connection:
            row = connection.execute("SELECT pg_total_relation_size('refold_original')").fetchone()
        return int(row[0])

    return store, size


def _redis(servers: Any, stack: ExitStack) -> tuple[Any, Callable[[], int]]:
    from refold.stores.redis import RedisStore

    room = stack.enter_context(servers.folder())
    server = stack.enter_context(servers.RedisServer(room))
    store = stack.enter_context(RedisStore(server.url))
    return store, lambda: _size(room)


def _folder(folder: Path, stack: ExitStack) -> tuple[Any, Callable[[], int]]:
    from refold.stores.objects import ObjectStore

    return stack.enter_context(ObjectStore(f"file://{folder}")), lambda: _size(folder)


def _s3(servers: Any, stack: ExitStack) -> tuple[Any, Callable[[], int]]:
    from refold.stores.objects import ObjectStore

    server = stack.enter_context(servers.S3Server(stack.enter_context(servers.folder())))
    store = stack.enter_context(ObjectStore(server.bucket(), options=server.options))
    return store, lambda: sum(entry.size for entry in store.entries())


def compare_speed(puts: Sequence[Entries]) -> str:
    """Return a table of all stores: each put, put again and got as folding does it."""
    entries = sum(map(len, puts))
    whole = sum(len(spell_json(k, v)) for put in puts for k, v in put.items())
    rows: list[tuple[str, ...]] = []
    with tempfile.TemporaryDirectory() as room:
        earlier = EarlierSqlite(Path(room) / "s.db")
        first = _seconds(earlier.put, puts)
        earlier.close()
        base = _size(Path(room))
    rows.append(("sqlite before", f"{round(entries / first):,}", "", "", f"{base:,}", "1.00"))
    with stores(ALL) as opened:
        for name, (store, size) in opened.items():
            first = _seconds(store.put, puts)
            again = _seconds(store.put, puts)
            back = _seconds(store.get, puts)
            rates = [round(entries / seconds) for seconds in (first, again, back)]
            rest = size()
            rows.append((name, *(f"{rate:,}" for rate in rates), f"{rest:,}", f"{rest / base:.2f}"))
    title = f"{len(puts):,} puts of {entries:,} originals, {whole / 1e6:.1f} MB of JSON\n\n"
    header = ("store", "put/s", "again/s", "get/s", "bytes at rest", "× before")
    return title + draw(header, rows)


def _seconds(use: Callable[[Entries], object], puts: Sequence[Entries]) -> float:
    start = time.perf_counter()
    for put in puts:
        use(put)
    return time.perf_counter() - start


def round_trip(conversations: Sequence[list[Any]], names: Sequence[str]) -> tuple[str, int]:
    """Fold and unfold *conversations* through every store; return a table and what differed."""
    rows = []
    with stores(names) as opened:
        for name, (store, _) in opened.items():
            same = 0
            start = time.perf_counter()
            for number, messages in enumerate(conversations):
                view = compress(messages, store=store, conversation=f"{number}").messages
                back = uncompress(view, store, conversation=f"{number}").messages
                same += json.dumps(back) == json.dumps(messages)
            seconds = time.perf_counter() - start
            rows.append(
                (name, len(conversations), same, f"{1e3 * seconds / len(conversations):.1f}")
            )
    wrong = sum(row[1] - row[2] for row in rows)
    return draw(("store", "conversations", "byte for byte", "ms each"), rows), wrong


# --- growth ---------------------------------------------------------------------------------------


def measure_growth(name: str, full: Any, fresh: Any, originals: int) -> tuple[object, ...]:
    """Fill a store; return how much longer puts take than in a *fresh* one, and a look-up.

    Both are put into by turns, so that whatever else this machine does slows both.
    """
    for start in range(0, originals, _PER_FILL):
        full.put(_entries(start, min(_PER_FILL, originals - start)))
    early: list[float] = []
    late: list[float] = []
    for turn in range(_TURNS):
        start = originals + turn * _PER_PUT
        for store, times in ((fresh, early), (full, late)):
            entries = _entries(start, _PER_PUT)
            begin = time.perf_counter()
            store.put(entries)
            times.append(time.perf_counter() - begin)
    looks = []
    chance = random.Random(7)
    for _ in range(_LOOKUPS):
        i = chance.randrange(originals)
        begin = time.perf_counter()
        found = full.get([_key(i)])
        looks.append(time.perf_counter() - begin)
        assert found == {_key(i): _message(i)}
    looks.sort()
    first, last = statistics.median(early), statistics.median(late)
    return (
        name,
        originals,
        f"{1e3 * first:.2f}",
        f"{1e3 * last:.2f}",
        f"{last / first:.2f} {'ok' if last / first <= MAX_GROWTH else 'GROWS'}",
        f"{1e3 * looks[len(looks) // 2]:.2f}",
        f"{1e3 * looks[len(looks) * 99 // 100]:.2f}",
    )


def _entries(start: int, count: int) -> Entries:
    return {_key(i): _message(i) for i in range(start, start + count)}


def _key(number: int) -> str:
    """Return a digest: as those of originals, they come in no order."""
    return random.Random(number).randbytes(16).hex()


def _message(number: int) -> dict[str, str]:
    said = f"Original {number} tells what was seen at {number * 7919 % 86400} s of that day, twice."
    return {"role": "tool", "tool_call_id": f"call_{number}", "content": f"{said} {said}"}


def main(argv: Sequence[str] | None = None) -> int:
    """Run what was asked for; 1 if something did not come back as it was."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("packing", "speed", "round-trip", "growth"))
    parser.add_argument("data", nargs="?", type=Path, metavar="DATA_DIR")
    parser.add_argument("--cap", type=int, default=10, help="records of each file at most (10)")
    parser.add_argument("--originals", type=int, default=100_000)
    parser.add_argument("--stores", default="sqlite,postgres")
    chosen = parser.parse_args(argv)
    if chosen.what == "packing":
        print(compare_packing(folded(chosen.data, chosen.cap)))
    elif chosen.what == "speed":
        print(compare_speed(folded(chosen.data, chosen.cap)))
    elif chosen.what == "round-trip":
        shown, wrong = round_trip(list(_conversations(chosen.data, chosen.cap)), ALL)
        print(shown)
        return 1 if wrong else 0
    else:
        header = ("store", "originals", "fresh put ms", "full put ms", "growth", "p50 ms", "p99 ms")
        names = chosen.stores.split(",")
        with stores(names) as filled, stores(names) as empty:
            rows = [
                measure_growth(name, filled[name][0], empty[name][0], chosen.originals)
                for name in filled
            ]
        print(f"puts of {_PER_PUT} originals, {_LOOKUPS:,} look-ups\n")
        print(draw(header, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
