"""OpenAI SDK: `OpenAI(http_client=DefaultHttpxClient(transport=RefoldTransport()))`.

The transport folds the bodies of chat completions and responses; the caller's lists stay as they
were. `AsyncRefoldTransport` does the same for `AsyncOpenAI`. Any other SDK on the same HTTP library
can use it for these two APIs as well.
"""

from __future__ import annotations

import json
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Unpack

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

_APIS: Final = {
    "/chat/completions": ("messages", "openai-chat"),
    "/responses": ("input", "openai-responses"),
}
"""By the end of the path: the key of the messages, and their format."""
_SERVER_HELD: Final = ("previous_response_id", "conversation")
_LENGTHS: Final = ("content-length", "transfer-encoding")


class _Folding(SdkIntegration):
    """What both transports do with a request."""

    @property
    def responses_tool(self) -> dict[str, Any]:
        """The same tool for the Responses API."""
        described: dict[str, Any] = self.conversations.tool("openai_responses").schema
        return described

    def _body_of(
        self, request: httpx.Request, content: bytes
    ) -> tuple[dict[str, Any], str, dict[str, Any]] | None:
        """Return a request's body, the key of its messages, and the arguments of their fold."""
        path = request.url.path
        key, name = next((api for end, api in _APIS.items() if path.endswith(end)), ("", ""))
        try:
            body = json.loads(content) if key and request.method == "POST" else None
        except ValueError:
            return None
        if not isinstance(body, dict) or not isinstance(body.get(key), list):
            return None
        if any(body.get(held) for held in _SERVER_HELD):
            self._warn_once("the server holds the history of this request: nothing to fold")
            return None
        beside = [body.get("instructions"), body.get("tools")]
        return body, key, {"model": body.get("model"), "format": name, "beside": beside}


def _with(request: httpx.Request, body: dict[str, Any]) -> httpx.Request:
    """Return the request with another body, and with the headers that go with it."""
    headers = request.headers.multi_items()
    return httpx.Request(
        request.method,
        request.url,
        headers=[(name, value) for name, value in headers if name.lower() not in _LENGTHS],
        content=json.dumps(body, separators=(",", ":")).encode(),
        extensions=request.extensions,
    )


class RefoldTransport(_Folding, httpx.BaseTransport):
    """Folds what a synchronous client sends through another *transport*."""

    def __init__(
        self, transport: httpx.BaseTransport | None = None, **choices: Unpack[Choices]
    ) -> None:
        super().__init__(**choices)
        self._transport = transport or httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request."""
        asked = self._body_of(request, request.read())
        if asked is not None:
            body, key, about = asked
            body[key] = self._fold(body[key], **about)
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
        asked = self._body_of(request, await request.aread())
        if asked is not None:
            body, key, about = asked
            body[key] = await self._afold(body[key], **about)
            request = _with(request, body)
        return await self._transport.handle_async_request(request)

    async def aclose(self) -> None:
        """Close the other transport."""
        await self._transport.aclose()
