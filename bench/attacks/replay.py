"""What was answered stays as it was sent: killed at any time, late, or after hundreds of others."""

from __future__ import annotations

import asyncio
import json
import random
import tempfile
import threading
import urllib.error
import urllib.request
from http.client import HTTPException
from pathlib import Path
from typing import Any

from attacks.base import Area, Check
from attacks.proxied import Provider, providing, serving
from attacks.talks import prose
from refold.server.proxy.folding import Folder
from refold.server.proxy.request import Job
from refold.server.proxy.settings import Settings

_OTHERS = 257
"""One more conversation than a worker keeps in memory."""
_TURNS = 8
_BUDGET = 8_000
_SECONDS = 1e6
"""Nobody is late where it is not asked for."""
_TOOLS = [{"name": "look", "description": "Looks.", "input_schema": {"type": "object"}}]


def run(scale: float, seed: int) -> Area:
    """Talk through a proxy that is killed again and again, and to a worker that is busy."""
    rng = random.Random(seed)
    killed = Check("killed at any time")
    late = Check("killed, and late ever after")
    others = Check("after hundreds of others")
    refolds = Check("folded anew no more often")
    for _ in range(max(1, int(40 * scale))):
        for check, waits in ((killed, [5_000]), (late, [5_000, 1])):
            with tempfile.TemporaryDirectory() as name, providing() as provider:
                _kill(Path(name), provider, rng, check, waits)
        for _ in range(3):
            with tempfile.TemporaryDirectory() as name:
                _crowd(Path(name), rng, others, refolds)
    return Area("replay", [killed, late, others, refolds])


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
        """Go on with a call and its result."""
        self._messages += _turn(len(self._messages), self._rng)


def _turn(number: int, rng: random.Random) -> list[Any]:
    """Return a call and its result: lines of a log, rows of JSON, a file, or prose."""
    rows = range(rng.randrange(5, 300))
    match rng.randrange(4):
        case 0:
            text = "\n".join(f"10:{n // 60:02}:{n % 60:02} INFO {number} pier {n}" for n in rows)
        case 1:
            text = json.dumps([{"pier": n, "crates": n * number, "is_open": True} for n in rows])
        case 2:
            text = "\n".join(f"{n:6}\tline_{n % 9} = {n * number}" for n in rows)
        case _:
            text = prose(rng, 2_000)
    call = {"type": "tool_use", "id": f"t{number}", "name": "look", "input": {"pier": number}}
    result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": text}
    return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]


def _kill(
    folder: Path, provider: Provider, rng: random.Random, check: Check, waits: list[int]
) -> None:
    """Talk; kill the proxy at some time within each third request, and ask again.

    The first proxy waits so many milliseconds for a fold as the first of *waits* says, all others
    as the last.
    """
    talk, turn, wait = _Talk(provider, rng, check), 0, waits[0]
    while turn < _TURNS:
        with serving(provider.url, folder, "--fold-ms", str(wait)) as proxy:
            ends_at = turn + rng.randrange(2, 5)
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
        wait = waits[-1]


def _crowd(folder: Path, rng: random.Random, others: Check, refolds: Check) -> None:
    """Talk to two workers under a budget; one of them talks to hundreds of others in between."""
    alone, busy = _Worker(folder / "alone.db"), _Worker(folder / "busy.db")
    messages: list[Any] = [{"role": "user", "content": f"Watch harbour {rng.random()}."}]
    sent: list[Any] = []
    for _ in range(3 * _TURNS):
        messages += _turn(len(messages), rng)
        before, folds = sent, busy.refolds
        sent = busy.ask(messages)
        others.record(sent != alone.ask(messages), f"{len(messages)} messages, not as alone")
        if busy.refolds == folds:
            others.record(sent[: len(before)] != before, f"{len(messages)} messages")
        if rng.random() < 0.3:
            for _ in range(_OTHERS):
                busy.ask([{"role": "user", "content": f"hi {rng.random()}"}])
            again = busy.ask(messages)
            others.record(again != sent, f"{len(messages)} messages, the same once more")
    refolds.record(busy.refolds > alone.refolds, f"{busy.refolds}, alone {alone.refolds}")


class _Worker:
    """A worker of a proxy, asked directly."""

    def __init__(self, store: Path) -> None:
        settings = Settings(store=str(store), token_budget=_BUDGET)
        self._folder = Folder(settings, lambda: 0.0)
        self.refolds = 0

    def ask(self, messages: list[Any]) -> list[Any]:
        """Return what is sent."""
        body = json.dumps(_body(messages)).encode()
        folded = asyncio.run(
            self._folder.fold(Job("anthropic", "/v1/messages", "t", "", body, _SECONDS))
        )
        self.refolds += folded.is_refolded
        sent: list[Any] = json.loads(folded.body or body)["messages"]
        return sent


def _body(messages: list[Any]) -> dict[str, Any]:
    return {"model": "claude-sonnet-5", "max_tokens": 9, "messages": messages, "tools": _TOOLS}


def _post(url: str, messages: list[Any]) -> bool:
    """Ask a model; return whether it has answered."""
    headers = {"content-type": "application/json", "x-api-key": "k"}
    request = urllib.request.Request(
        f"{url}/v1/messages", data=json.dumps(_body(messages)).encode(), headers=headers
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            answer.read()
    except (urllib.error.URLError, HTTPException, OSError):
        return False
    return True
