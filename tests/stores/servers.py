"""Real servers for the tests of stores, each on a free port and in a folder of its own.

`make test-stores` runs these tests; where a server is not installed they skip, and say so.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Final, Self

import pytest

from tests.patience import FOR_EVER

_ACCOUNT: Final = "postgres"


class Server:
    """A process that listens on a port; it can be killed, stopped, and started again."""

    def __init__(self, command: Sequence[str], port: int, folder: Path, **options: Any) -> None:
        self._command = list(command)
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None
        self.folder = folder
        self.port = port

    def start(self) -> None:
        """Start it, and wait until somebody listens."""
        with (self.folder / "output.txt").open("ab") as output:
            self._process = subprocess.Popen(
                self._command, stdout=output, stderr=output, **self._options
            )
        wait_for(self._listens, f"{self._command[0]} to listen")

    def kill(self) -> None:
        """End it with all it has started, as a power cut would."""
        assert self._process is not None
        self._signal(signal.SIGKILL)
        self._process.wait()

    def hang(self) -> None:
        """Let it answer nobody any more."""
        self._signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Undo `hang`."""
        self._signal(signal.SIGCONT)

    def stop(self) -> None:
        """End it, whatever state it is in."""
        if self._process is not None and self._process.poll() is None:
            self.kill()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        for process in _children(self._process.pid):
            try:
                os.kill(process, number)
            except ProcessLookupError:
                continue
        self._process.send_signal(number)

    def _listens(self) -> bool:
        assert self._process is not None
        if self._process.poll() is not None:
            pytest.fail((self.folder / "output.txt").read_text(errors="replace")[-2_000:])
        with socket.socket() as line:
            return line.connect_ex(("127.0.0.1", self.port)) == 0


def wait_for(is_so: Callable[[], bool], what: str) -> None:
    """Wait for a condition; fail if it never comes about."""
    deadline = time.monotonic() + FOR_EVER
    while not is_so():
        if time.monotonic() > deadline:
            pytest.fail(f"waited in vain for {what}")
        time.sleep(0.02)


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as line:
        line.bind(("127.0.0.1", 0))
        return int(line.getsockname()[1])


def _children(parent: int) -> list[int]:
    found = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(parent)], capture_output=True, text=True, check=False
    )
    return [int(line) for line in found.stdout.split()]


def find(program: str, *folders: str) -> str:
    """Return where a program is, or skip the tests that need it."""
    found = shutil.which(program, path=os.pathsep.join([os.environ["PATH"], *folders]))
    if found is None:
        pytest.skip(f"{program} is not installed; see `make test-stores`")
    return found


@contextmanager
def folder() -> Iterator[Path]:
    """A folder with a short path that other accounts may enter, for sockets and databases."""
    room = Path(tempfile.mkdtemp(prefix="refold-"))
    room.chmod(0o755)
    try:
        yield room
    finally:
        shutil.rmtree(room, ignore_errors=True)


# --- PostgreSQL -----------------------------------------------------------------------------------


def _postgres_programs() -> str:
    newest = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: path.parent.name)
    return str(newest[-1]) if newest else ""


def _account() -> dict[str, Any]:
    """Who runs PostgreSQL: not root, which it refuses."""
    if os.geteuid() != 0:
        return {}
    try:
        who = pwd.getpwnam(_ACCOUNT)
    except KeyError:
        pytest.skip(f"PostgreSQL does not run as root, and there is no account {_ACCOUNT!r}")
    return {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []}


class PostgresServer(Server):
    """A PostgreSQL server, or the standby of a *primary*; with a limit to its files, if any."""

    def __init__(
        self,
        room: Path,
        *settings: str,
        largest_file: int | None = None,
        primary: PostgresServer | None = None,
    ) -> None:
        port = free_port()
        self.url = f"postgresql://refold@127.0.0.1:{port}/postgres"
        programs = _postgres_programs()
        account = _account()
        data = room / "data"
        data.mkdir(mode=0o700)
        if account:
            shutil.chown(room, _ACCOUNT, _ACCOUNT)
            shutil.chown(data, _ACCOUNT, _ACCOUNT)
        if primary is None:
            make = [find("initdb", programs), "-D", str(data), "-U", "refold", "-A", "trust"]
            make += ["--no-sync", "--wal-segsize=1", "--encoding=UTF8", "--locale=C"]
        else:
            make = [find("pg_basebackup", programs), "-D", str(data), "-d", primary.url]
            make += ["-R", "--no-sync", "-c", "fast"]
        subprocess.run(make, check=True, capture_output=True, cwd=room, **account)
        command = [find("postgres", programs), "-D", str(data), "-k", str(room), "-p", str(port)]
        command += ["-c", "listen_addresses=127.0.0.1", "-c", "max_connections=100"]
        for setting in settings:
            command += ["-c", setting]
        if largest_file is not None:
            command = ["prlimit", f"--fsize={largest_file}", *command]
        super().__init__(command, port, room, cwd=room, **account)

    def start(self) -> None:
        """Start it, and wait until it takes queries: it listens while it still recovers."""
        super().start()
        ready = [find("pg_isready", _postgres_programs()), "-q", "-h", "127.0.0.1"]
        ready += ["-p", str(self.port)]
        wait_for(lambda: subprocess.run(ready, check=False).returncode == 0, "PostgreSQL")

    def promote(self) -> None:
        """Make a standby the primary."""
        promote = [find("pg_ctl", _postgres_programs()), "promote", "-D", str(self.folder / "data")]
        subprocess.run(promote, check=True, capture_output=True, cwd=self.folder, **_account())


class BouncerServer(Server):
    """A PgBouncer in front of a server, with a connection for each transaction."""

    def __init__(self, room: Path, behind: PostgresServer) -> None:
        port = free_port()
        settings = room / "bouncer.ini"
        settings.write_text(
            f"[databases]\npostgres = host=127.0.0.1 port={behind.port} user=refold\n"
            f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n"
            "auth_type = any\npool_mode = transaction\ndefault_pool_size = 3\n"
            "server_reset_query_always = 1\n"
        )
        super().__init__([find("pgbouncer", "/usr/sbin"), str(settings)], port, room, **_account())
        self.url = f"postgresql://refold@127.0.0.1:{port}/postgres"


# --- Redis ----------------------------------------------------------------------------------------


class RedisServer(Server):
    """A Redis server that has everything on disk before it answers; its files may have a limit."""

    def __init__(
        self,
        room: Path,
        *more: str,
        is_clustered: bool = False,
        largest_file: int | None = None,
    ) -> None:
        port, self.cluster_port = free_port(), free_port()
        command = [find("redis-server"), "--port", str(port), "--bind", "127.0.0.1"]
        command += ["--dir", str(room), "--save", "", "--appendonly", "yes"]
        command += ["--appendfsync", "always", *more]
        if is_clustered:
            command += ["--cluster-enabled", "yes", "--cluster-port", str(self.cluster_port)]
        if largest_file is not None:
            command = ["prlimit", f"--fsize={largest_file}", *command]
        super().__init__(command, port, room, cwd=room)
        self.url = f"redis://127.0.0.1:{port}/0"
        self.cluster_url = f"redis+cluster://127.0.0.1:{port}"

    def tell(self, *words: object) -> Any:
        """Return what it answers to a command."""
        redis = pytest.importorskip(
            "redis", reason="redis is not installed; see `make test-stores`"
        )
        with redis.Redis(port=self.port) as client:
            return client.execute_command(*words)


@contextmanager
def redis_cluster(*, replicas: int = 0) -> Iterator[list[RedisServer]]:
    """Three nodes that share the slots; and replicas, of the first one."""
    masters, quick = 3, ("--cluster-node-timeout", "2000")
    with ExitStack() as stack:
        rooms = [stack.enter_context(folder()) for _ in range(masters + replicas)]
        servers = [RedisServer(room, *quick, is_clustered=True) for room in rooms]
        for server in servers:
            stack.enter_context(server)
        for number, server in enumerate(servers[:masters]):
            first, last = 16384 * number // masters, 16384 * (number + 1) // masters - 1
            server.tell("CLUSTER ADDSLOTSRANGE", first, last)
        for server in servers:
            server.tell("CLUSTER MEET", "127.0.0.1", servers[0].port, servers[0].cluster_port)
        for server in servers:
            wait_for(partial(_is_joined, server, len(servers)), "the cluster")
        for server in servers[masters:]:
            server.tell("CLUSTER REPLICATE", servers[0].tell("CLUSTER MYID"))
        yield servers


def _is_joined(server: RedisServer, nodes: int) -> bool:
    told = server.tell("CLUSTER INFO")
    return bool(told["cluster_state"] == "ok" and told["cluster_known_nodes"] == str(nodes))


# --- S3 -------------------------------------------------------------------------------------------

_S3_SCRIPT: Final = """
import sys
from moto.server import ThreadedMotoServer

server = ThreadedMotoServer("127.0.0.1", int(sys.argv[1]), verbose=False)
server.start()
server._thread.join()
"""


class S3Server(Server):
    """What speaks S3; it keeps everything in memory."""

    def __init__(self, room: Path) -> None:
        pytest.importorskip("moto.server", reason="moto is not installed; see `make test-stores`")
        port = free_port()
        super().__init__([sys.executable, "-c", _S3_SCRIPT, str(port)], port, room, cwd=room)
        self.options = {
            "endpoint": f"http://127.0.0.1:{port}",
            "access_key_id": "somebody",
            "secret_access_key": "something",
            "region": "us-east-1",
        }
        self._buckets = count()

    def bucket(self, name: str = "") -> str:
        """Create a bucket that is empty, and return its address."""
        name = name or f"bucket-{next(self._buckets)}"
        request = urllib.request.Request(f"{self.options['endpoint']}/{name}", method="PUT")
        urllib.request.urlopen(request).close()
        return f"s3://{name}/originals"
