"""One request with messages, from start to end: whose it is, how it is folded, what it costs."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from aiohttp import web
from multidict import CIMultiDict
from yarl import URL

from refold.conversation.models import list_prices
from refold.errors import JobError, StoreError, WorkerLostError, describe_kind
from refold.server.proxy.answering import Answer, Meter
from refold.server.proxy.apis.base import Api, RetrievalCall, Usage
from refold.server.proxy.entrance import (
    CONTROL_HEADER,
    for_upstream,
    is_flat,
    session_of,
    tenant_of,
)
from refold.server.proxy.request import Folded, Job, Records
from refold.server.proxy.settings import Settings
from refold.server.proxy.stats import Stats, Totals, figures_of
from refold.server.proxy.workers import NO_ANSWER, STORE_SECONDS, Workers

_SPARE: Final = 0.15
"""The share of its time that a worker leaves for writing the request and for the way back."""
_LATE: Final = "late"
_FAILED: Final = "failed"
_log: Final = logging.getLogger("refold.serve")


@dataclass(frozen=True, slots=True)
class Shared:
    """What all requests of a proxy share."""

    settings: Settings
    stats: Stats
    workers: Workers
    records: Records


class ClientRequest:
    """One request with messages.

    Whatever fails while it is folded is counted and logged; then what is new goes out as it came.
    """

    def __init__(self, shared: Shared, request: web.BaseRequest, api: Api, url: URL) -> None:
        """*url* is where the request goes."""
        self._stats = shared.stats
        self._workers = shared.workers
        self._records = shared.records
        self.request = request
        self.api = api
        self.url = url
        self.headers: CIMultiDict[str] = for_upstream(request.headers)
        key = request.query.get("key", "")
        self._tenant = tenant_of(request.headers, key, is_local=shared.settings.is_local)
        self._client_session = session_of(request.headers)
        self._worker_key = self._tenant + self._client_session
        self.folded = Folded()

    def again(self) -> Self:
        """Return another request of the same client to the same endpoint."""
        other = copy(self)
        other.folded = Folded()
        return other

    async def fold(self, body: bytes, seconds: float, *, is_lossless: bool = False) -> bytes | None:
        """Fold the request; return what to send, or `None` if that is what came.

        What is new goes out as it came if folding fails or takes longer than *seconds*. The client
        may ask for less: `x-refold: off`, or `lossless`.
        """
        wish = self.request.headers.get(CONTROL_HEADER, "on").lower()
        if wish not in ("on", "off", "lossless"):
            raise web.HTTPBadRequest(reason=f"{CONTROL_HEADER} must be on, off or lossless")
        folded = Folded(why_not=f"{CONTROL_HEADER}: off")
        if wish != "off":
            job = Job(
                api=self.api.name,
                path=self.url.raw_path,
                tenant=self._tenant,
                session=self._client_session,
                body=body,
                deadline=time.time() + (1 - _SPARE) * seconds,
                is_lossless=is_lossless or wish == "lossless",
            )
            folded = await self._attempt(job, seconds)
            if folded.why_not in (_LATE, _FAILED):
                folded = await self._recall(job, folded)
        self.folded, self._came = folded, len(body)
        name = f"{self._tenant[:6]}-{folded.conversation}" if folded.conversation else "other"
        now = time.time()
        self._session = session = self._stats.session(name, self.api.name, folded.model)
        self._idle_seconds, session.last_seen = now - session.last_seen, now
        session.owner = self._worker_key, self._tenant, folded.conversation
        session.last, session.figures = folded, Totals()
        is_late = folded.is_late or folded.why_not in (_LATE, _FAILED)
        self._add(Totals(requests=1, late=is_late))
        return folded.body

    async def _attempt(self, job: Job, seconds: float) -> Folded:
        started = time.perf_counter()
        try:
            folded: Folded = await self._call("fold", job, seconds=seconds)
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
        if folded.why_not == _LATE or folded.is_late:
            self._stats.fault("fold late")
        elif folded.why_not and folded.body is not None:
            self._stats.fault("fold failed")
            _log.error("what is new is sent as it came: %s", folded.why_not)
        return folded

    async def _recall(self, job: Job, folded: Folded) -> Folded:
        """Return the request as it is on record; what is new goes as it came."""
        try:
            known = await self._records.recall(job)
        except (TimeoutError, StoreError) as error:
            self._stats.fault("record not read")
            _log.error("sent as it came: %s", describe_kind(error))
            known = Folded()
        if known is None:
            return folded
        if not known.is_recorded and not self.api.is_counting(job.path):
            # The worker may still record another form, which nobody waits for.
            about = job.tenant, known.opening, known.beginning
            self._taking_back = asyncio.create_task(self._enter("take_back", *about))
        return replace(known, why_not=folded.why_not)

    def unfold(self) -> None:
        """Note that the request went out as it came after all."""
        self.folded = Folded(model=self.folded.model, why_not="the provider refused it folded")
        self._session.last = self.folded

    async def retrieve(self, sent: bytes, call: RetrievalCall) -> str:
        """Answer a retrieval call that a model made when it was *sent* this."""
        about = self._tenant, self.folded.conversation, self.api.name
        try:
            text: str = await self._call("retrieve", *about, sent, call.arguments)
        except NO_ANSWER:
            self._stats.fault("retrieval failed")
            return "[the original cannot be fetched at the moment; try again later]"
        return text

    async def enter_rounds(self, answer: Answer) -> None:
        """Record the retrieval rounds of an answer, so that later requests have them."""
        about = self._tenant, self.folded.beginning
        await self._enter("enter_rounds", *about, answer.rounds, answer.names)

    async def settle(self, answer: Answer) -> None:
        """Record what there is of an answer, also of one that was cut off, and count it."""
        self._add(Totals(retrievals=len(answer.rounds)))
        if answer.rounds:
            await self.enter_rounds(answer)
        await self.charge(answer.meters)

    async def turn_off(self, folded: Folded) -> None:
        """Stop folding a conversation: its provider refuses what was folded, not what came."""
        self._stats.fault("folded request refused")
        _log.warning("%s: refused as it was folded, taken as it came", folded.conversation)
        await self._enter("turn_off", self._tenant, folded.beginning)

    async def charge(self, meters: Sequence[Meter]) -> None:
        """Count a request that was answered, with the usage of each round."""
        self.charge_usages([await meter.close() for meter in meters])

    def charge_usages(self, usages: Sequence[Usage]) -> None:
        """Count a request whose usage was read elsewhere."""
        if self.api.is_counting(self.url.raw_path):
            return
        session = self._session
        is_paid_by_tokens = not is_flat(self.request.headers)
        session.figures = figures_of(
            self.folded,
            self._came,
            usages,
            list_prices().find(self.folded.model) if is_paid_by_tokens else None,
            last_prompt=session.last_prompt,
            idle_seconds=self._idle_seconds,
        )
        session.last_prompt = usages[0].prompt if usages else session.last_prompt
        self._add(session.figures)

    def _add(self, figures: Totals) -> None:
        self._stats.totals.add(figures)
        self._session.totals.add(figures)

    async def _enter(self, operation: str, *arguments: object) -> None:
        try:
            await self._call(operation, *arguments)
        except NO_ANSWER:
            self._stats.fault("not entered")

    async def _call(
        self, operation: str, *arguments: object, seconds: float = STORE_SECONDS
    ) -> Any:
        return await self._workers.call(self._worker_key, operation, *arguments, seconds=seconds)
