"""Runs a program behind a proxy of its own, and reports what that saved."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType, MappingProxyType
from typing import IO, Any, Final, NamedTuple

from refold.errors import ConfigError
from refold.server.agents import fill, known_agents

NO_PROGRAM: Final = 127
"""A shell's exit code for a program that does not exist."""
_KILLED: Final = 128
"""A shell's exit code for a killed program is this plus the signal number."""
_LISTENING: Final = "listening on "
_SECONDS: Final = 10.0
"""Timeout for the proxy's figures, and for its exit."""
_FOR_ALL: Final = ("claude", "qwen", "gemini")
"""The agents whose variables are those of the SDKs, which are set for every program."""
_PASSED_ON: Final = tuple(
    getattr(signal, name)
    for name in ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2")
    if hasattr(signal, name)
)


class Wrapped(NamedTuple):
    """The exit code of a program, and the totals of its proxy, if available."""

    code: int
    stats: Mapping[str, Any]


def run_wrapped(
    command: Sequence[str],
    env: Mapping[str, str],
    *,
    proxy: Sequence[str],
    settings: Mapping[str, str] = MappingProxyType({}),
) -> Wrapped:
    """Run *command* with everything it sends going through *proxy*.

    Args:
        command: the program and its arguments.
        env: its environment; the proxy gets the same, and forwards to where the program would.
        proxy: the command that starts the proxy; it prints `listening on URL` when it is ready.
        settings: variables for the proxy alone.

    Raises:
        ConfigError: the proxy does not start, or it cannot work for this program.
    """
    program, *words = command
    agents = known_agents()
    agent = next((a for a in agents.values() if a.program == Path(program).stem.lower()), None)
    if agent is not None:
        agent.check_proxy(env, is_wrapped=True)
    rows = [agents[name].variables for name in _FOR_ALL] + [agent.variables if agent else ()]
    variables = [one for row in rows for one in row if one.fits(env)]
    # Where the program would send requests, the proxy sends them on to.
    upstreams = {
        f"REFOLD_{one.api.upper()}_URL": env[one.name].rstrip("/").removesuffix("/v1")
        for one in variables
        if one.api and env.get(one.name)
    }
    with (
        _forwarding_signals() as run,
        _running(proxy, {**upstreams, **env, **settings}) as url,
    ):
        added = fill(agent.arguments, url) if agent else []
        leading = {one.name: fill(one.value, url) for one in variables}
        code = run([program, *added, *words], {**env, **leading})
        return Wrapped(code, _fetch_stats(url))


@contextmanager
def _running(command: Sequence[str], env: Mapping[str, str]) -> Iterator[str]:
    """Start the proxy, yield its address, and stop it.

    It is in a process group of its own: signals from the terminal are not for the proxy.
    """
    with tempfile.TemporaryFile() as log:
        try:
            server = subprocess.Popen(
                command, env=env, stdout=subprocess.PIPE, stderr=log, start_new_session=True
            )
        except OSError as error:
            raise ConfigError(f"the proxy does not start: {error.strerror}") from error
        with server:
            assert server.stdout is not None
            try:
                line = server.stdout.readline().decode(errors="replace").strip()
                if not line.startswith(_LISTENING):
                    raise ConfigError(f"the proxy does not start: {_last_line(server, log)}")
                yield line.removeprefix(_LISTENING)
            finally:
                _end(server)


def _last_line(server: subprocess.Popen[bytes], log: IO[bytes]) -> str:
    """Return the last line of the log of a proxy that did not start."""
    _end(server)
    log.seek(0)
    lines = log.read().decode(errors="replace").strip().splitlines()
    return lines[-1].removeprefix("refold: ") if lines else "it says nothing"


def _end(server: subprocess.Popen[bytes]) -> None:
    server.terminate()
    try:
        server.wait(_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


@contextmanager
def _forwarding_signals() -> Iterator[Callable[[Sequence[str], Mapping[str, str]], int]]:
    """Yield what runs a program on our own streams and returns its exit code as a shell would.

    Signals are forwarded to the program, which decides what they mean. A terminal interrupts the
    program by itself. A signal before the start keeps it from starting.
    """
    pending = 0
    started: subprocess.Popen[bytes] | None = None

    def receive(number: int, _frame: FrameType | None) -> None:
        nonlocal pending
        if started is None:
            pending = number
        elif number != signal.SIGINT:
            with suppress(OSError):
                started.send_signal(number)

    def run(command: Sequence[str], env: Mapping[str, str]) -> int:
        nonlocal started
        if pending:
            return _KILLED + pending
        try:
            started = subprocess.Popen(command, env=env)
        except OSError as error:
            print(f"refold: cannot run {command[0]!r}: {error.strerror}", file=sys.stderr)
            return NO_PROGRAM
        if pending:  # it came while the program was being started
            started.send_signal(pending)
        with started as program:
            code = program.wait()
        return code if code >= 0 else _KILLED - code

    before = {number: signal.signal(number, receive) for number in (signal.SIGINT, *_PASSED_ON)}
    try:
        yield run
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def open_directly(url: str, timeout_seconds: float) -> Any:
    """Open a URL on this machine, ignoring proxies in the environment."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    return direct.open(url, timeout=timeout_seconds)


def _fetch_stats(url: str) -> Mapping[str, Any]:
    """Return the totals of the proxy; empty if it does not answer."""
    with suppress(OSError, ValueError), open_directly(f"{url}/stats", _SECONDS) as answer:
        stats = json.loads(answer.read())
        return stats if isinstance(stats, Mapping) else {}
    return {}
