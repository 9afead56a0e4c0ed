"""What was answered stays as it was sent: killed at any time, late, or after hundreds of others."""

from __future__ import annotations

import json
import random
import tempfile
import threading
import time
import urllib.error
import urllib.request
from http.client import HTTPException
from pathlib import Path
from typing import Any

from attacks.base import Area, Check
from attacks.proxied import Provider, Serving, providing, serving
from attacks.talks import prose

_OTHERS = 257
"""One more conversation than a worker keeps in memory."""
_TURNS = 8
_TOOLS = [{"name": "look", "description": "Looks.", "input_schema": {"type": "object"}}]


def run(scale: float, seed: int) -> Area:
    """Talk through a proxy that is killed again and again, and through one that is busy."""
    rng = random.Random(seed)
    killed = Check("killed at any time")
    late = Check("killed, and late ever after")
    others = Check("after hundreds of others")
    for _ in range(max(1, int(40 * scale))):
        for check, options in ((killed, ("--fold-ms", "5000")), (late, ("--fold-ms", "40"))):
            with tempfile.TemporaryDirectory() as name, providing() as provider:
                _kill(Path(name), provider, rng, check, options)
        with tempfile.TemporaryDirectory() as name, providing() as provider:
            _crowd(Path(name), provider, rng, others)
    return Area("replay", [killed, late, others])


class _Talk:
    """A client's conversation, and the last request of it that was answered, as it was sent."""

    def __init__(self, provider: Provider, rng: random.Random, check: Check) -> None:
        self._provider = provider
        self._rng = rng
        self._check = check
        self._first = f"Watch harbour {rng.randrange(1 << 30)} and report."
        self._messages: list[Any] = [{"role": "user", "content": self._first}]
        self._sent: list[Any] = []

    def ask(self, url: str) -> bool:
        """Ask; return whether there was an answer, and look at what went out for it."""
        self._provider.reset()
        if not _post(url, self._messages):
            return False
        bodies = [json.loads(body)["messages"] for body in self._provider.bodies]
        (sent,) = (body for body in bodies if body[0]["content"] == self._first)
        is_broken = sent[: len(self._sent)] != self._sent
        self._check.record(is_broken, f"{self._first} {len(self._sent)} of {len(sent)} messages")
        self._sent = sent
        return True

    def grow(self) -> None:
        """Go on with a call and its result: lines of a log, rows of JSON, or prose."""
        number, rng = len(self._messages), self._rng
        rows = range(rng.randrange(5, 300))
        match rng.randrange(4):
            case 0:
                text = "\n".join(f"10:{n // 60:02}:{n % 60:02} INFO pier {n} busy" for n in rows)
            case 1:
                text = json.dumps([{"pier": n, "crates": n * 7, "is_open": True} for n in rows])
            case 2:
                text = "\n".join(f"{n:6}\tline_{n % 9} = {n}" for n in rows)
            case _:
                text = prose(rng, 2_000)
        call = {"type": "tool_use", "id": f"t{number}", "name": "look", "input": {"pier": number}}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": text}
        self._messages += [
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]},
        ]


def _kill(
    folder: Path, provider: Provider, rng: random.Random, check: Check, options: tuple[str, ...]
) -> None:
    """Talk; kill the proxy at some time within each third request, and ask again."""
    talk, turn = _Talk(provider, rng, check), 0
    while turn < _TURNS:
        with serving(provider.url, folder, *options) as proxy:
            ends_at = turn + rng.randrange(1, 4)
            while turn < _TURNS and turn < ends_at:
                killer = threading.Timer(rng.random() * 0.1, proxy.process.kill)
                if turn + 1 == ends_at:
                    killer.start()
                is_answered = talk.ask(proxy.url)
                killer.cancel()
                if not is_answered:
                    break
                talk.grow()
                turn += 1


def _crowd(folder: Path, provider: Provider, rng: random.Random, check: Check) -> None:
    """Talk, with hundreds of other conversations in between."""
    talk = _Talk(provider, rng, check)
    with serving(provider.url, folder) as proxy:
        for _ in range(4):
            talk.grow()
            _wait_for(proxy)
            talk.ask(proxy.url)
            for _ in range(_OTHERS):
                _post(proxy.url, [{"role": "user", "content": f"hi {rng.random()}"}])


def _wait_for(proxy: Serving) -> None:
    """Wait until the worker has nothing left to do."""
    while True:
        with urllib.request.urlopen(f"{proxy.url}/stats") as answer:
            if not json.load(answer)["workers"]["waiting"]:
                return
        time.sleep(0.01)


def _post(url: str, messages: list[Any]) -> bool:
    """Ask a model; return whether it has answered."""
    body = {"model": "claude-sonnet-5", "max_tokens": 9, "messages": messages, "tools": _TOOLS}
    headers = {"content-type": "application/json", "x-api-key": "k"}
    request = urllib.request.Request(
        f"{url}/v1/messages", data=json.dumps(body).encode(), headers=headers
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            answer.read()
    except (urllib.error.URLError, HTTPException, OSError):
        return False
    return True
