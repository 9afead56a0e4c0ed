"""Requests that the proxy answers itself: page, figures, health, and LiteLLM's contract."""

from __future__ import annotations

import asyncio
import time
from importlib.resources import files
from typing import Any, Final
from urllib.parse import parse_qs

from aiohttp import web

from refold.errors import JobError, WorkerLostError
from refold.server.proxy.client_request import Shared
from refold.server.proxy.headers import tenant_of
from refold.server.proxy.request import Snapshot
from refold.server.proxy.stats import Totals
from refold.server.proxy.workers import NO_ANSWER, STORE_SECONDS

_PAGE: Final = {
    "/": ("page.html", "text/html"),
    "/page.js": ("page.js", "text/javascript"),
    "/page.css": ("page.css", "text/css"),
}
_POLICY: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_REPORT_POLICY: Final = {**_POLICY, "Content-Security-Policy": "frame-ancestors 'none'"}
"""The report has its own policy in it, for its inline script and style."""
_COMPRESS: Final = "/v1/compress"
_RETRIEVE: Final = "/v1/retrieve/"
_EXPLAIN: Final = "/v1/refold/"
_SESSION: Final = "/session/"
_READY_SECONDS: Final = 5.0
"""A worker that answers later counts as hanging."""
_COMPRESS_SECONDS: Final = 30.0
"""The guardrail waits for 60 seconds."""
_BYPASS: Final = "x-headroom-bypass"


class OwnRoutes:
    """Answers requests that are not sent on."""

    def __init__(self, shared: Shared) -> None:
        self._settings = shared.settings
        self._stats = shared.stats
        self._workers = shared.workers

    async def answer(self, request: web.BaseRequest, target: str) -> web.StreamResponse | None:
        """Return the answer to a request for *target*; `None` if it is to be sent on."""
        path, _, query = target.partition("?")
        if request.method in ("GET", "HEAD"):
            if path == "/" and not request.raw_path.partition("?")[0].endswith("/"):
                # `/t/TOKEN`: the page loads what it needs from below it
                return web.Response(status=307, headers={"Location": f"{request.raw_path}/"})
            if path in _PAGE:
                return _page(*_PAGE[path])
            if path == "/stats":
                return web.json_response(self._stats_now(), headers=_POLICY)
            if path == "/metrics":
                return web.Response(text=self._stats.metrics(), headers=_POLICY)
            if path == "/healthz":
                return web.Response(text="ok\n")
            if path == "/readyz":
                return await self._ready()
            if path.startswith(_SESSION):
                return await self._session(path.removeprefix(_SESSION))
            if path.startswith(_EXPLAIN):
                known = self._stats.sessions.get(path.removeprefix(_EXPLAIN))
                if known is None:
                    names = list(reversed(self._stats.sessions))
                    about = {"error": "there is no such session", "sessions": names}
                    return web.json_response(about, status=404, headers=_POLICY)
                return web.json_response(known.explain(), headers=_POLICY)
            if path.startswith(_RETRIEVE):
                name = path.removeprefix(_RETRIEVE)
                return await self._retrieve(request, name, parse_qs(query).get("query", [""])[0])
        if request.method == "POST" and path == _COMPRESS:
            return await self._compress(request)
        return None

    def _stats_now(self) -> dict[str, Any]:
        settings = self._settings
        return {
            **self._stats.to_dict(),
            "workers": {
                "processes": settings.workers,
                "restarts": self._workers.restarts,
                "waiting": self._workers.waiting,
            },
            "settings": {
                "retrieve": settings.retrieve,
                "profile": settings.profile,
                "show_content": settings.show_content,
            },
            "now": time.time(),
        }

    async def _ready(self) -> web.Response:
        try:
            await self._workers.call("", "ping", seconds=_READY_SECONDS)
        except NO_ANSWER:
            return web.Response(status=503, text="no worker\n")
        return web.Response(text="ready\n")

    async def _session(self, name: str) -> web.Response:
        """Return the report of a session: what came, and what was sent."""
        known = self._stats.sessions.get(name)
        if not self._settings.show_content:
            return web.Response(status=403, text="start refold serve with --show-content\n")
        snapshot: Snapshot | None = None
        if known is not None:
            key, tenant, conversation = known.owner
            try:
                snapshot = await self._workers.call(
                    key, "snapshot", tenant, conversation, known.api, seconds=STORE_SECONDS
                )
            except NO_ANSWER:
                return web.Response(status=503, text="no worker has answered\n")
        if snapshot is None:
            return web.Response(status=404, text="there is no such session in memory\n")
        page = await asyncio.to_thread(_report, name, snapshot)  # this may take a second
        return web.Response(text=page, content_type="text/html", headers=_REPORT_POLICY)

    async def _compress(self, request: web.BaseRequest) -> web.Response:
        if "content-encoding" in request.headers:
            return web.json_response({"error": "send the body as it is, not packed"}, status=415)
        body = await self.read(request)
        tenant = self._tenant(request)
        if request.headers.get(_BYPASS, "").lower() == "true":
            return web.Response(body=body, content_type="application/json")
        try:
            deadline = time.time() + _COMPRESS_SECONDS
            answer = await self._workers.call(
                tenant, "compress", tenant, body, deadline, seconds=_COMPRESS_SECONDS
            )
        except JobError as error:
            self._stats.fault("fold failed")
            return web.json_response({"error": str(error)}, status=400)
        except (TimeoutError, WorkerLostError):
            self._stats.fault("fold late")
            return web.json_response({"error": "no worker has answered"}, status=503)
        before, after = answer["tokens_before"], answer["tokens_after"]
        figures = Totals(requests=1, answered=1, tokens_before=before, tokens_after=after)
        figures.shorter = before - after
        self._stats.totals.add(figures)
        return web.json_response(answer)

    async def read(self, request: web.BaseRequest) -> bytes:
        """Return the body of a request; 413 if it is too large, 408 if it takes too long."""
        limit = self._settings.max_body_mb << 20
        body = bytearray()
        try:
            async with asyncio.timeout(self._settings.client_seconds):
                async for chunk in request.content.iter_any():
                    body += chunk
                    if len(body) > limit:
                        self._stats.fault("body too large")
                        raise web.HTTPRequestEntityTooLarge(limit, len(body))
        except TimeoutError:
            self._stats.fault("client too slow")
            raise web.HTTPRequestTimeout from None
        return bytes(body)

    async def _retrieve(self, request: web.BaseRequest, name: str, query: str) -> web.Response:
        tenant = self._tenant(request)
        try:
            text = await self._workers.call(
                tenant, "original", tenant, name, query, seconds=STORE_SECONDS
            )
        except NO_ANSWER:
            self._stats.fault("retrieval failed")
            return web.json_response({"error": "no worker has answered"}, status=503)
        if text is None:
            return web.json_response({"error": "there is no such original"}, status=404)
        self._stats.totals.retrievals += 1
        return web.json_response({"original_content": text})

    def _tenant(self, request: web.BaseRequest) -> str:
        return tenant_of(request.headers, "", is_local=self._settings.is_local)


def _report(name: str, snapshot: Snapshot) -> str:
    from refold.report import render_view

    before, after, places, format_name, model = snapshot
    choices = {"format": format_name, "model": model or None}
    return render_view(before, after, places, title=f"Session {name}", **choices)


def _page(name: str, content_type: str) -> web.Response:
    text = (files(__package__) / name).read_text("utf-8")
    return web.Response(text=text, content_type=content_type, headers=_POLICY)
