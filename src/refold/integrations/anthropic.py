"""Anthropic SDK: `Anthropic(middleware=[RefoldMiddleware()])`, and the same for `AsyncAnthropic`.

Folds the messages of `/v1/messages` and `/v1/messages/count_tokens`; the caller's list stays as it
was. If a model binds its thinking to the messages before it, the provider is told to drop thinking
rather than refuse the request, should anything else have changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from refold.integrations.choices import missing
from refold.integrations.conversations import SdkIntegration
from refold.messages.provider import is_bound

try:
    from anthropic import APIRequest, AsyncCallNext, CallNext, Middleware
except ImportError as error:
    raise missing("anthropic 2.8 or newer", "anthropic") from error

if TYPE_CHECKING:
    from anthropic._response import APIResponse, AsyncAPIResponse

_PATHS: Final = ("/v1/messages", "/v1/messages/count_tokens")
_FORMAT: Final = "anthropic"
_BETA: Final = "thinking-binding-controls-2026-08-01"
_DROP: Final = {"prefix_mismatch_behavior": "drop_block"}
_BETA_HEADER: Final = "anthropic-beta"


class RefoldMiddleware(SdkIntegration, Middleware):
    """Folds what a client sends; one may serve many clients and conversations at once."""

    _style = "anthropic"

    def handle(self, request: APIRequest, call_next: CallNext) -> APIResponse[Any]:
        """Send a request of the synchronous client."""
        body = _body_of(request)
        if body is not None:
            body["messages"] = self._fold(body["messages"], **_about(body))
            request = _with(request, body)
        return call_next(request)

    async def handle_async(
        self, request: APIRequest, call_next: AsyncCallNext
    ) -> AsyncAPIResponse[Any]:
        """Send a request of the asynchronous client."""
        body = _body_of(request)
        if body is not None:
            body["messages"] = await self._afold(body["messages"], **_about(body))
            request = _with(request, body)
        return await call_next(request)


def _body_of(request: APIRequest) -> dict[str, Any] | None:
    """Return the body of a request that has messages; `None` for all others."""
    body = request.json
    if not request.url.partition("?")[0].endswith(_PATHS) or not isinstance(body, Mapping):
        return None
    return dict(body) if isinstance(body.get("messages"), list) else None


def _about(body: Mapping[str, Any]) -> dict[str, Any]:
    beside = [body.get("system"), body.get("tools")]
    return {"model": body.get("model"), "format": _FORMAT, "beside": beside}


def _with(request: APIRequest, body: dict[str, Any]) -> APIRequest:
    """Return a request with a folded body that allows the provider to drop bound thinking."""
    thinking = body.get("thinking")
    if not isinstance(thinking, Mapping) or "block_binding" in thinking:
        return request.copy(body=body)
    if thinking.get("type") != "adaptive" or not is_bound(body.get("model")):
        return request.copy(body=body)
    body["thinking"] = {**thinking, "block_binding": _DROP}
    headers = dict(request.headers)
    name = next((name for name in headers if name.lower() == _BETA_HEADER), _BETA_HEADER)
    known = headers.get(name)
    headers[name] = f"{known},{_BETA}" if isinstance(known, str) and known else _BETA
    return request.copy(body=body, headers=headers)
