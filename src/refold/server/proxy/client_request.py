"""One request with messages, from start to end: whose it is, how it is folded, what it costs."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import aiohttp
from aiohttp import web
from multidict import CIMultiDict
from yarl import URL

from refold.conversation.models import list_prices
from refold.errors import JobError, StoreError, describe_kind
from refold.server.proxy.answering import Answer, Meter, read_object
from refold.server.proxy.apis.base import Api, RetrievalCall, Usage
from refold.server.proxy.entrance import (
    CONTROL_HEADER,
    for_client,
    for_upstream,
    is_flat,
    read_body,
    session_of,
    tenant_of,
)
from refold.server.proxy.figures import Totals, figures_of
from refold.server.proxy.folding import FoldingThread
from refold.server.proxy.request import Folded, Job
from refold.server.proxy.settings import Settings
from refold.server.proxy.stats import SessionStats, Stats, agent_of
from refold.server.proxy.upstream import Upstream

_SPARE: Final = 0.15
"""The share of its time that the folder leaves for writing the request and for the way back."""
_MAX_ERROR_BYTES: Final = 1 << 20
"""How much of an error is read before the request is retried; errors are much shorter."""
_RECALL_SECONDS: Final = 2.0
"""How long reading what was sent may take. Without it a request goes out as it came."""
_LATE: Final = "late"
_FAILED: Final = "failed"
_log: Final = logging.getLogger("refold.serve")


@dataclass(slots=True)
class Shared:
    """What all requests of a proxy share."""

    settings: Settings
    stats: Stats
    folding: FoldingThread
    upstream: Upstream


class ClientRequest:
    """One request with messages.

    Whatever fails while it is folded is counted and logged; then what is new goes out as it came.
    """

    def __init__(self, shared: Shared, request: web.BaseRequest, api: Api, url: URL) -> None:
        """*url* is where the request goes."""
        self._shared = shared
        self._stats = shared.stats
        self._request = request
        self.api = api
        self._url = url
        self._headers: CIMultiDict[str] = for_upstream(request.headers)
        key = request.query.get("key", "")
        self._tenant = tenant_of(request.headers, key, is_local=shared.settings.is_local)
        self._client_session = session_of(request.headers)
        self._agent = agent_of(request.headers.get("user-agent", ""))
        self._folded = Folded()
        self._bytes_fetched = 0
        """Of the further requests that fetched originals."""

    async def serve(self) -> web.StreamResponse:
        """Fold the request, send it, and relay the answer."""
        settings, upstream = self._shared.settings, self._shared.upstream
        body = await read_body(self._request, settings, self._stats)
        started = time.perf_counter()
        sent = await self.fold(body, settings.fold_ms / 1000) or body
        self._stats.added.add(time.perf_counter() - started)
        answer = await self._send(sent)
        if answer.status == 400 and self._folded.body is not None:
            sent, answer = body, await self._send_unfolded(body, answer)
        if self._folded.has_tool and answer.status == 200:
            return await self._relay_rounds(sent, answer)
        meter = Meter(self.api, answer.headers)
        try:
            async with answer:
                chunks = _metered(answer.content.iter_any(), meter)
                return await upstream.relay(self._request, answer, chunks)
        finally:
            if answer.status == 200:
                self.charge([meter.close()])
            else:
                self._stats.fault(f"provider answered {answer.status}")

    async def fold(self, body: bytes, seconds: float, *, is_lossless: bool = False) -> bytes | None:
        """Fold the request; return what to send, or `None` if that is what came.

        What is new goes out as it came if folding fails or takes longer than *seconds*. The client
        may ask for less: `x-refold: off`, or `lossless`.
        """
        wish = self._request.headers.get(CONTROL_HEADER, "on").lower()
        if wish not in ("on", "off", "lossless"):
            raise web.HTTPBadRequest(reason=f"{CONTROL_HEADER} must be on, off or lossless")
        if wish == "off":
            model = self.api.model_of(read_object(body) or {}, self._url.raw_path)
            folded = Folded(model=model or "", why_not=f"{CONTROL_HEADER}: off")
        else:
            job = Job(
                api=self.api.name,
                path=self._url.raw_path,
                tenant=self._tenant,
                session=self._client_session,
                body=body,
                deadline=time.time() + (1 - _SPARE) * seconds,
                is_lossless=is_lossless or wish == "lossless",
            )
            folded = await self._fold(job, seconds)
        self._folded, self._came = folded, len(body)
        if self.api.is_counting(self._url.raw_path):  # no model reads it
            self._session = SessionStats("", self.api.name)
            self._stats.passed += 1
            return folded.body
        name = f"{self._tenant[:6]}-{folded.conversation}" if folded.conversation else "other"
        now = time.time()
        self._session = session = self._stats.session(
            name, self.api.name, self._agent, folded.model
        )
        self._idle_seconds, session.last_seen = now - session.last_seen, now
        session.id = self._client_session
        session.owner = self._tenant, folded.conversation
        session.last, session.figures = folded, Totals()
        self._add(Totals(requests=1, late=folded.is_late or folded.why_not == _LATE))
        return folded.body

    async def _fold(self, job: Job, seconds: float) -> Folded:
        """Return how a request goes out: if folding is late or fails, as it is on record."""
        folding, stats, started = self._shared.folding, self._stats, time.perf_counter()
        try:
            folded = await folding.call(folding.folder.fold(job), seconds, job=job)
        except TimeoutError:
            stats.fault("fold late")
            why_not = _LATE
        except JobError as error:
            stats.fault("fold failed")
            _log.error("not folded: %s", error)
            why_not = _FAILED
        else:
            stats.folding.add(time.perf_counter() - started)
            if folded.is_late:
                stats.fault("fold late")
            elif folded.why_not and folded.body is not None:
                stats.fault("fold failed")
                _log.error("new messages are sent as they came: %s", folded.why_not)
            return folded
        try:
            async with asyncio.timeout(_RECALL_SECONDS):
                known = await asyncio.to_thread(folding.folder.recall, job)
        except (TimeoutError, StoreError) as error:
            stats.fault("record not read")
            _log.error("sent as it came: %s", describe_kind(error))
            known = None
        return replace(known or Folded(), why_not=why_not)

    async def _send(self, body: bytes) -> aiohttp.ClientResponse:
        headers = self._headers
        if self._folded.has_tool:  # what has to be read must not be compressed
            headers = headers.copy()
            headers["Accept-Encoding"] = "identity"
        return await self._shared.upstream.send("POST", self._url, headers, body)

    async def _send_unfolded(
        self, body: bytes, refused: aiohttp.ClientResponse
    ) -> aiohttp.ClientResponse:
        """Send a folded request that was *refused* as it came.

        If that is taken, its conversation is not folded anymore.
        """
        folded = self._folded
        async with refused:
            await refused.content.read(_MAX_ERROR_BYTES)
        self._folded = Folded(model=folded.model, why_not="the provider refused it folded")
        self._session.last = self._folded
        answer = await self._send(body)
        if answer.status < 400:
            self._stats.fault("folded request refused")
            _log.warning("%s: rejected when folded, accepted as it came", folded.conversation)
            folder = self._shared.folding.folder
            await self._enter(folder.turn_off(self._tenant, folded.beginning))
        return answer

    async def _relay_rounds(
        self, sent: bytes, response: aiohttp.ClientResponse
    ) -> web.StreamResponse:
        """Relay an answer, and answer the retrieval calls in it."""
        about, folding = (self._tenant, self._folded.beginning), self._shared.folding

        async def retrieve(call: RetrievalCall) -> str:
            asked = self._tenant, self._folded.conversation, self.api.name, sent, call.arguments
            try:
                return await folding.call(folding.folder.retrieve(*asked))
            except (TimeoutError, JobError):
                self._stats.fault("retrieval failed")
                return "[the original cannot be fetched at the moment; try again later]"

        async def enter(answer: Answer) -> None:
            if answer.rounds:
                await self._enter(folding.folder.enter_rounds(*about, answer.rounds, answer.names))

        async def settle() -> None:
            """Record what there is of an answer, also of one that was cut off, and count it."""
            self._add(Totals(retrievals=len(answer.rounds)))
            await enter(answer)
            self.charge([meter.close() for meter in answer.meters])

        async def ask(body: bytes) -> aiohttp.ClientResponse:
            self._bytes_fetched += len(body)
            return await self._send(body)

        answer = Answer(self.api, sent, ask=ask, retrieve=retrieve, enter=enter)
        relay = self._shared.upstream.relay
        try:
            if "event-stream" in response.headers.get("content-type", ""):
                chunks = answer.stream(response)
                return await relay(self._request, response, chunks, is_changed=True)
            content = await answer.whole(response)
            headers = for_client(response.headers, is_changed=True)
            return web.Response(
                status=response.status, reason=response.reason, headers=headers, body=content
            )
        finally:
            for _ in range(answer.failures):
                self._stats.fault("retrieval cut short")
            await _to_the_end(settle())

    def charge(self, usages: Sequence[Usage]) -> None:
        """Count a request that was answered, with the usage of each round."""
        if self.api.is_counting(self._url.raw_path):
            return
        session = self._session
        is_paid_by_tokens = not is_flat(self._request.headers)
        session.figures = figures_of(
            self._folded,
            self._came,
            usages,
            list_prices().find(self._folded.model) if is_paid_by_tokens else None,
            bytes_fetched=self._bytes_fetched,
            last_prompt=session.last_prompt,
            idle_seconds=self._idle_seconds,
            is_read_back=session.totals.cache_read > 0,
        )
        session.last_prompt = usages[0].prompt if usages else session.last_prompt
        self._add(session.figures)

    def _add(self, figures: Totals) -> None:
        self._stats.add(figures, self._agent, self._folded.model)
        self._session.totals.add(figures)

    async def _enter(self, entering: Coroutine[Any, Any, None]) -> None:
        try:
            await self._shared.folding.call(entering)
        except (TimeoutError, JobError):
            self._stats.fault("not entered")


async def _metered(chunks: AsyncIterator[bytes], meter: Meter) -> AsyncIterator[bytes]:
    async for chunk in chunks:
        yield chunk
        meter.feed(chunk)  # after the yield: the client need not wait for it


async def _to_the_end(work: Coroutine[Any, Any, None]) -> None:
    """Finish the accounts of an answer, even if the client hangs up meanwhile: it may have all."""
    working = asyncio.create_task(work)
    try:
        await asyncio.shield(working)
    except asyncio.CancelledError:
        await working
        raise
