"""A real `refold serve` between a scripted provider and whoever attacks it; all on loopback."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

_SECONDS = 60.0
"""How long anybody waits for an answer: far more than one takes."""

_CLIENT_SECONDS = "0.3"
"""How long the proxy waits for the rest of a request: of a broken one it may never come."""


@dataclass
class Provider:
    """A provider that answers everything with a word, and remembers what it was asked."""

    url: str = ""
    bodies: list[bytes] = field(default_factory=list[bytes])

    def reset(self) -> None:
        """Forget everything."""
        self.bodies.clear()


@contextmanager
def providing() -> Iterator[Provider]:
    """Run a provider in a thread."""
    provider = Provider()
    usage = {"input_tokens": 9, "output_tokens": 9}
    said = {"type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn"}
    whole = {**said, "content": [{"type": "text", "text": "ok"}], "usage": usage}
    answer = json.dumps(whole).encode()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            provider.bodies.append(self.rfile.read(int(self.headers.get("content-length") or 0)))
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_GET = do_OPTIONS = do_POST  # noqa: N815 - the names are those of the base class

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            """Say nothing: a proxy that is killed hangs up."""

    server = Server(("127.0.0.1", 0), Handler)
    provider.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class Serving:
    """A proxy that runs, and where all that it prints goes."""

    process: subprocess.Popen[bytes]
    url: str
    log: Path

    @property
    def printed(self) -> bytes:
        """All that it has printed so far."""
        return self.log.read_bytes()


@contextmanager
def serving(provider: str, folder: Path, *options: str) -> Iterator[Serving]:
    """Run `refold serve` with a store in *folder*."""
    command = [sys.executable, "-m", "refold", "serve", "--port", "0"]
    command += ["--store", str(folder / "originals.db"), *options]
    for name in ("--anthropic", "--openai", "--gemini"):
        command += [name, provider]
    log = folder / "log"
    path = os.pathsep.join(sys.path)
    environment = {**os.environ, "PYTHONPATH": path, "REFOLD_CLIENT_SECONDS": _CLIENT_SECONDS}
    with (
        log.open("ab") as errors,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, env=environment
        ) as process,
    ):
        assert process.stdout is not None, "asked for"
        url = process.stdout.readline().decode().removeprefix("listening on ").strip()
        try:
            yield Serving(process, url, log)
        finally:
            process.terminate()


def ask_raw(url: str, sent: bytes) -> bytes:
    """Send bytes, and return all that comes until the proxy hangs up."""
    parts = urlsplit(url)
    received = b""
    with socket.create_connection((parts.hostname, parts.port or 0), _SECONDS) as connection:
        try:
            connection.sendall(sent)
            while chunk := connection.recv(65_536):
                received += chunk
        except ConnectionError:
            pass  # it has hung up, which is an answer as well
    return received


def head(method: str, target: str, **headers: Any) -> bytes:
    """Return the head of a request from this machine; names of headers with `_` for `-`."""
    given = {"host": "localhost", "connection": "close", **headers}
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in given.items()]
    return "\r\n".join([f"{method} {target} HTTP/1.1", *lines, "", ""]).encode()
