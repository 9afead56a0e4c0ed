"""The worker processes, both ends of their pipes: jobs go in, answers come out.

A job goes to the worker that knows its conversation. A worker ends when its input does; one that
dies or hangs is replaced. `python -m` runs the inner end.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import pickle
import struct
import sys
import threading
import time
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from itertools import count
from typing import Any, BinaryIO, Final
from zlib import crc32

from refold.errors import JobError, WorkerLostError, describe_kind
from refold.server.proxy.settings import Settings

STORE_SECONDS: Final = 10.0
"""Timeout of a worker for reading or writing the store."""
_STUCK_SECONDS: Final = 30.0
"""A worker that has not answered for so long is restarted."""
_CLOSE_SECONDS: Final = 5.0
"""How long running jobs may take to finish; then the worker is killed."""
_BUFFER: Final = 1 << 20
"""How much is read from a worker at once; a longer answer takes several reads."""
_PATIENT_MS: Final = 10_000
"""With so long a deadline, no request misses it because of what is loaded on first use."""
_SWITCH_SECONDS: Final = 0.0005
"""How long what a worker does beside requests holds them up each time it gives way."""
NO_ANSWER: Final = (TimeoutError, WorkerLostError, JobError)
"""What `Workers.call` raises: a worker is late, gone, or has failed."""
_LENGTH: Final = struct.Struct(">I")
_log: Final = logging.getLogger("refold.serve")


class _Worker:
    """One process, which is restarted whenever it ends."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.process: Process | None = None
        self.pending: dict[int, tuple[asyncio.Future[Any], float]] = {}
        """By number, the answers that are awaited, and since when."""
        self.starts = 0
        self._numbers = count()

    async def start(self) -> None:
        self.process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "refold.server.proxy.workers",
            stdin=PIPE,
            stdout=PIPE,
            limit=_BUFFER,
            start_new_session=True,  # an interrupt at the terminal is for the proxy, which ends us
        )
        self.starts += 1
        self._write(self.process, self.settings)
        self._reading = asyncio.create_task(self._read(self.process))

    async def call(self, operation: str, arguments: tuple[object, ...], seconds: float) -> Any:
        """Return what the worker answers; `TimeoutError` if it takes longer than *seconds*."""
        process = self.process
        if process is None:
            raise WorkerLostError
        loop = asyncio.get_running_loop()
        _, oldest = next(iter(self.pending.values()), (None, loop.time()))
        if loop.time() - oldest > _STUCK_SECONDS:
            with suppress(ProcessLookupError):
                process.kill()
        number, future = next(self._numbers), loop.create_future()
        self.pending[number] = future, loop.time()
        self._write(process, (number, operation, arguments))
        async with asyncio.timeout(seconds):
            answer = await future
        if isinstance(answer, JobError):
            raise answer
        return answer

    async def close(self) -> None:
        """Let the process finish its jobs; kill it if that takes too long."""
        process, self.process = self.process, None
        if process is None:
            return
        assert process.stdin is not None
        process.stdin.close()
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await process.wait()
        except TimeoutError:
            process.kill()
        await self._reading
        with suppress(ConnectionError):
            await process.stdin.wait_closed()

    def _write(self, process: Process, value: object) -> None:
        assert process.stdin is not None
        with suppress(ConnectionError, RuntimeError):  # `_read` notices that it has ended
            process.stdin.write(_make_frame(value))

    async def _read(self, process: Process) -> None:
        stream = process.stdout
        assert stream is not None
        with suppress(asyncio.IncompleteReadError):
            while True:
                (size,) = _LENGTH.unpack(await stream.readexactly(_LENGTH.size))
                number, answer = pickle.loads(await stream.readexactly(size))
                future, _ = self.pending.pop(number)
                if not future.done():
                    future.set_result(answer)
        await process.wait()
        for future, _ in self.pending.values():
            if not future.done():
                future.set_exception(WorkerLostError())
        self.pending.clear()
        if self.process is process:  # not closed meanwhile
            _log.error("a worker ended with code %s; another one is started", process.returncode)
            self.process = None
            await self.start()


class Workers:
    """All workers of a proxy."""

    def __init__(self, settings: Settings) -> None:
        self._workers = [_Worker(settings) for _ in range(settings.workers)]

    async def start(self) -> None:
        """Start all workers, and wait until each has answered."""
        await asyncio.gather(*(worker.start() for worker in self._workers))
        calls = (worker.call("ping", (), 2 * _STUCK_SECONDS) for worker in self._workers)
        await asyncio.gather(*calls)

    async def call(self, key: str, operation: str, *arguments: object, seconds: float) -> Any:
        """Return what the worker for *key* answers; raise one of `NO_ANSWER` if it does not.

        An *operation* is a method of its `Folder`, or `ping`, to answer at all.
        """
        worker = self._workers[crc32(key.encode()) % len(self._workers)]
        return await worker.call(operation, arguments, seconds)

    async def reload(self, settings: Settings) -> None:
        """Let all workers follow other settings."""
        for worker in self._workers:
            worker.settings = settings
            with suppress(*NO_ANSWER):
                await worker.call("reload", (settings,), STORE_SECONDS)

    async def close(self) -> None:
        """Stop all workers."""
        await asyncio.gather(*(worker.close() for worker in self._workers))

    @property
    def pids(self) -> list[int]:
        """The processes that are running."""
        return [worker.process.pid for worker in self._workers if worker.process is not None]

    @property
    def waiting(self) -> int:
        """How many jobs have no answer yet."""
        return sum(len(worker.pending) for worker in self._workers)

    @property
    def restarts(self) -> int:
        """How often a worker had to be restarted."""
        return sum(max(0, worker.starts - 1) for worker in self._workers)


def _make_frame(value: object) -> bytes:
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(data)) + data


def _read_frame(stream: BinaryIO) -> Any:
    """Read one message; `None` at the end."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    return pickle.loads(stream.read(_LENGTH.unpack(head)[0]))


async def _work(source: BinaryIO, target: BinaryIO) -> None:
    """Be a worker: do what is asked until the input ends."""
    # Imported here: the outer end folds nothing.
    from refold.server.proxy.folding import Folder, warm_up

    settings = _read_frame(source)
    folder = Folder(settings, time.time)
    if settings.fold_ms < _PATIENT_MS:
        warm_up()
    jobs: asyncio.Queue[Any] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def read() -> None:
        frame = True
        while frame is not None:
            frame = _read_frame(source)
            loop.call_soon_threadsafe(jobs.put_nowait, frame)

    async def do(number: int, operation: str, arguments: tuple[Any, ...]) -> None:
        answer: object
        try:
            answer = None if operation == "ping" else getattr(folder, operation)(*arguments)
            if inspect.isawaitable(answer):
                answer = await answer
        except Exception as error:  # noqa: BLE001 - a request must never end the worker
            answer = JobError(describe_kind(error))
        target.write(_make_frame((number, answer)))
        target.flush()

    threading.Thread(target=read, daemon=True).start()
    async with asyncio.TaskGroup() as running:
        while (frame := await jobs.get()) is not None:
            running.create_task(do(*frame))


if __name__ == "__main__":
    reading, writing = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # whatever is printed must not end up among the answers
    sys.setswitchinterval(_SWITCH_SECONDS)
    asyncio.run(_work(reading, writing))
