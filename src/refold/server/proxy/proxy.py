"""The proxy: receives requests, has them folded, sends them on, and relays the answers."""

from __future__ import annotations

import asyncio
import logging
import signal
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, Final

import aiohttp
from aiohttp import web
from yarl import URL

from refold.errors import ConfigError, JobError
from refold.server.proxy.answering import Answer, Meter
from refold.server.proxy.apis import find_api
from refold.server.proxy.client_request import ClientRequest, Shared
from refold.server.proxy.entrance import (
    Listener,
    admit,
    error_answer,
    for_client,
    for_upstream,
    read_body,
)
from refold.server.proxy.own_routes import OwnRoutes
from refold.server.proxy.request import Records
from refold.server.proxy.settings import Settings
from refold.server.proxy.stats import Stats, summarize
from refold.server.proxy.upstream import MAX_FIELD_BYTES, SocketRequests, Upstream, relay_socket
from refold.server.proxy.workers import Workers

_MAX_ERROR_BYTES: Final = 1 << 20
"""How much of an error is read before the request is retried; errors are much shorter."""
_log: Final = logging.getLogger("refold.serve")


class Proxy:
    """One proxy; `start` it, and `close` it at the end."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.stats = Stats()
        self.workers = Workers(settings)
        self._upstream = Upstream(settings)
        self._shared = Shared(settings, self.stats, self.workers, Records(settings))
        self._own = OwnRoutes(self._shared)
        self._runner: web.ServerRunner | None = None
        self.url = ""
        self.reloading: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start the workers, and listen."""
        await self.workers.start()
        server = Listener(
            self._handle,
            keepalive_timeout=self.settings.client_seconds,  # for the first request as well
            access_log=None,
            auto_decompress=False,  # a packed body goes on as it came
            max_line_size=MAX_FIELD_BYTES,
            max_field_size=MAX_FIELD_BYTES,
        )
        self._runner = web.ServerRunner(server)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self.settings.host, self.settings.port, backlog=4096)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    async def reload(self, settings: Settings) -> None:
        """Follow other settings from now on."""
        self.settings = self._shared.records.settings = settings
        await self.workers.reload(settings)
        _log.warning("settings were read again")

    async def close(self) -> None:
        """Finish the answers under way, then stop the workers."""
        if self._runner is not None:
            await self._runner.cleanup()
        await self._upstream.close()
        self._shared.records.close()
        await self.workers.close()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        try:
            target = admit(request, self.settings)
        except web.HTTPException as refusal:
            self.stats.fault("refused client")
            return error_answer(refusal.status, refusal.reason)
        if request.headers.get("expect", "").lower() == "100-continue" and request.transport:
            request.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        try:
            answer = await self._own.answer(request, target)
            if answer is None:
                self.stats.active += 1
                try:
                    answer = await self._send_on(request, target)
                finally:
                    self.stats.active -= 1
            return answer
        except web.HTTPException as refusal:
            return error_answer(refusal.status, refusal.reason)
        except JobError as error:
            self.stats.fault("worker failed")
            return error_answer(503, str(error))
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            self.stats.fault("client gone" if _is_gone(request) else "upstream unreachable")
            kind = type(error).__name__  # its words may quote the address, with a key in it
            _log.warning("no answer from upstream: %s", kind)
            return error_answer(502, f"refold serve has no answer from upstream: {kind}")

    async def _send_on(self, request: web.BaseRequest, target: str) -> web.StreamResponse:
        api = find_api(target.partition("?")[0])
        url = self._upstream.url_of(api, target, request.headers)
        known = None if api is None else ClientRequest(self._shared, request, api, url)
        if request.headers.get("upgrade", "").lower() == "websocket":
            requests = SocketRequests(known, self.settings)
            client = self._upstream.client
            return await relay_socket(client, request, url, requests, self.settings)
        if known is None or request.method != "POST" or "content-encoding" in request.headers:
            return await self._pass_through(request, url)
        return await self._serve(known)

    async def _pass_through(self, request: web.BaseRequest, url: URL) -> web.StreamResponse:
        """Relay a request without messages and its answer, both unchanged."""
        self.stats.passed += 1
        headers = for_upstream(request.headers)
        if request.content_length is not None:
            headers["Content-Length"] = str(request.content_length)
        body = self._stream_body(request) if request.body_exists else None
        try:
            answer = await self._upstream.send(request.method, url, headers, body)
        except aiohttp.ServerTimeoutError:
            raise
        except TimeoutError:
            self.stats.fault("client too slow")
            raise web.HTTPRequestTimeout from None
        async with answer:
            return await self._relay(request, answer, answer.content.iter_any())

    async def _serve(self, request: ClientRequest) -> web.StreamResponse:
        """Fold a request, send it, and relay the answer."""
        body = await read_body(request.request, self.settings, self.stats)
        started = time.perf_counter()
        sent = await request.fold(body, self.settings.fold_ms / 1000) or body
        self.stats.added.add(time.perf_counter() - started)
        answer = await self._send(request, sent)
        if answer.status == 400:
            sent, answer = await self._retry(request, body, answer)
        if request.folded.has_tool and answer.status == 200:
            return await self._relay_rounds(request, sent, answer)
        meter = Meter(request.api, answer.headers)
        try:
            async with answer:
                chunks = _metered(answer.content.iter_any(), meter)
                return await self._relay(request.request, answer, chunks)
        finally:
            if answer.status == 200:
                await _to_the_end(request.charge([meter]))

    async def _relay_rounds(
        self, request: ClientRequest, sent: bytes, response: aiohttp.ClientResponse
    ) -> web.StreamResponse:
        """Relay an answer, and answer the retrieval calls in it."""
        answer = Answer(
            request.api,
            sent,
            ask=lambda body: self._send(request, body),
            retrieve=lambda call: request.retrieve(sent, call),
            enter=request.enter_rounds,
        )
        try:
            if "event-stream" in response.headers.get("content-type", ""):
                chunks = answer.stream(response)
                return await self._relay(request.request, response, chunks, is_changed=True)
            content = await answer.whole(response)
            headers = for_client(response.headers, is_changed=True)
            return web.Response(
                status=response.status, reason=response.reason, headers=headers, body=content
            )
        finally:
            for _ in range(answer.failures):
                self.stats.fault("retrieval cut short")
            await _to_the_end(request.settle(answer))

    async def _send(self, request: ClientRequest, body: bytes) -> aiohttp.ClientResponse:
        headers = request.headers
        if request.folded.has_tool:  # what has to be read must not be compressed
            headers = headers.copy()
            headers["Accept-Encoding"] = "identity"
        return await self._upstream.send("POST", request.url, headers, body)

    async def _retry(
        self, request: ClientRequest, body: bytes, refused: aiohttp.ClientResponse
    ) -> tuple[bytes, aiohttp.ClientResponse]:
        """Send a folded request that was refused as it came; return what was sent last."""
        if request.folded.body is None:
            return body, refused
        folded = request.folded
        async with refused:
            await refused.content.read(_MAX_ERROR_BYTES)
        request.unfold()
        answer = await self._send(request, body)
        if answer.status < 400:
            await request.turn_off(folded)
        return body, answer

    async def _stream_body(self, request: web.BaseRequest) -> AsyncIterator[bytes]:
        """Yield the body of a request as it arrives; one that stalls is cut off."""
        chunks = request.content.iter_any()
        while True:
            try:
                async with asyncio.timeout(self.settings.client_seconds):
                    chunk = await anext(chunks)
            except StopAsyncIteration:
                return
            yield chunk

    async def _relay(
        self,
        request: web.BaseRequest,
        answer: aiohttp.ClientResponse,
        chunks: AsyncIterator[bytes],
        *,
        is_changed: bool = False,
    ) -> web.StreamResponse:
        """Relay an answer as it arrives; if it breaks off, so does the one to the client."""
        headers = for_client(answer.headers, is_changed=is_changed)
        response = web.StreamResponse(status=answer.status, reason=answer.reason, headers=headers)
        await response.prepare(request)
        try:
            async for chunk in chunks:
                async with asyncio.timeout(self.settings.client_seconds):
                    await response.write(chunk)
            await response.write_eof()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            self.stats.fault("client gone" if _is_gone(request) else "stream cut off")
            _log.warning("a stream was cut off: %s", type(error).__name__)
            if request.transport is not None:
                request.transport.abort()
        return response


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


def _is_gone(request: web.BaseRequest) -> bool:
    """Return whether the client has hung up: then the provider is not to blame."""
    return request.transport is None or request.transport.is_closing()


async def serve(
    settings: Settings, announce: Callable[[str], None], again: Callable[[], Settings]
) -> list[str]:
    """Serve until SIGTERM or SIGINT; *announce* the address, and return a summary in four lines.

    At SIGHUP the settings are read *again*; those that need a restart stay as they are.
    """
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(
        lambda _loop, about: _log.error("failed: %s", type(about.get("exception")).__name__)
    )
    for number in (signal.SIGTERM, signal.SIGINT):
        try:
            loop.add_signal_handler(number, ended.set)
        except NotImplementedError:  # Windows: an interrupt ends the loop instead
            break
    proxy = Proxy(settings)

    def reload() -> None:
        try:
            changed = settings.followed_by(again())
        except ConfigError as error:
            _log.error("settings stay as they were: %s", error)
            return
        proxy.reloading = asyncio.create_task(proxy.reload(changed))

    if hasattr(signal, "SIGHUP"):
        loop.add_signal_handler(signal.SIGHUP, reload)
    try:
        await proxy.start()
        announce(f"listening on {proxy.url}")
        await ended.wait()
    finally:
        await proxy.close()
    return summarize(proxy.stats.to_dict())
