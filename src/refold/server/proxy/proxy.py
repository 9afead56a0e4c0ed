"""The proxy: receives requests, has them folded, sends them on, and relays the answers."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import partial
from typing import Final

import aiohttp
from aiohttp import web
from yarl import URL

from refold.errors import ConfigError, JobError
from refold.server.proxy.apis import find_api
from refold.server.proxy.client_request import ClientRequest, Shared
from refold.server.proxy.entrance import (
    Listener,
    admit,
    error_answer,
    for_upstream,
    read_body,
)
from refold.server.proxy.folding import FoldingThread
from refold.server.proxy.local_routes import LocalRoutes
from refold.server.proxy.settings import Settings
from refold.server.proxy.sockets import relay_socket
from refold.server.proxy.stats import Stats
from refold.server.proxy.summary import summarize
from refold.server.proxy.upstream import MAX_FIELD_BYTES, Upstream, is_gone

_SMALL_BYTES: Final = 1 << 20
"""Bodies up to this size are read at once, which takes a quarter less; larger ones are streamed."""
_SWITCH_SECONDS: Final = 0.0005
"""How long a fold may hold up the bytes of others each time that it gives way."""
_log: Final = logging.getLogger("refold.serve")


class Proxy:
    """One proxy; `start` it, and `close` it at the end."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.stats = Stats()
        self.folding = FoldingThread(settings)
        self._upstream = Upstream(settings, self.stats)
        self._shared = Shared(settings, self.stats, self.folding, self._upstream)
        self._local = LocalRoutes(self._shared)
        self._runner: web.ServerRunner | None = None
        self.url = ""
        self.reloading: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Load what folding needs, and listen."""
        await self.folding.start()
        server = Listener(
            self._handle,
            keepalive_timeout=self.settings.client_seconds,  # for the first request as well
            access_log=None,
            auto_decompress=False,  # a packed body is forwarded as it came
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
        self.settings = self._shared.settings = settings
        with suppress(TimeoutError):  # it is done as soon as the thread comes to it
            await self.folding.call(self.folding.folder.reload(settings))
        _log.warning("settings were read again")

    async def close(self) -> None:
        """Finish the answers under way, then what is folded."""
        if self._runner is not None:
            await self._runner.cleanup()
        await self._upstream.close()
        await self.folding.close()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        try:
            target = admit(request, self.settings)
        except web.HTTPException as refusal:
            self.stats.fault("refused client")
            return error_answer(refusal.status, refusal.reason)
        if request.headers.get("expect", "").lower() == "100-continue" and request.transport:
            request.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        try:
            answer = await self._local.answer(request, target)
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
            self.stats.fault("fold failed")
            return error_answer(503, str(error))
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            self.stats.fault("client gone" if is_gone(request) else "upstream unreachable")
            kind = type(error).__name__  # its words may quote the address, with a key in it
            _log.warning("no answer from upstream: %s", kind)
            return error_answer(502, f"refold serve has no answer from upstream: {kind}")

    async def _send_on(self, request: web.BaseRequest, target: str) -> web.StreamResponse:
        api = find_api(target.partition("?")[0])
        url = self._upstream.url_of(api, target, request.headers)
        begin = None if api is None else partial(ClientRequest, self._shared, request, api, url)
        if request.headers.get("upgrade", "").lower() == "websocket":
            return await relay_socket(self._upstream.client, request, url, begin, self.settings)
        if begin is None or request.method != "POST" or "content-encoding" in request.headers:
            return await self._pass_through(request, url)
        return await begin().serve()

    async def _pass_through(self, request: web.BaseRequest, url: URL) -> web.StreamResponse:
        """Relay a request without messages and its answer, both unchanged."""
        self.stats.passed += 1
        headers = for_upstream(request.headers)
        length = request.content_length
        body: AsyncIterator[bytes] | bytes | None = None
        if length is not None and length <= _SMALL_BYTES:
            body = await read_body(request, self.settings, self.stats) or None
        elif request.body_exists:
            body = self._stream_body(request)
            if length is not None:
                headers["Content-Length"] = str(length)
        try:
            answer = await self._upstream.send(request.method, url, headers, body)
        except aiohttp.ServerTimeoutError:
            raise
        except TimeoutError:
            self.stats.fault("client too slow")
            raise web.HTTPRequestTimeout from None
        async with answer:
            return await self._upstream.relay(request, answer, answer.content.iter_any())

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


async def serve(
    settings: Settings, announce: Callable[[str], None], again: Callable[[], Settings]
) -> list[str]:
    """Serve until SIGTERM or SIGINT; *announce* the address, and return a summary in four lines.

    At SIGHUP the settings are read *again*; those that need a restart stay as they are.
    """
    ended = asyncio.Event()
    sys.setswitchinterval(_SWITCH_SECONDS)
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
