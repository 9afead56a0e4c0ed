"""`SqliteStore` among processes: many at once, killed, forked, without rights, without space."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import refold.stores
from refold.stores import SqliteStore

WRITER = Path(__file__).with_name("writer.py")
SOURCE = Path(refold.stores.__file__).parents[2]
ENV = {**os.environ, "PYTHONPATH": str(SOURCE), "PYTHONDONTWRITEBYTECODE": "1"}

posix_only = pytest.mark.skipif(os.name != "posix", reason="needs POSIX processes")


def start_writer(path: Path, name: str, pairs: int) -> subprocess.Popen[str]:
    command = [sys.executable, str(WRITER), str(path), name, str(pairs)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=ENV)


def run_script(script: str, *args: Path | str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, args)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=ENV,
        check=False,
    )
    return done.stdout


def assert_sound(path: Path) -> None:
    connection = sqlite3.connect(path)
    try:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    finally:
        connection.close()


def test_several_processes_create_and_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    writers = [start_writer(path, str(name), 20) for name in range(4)]
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0
    with SqliteStore(path) as store:
        assert len(store) == 4 * 20 * 2 + 20
        for name in range(4):
            keys = [f"{name}/{i}/{side}" for i in range(20) for side in ("left", "right")]
            assert {value["name"] for value in store.get(keys).values()} == {str(name)}
    assert_sound(path)


@posix_only
@pytest.mark.parametrize("seed", range(8))
def test_kill_9_loses_nothing_that_was_put_and_leaves_no_half(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    path = tmp_path / "s.db"
    with start_writer(path, "w", 1_000_000) as writer:
        assert writer.stdout is not None
        printed = [int(writer.stdout.readline()) for _ in range(chance.choice([0, 1, 5, 150]))]
        time.sleep(chance.random() * (0.005 if printed else 0.2))
        writer.send_signal(signal.SIGKILL)
        printed += [int(line) for line in writer.stdout if line.endswith("\n")]
    assert writer.returncode == -signal.SIGKILL
    with SqliteStore(path) as store:
        # One more than was printed may be there: put, but killed before the line was out.
        for i in range(len(printed) + 2):
            found = store.get([f"w/{i}/left", f"w/{i}/right", f"shared/{i}"])
            assert len(found) in ((3,) if i < len(printed) else (0, 3))
        store.put({"life goes on": True})
        assert store.get(["life goes on"]) == {"life goes on": True}
    assert_sound(path)


FORK = """
import os, sys
from refold.errors import StoreError
from refold.stores import SqliteStore

store = SqliteStore(sys.argv[1])
store.put({"parent": 1})
if (child := os.fork()) == 0:
    for use in (lambda: store.put({"child": 1}), lambda: store.get(["parent"])):
        try:
            use()
        except StoreError as error:
            print(error, flush=True)
    store.close()
    with SqliteStore(sys.argv[1]) as own:
        own.put({"child": 2})
    os._exit(0)
os.waitpid(child, 0)
print(store.get(["parent", "child"]), flush=True)
store.close()
"""


@posix_only
def test_a_forked_child_opens_its_own(tmp_path: Path) -> None:
    *errors, last = run_script(FORK, tmp_path / "s.db").splitlines()
    assert len(errors) == 2
    assert all("before this process was forked; open a new SqliteStore" in e for e in errors)
    assert last == "{'parent': 1, 'child': 2}"


FULL = """
import resource, sys
from refold.errors import StoreError
from refold.stores import SqliteStore

with SqliteStore(sys.argv[1]) as store:
    store.put({"before": 1})
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
    try:
        store.put({"small": 1, "big": "x" * 1_000_000})
    except StoreError as error:
        print(error)
    print(store.get(["before", "small", "big"]))
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    store.put({"after": 2})
"""


@posix_only
def test_a_disk_that_takes_no_more_leaves_the_rest_intact(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    error, found = run_script(FULL, path).splitlines()
    assert error.startswith(f"cannot write to the store {str(path)!r}: the disk ")
    assert found == "{'before': 1}"
    with SqliteStore(path) as store:
        assert store.get(["before", "small", "big", "after"]) == {"before": 1, "after": 2}
    assert_sound(path)


# Root may write anywhere, so it becomes somebody else first: after the imports, as Python itself
# may lie where only root can read.
OPEN = """
import os, sys
from refold.errors import StoreError
from refold.stores import SqliteStore

if os.geteuid() == 0:
    os.setuid(65534)
try:
    SqliteStore(sys.argv[1])
except StoreError as error:
    print(error)
"""


@pytest.fixture
def open_room() -> Iterator[Path]:
    """A directory that users without rights can reach; pytest's own are private."""
    room = Path(tempfile.mkdtemp())
    room.chmod(0o755)
    yield room
    room.chmod(0o755)
    shutil.rmtree(room)


@posix_only
@pytest.mark.parametrize(
    ("existing", "words"), [(True, "it is read-only; make"), (False, "cannot be opened; make")]
)
def test_a_place_without_write_permission(open_room: Path, existing: bool, words: str) -> None:
    path = open_room / "s.db"
    if existing:
        with SqliteStore(path) as store:
            store.put({"a": 1})
        path.chmod(0o444)
    open_room.chmod(0o555)
    said = run_script(OPEN, path)
    assert said.startswith(f"cannot open the store {str(path)!r}: ")
    assert words in said


READ = """
import os, sys
from refold.stores import SqliteStore

if os.geteuid() == 0:
    os.setuid(65534)
with SqliteStore(sys.argv[1], read_only=True) as store:
    print(store.get(["a", "b"]), len(store))
"""


@posix_only
def test_what_only_has_to_be_read_needs_no_write_permission(open_room: Path) -> None:
    path = open_room / "100%?#.db"
    with SqliteStore(path) as store:
        store.put({"a": 1})
    path.chmod(0o444)
    open_room.chmod(0o555)
    assert run_script(READ, path) == "{'a': 1} 1\n"
    assert [entry.name for entry in open_room.iterdir()] == [path.name]
