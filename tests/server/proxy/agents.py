"""A client that keeps a growing conversation, over plain HTTP, and the CLI as a process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

from tests.patience import FOR_EVER
from tests.server.proxy.running import log_of

TOOLS = [{"name": "read_log", "description": "Reads.", "input_schema": {"type": "object"}}]


class Agent:
    """Asks, and appends a long tool result after every answer."""

    def __init__(self, url: str, *, key: str = "sk-ant-test", session: str = "s-1") -> None:
        self.url = url
        self.headers = {"x-api-key": key, "x-claude-code-session-id": session}
        self.messages: list[Any] = [{"role": "user", "content": "What is in the logs?"}]
        self.model = "claude-sonnet-5"
        self.has_tools = True
        self.lines = 60

    @property
    def body(self) -> dict[str, Any]:
        body = {"model": self.model, "max_tokens": 9, "messages": self.messages}
        return {**body, "tools": TOOLS} if self.has_tools else body

    def ask(self) -> httpx2.Response:
        url = f"{self.url}/v1/messages"
        return httpx2.post(url, json=self.body, headers=self.headers, timeout=FOR_EVER)

    def turn(self) -> httpx2.Response:
        """Ask, and go on with a call of a tool whatever the answer was."""
        answer = self.ask()
        self.grow()
        return answer

    def grow(self) -> None:
        number = len(self.messages)
        use = {"type": "tool_use", "id": f"t{number}", "name": "read_log", "input": {}}
        result = {"type": "tool_result", "tool_use_id": f"t{number}"}
        text = log_of(self.lines, number)
        self.messages.append({"role": "assistant", "content": [use]})
        self.messages.append({"role": "user", "content": [{**result, "content": text}]})

    @property
    def raw(self) -> bytes:
        """What goes out if nothing is folded."""
        request = httpx2.Request("POST", f"{self.url}/v1/messages", json=self.body)
        content: bytes = request.read()
        return content


@contextmanager
def serving(
    upstream: str, store: Path, *options: str
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `refold serve`; yields the process and its address."""
    command = [sys.executable, "-m", "refold", "serve", "--port", "0", "--store", str(store)]
    for name in ("--anthropic", "--openai", "--gemini"):
        command += [name, upstream]
    with subprocess.Popen(
        [*command, "--fold-ms", "600000", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("listening on http://127.0.0.1:"), line
        try:
            yield process, line.removeprefix("listening on ").strip()
        finally:
            process.terminate()
