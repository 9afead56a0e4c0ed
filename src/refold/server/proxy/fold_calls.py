"""Calls of the proxy to its workers; failures are counted and logged."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from refold.errors import JobError, WorkerLostError
from refold.server.proxy.answering import Answer
from refold.server.proxy.apis.base import OwnCall
from refold.server.proxy.request import Folded, Folding, Job, Request, with_marks
from refold.server.proxy.stats import Stats
from refold.server.proxy.visit import Visit
from refold.server.proxy.workers import NO_ANSWER, Workers

RETRIEVE_SECONDS: Final = 10.0
"""Timeout of a worker for reading or writing the store."""
_SPARE_SECONDS: Final = 0.05
"""How long after its deadline a worker may take to report it."""
_LATE: Final = "late"
_FAILED: Final = "failed"
FAILURES: Final = (_LATE, _FAILED)
"""Why what is new of a request went out as it came, though it could have been folded."""
_log: Final = logging.getLogger("refold.serve")
_MOST_BYTES: Final = 64 << 20
"""How much of the requests is kept; those of the least recently used conversations go first."""


class FoldCalls:
    """Folds requests, fetches originals and enters what was said, all by the workers."""

    def __init__(self, workers: Workers, stats: Stats) -> None:
        self._workers = workers
        self._stats = stats
        self._last = LastSent()

    async def fold(
        self, visit: Visit, body: bytes, seconds: float, how: Folding = Folding.REQUEST
    ) -> Folded:
        """Return what to send; what is new as it came, if folding fails or takes too long."""
        job = Job(
            visit.api.name,
            visit.path,
            visit.tenant,
            visit.client_session,
            body,
            time.monotonic() + seconds,
            how,
        )
        folded = await self._attempt(visit, job, seconds)
        if folded.why_not in FAILURES:
            known = self._last.go_on(job)
            folded = folded if known is None else replace(known, why_not=folded.why_not)
        self._last.keep(job, folded)
        return folded

    async def _attempt(self, visit: Visit, job: Job, seconds: float) -> Folded:
        started = time.perf_counter()
        try:
            folded: Folded = await self._workers.call(
                visit.key, "fold", job, seconds=seconds + _SPARE_SECONDS
            )
        except TimeoutError:
            self._stats.fault("fold late")
            return Folded(why_not=_LATE)
        except WorkerLostError:
            self._stats.fault("worker lost")
            return Folded(why_not=_FAILED)
        except JobError as error:
            self._stats.fault("fold failed")
            _log.error("not folded: %s", error)
            return Folded(why_not=_FAILED)
        self._stats.folding.add(time.perf_counter() - started)
        if folded.why_not == _LATE:
            self._stats.fault("fold late")
        elif folded.why_not and folded.body is not None:
            self._stats.fault("fold failed")
            _log.error("what is new is sent as it came: %s", folded.why_not)
        return folded

    async def retrieve(self, visit: Visit, sent: bytes, call: OwnCall) -> str:
        """Answer a call for an original that a model made when it was *sent* this."""
        try:
            text: str = await self._workers.call(
                visit.key,
                "retrieve",
                visit.tenant,
                visit.folded.conversation,
                visit.api.name,
                sent,
                call.arguments,
                seconds=RETRIEVE_SECONDS,
            )
        except NO_ANSWER:
            self._stats.fault("retrieval failed")
            return "[the original cannot be fetched at the moment; try again later]"
        return text

    async def enter_rounds(self, visit: Visit, answer: Answer) -> None:
        """Enter what was said about originals, so that later requests have it."""
        visit.count_retrievals(len(answer.rounds))
        beginning = visit.folded.beginning
        await self._enter(visit, "rounds", visit.tenant, beginning, answer.rounds, answer.names)

    async def turn_off(self, visit: Visit, folded: Folded) -> None:
        """Fold a conversation no more: its provider refuses what was folded, not what came."""
        self._stats.fault("folded request refused")
        _log.warning("%s: refused as it was folded, taken as it came", folded.conversation)
        await self._enter(visit, "off", visit.tenant, folded.beginning)

    async def _enter(self, visit: Visit, name: str, *given: object) -> None:
        try:
            await self._workers.call(visit.key, name, *given, seconds=RETRIEVE_SECONDS)
        except NO_ANSWER:
            self._stats.fault("not entered")


class LastSent:
    """The last request of each conversation, as it came and as it was folded.

    A request that went out as it came, in the middle of a conversation that is folded, would cost
    the provider's cache of all of it, twice. So, should folding fail, what went out last goes out
    so again, and only what is new goes out as it came.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str], tuple[bytes, Folded]] = OrderedDict()
        self._size = 0

    def keep(self, job: Job, folded: Folded) -> None:
        """Keep a request that is about to be sent; one that goes out as it came needs no help."""
        name = job.tenant, folded.first
        self._drop(name)
        if folded.body is not None:
            self._kept[name] = job.body, folded
            self._size += len(job.body) + len(folded.body)
        while self._size > _MOST_BYTES:
            self._drop(next(iter(self._kept)))

    def go_on(self, job: Job) -> Folded | None:
        """Return a request with its past as it was sent; `None` if nothing of it was folded."""
        try:
            request = Request(job)
        except (ValueError, RecursionError):
            return None
        came, folded = self._kept.get((job.tenant, request.about.first), (b"", Folded()))
        if folded.body is None:
            return None
        past = Request(job._replace(body=came))
        count = len(past.messages)
        if request.messages[:count] != past.messages or request.about.model != folded.model:
            return None
        sent = _marked(Request(job._replace(body=folded.body)).messages, request, count)
        has_tool = folded.has_tool and request.api.has_tools(request.body)
        saved = folded.tokens_before - folded.tokens_after
        return replace(
            folded,
            body=request.write([*sent, *request.given[count:]], has_tool=has_tool),
            beginning=request.about.beginning,
            has_tool=has_tool,
            saved_before=saved,
            is_refolded=False,
        )

    def _drop(self, name: tuple[str, str]) -> None:
        came, folded = self._kept.pop(name, (b"", Folded()))
        self._size -= len(came) + len(folded.body or b"")


def _marked(sent: Sequence[Any], request: Request, count: int) -> list[Any]:
    """Return what was sent with the marks of the cache where the client has them now."""
    if len(sent) != count:
        return list(sent)
    triples = zip(sent, request.messages, request.given, strict=False)
    return [given if one == plain else with_marks(one, given) for one, plain, given in triples]
