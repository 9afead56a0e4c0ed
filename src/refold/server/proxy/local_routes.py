"""Requests that the proxy answers itself: page, figures, health, and LiteLLM's contract."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Coroutine
from functools import cache
from importlib.resources import files
from typing import Any, Final
from urllib.parse import parse_qs

from aiohttp import web

from refold.errors import JobError
from refold.server.proxy.client_request import Shared
from refold.server.proxy.entrance import read_body, tenant_of
from refold.server.proxy.figures import Totals
from refold.server.proxy.folding import STORE_SECONDS
from refold.server.proxy.request import Snapshot

_POLICY: Final = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
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
"""A folder that answers later counts as hanging."""
_COMPRESS_SECONDS: Final = 30.0
"""The guardrail waits for 60 seconds."""
_BYPASS: Final = "x-headroom-bypass"


class LocalRoutes:
    """Answers requests that are not sent on."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._stats = shared.stats
        self._folder = shared.folding.folder

    async def answer(self, request: web.BaseRequest, target: str) -> web.StreamResponse | None:
        """Return the answer to a request for *target*; `None` if it is to be sent on."""
        path, _, query = target.partition("?")
        if request.method == "POST" and path == _COMPRESS:
            return await self._compress(request)
        if request.method not in ("GET", "HEAD"):
            return None
        if path == "/" and not request.raw_path.partition("?")[0].endswith("/"):
            # `/t/TOKEN`: the page loads what it needs from below it
            return web.Response(status=307, headers={"Location": f"{request.raw_path}/"})
        if path == "/":
            page, policy = _page()
            headers = {**_POLICY, "Content-Security-Policy": policy}
            return web.Response(text=page, content_type="text/html", headers=headers)
        if path == "/stats":
            return web.json_response(self._stats_now(), headers=_POLICY)
        if path == "/metrics":
            return web.Response(text=self._stats.metrics(), headers=_POLICY)
        if path == "/healthz":
            return web.Response(text="ok\n")
        if path == "/readyz":
            await self._ask("not ready", asyncio.sleep(0), _READY_SECONDS)
            return web.Response(text="ready\n")
        if path.startswith(_SESSION):
            return await self._session(path.removeprefix(_SESSION))
        if path.startswith(_EXPLAIN):
            return self._explain(path.removeprefix(_EXPLAIN))
        if path.startswith(_RETRIEVE):
            tenant, name = self._tenant(request), path.removeprefix(_RETRIEVE)
            asked = tenant, name, parse_qs(query).get("query", [""])[0]
            text = await self._ask("retrieval failed", self._folder.original(*asked))
            if text is None:
                return web.json_response({"error": "there is no such original"}, status=404)
            self._stats.totals.retrievals += 1
            return web.json_response({"original_content": text})
        return None

    def _stats_now(self) -> dict[str, Any]:
        settings = self._shared.settings
        return {
            **self._stats.to_dict(),
            "waiting": self._shared.folding.waiting,
            "settings": {
                "retrieve": settings.retrieve,
                "profile": settings.profile,
                "show_content": settings.show_content,
            },
        }

    def _explain(self, name: str) -> web.Response:
        known = self._stats.find(name)
        if known is not None:
            return web.json_response(known.explain(), headers=_POLICY)
        names = list(reversed(self._stats.sessions))
        about = {"error": "there is no such session", "sessions": names}
        return web.json_response(about, status=404, headers=_POLICY)

    async def _session(self, name: str) -> web.Response:
        """Return the report of a session: what came, and what was sent."""
        if not self._shared.settings.show_content:
            return web.Response(status=403, text="start refold serve with --show-content\n")
        known, snapshot = self._stats.find(name), None
        if known is not None:
            asked = self._folder.snapshot(*known.owner, known.api)
            snapshot = await self._ask("not shown", asked)
        if snapshot is None:
            return web.Response(status=404, text="there is no such session in memory\n")
        page = await asyncio.to_thread(_report, name, snapshot)  # this may take a second
        return web.Response(text=page, content_type="text/html", headers=_REPORT_POLICY)

    async def _compress(self, request: web.BaseRequest) -> web.Response:
        if "content-encoding" in request.headers:
            return web.json_response({"error": "send the body as it is, not packed"}, status=415)
        body = await read_body(request, self._shared.settings, self._stats)
        if request.headers.get(_BYPASS, "").lower() == "true":
            return web.Response(body=body, content_type="application/json")
        tenant, deadline = self._tenant(request), time.time() + _COMPRESS_SECONDS
        try:
            asked = self._folder.compress(tenant, body, deadline)
            answer = await self._ask("fold late", asked, _COMPRESS_SECONDS)
        except JobError as error:
            self._stats.fault("fold failed")
            return web.json_response({"error": str(error)}, status=400)
        before, after = answer["tokens_before"], answer["tokens_after"]
        figures = Totals(requests=1, answered=1, tokens_before=before, tokens_after=after)
        figures.shorter, figures.unpriced = before - after, 1
        self._stats.add(figures, "LiteLLM", "")
        return web.json_response(answer)

    async def _ask(
        self, fault: str, work: Coroutine[Any, Any, Any], seconds: float = STORE_SECONDS
    ) -> Any:
        """Return what *work* of the folder comes to; 503 if it is late, counted as a *fault*."""
        try:
            return await self._shared.folding.call(work, seconds)
        except TimeoutError:
            self._stats.fault(fault)
            raise web.HTTPServiceUnavailable(reason="no answer in time") from None

    def _tenant(self, request: web.BaseRequest) -> str:
        return tenant_of(request.headers, "", is_local=self._shared.settings.is_local)


@cache
def _page() -> tuple[str, str]:
    """Return the page, and the policy that lets its own style and script run, and nothing else."""
    from refold.report.data import policy_of

    family = (files("refold.report") / "family.css").read_text("utf-8")
    page = (files(__package__) / "page.html").read_text("utf-8").replace("{{family}}", family)
    style, script = re.findall(r"<(?:style|script)>(.*?)</", page, re.DOTALL)
    return page, f"{policy_of(style, script)}; connect-src 'self'; frame-ancestors 'none'"


def _report(name: str, snapshot: Snapshot) -> str:
    from refold.report import render_view

    before, after, places, format_name, model = snapshot
    choices = {"format": format_name, "model": model or None}
    return render_view(before, after, places, title=f"Session {name}", **choices)
