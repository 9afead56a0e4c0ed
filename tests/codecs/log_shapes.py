"""Logs as common programs write them, made up line by line, and the same in every run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Final

_USERS: Final = ("root", "admin", "deploy", "ann", "oracle", "git")
_PATHS: Final = ("/", "/login", "/api/orders", "/api/orders/7", "/static/app.js", "/health")
_AGENTS: Final = (
    "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_6) AppleWebKit/605.1.15 Safari/605.1.15",
    "curl/8.9.1",
)
_WORDS: Final = tuple(
    "link device address carrier state lease route signal memory page window cannot found lost "
    "again ready wireless after before while switching taking dropping unknown old new".split()
)


@dataclass(slots=True)
class _Source:
    """Where times, numbers and names come from."""

    random: Random
    now: datetime = field(default=datetime(2031, 11, 15, 10, 2, 3, tzinfo=UTC))

    def time(self, form: str) -> str:
        """Return the time of the next line."""
        self.now += timedelta(microseconds=self.random.randrange(900_000))
        millis, micros = f"{self.now.microsecond // 1000:03}", f"{self.now.microsecond:06}"
        return self.now.strftime(form.replace("%L", millis).replace("%f", micros))

    def number(self, least: int, most: int) -> int:
        return self.random.randint(least, most)

    def pick(self, *of: str) -> str:
        return self.random.choice(of)

    def ip(self) -> str:
        return f"{self.pick('203.0.113', '198.51.100')}.{self.number(1, 254)}"

    def hexes(self, size: int) -> str:
        return f"{self.random.getrandbits(4 * size):0{size}x}"

    def uuid(self) -> str:
        return "-".join(map(self.hexes, (8, 4, 4, 4, 12)))


def _syslog(s: _Source) -> str:
    port, user = s.number(1024, 65535), s.pick(*_USERS)
    said = s.pick(
        f"Failed password for {user} from {s.ip()} port {port} ssh2",
        f"Failed password for invalid user {user} from {s.ip()} port {port} ssh2",
        f"Received disconnect from {s.ip()} port {port}:11: Bye Bye [preauth]",
        "pam_unix(sshd:auth): authentication failure; logname= uid=0 euid=0 tty=ssh ruser= "
        f"rhost={s.ip()}  user={user}",
    )
    return f"{s.time('%b %d %H:%M:%S')} web-01 sshd[{s.number(900, 9999)}]: {said}"


def _access(s: _Source) -> str:
    request = f"{s.pick('GET', 'GET', 'GET', 'POST')} {s.pick(*_PATHS)} HTTP/1.1"
    status = s.pick("200", "200", "304", "404")
    return (
        f'{s.ip()} - - [{s.time("%d/%b/%Y:%H:%M:%S +0000")}] "{request}" {status} '
        f'{s.number(120, 90_000)} "-" "{s.pick(*_AGENTS)}"'
    )


def _journal(s: _Source) -> str:
    unit = s.pick("logrotate.service", "apt-daily.service", "man-db.service")
    said = s.pick(
        f"Starting {unit} - a job of the night...",
        f"{unit}: Deactivated successfully.",
        f"Finished {unit} - a job of the night.",
        f"{unit}: Consumed {s.number(1, 9)}.{s.number(100, 999)}s CPU time.",
    )
    return f"{s.time('%b %d %H:%M:%S')} web-01 systemd[1]: {said}"


def _compose(s: _Source) -> str:
    service = s.pick("web-1   ", "web-2   ", "worker-1")
    said = s.pick(
        f"INFO Started {s.pick('GET', 'POST')} request {s.hexes(8)} for {s.pick(*_PATHS)}",
        f"INFO Completed request {s.hexes(8)} with status 200 in {s.number(2, 900)} ms",
        f"WARN pool is busy, {s.number(1, 40)} requests wait for a connection",
    )
    return f"{service}  | {s.time('%Y-%m-%d %H:%M:%S,%L')} {said}"


def _klog(s: _Source) -> str:
    pod = f"shop/web-{s.hexes(5)}"
    said = s.pick(
        f'reconciler.go:224] "Reconciling volume" pod="{pod}" took="{s.number(1, 99)}ms"',
        f'scheduler.go:604] "Bound pod to node" pod="{pod}" node="node-{s.number(1, 5)}"',
        f"event.go:291] Created container web in pod {pod} on node-{s.number(1, 5)}",
    )
    return f"I{s.time('%m%d %H:%M:%S.%f')}       1 {said}"


def _log4j(s: _Source) -> str:
    said = s.pick(
        f"c.e.shop.OrderService - Order {s.number(10_000, 99_999)} of customer "
        f"{s.number(100, 999)} was placed in {s.number(2, 90)} ms",
        f"c.e.shop.PaymentClient - Payment {s.uuid()} was accepted by the bank",
    )
    return f"{s.time('%Y-%m-%d %H:%M:%S,%L')} [http-nio-8080-exec-{s.number(1, 10)}] INFO  {said}"


def _python(s: _Source) -> str:
    said = s.pick(
        f"Task shop.tasks.send_mail[{s.uuid()}] received",
        f"Task shop.tasks.send_mail[{s.uuid()}] succeeded in 0.{s.number(1000, 9999)}s: None",
    )
    return f"{s.time('%Y-%m-%d %H:%M:%S,%L')} - celery.worker.strategy - INFO - {said}"


def _nginx(s: _Source) -> str:
    return (
        f"{s.time('%Y/%m/%d %H:%M:%S')} [error] 31#31: *{s.number(1000, 9999)} connect() failed "
        f"(111: Connection refused) while connecting to upstream, client: {s.ip()}, "
        f'server: shop.example, request: "GET {s.pick(*_PATHS)} HTTP/1.1", '
        'upstream: "http://10.0.3.7:8080/", host: "shop.example"'
    )


def _zap(s: _Source) -> str:
    fields = f'{{"method": "GET", "path": "{s.pick(*_PATHS)}", "took": "{s.number(1, 99)}ms"}}'
    return f"{s.time('%Y-%m-%dT%H:%M:%S.%LZ')}\tINFO\tserver/http.go:88\trequest done\t{fields}"


def _logfmt(s: _Source) -> str:
    level = s.pick("info", "info", "info", "warn")
    return (
        f'time={s.time("%Y-%m-%dT%H:%M:%SZ")} level={level} msg="request done" method=GET '
        f"path={s.pick(*_PATHS)} status=200 duration={s.number(1, 99)}ms trace={s.hexes(16)}"
    )


def _ci(s: _Source) -> str:
    name = s.pick("tokio", "serde", "rand", "hyper", "regex", "bytes")
    said = s.pick(
        f"   Compiling {name} v{s.number(0, 9)}.{s.number(0, 30)}.{s.number(0, 9)}",
        f" Downloading {name} v{s.number(0, 9)}.{s.number(0, 30)}.{s.number(0, 9)}",
        f"test {name}::tests::case_{s.number(1, 99)} ... ok",
    )
    return f"{s.time('%Y-%m-%dT%H:%M:%S.%f0Z')} {said}"


def _hdfs(s: _Source) -> str:
    block = f"blk_{s.number(10**15, 10**16)}"
    said = s.pick(
        f"dfs.DataNode$PacketResponder: PacketResponder 1 for block {block} terminating",
        f"dfs.DataNode$PacketResponder: Received block {block} of size 67108864 from /10.250.1.7",
        f"dfs.FSNamesystem: BLOCK* NameSystem.addStoredBlock: blockMap updated: 10.250.1.7:50010 "
        f"is added to {block} size 67108864",
    )
    return f"{s.time('%y%m%d %H%M%S')} {s.number(100, 999)} INFO {said}"


def _spark(s: _Source) -> str:
    task = f"task {s.number(0, 99)}.0 in stage {s.number(1, 30)}.0 (TID {s.number(1, 9999)})"
    said = s.pick(
        f"executor.Executor: Running {task}",
        f"executor.Executor: Finished {task}. {s.number(1000, 9999)} bytes result sent to driver",
        f"storage.BlockManager: Found block rdd_{s.number(1, 99)}_{s.number(0, 9)} locally",
    )
    return f"{s.time('%y/%m/%d %H:%M:%S')} INFO {said}"


def _openstack(s: _Source) -> str:
    said = s.pick(
        "VM Started (Lifecycle Event)", "VM Paused (Lifecycle Event)", "Instance destroyed"
    )
    return (
        f"nova-compute.log {s.time('%Y-%m-%d %H:%M:%S.%L')} 2931 INFO nova.compute.manager "
        f"[req-{s.uuid()} - - - - -] [instance: {s.uuid()}] {said}"
    )


def _hadoop(s: _Source) -> str:
    attempt = f"attempt_1445144423722_0020_m_{s.number(0, 9):06}_0"
    said = s.pick(
        f"[IPC Server handler {s.number(0, 29)} on 62270] org.apache.hadoop.mapred."
        f"TaskAttemptListenerImpl: Progress of TaskAttempt {attempt} is : 0.{s.number(100, 999)}",
        "[AsyncDispatcher event handler] org.apache.hadoop.mapreduce.v2.app.job.impl."
        f"TaskAttemptImpl: {attempt} TaskAttempt Transitioned from NEW to UNASSIGNED",
    )
    return f"{s.time('%Y-%m-%d %H:%M:%S,%L')} INFO {said}"


def _android(s: _Source) -> str:
    said = s.pick(
        f"D WindowManager: interceptKeyTq keycode={s.number(3, 90)} interactive=true flags=0",
        f"V PowerManager: acquire lock={s.number(10**8, 10**9)}, flags=0x1, tag=Lock, uid=1000",
    )
    return f"{s.time('%m-%d %H:%M:%S.%L')}  1702  {s.number(1702, 9999)} {said}"


def _postgres(s: _Source) -> str:
    said = s.pick(
        f"LOG:  duration: {s.number(1, 900)}.{s.number(100, 999)} ms  statement: SELECT * FROM "
        f"orders WHERE customer_id = {s.number(100, 999)} ORDER BY placed_at DESC LIMIT 20",
        "LOG:  connection authorized: user=shop database=shop application_name=web",
    )
    return f"{s.time('%Y-%m-%d %H:%M:%S.%L UTC')} [{s.number(100, 999)}] {said}"


def _apache_error(s: _Source) -> str:
    return (
        f"[{s.time('%a %b %d %H:%M:%S.%f %Y')}] [core:error] [pid {s.number(100, 999)}:tid 140] "
        f"[client {s.ip()}:{s.number(1024, 65535)}] AH00126: Invalid URI in request GET "
        f"{s.pick(*_PATHS)} HTTP/1.1"
    )


def _heartbeat(s: _Source) -> str:
    said = s.pick(
        "INFO scheduler: nothing to do, the queue of the night jobs is empty",
        "INFO health: the database, the cache and the mail server have answered",
        f"WARN cache: evicted {s.number(10, 99)} entries",
    )
    return f"{s.time('%Y-%m-%dT%H:%M:%SZ')} {said}"


def _free_words(s: _Source) -> str:
    said = " ".join(s.pick(*_WORDS) for _ in range(s.number(4, 12)))
    unit = s.pick("NetworkManager[812]", "kernel", "gnome-shell[2207]")
    return f"{s.time('%b %d %H:%M:%S')} workstation.lan {unit}: {said}"


def _levels(s: _Source) -> str:
    said = s.pick(
        f"INFO: Stored part {s.number(1, 99)} of parcel {s.hexes(8)} in the bucket of the night",
        f"WARNING: Try {s.number(2, 5)} for parcel {s.hexes(8)} after {s.number(1, 90)} seconds",
    )
    return f"{said}, {s.number(10, 99)} left"


def _bracketed(s: _Source) -> str:
    level = s.pick("[info]", "[info]", "[warning]")
    took = f"took job {s.hexes(5)} from the queue of the night and ended it"
    return f"{level} worker-{s.number(1, 9)} {took} in {s.number(2, 900)} ms"


def _kernel(s: _Source) -> str:
    said = s.pick(
        f"usb {s.number(1, 4)}-{s.number(1, 9)}: new high-speed USB device number "
        f"{s.number(1, 40)} using xhci_hcd",
        f"EXT4-fs (sda{s.number(1, 9)}): mounted filesystem with ordered data mode",
    )
    s.time("")
    return f"[{s.now.timestamp() % 100_000:12.6f}] {said}"


_SHAPES: Final[dict[str, Callable[[_Source], str]]] = {
    "syslog": _syslog,
    "access": _access,
    "journalctl": _journal,
    "docker compose": _compose,
    "kubectl": _klog,
    "log4j": _log4j,
    "python logging": _python,
    "nginx error": _nginx,
    "go zap": _zap,
    "logfmt": _logfmt,
    "ci": _ci,
    "hdfs": _hdfs,
    "spark": _spark,
    "openstack": _openstack,
    "hadoop": _hadoop,
    "android": _android,
    "postgres": _postgres,
    "apache error": _apache_error,
    "heartbeat": _heartbeat,
    "free words": _free_words,
    "levels": _levels,
    "bracketed levels": _bracketed,
    "kernel": _kernel,
}
SHAPES: Final = tuple(_SHAPES)


def make_log(shape: str, lines: int = 120, *, seed: int = 7) -> str:
    """Return a log of that shape."""
    source = _Source(Random(f"{shape} {seed}"))
    return "\n".join(_SHAPES[shape](source) for _ in range(lines))
