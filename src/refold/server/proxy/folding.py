"""Folds requests: each is brought into the session of its conversation, and recorded.

A conversation is recognized by how it begins. What takes longer than a request may wait, a fold or
reading a long conversation for the first time, is done beside it, and used for the next one; the
request goes out with its past as it was sent, and what is new respelled or as it came.

All of it happens in a thread of its own with its own event loop: that of the proxy moves bytes.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from threading import Lock, Thread
from typing import Any, Final, TypeVar
from weakref import WeakValueDictionary

from refold.conversation.session import Session
from refold.errors import JobError, StoreError, describe_kind
from refold.integrations.choices import CheckedChoices
from refold.options import Options
from refold.server.proxy.apis import api_called
from refold.server.proxy.apis.base import TOOL_NAME, Round
from refold.server.proxy.conversation import Conversation
from refold.server.proxy.ledger import (
    ALIAS,
    CAME,
    OFF,
    ROUNDS,
    Outbox,
    Writer,
    read_past,
)
from refold.server.proxy.request import Folded, Job, Request, Snapshot
from refold.server.proxy.rows import answer_rows, original_of
from refold.server.proxy.settings import Settings
from refold.stores.base import Store
from refold.stores.scope import ScopedStore
from refold.tools.retrieve import retrieve_tool

T = TypeVar("T")

STORE_SECONDS: Final = 10.0
"""How long reading or writing the store may take."""
_CLOSE_SECONDS: Final = 5.0
_MOST: Final = 256
"""Conversations that are kept in memory; older ones are read from the store again."""
_MUCH: Final = 200_000
"""Bytes of a request that are read beside it if they are new: they take a tenth of a second."""


class Folder:
    """All conversations of a proxy."""

    def __init__(self, settings: Settings, clock: Callable[[], float]) -> None:
        self._settings = settings
        self._clock = clock
        self._live: OrderedDict[tuple[str, str], Conversation] = OrderedDict()
        """By tenant and the name of the beginning read so far."""
        self._locks: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()
        """By tenant and opening: of the requests of a conversation one is handled at a time."""
        self._beside = ThreadPoolExecutor(1, "refold fold")
        self._recalling = Lock()
        """One at a time: what is late is late because there is much to do."""

    @cached_property
    def _store(self) -> Store:
        """The whole store; opened when it is first needed, and tried again if that fails."""
        return CheckedChoices({"store": self._settings.store or None}).store

    @cached_property
    def _second(self) -> Store:
        """The same store, opened once more: reading need not wait for writing."""
        return CheckedChoices({"store": self._settings.store or None}).store

    @cached_property
    def _writer(self) -> Writer:
        return Writer(self._second)

    async def reload(self, settings: Settings) -> None:
        """Follow other settings from the next request on; the store stays."""
        self._settings = settings
        self._live.clear()  # they are read from the store again

    async def fold(self, job: Job) -> Folded:
        """Return what to send for a request; originals are in the store by then.

        `TimeoutError` if its deadline is over before it begins.
        """
        if self._clock() > job.deadline:
            raise TimeoutError
        known = (talk.known for (owner, _), talk in self._live.items() if owner == job.tenant)
        request = Request(job, self._settings, known)
        if not request.came:
            return Folded(why_not="no messages")
        async with self._locks.setdefault((job.tenant, request.about.opening), asyncio.Lock()):
            request.rename(self._store_of(job.tenant))
            talk = self._find(request)
            request.expand(talk.rounds)
            if talk.past.is_off:
                folded = replace(request.about, why_not="turned off")
            else:
                folded = await self._go_on(request, talk)
                talk.known = request.known()
            if job.claim():  # else it went out in another form, which is on record
                self._live[job.tenant, request.beginnings[-1]] = talk
            while len(self._live) > _MOST:
                self._live.popitem(last=False)
            return folded

    def recall(self, job: Job) -> Folded | None:
        """Return a request with its past as it is on record, and what is new as it came.

        For where `fold` is late or fails: a request that goes out as it came, in the middle of a
        folded conversation, would invalidate the provider's cache of all of it, twice. `None` if it
        is not to be folded. May be called in any thread.

        Raises:
            StoreError: the store cannot be read.
        """
        with self._recalling:
            return self._recall(job)

    def _recall(self, job: Job) -> Folded | None:
        try:
            request = Request(job, self._settings)
        except (ValueError, RecursionError):
            return None
        if not request.came:
            return None
        store = self._store_of(job.tenant)
        request.rename(store)
        past = read_past(store, request.beginnings)
        request.expand(past.rounds)
        if past.is_off:
            return None
        folded = request.write_recorded(past)
        if not folded.is_recorded and not request.api.is_counting(job.path):
            # On record before it goes out: the fold may still record another form of it.
            with suppress(StoreError):
                writing = ScopedStore(self._second, job.tenant)
                writing.put({CAME + request.about.beginning: True})
        return folded

    def _find(self, request: Request) -> Conversation:
        """Return the conversation that a request continues, from memory or from the store.

        It is taken out of memory: only if all goes well is it kept again.
        """
        about, tenant, rules = request.about, request.job.tenant, self._settings.rules()
        for name in reversed(request.beginnings):
            talk = self._live.pop((tenant, name), None)
            if talk is not None and (talk.session.options.model or "") == about.model:
                return talk
        options = Options(
            format=request.api.format,
            model=about.model or None,
            pins=(rules.is_excluded,) if rules.excluded else (),
        )
        outbox = Outbox(self._store)
        store = ScopedStore(outbox, tenant)
        past = read_past(store, request.beginnings)
        return Conversation(
            name=about.conversation,
            session=Session(
                options, store=store, conversation=about.conversation, clock=self._clock
            ),
            outbox=outbox,
            store=store,
            rules=rules,
            past=past,
            rounds=dict(past.rounds),
            is_offered=past.is_offered and self._settings.retrieve == "inline",
        )

    async def _go_on(self, request: Request, talk: Conversation) -> Folded:
        """Bring a request into its conversation, and fold that if it is due and can be in time."""
        job = request.job
        if talk.work is None and not talk.is_read and len(job.body) > _MUCH:
            talk.work = self._beside.submit(talk.read_and_fold, request)
            await self._until(job.deadline, talk.work)
        if talk.work is not None and talk.fork is None:  # it is being read
            if not talk.work.done():
                folded = request.write_recorded(talk.past)
                if not folded.is_recorded:
                    await self._enter(job.tenant, {CAME + request.about.beginning: True})
                return replace(folded, is_late=True)
            talk.work = talk.work.result()
        before = talk.saved, talk.session.report.tokens_unfolded
        if not talk.is_read:
            talk.read(request)
        if talk.sent and talk.length == len(request.whole):  # the same request once more
            return await self._finish(request, talk, talk.sent, before)
        talk.settle()
        is_due = talk.extend(request)
        if not is_due or talk.work is not None or talk.error:
            return await self._finish(request, talk, talk.session.stay(), before)
        talk.fork = talk.session.fork()
        talk.work = self._beside.submit(talk.fork.fold)
        await self._until(job.deadline, talk.work)
        why, is_late = talk.session.due or "", not talk.work.done()
        view = talk.settle() or talk.session.stay()
        done = await self._finish(request, talk, view, before)
        return replace(done, why=why, is_late=is_late, why_not=talk.error)

    async def _until(self, deadline: float, work: Future[Any]) -> None:
        """Wait for what is done beside a request, but no longer than the request may."""
        waiting = asyncio.wrap_future(work)
        waiting.add_done_callback(lambda done: done.cancelled() or done.exception())
        await asyncio.wait([waiting], timeout=max(0, deadline - self._clock()))

    async def _finish(
        self, request: Request, talk: Conversation, view: list[Any], before: tuple[int, int]
    ) -> Folded:
        folded = talk.write(request, view, before)
        await self._writer.write(talk.outbox.take())
        return folded

    def close(self) -> None:
        """Fold nothing any more."""
        self._beside.shutdown(wait=False, cancel_futures=True)

    async def retrieve(self, tenant: str, name: str, api: str, body: bytes, asked: Any) -> str:
        """Answer a call of the retrieval tool that was made after *body* had been sent."""
        tool = retrieve_tool(
            self._store_of(tenant),
            messages=json.loads(body)[api_called(api).key],
            conversation=name,
            name=TOOL_NAME,
        )
        return tool.call(asked)

    async def enter_rounds(
        self, tenant: str, beginning: str, rounds: Sequence[Round], names: tuple[str, str]
    ) -> None:
        """Record the retrieval rounds in the answer to a request.

        *names* are the client's id of the answer, and the provider's id of its last round.
        """
        name, last = names
        entries: dict[str, Any] = {ROUNDS + beginning: [list(each) for each in rounds]}
        entries |= {ALIAS + name: last} if name != last else {}
        await self._enter(tenant, entries)
        talk = self._live.get((tenant, beginning))
        if talk is not None and talk.is_read:
            talk.rounds[len(talk.known.messages) - 1] = rounds

    async def turn_off(self, tenant: str, beginning: str) -> None:
        """Stop folding a conversation: its provider refused what was folded, not what came."""
        self._live.pop((tenant, beginning), None)
        await self._enter(tenant, {OFF + beginning: True})

    async def _enter(self, tenant: str, entries: dict[str, Any]) -> None:
        outbox = Outbox(self._store)
        ScopedStore(outbox, tenant).put(entries)
        await self._writer.write(outbox.take())

    async def snapshot(self, tenant: str, name: str, api: str) -> Snapshot | None:
        """Return the longest branch of a conversation in memory; a client may have several.

        `None` if there is none, or if content is not to be shown.
        """
        branches = [
            one
            for (owner, _), one in self._live.items()
            if owner == tenant and one.name == name and self._settings.show_content
        ]
        if not branches:
            return None
        session, format_name = max(branches, key=lambda b: b.length).session, api_called(api).format
        model = session.options.model or ""
        return Snapshot(session.messages, session.wires, session.places, format_name, model)

    async def compress(self, tenant: str, body: bytes, deadline: float) -> dict[str, Any]:
        """Answer `POST /v1/compress`; the rows that were shortened are named in `ccr_hashes`."""
        return await answer_rows(self.fold, self._store_of(tenant), tenant, body, deadline)

    async def original(self, tenant: str, name: str, query: str) -> str | None:
        """Answer `GET /v1/retrieve/HASH`: the whole text, or its pieces that fit a *query*."""
        return original_of(self._store_of(tenant), name, query)

    def _store_of(self, tenant: str) -> Store:
        """Return the part of the store that belongs to a tenant."""
        return ScopedStore(self._store, tenant)


class FoldingThread:
    """The thread in which a folder does its work."""

    def __init__(self, settings: Settings) -> None:
        self.folder = Folder(settings, time.time)
        self._thread = Thread(target=self._run, name="refold folder", daemon=True)

    async def start(self) -> None:
        """Start, and load what folding needs, so that no request misses its deadline for it."""
        self.loop = asyncio.new_event_loop()
        self._thread.start()
        await asyncio.to_thread(_warm_up)

    def _run(self) -> None:
        self.loop.run_forever()
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.loop.close()

    async def call(
        self,
        work: Coroutine[Any, Any, T],
        seconds: float = STORE_SECONDS,
        *,
        job: Job | None = None,
    ) -> T:
        """Return what *work*, a call of the folder, comes to; if it takes longer, it continues.

        With a *job* that it has claimed by then, it is waited for: its form is the one that counts.

        Raises:
            TimeoutError: it takes longer than so many *seconds*.
            JobError: it has failed.
        """
        doing = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self.loop))
        doing.add_done_callback(lambda done: done.cancelled() or done.exception())
        await asyncio.wait([doing], timeout=seconds)
        if not doing.done() and (job is None or job.claim()):
            raise TimeoutError
        try:
            return await doing
        except TimeoutError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, no request may end with it
            raise JobError(describe_kind(error)) from None

    @property
    def waiting(self) -> int:
        """How many calls are not done yet."""
        return len(asyncio.all_tasks(self.loop))

    async def close(self) -> None:
        """Finish what was begun, if that is soon done."""

        async def finish() -> None:
            others = asyncio.all_tasks() - {asyncio.current_task()}
            if others:
                await asyncio.wait(others, timeout=_CLOSE_SECONDS)

        with suppress(TimeoutError):
            await self.call(finish(), 2 * _CLOSE_SECONDS)
        self.loop.call_soon_threadsafe(self.loop.stop)
        await asyncio.to_thread(self._thread.join, _CLOSE_SECONDS)
        self.folder.close()


def _warm_up() -> None:
    """Fold a little with the counter of each provider."""
    log = "\n".join(f"10:00:{n:02} INFO worker {n} took {7 * n} ms" for n in range(200))
    function = {"name": "read_log", "arguments": "{}"}
    for model in ("claude-sonnet-5", "gpt-5", "gemini-2.5-pro"):
        session = Session[Any](token_budget=2_000, model=model)
        call = {"id": "c", "type": "function", "function": function}
        session.append({"role": "user", "content": "Why?"})
        session.append({"role": "assistant", "content": None, "tool_calls": [call]})
        session.append({"role": "tool", "tool_call_id": "c", "content": log})
        session.view()
