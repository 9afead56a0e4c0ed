"""The proxy itself: takes requests, lets them be folded, sends them on, and relays the answers."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from typing import Any, Final

import aiohttp
from aiohttp import web
from multidict import CIMultiDict
from yarl import URL

from refold.errors import JobError, WorkerLostError, describe
from refold.server.proxy.answering import Answer
from refold.server.proxy.apis import find_api
from refold.server.proxy.apis.base import Api, OwnCall, Usage
from refold.server.proxy.billing import bill
from refold.server.proxy.folding import Folded
from refold.server.proxy.guard import Refusal, admit
from refold.server.proxy.headers import for_client, for_upstream, session_of, tenant_of
from refold.server.proxy.meter import Meter
from refold.server.proxy.own_routes import OwnRoutes
from refold.server.proxy.settings import Settings
from refold.server.proxy.sockets import relay_socket
from refold.server.proxy.stats import Stats
from refold.server.proxy.upstream import MAX_FIELD_BYTES, Upstream
from refold.server.proxy.workers import Workers
from refold.window.prices import list_prices

_RETRIEVE_SECONDS: Final = 10.0
_SPARE_SECONDS: Final = 0.05
"""How much longer than its deadline a worker may take to say so."""
_PATIENT_SECONDS: Final = 30.0
"""How long folding may take once its provider has refused what came."""
_LATE: Final = "late"
_LOST: Final = "worker lost"
_FAILED: Final = "failed"
_FAILURES: Final = (_LATE, _LOST, _FAILED)
_MAX_ERROR_BYTES: Final = 1 << 20
_log: Final = logging.getLogger("refold.serve")


class Proxy:
    """One proxy; `start` it, and `close` it at the end."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.stats = Stats()
        self.workers = Workers(settings)
        self._upstream: Upstream | None = None
        self._own = OwnRoutes(settings, self.stats, self.workers)
        self._runner: web.ServerRunner | None = None
        self.url = ""

    async def start(self) -> None:
        """Start the workers, and listen."""
        await self.workers.start()
        self._upstream = Upstream(self.settings)
        server = web.Server(
            self._handle,
            handler_cancellation=True,
            access_log=None,
            max_line_size=MAX_FIELD_BYTES,
            max_field_size=MAX_FIELD_BYTES,
        )
        self._runner = web.ServerRunner(server)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self.settings.host, self.settings.port, backlog=4096)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    async def close(self) -> None:
        """Let answers under way come to their end, and end the workers."""
        if self._runner is not None:
            await self._runner.cleanup()
        if self._upstream is not None:
            await self._upstream.close()
        await self.workers.close()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        admitted = admit(request, self.settings)
        if isinstance(admitted, Refusal):
            self.stats.fault("refused client")
            return _error(admitted.status, admitted.reason)
        own = await self._own.answer(request, admitted)
        if own is not None:
            return own
        if request.headers.get("expect", "").lower() == "100-continue" and request.transport:
            request.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        self.stats.active += 1
        try:
            return await self._proxy(request, admitted)
        except web.HTTPException as refusal:
            return _error(refusal.status, refusal.reason)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            self.stats.fault("upstream unreachable")
            _log.warning("no answer from upstream: %s", type(error).__name__)
            return _error(502, f"refold serve has no answer from upstream: {describe(error)}")
        finally:
            self.stats.active -= 1

    async def _proxy(self, request: web.BaseRequest, target: str) -> web.StreamResponse:
        assert self._upstream is not None, "it was started"
        path = target.partition("?")[0]
        api = find_api(path)
        url = self._upstream.url_of(api, target, request.headers)
        if request.headers.get("upgrade", "").lower() == "websocket":
            return await relay_socket(self._upstream.client, request, url, self._fold_frame)
        if api is None or request.method != "POST" or "content-encoding" in request.headers:
            return await self._pass(request, url)
        return await self._serve(_Visit(self, request, api, path, url))

    async def _pass(self, request: web.BaseRequest, url: URL) -> web.StreamResponse:
        """Relay a request that has no messages, both ways as it comes."""
        assert self._upstream is not None
        self.stats.passed += 1
        headers = for_upstream(request.headers)
        body = request.content if request.body_exists else None
        if body is not None and request.content_length is not None:
            headers["Content-Length"] = str(request.content_length)
        answer = await self._upstream.send(request.method, url, headers, body)
        async with answer:
            return await self._relay(request, answer, answer.content.iter_any())

    async def _serve(self, visit: _Visit) -> web.StreamResponse:
        """Fold a request, send it, and relay the answer."""
        request, api = visit.request, visit.api
        body = await self._read(request)
        started = time.perf_counter()
        folded = await self._fold(visit, body, self.settings.fold_ms / 1000)
        self.stats.added.add(time.perf_counter() - started)
        visit.note(folded)
        sent = body if folded.body is None else folded.body
        answer = await self._ask(visit, sent, has_tool=folded.has_tool)
        if answer.status == 400 and folded.body is not None:
            answer = await self._ask_again(visit, body, folded, answer)
            sent, folded = body, visit.folded
        elif answer.status == 400 and folded.why_not in _FAILURES:
            folded = await self._fold(visit, body, _PATIENT_SECONDS)
            if folded.body is not None:  # what was thought before may be bound to the folded form
                answer.release()
                sent = folded.body
                visit.folded = folded
                answer = await self._ask(visit, sent, has_tool=folded.has_tool)
        if not folded.has_tool or answer.status != 200:
            meter = Meter(
                api,
                answer.headers.get("content-type", ""),
                answer.headers.get("content-encoding", ""),
            )
            try:
                async with answer:
                    chunks = _metered(answer.content.iter_any(), meter)
                    return await self._relay(request, answer, chunks)
            finally:
                visit.charge([meter.close()] if answer.status == 200 else [])
        return await self._resolve(visit, sent, answer)

    async def _resolve(
        self, visit: _Visit, sent: bytes, response: aiohttp.ClientResponse
    ) -> web.StreamResponse:
        """Relay an answer whose calls for originals are answered here."""
        answer = Answer(
            visit.api,
            sent,
            ask=lambda body: self._ask(visit, body, has_tool=True),
            retrieve=lambda call: self._retrieve(visit, sent, call),
        )
        try:
            if "event-stream" in response.headers.get("content-type", ""):
                chunks = answer.stream(response)
                return await self._relay(visit.request, response, chunks, is_changed=True)
            content = await answer.whole(response)
            headers = for_client(response.headers, is_changed=True)
            return web.Response(
                status=response.status, reason=response.reason, headers=headers, body=content
            )
        finally:
            visit.charge([meter.close() for meter in answer.meters])
            for _ in range(answer.failures):
                self.stats.fault("retrieval cut short")
            if answer.rounds:
                await self._enter_rounds(visit, answer)

    async def _enter_rounds(self, visit: _Visit, answer: Answer) -> None:
        folded = visit.folded
        visit.session.totals.retrievals += len(answer.rounds)
        self.stats.totals.retrievals += len(answer.rounds)
        await self._tell(
            visit, "rounds", visit.tenant, folded.beginning, answer.rounds, answer.names
        )

    async def _ask(self, visit: _Visit, body: bytes, *, has_tool: bool) -> aiohttp.ClientResponse:
        assert self._upstream is not None
        headers = visit.headers
        if has_tool:  # what has to be read must not be packed
            headers = headers.copy()
            headers["Accept-Encoding"] = "identity"
        return await self._upstream.send("POST", visit.url, headers, body)

    async def _ask_again(
        self, visit: _Visit, body: bytes, folded: Folded, refused: aiohttp.ClientResponse
    ) -> aiohttp.ClientResponse:
        """Send a request as it came after what was folded was refused."""
        async with refused:
            await refused.content.read(_MAX_ERROR_BYTES)
        answer = await self._ask(visit, body, has_tool=False)
        if answer.status < 400:
            self.stats.fault("folded request refused")
            _log.warning("%s: refused as it was folded, taken as it came", folded.conversation)
            await self._tell(visit, "off", visit.tenant, folded.beginning)
        visit.unfold()
        return answer

    async def _fold(self, visit: _Visit, body: bytes, seconds: float) -> Folded:
        """Return what to send; as it came, if folding fails or takes too long."""
        job = (
            visit.api.name,
            visit.path,
            visit.tenant,
            visit.client_session,
            body,
            time.monotonic() + seconds,
        )
        started = time.perf_counter()
        try:
            folded: Folded = await self.workers.call(
                visit.key, "fold", *job, seconds=seconds + _SPARE_SECONDS
            )
        except TimeoutError:
            self.stats.fault("fold late")
            return Folded(why_not=_LATE)
        except WorkerLostError:
            self.stats.fault("worker lost")
            return Folded(why_not=_LOST)
        except JobError as error:
            self.stats.fault("fold failed")
            _log.error("sent as it came: %s", error)
            return Folded(why_not=_FAILED)
        self.stats.folding.add(time.perf_counter() - started)
        if folded.why_not == _LATE:
            self.stats.fault("fold late")
        elif folded.why_not and folded.body is not None:
            self.stats.fault("fold failed")
            _log.error("what is new is sent as it came: %s", folded.why_not)
        return folded

    async def _fold_frame(self, request: web.BaseRequest, path: str, body: bytes) -> bytes:
        """Fold a message of a WebSocket."""
        api = find_api(path)
        if api is None:
            return body
        visit = _Visit(self, request, api, path, URL())
        folded = await self._fold(visit, body, self.settings.fold_ms / 1000)
        visit.note(folded)
        return body if folded.body is None or folded.has_tool else folded.body

    async def _retrieve(self, visit: _Visit, sent: bytes, call: OwnCall) -> str:
        try:
            text: str = await self.workers.call(
                visit.key,
                "retrieve",
                visit.tenant,
                visit.folded.conversation,
                visit.api.name,
                sent,
                call.arguments,
                seconds=_RETRIEVE_SECONDS,
            )
        except (TimeoutError, WorkerLostError, JobError):
            self.stats.fault("retrieval failed")
            return "[the original cannot be fetched at the moment; try again later]"
        return text

    async def _tell(self, visit: _Visit, name: str, *given: object) -> None:
        """Let the worker enter something; that it could not is counted."""
        try:
            await self.workers.call(visit.key, name, *given, seconds=_RETRIEVE_SECONDS)
        except (TimeoutError, WorkerLostError, JobError):
            self.stats.fault("not entered")

    async def _read(self, request: web.BaseRequest) -> bytes:
        """Return the body of a request; 413 if it is too long, 408 if it takes too long."""
        limit = self.settings.max_body_mb << 20
        body = bytearray()
        try:
            async with asyncio.timeout(self.settings.client_seconds):
                async for chunk in request.content.iter_any():
                    body += chunk
                    if len(body) > limit:
                        self.stats.fault("body too large")
                        raise web.HTTPRequestEntityTooLarge(limit, len(body))
        except TimeoutError:
            self.stats.fault("client too slow")
            raise web.HTTPRequestTimeout from None
        return bytes(body)

    async def _relay(
        self,
        request: web.BaseRequest,
        answer: aiohttp.ClientResponse,
        chunks: AsyncIterator[bytes],
        *,
        is_changed: bool = False,
    ) -> web.StreamResponse:
        """Pass an answer on as it comes; one that is cut off is cut off for the client, too."""
        headers = for_client(answer.headers, is_changed=is_changed)
        response = web.StreamResponse(status=answer.status, reason=answer.reason, headers=headers)
        await response.prepare(request)
        try:
            async for chunk in chunks:
                async with asyncio.timeout(self.settings.client_seconds):
                    await response.write(chunk)
            await response.write_eof()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            self.stats.fault("stream cut off")
            _log.warning("a stream was cut off: %s", type(error).__name__)
            if request.transport is not None:
                request.transport.abort()
        return response


async def _metered(chunks: AsyncIterator[bytes], meter: Meter) -> AsyncIterator[bytes]:
    async for chunk in chunks:
        yield chunk
        meter.feed(chunk)  # the client need not wait for it


class _Visit:
    """One request with messages, from its beginning to its end."""

    def __init__(
        self, proxy: Proxy, request: web.BaseRequest, api: Api, path: str, url: URL
    ) -> None:
        self._stats = proxy.stats
        self.request = request
        self.api = api
        self.path = path
        self.url = url
        self.headers: CIMultiDict[str] = for_upstream(request.headers)
        is_local = proxy.settings.is_local
        key = request.query.get("key", "")
        self.tenant = tenant_of(request.headers, key, is_local=is_local)
        self.client_session = session_of(request.headers)
        self.key = self.tenant + self.client_session
        """What decides on the worker."""
        self.folded = Folded()

    def note(self, folded: Folded) -> None:
        """Count what became of the request."""
        self.folded = folded
        name = f"{self.tenant[:6]}-{folded.conversation}" if folded.conversation else "other"
        self.session = self._stats.session(name, self.api.name, folded.model, time.time())
        for totals in (self._stats.totals, self.session.totals):
            totals.requests += 1
            if not self.api.is_counting(self.path):
                totals.add_fold(folded)

    def unfold(self) -> None:
        """Take back what was counted as saved: the request went out as it came."""
        before = self.folded.tokens_before - self.folded.tokens_after
        for totals in (self._stats.totals, self.session.totals):
            totals.tokens_after += before
        self.folded = Folded(model=self.folded.model)

    def charge(self, usages: list[Usage]) -> None:
        """Count what the provider says that the request has cost."""
        folded = self.folded
        price = list_prices().find(folded.model)
        saved = folded.tokens_before - folded.tokens_after
        known = folded.tokens_known if folded.is_refolded else None
        old = folded.saved_before
        for usage in usages:
            if not usage.prompt:
                continue
            cost: Any = None
            if price is not None:
                now = max(0, saved - old)
                cost = bill(price, usage, saved_before=old, saved_now=now, known=known)
            for totals in (self._stats.totals, self.session.totals):
                totals.add_usage(usage, cost)
            old, known = saved, None  # later rounds begin where this one ended


def _error(status: int, message: str) -> web.Response:
    body = {"type": "error", "error": {"type": "api_error", "message": message}}
    return web.json_response(body, status=status)
