"""What the proxy costs: CPU time per request against a bare pass-through, latency, streams, memory.

    python bench/proxy.py                  # all of it, small
    python bench/proxy.py --requests 100000 --streams 1000
    python bench/proxy.py --other 'litellm=litellm --config c.yaml --port {port}'

Everything runs on loopback: a scripted provider, `refold serve`, and a bare aiohttp pass-through of
the same shape, each in a process of its own, asked by the same load generator in the same run: wrk
where it is installed, else a client of our own. CPU time is what the kernel says of each process
and its children, so a busy machine hardly matters. Any other proxy can be measured beside them; in
its command, {port} is where it is to listen, and {upstream} is the provider.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import shlex
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import aiohttp
from aiohttp import web

from generate import generate
from refold.server.proxy.folding import Folder
from refold.server.proxy.request import Job
from refold.server.proxy.settings import Settings

_TICK: Final = os.sysconf("SC_CLK_TCK")
_PAGE_MB: Final = os.sysconf("SC_PAGE_SIZE") / (1 << 20)
_EVENTS: Final = 52
_MODEL: Final = "claude-sonnet-5"
SIZES: Final = (1, 60_000)
"""Characters of a short conversation, one call with its result, and of a long one."""
TURN_SIZES: Final = (7_000, 60_000, 600_000, 2_000_000)
"""Characters of a new conversation, and of those that grow by a turn."""
_CHAT_PATH: Final = "/v1/chat/completions"
_CHAT_MODEL: Final = "gpt-5"
_START_SECONDS: Final = 240
"""How long another proxy may take to start."""


# --- the provider and the bare pass-through, each run as `python bench/proxy.py NAME …` -----------


async def provide(_: Sequence[str]) -> None:
    """Answer at once, with an object or a stream."""
    usage = {"input_tokens": 9, "output_tokens": 9, "cache_read_input_tokens": 9}
    whole = json.dumps({"content": [{"type": "text", "text": "ok"}], "usage": usage}).encode()
    message = {"role": "assistant", "content": "ok"}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    chat = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    data = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x"}}
    event = f"event: content_block_delta\ndata: {json.dumps(data)}\n\n".encode()

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        body = await request.content.read()  # of any size
        if request.path.endswith("/chat/completions"):
            return web.json_response(chat)
        if b'"stream": true' not in body:
            return web.Response(body=whole, content_type="application/json")
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        pause = float(request.headers.get("x-pause", "0"))
        for _ in range(_EVENTS):
            await response.write(event)
            if pause:
                await asyncio.sleep(pause)
        return response

    await _listen(answer)


async def pass_through(arguments: Sequence[str]) -> None:
    """Do the least that a proxy in aiohttp does."""
    upstream = arguments[0]
    connector = aiohttp.TCPConnector(limit=4096)
    session = aiohttp.ClientSession(auto_decompress=False, connector=connector)

    async def answer(request: web.Request) -> web.StreamResponse:
        headers = {k: v for k, v in request.headers.items() if k.lower() not in ("host", "te")}
        body = await request.read()
        async with session.request(
            request.method, upstream + request.path_qs, headers=headers, data=body
        ) as given:
            kept = {k: v for k, v in given.headers.items() if k.lower() != "transfer-encoding"}
            response = web.StreamResponse(status=given.status, headers=kept)
            await response.prepare(request)
            async for chunk in given.content.iter_any():
                await response.write(chunk)
            await response.write_eof()
            return response

    app = web.Application(client_max_size=1 << 30)
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=4096).start()
    print(f"listening on http://127.0.0.1:{runner.addresses[0][1]}", flush=True)
    await asyncio.Event().wait()


async def _listen(answer: Callable[..., Any]) -> None:
    runner = web.ServerRunner(web.Server(answer, access_log=None))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=4096).start()
    print(f"listening on http://127.0.0.1:{runner.addresses[0][1]}", flush=True)
    await asyncio.Event().wait()


class Process:
    """A process that says where it listens, or listens at a *url* that is known."""

    def __init__(self, *command: str, url: str = "") -> None:
        self._popen = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self._popen.stdout is not None
        self.url = url or self._popen.stdout.readline().split()[-1]

    def _pids(self) -> list[int]:
        pid = self._popen.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [pid, *map(int, children)]

    def pin(self) -> None:
        """Let it and its children run on one core only."""
        core = min(os.sched_getaffinity(0))
        for pid in self._pids():
            os.sched_setaffinity(pid, {core})

    def cpu_seconds(self) -> float:
        """CPU time so far, with that of its children."""
        total = 0.0
        for pid in self._pids():
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            total += (int(fields[11]) + int(fields[12])) / _TICK
        return total

    def resident_mb(self) -> float:
        """Memory at the moment, with that of its children."""
        pages = (int(Path(f"/proc/{p}/statm").read_text().split()[1]) for p in self._pids())
        return _PAGE_MB * sum(pages)

    def close(self) -> None:
        """End it."""
        self._popen.terminate()
        self._popen.wait()
        assert self._popen.stdout is not None
        self._popen.stdout.close()


# --- load -----------------------------------------------------------------------------------------


def conversation(chars: int, *, number: int = 0) -> list[dict[str, Any]]:
    """Return a tool loop of about so many characters."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": f"Look at the logs. {number}"}]
    size = 0
    while size < chars:
        n = len(messages)
        log = "\n".join(
            f"2026-11-16T10:{i:02d}:{n % 60:02d} INFO worker-{(i * n) % 9} request {1000 + i * 37} "
            f"handled path=/api/v{i % 3}/items status=200 ms={(i * 13 + n) % 400}"
            for i in range(25)
        )
        use = {"type": "tool_use", "id": f"t{n}", "name": "Bash", "input": {"command": f"tail {n}"}}
        result = {"type": "tool_result", "tool_use_id": f"t{n}", "content": log}
        messages.append({"role": "assistant", "content": [use]})
        messages.append({"role": "user", "content": [result]})
        size += len(log) + 200
    return messages


def body_of(messages: list[dict[str, Any]], *, stream: bool = False) -> bytes:
    """Spell a request."""
    body = {"model": _MODEL, "max_tokens": 9, "stream": stream, "messages": messages}
    return json.dumps(body).encode()


@asynccontextmanager
async def client() -> AsyncIterator[aiohttp.ClientSession]:
    """Yield a client with room for many connections."""
    connector = aiohttp.TCPConnector(limit=0)
    timeout = aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
        yield session


async def hammer(url: str, bodies: Sequence[bytes], count: int, connections: int) -> list[float]:
    """Send *count* requests over so many connections; return how long each took."""
    seconds: list[float] = []
    numbers = iter(range(count))

    async def one(session: aiohttp.ClientSession) -> None:
        for number in numbers:
            started = time.perf_counter()
            async with session.post(url, data=bodies[number % len(bodies)]) as answer:
                await answer.read()
                assert answer.status == 200, answer.status
            seconds.append(time.perf_counter() - started)

    async with client() as session:
        await asyncio.gather(*(one(session) for _ in range(connections)))
    return seconds


_SCRIPT: Final = """
local bodies = {}
for line in io.lines("BODIES") do bodies[#bodies + 1] = line end
local n = 0
wrk.headers["Content-Type"] = "application/json"
function request()
  n = n + 1
  return wrk.format("POST", nil, nil, bodies[n % #bodies + 1])
end
"""
_WRK_SECONDS: Final = 3


async def load(url: str, bodies: Sequence[bytes], count: int) -> int:
    """Send about *count* requests over eight connections, at least as many; return how many."""
    if shutil.which("wrk") is None:
        return len(await hammer(url, bodies, count, 8))
    with tempfile.TemporaryDirectory() as place:
        script, lines = Path(place, "bodies.lua"), Path(place, "bodies")
        lines.write_bytes(b"\n".join(bodies))
        script.write_text(_SCRIPT.replace("BODIES", str(lines)))
        options = ("-t1", "-c8", "--timeout", "60s", f"-d{_WRK_SECONDS}s", "-s", str(script))
        done = 0
        while done < count:
            ran = await asyncio.create_subprocess_exec("wrk", *options, url, stdout=subprocess.PIPE)
            said = (await ran.communicate())[0].decode()
            assert "Non-2xx" not in said, said
            found = re.search(r"(\d+) requests in", said)
            assert found is not None, said
            done += int(found[1])
        return done


async def measure_cpu(name: str, process: Process, path: str, bodies: list[bytes], n: int) -> float:
    """Print and return CPU milliseconds per request."""
    await hammer(process.url + path, bodies, max(20, n // 10), 8)
    before = process.cpu_seconds()
    done = await load(process.url + path, bodies, n)
    cost = 1000 * (process.cpu_seconds() - before) / done
    print(f"  {name:28} {cost:7.2f} ms CPU a request", flush=True)
    return cost


async def start_other(command: str, upstream: str) -> Process:
    """Start another proxy, and wait until it takes connections."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = [w.format(port=port, upstream=upstream) for w in shlex.split(command)]
    process = Process(*words, url=f"http://127.0.0.1:{port}")
    for _ in range(_START_SECONDS):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return process
        except OSError:
            await asyncio.sleep(1)
    process.close()
    raise SystemExit(f"{command} does not listen on {port}")


async def measure_others(others: Sequence[str], upstream: str, ours: Process, n: int) -> None:
    """Print what other proxies take for a chat of 3 kB, and what this one does."""
    messages = [{"role": "user", "content": "word " * 600}]
    bodies = [json.dumps({"model": "m", "messages": messages}).encode()]
    path = "/v1/chat/completions"
    print("a chat of 3 kB, not folded")
    await measure_cpu("refold serve", ours, path, bodies, n)
    for other in others:
        name, _, command = other.partition("=")
        process = await start_other(command, upstream)
        try:
            await measure_cpu(name, process, path, bodies, max(20, n // 10))
            print(f"  {name:28} {process.resident_mb():7.0f} MB", flush=True)
        finally:
            process.close()


def requests_of(chars: int, turns: int, seed: int) -> list[bytes]:
    """Return the requests of an agent's run: the first of so many characters, then *turns* more.

    The run is generated: prose, code read from files, records, logs and search hits.
    """
    run = generate((chars + 8_000 * turns) / 1e6, seed)
    ends = [
        n
        for n, message in enumerate(run, 1)
        if message["role"] != "assistant" and (n == len(run) or run[n]["role"] == "assistant")
    ]
    about = {"model": _CHAT_MODEL, "tools": [{"type": "function", "function": {"name": "run"}}]}
    bodies = [json.dumps({**about, "messages": run[:end]}).encode() for end in ends]
    start = next(n for n, body in enumerate(bodies) if len(body) >= min(chars, len(bodies[-1])))
    return bodies[start : start + turns + 1]


async def measure_turns(sizes: Sequence[int], turns: int) -> None:
    """Print the CPU time to fold one turn more; a fold that is finished beside it comes on top."""
    for size in sizes:
        with tempfile.TemporaryDirectory() as place:
            folder = Folder(Settings(store=f"{place}/s.db"), time.time)
            spent: list[float] = []
            first, *bodies = requests_of(size, turns, size)
            if size == min(sizes):  # each time another conversation
                bodies = [requests_of(size, 0, seed)[0] for seed in range(turns)]
            for number, body in enumerate([first, *bodies]):
                job = Job("openai-chat", _CHAT_PATH, "tenant", "", body, time.time() + 600)
                before = time.process_time()
                folded = await folder.fold(job)
                if number and not folded.why:
                    spent.append(1000 * (time.process_time() - before))
        kind = "a new conversation" if size == min(sizes) else "one turn more"
        print(f"  {size // 1000:5,} kB, {kind}: {statistics.median(spent):.2f} ms CPU", flush=True)


async def measure_late(process: Process, count: int, connections: int) -> None:
    """Print how many of so many requests of growing sessions did not wait for what they needed."""
    turns = 25
    sessions = [requests_of(4_000, turns, seed) for seed in range(-(-count // turns))]
    free = asyncio.Semaphore(connections)
    done = 0

    async def one(session: aiohttp.ClientSession, bodies: Sequence[bytes]) -> None:
        nonlocal done
        async with free:
            for body in bodies:
                async with session.post(process.url + _CHAT_PATH, data=body) as answer:
                    await answer.read()
                done += 1

    async with client() as session:
        async with session.get(f"{process.url}/stats") as answer:
            before = (await answer.json())["late"]
        await asyncio.gather(*(one(session, bodies) for bodies in sessions))
        async with session.get(f"{process.url}/stats") as answer:
            late = (await answer.json())["late"] - before
    print(
        f"  {late} of {done:,} late at {connections} at once: {100 * late / done:.2f}%", flush=True
    )


async def measure_latency(direct: str, process: Process, rate: int, seconds: int) -> None:
    """Print what the proxy adds to a pass-through at a fixed rate, in sessions that grow."""
    process.pin()
    turns = 20
    sessions = [requests_of(60_000, turns, n) for n in range(max(1, rate * seconds // turns))]
    firsts = [bodies[0] for bodies in sessions]
    rest = [bodies[n] for n in range(1, turns + 1) for bodies in sessions if n < len(bodies)]

    async def paced(url: str) -> list[float]:
        times: list[float] = []

        async def one(session: aiohttp.ClientSession, body: bytes) -> None:
            started = time.perf_counter()
            async with session.post(url, data=body) as answer:
                await answer.read()
            times.append(time.perf_counter() - started)

        await hammer(url, firsts, len(firsts), 1)
        async with client() as session:
            tasks = []
            for body in rest:
                tasks.append(asyncio.create_task(one(session, body)))
                await asyncio.sleep(1 / rate)
            await asyncio.gather(*tasks)
        return sorted(times)

    plain, proxied = await paced(direct + _CHAT_PATH), await paced(process.url + _CHAT_PATH)
    for share in (0.5, 0.99):
        place = int(share * (len(plain) - 1))
        added = 1000 * (proxied[place] - plain[place])
        print(f"  p{100 * share:.0f} added at {rate} requests/s: {added:.1f} ms", flush=True)


async def measure_first_byte(direct: str, process: Process, count: int) -> None:
    """Print by how much the first byte of a stream comes later."""
    body = body_of([{"role": "user", "content": "hi"}], stream=True)

    async def first(session: aiohttp.ClientSession, url: str) -> float:
        started = time.perf_counter()
        async with session.post(url, data=body, headers={"x-pause": "0.001"}) as answer:
            await answer.content.readany()
            return time.perf_counter() - started

    async with client() as session:
        plain = [await first(session, f"{direct}/v1/messages") for _ in range(count)]
        proxied = [await first(session, f"{process.url}/v1/messages") for _ in range(count)]
    middle = count // 2
    added = 1000 * (sorted(proxied)[middle] - sorted(plain)[middle])
    print(f"  first streamed byte: {added:+.1f} ms (median of {count})", flush=True)


async def measure_streams(process: Process, count: int) -> None:
    """Hold so many streams open at once."""
    body = body_of([{"role": "user", "content": "hi"}], stream=True)
    most = active = 0

    async def one(session: aiohttp.ClientSession) -> int:
        nonlocal most, active
        headers = {"x-pause": "0.2"}
        async with session.post(f"{process.url}/v1/messages", data=body, headers=headers) as answer:
            active += 1
            most = max(most, active)
            size = len(await answer.read())
            active -= 1
            return size

    async with client() as session:
        sizes = await asyncio.gather(*(one(session) for _ in range(count)))
    whole = len(set(sizes)) == 1
    print(f"  {count} streams: {most} at once, all whole: {whole}", flush=True)


async def run(arguments: argparse.Namespace) -> None:
    """Measure everything."""
    here = str(Path(__file__))
    provider = Process(sys.executable, here, "provide")
    bare = Process(sys.executable, here, "pass_through", provider.url)
    with tempfile.TemporaryDirectory() as place:
        urls = [f"--{name}={provider.url}" for name in ("anthropic", "openai", "gemini")]
        serve = (
            sys.executable,
            "-m",
            "refold",
            "serve",
            "--port=0",
            f"--store={place}/s.db",
            *urls,
        )
        proxy = Process(*serve, "--fold-ms=5000")
        late = Process(*serve)
        try:
            n = arguments.cpu_requests
            if arguments.other:
                await measure_others(arguments.other, provider.url, proxy, n)
            small, large = ([body_of(conversation(s, number=k)) for k in range(20)] for s in SIZES)
            for path, what in (("/v1/other", "never read"), ("/v1/messages", "as sent before")):
                for bodies in (small, large):
                    print(f"conversations of {len(bodies[0]) // 1_000} kB, {what}")
                    cost = await measure_cpu("bare aiohttp", bare, path, bodies, n)
                    ours = await measure_cpu("refold serve", proxy, path, bodies, n)
                    print(f"  {ours / cost:.2f} × bare")
            print("folding")
            await measure_turns(TURN_SIZES, arguments.turns)
            await measure_latency(bare.url, proxy, 50, arguments.seconds)
            await measure_late(late, arguments.late, 20)
            await measure_first_byte(provider.url, proxy, 50)
            await measure_streams(proxy, arguments.streams)
            print("memory")
            bodies = [body_of(conversation(6_000, number=n)) for n in range(400)]
            url = f"{proxy.url}/v1/messages"
            await hammer(url, bodies, 2 * len(bodies), 8)
            start = proxy.resident_mb()
            done = await load(url, bodies, arguments.requests)
            end = proxy.resident_mb()
            change = 100 * (end / start - 1)
            print(f"  {done:,} requests: {start:.0f} → {end:.0f} MB ({change:+.1f}%)")
        finally:
            for process in (late, proxy, bare, provider):
                process.close()


def main(argv: Sequence[str]) -> None:
    """Run the bench, or one of its servers."""
    servers = {"provide": provide, "pass_through": pass_through}
    if argv and argv[0] in servers:
        asyncio.run(servers[argv[0]](argv[1:]))
        return
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--requests", type=int, default=2_000, help="for the memory (2,000)")
    parser.add_argument("--cpu-requests", type=int, default=600, help="per CPU figure (600)")
    parser.add_argument("--turns", type=int, default=20, help="of each growing session (20)")
    parser.add_argument("--late", type=int, default=500, help="requests at 20 at once (500)")
    parser.add_argument("--streams", type=int, default=200, help="at once (200)")
    parser.add_argument("--other", action="append", metavar="NAME=COMMAND", help="another proxy")
    parser.add_argument("--seconds", type=int, default=4, help="of fixed load (4)")
    asyncio.run(run(parser.parse_args(argv)))


if __name__ == "__main__":
    main(sys.argv[1:])
