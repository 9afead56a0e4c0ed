"""OpenAI SDK: `OpenAI(http_client=DefaultHttpxClient(transport=RefoldTransport()))`.

The transport folds the bodies of chat completions and responses; the caller's lists stay as they
were. `AsyncRefoldTransport` does the same for `AsyncOpenAI`. Any other SDK on the same HTTP library
can use it for these two APIs as well.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Unpack

from refold.integrations.choices import Choices, missing
from refold.integrations.conversations import SdkIntegration

try:
    import openai
except ImportError as error:
    raise missing("openai", "openai") from error

if TYPE_CHECKING:
    import httpx2 as httpx
else:  # the SDK takes clients of the library that it is built on
    httpx = import_module("httpx2" if int(openai.__version__.split(".")[0]) >= 3 else "httpx")

_SERVER_HELD: Final = ("previous_response_id", "conversation")


class _Api(NamedTuple):
    """One of the two APIs: the keys of messages and system prompt, and the format."""

    key: str
    format: str
    system: str


_APIS: Final[Mapping[str, _Api]] = {
    "/chat/completions": _Api("messages", "openai-chat", ""),
    "/responses": _Api("input", "openai-responses", "instructions"),
}


class _Folding(SdkIntegration):
    """What both transports do with a request."""

    @property
    def responses_tool(self) -> dict[str, Any]:
        """The same tool for the Responses API."""
        described: dict[str, Any] = self.conversations.tool("openai_responses").schema
        return described

    def _read(self, request: httpx.Request, content: bytes) -> tuple[_Api, dict[str, Any]] | None:
        """Return the body of a request that has messages; `None` for all others."""
        api = next((api for end, api in _APIS.items() if request.url.path.endswith(end)), None)
        if api is None or request.method != "POST":
            return None
        try:
            body = json.loads(content)
        except ValueError:
            return None
        if not isinstance(body, dict) or not isinstance(body.get(api.key), list):
            return None
        if any(body.get(name) for name in _SERVER_HELD):
            problem = "the server holds the history of this request: nothing to fold"
            self._warn_once(problem)
            return None
        return api, body


def _with(request: httpx.Request, body: dict[str, Any]) -> httpx.Request:
    """Return the request with another body, and with the headers that go with it."""
    headers = [
        (name, value)
        for name, value in request.headers.multi_items()
        if name.lower() not in ("content-length", "transfer-encoding")
    ]
    return httpx.Request(
        request.method,
        request.url,
        headers=headers,
        content=json.dumps(body, separators=(",", ":")).encode(),
        extensions=request.extensions,
    )


def _about(api: _Api, body: Mapping[str, Any]) -> dict[str, Any]:
    beside = [body.get(api.system), body.get("tools")]
    return {"model": body.get("model"), "format": api.format, "beside": beside}


class RefoldTransport(_Folding, httpx.BaseTransport):
    """Folds what a synchronous client sends through another *transport*."""

    def __init__(
        self, transport: httpx.BaseTransport | None = None, **choices: Unpack[Choices]
    ) -> None:
        super().__init__(**choices)
        self._transport = transport or httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request."""
        found = self._read(request, request.read())
        if found is not None:
            api, body = found
            body[api.key] = self._fold(body[api.key], **_about(api, body))
            request = _with(request, body)
        return self._transport.handle_request(request)

    def close(self) -> None:
        """Close the other transport."""
        self._transport.close()


class AsyncRefoldTransport(_Folding, httpx.AsyncBaseTransport):
    """Folds what an asynchronous client sends through another *transport*."""

    def __init__(
        self, transport: httpx.AsyncBaseTransport | None = None, **choices: Unpack[Choices]
    ) -> None:
        super().__init__(**choices)
        self._transport = transport or httpx.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request."""
        found = self._read(request, await request.aread())
        if found is not None:
            api, body = found
            body[api.key] = await self._afold(body[api.key], **_about(api, body))
            request = _with(request, body)
        return await self._transport.handle_async_request(request)

    async def aclose(self) -> None:
        """Close the other transport."""
        await self._transport.aclose()
