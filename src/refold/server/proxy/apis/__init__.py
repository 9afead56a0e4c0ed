"""The APIs whose requests are folded; all others pass through."""

from __future__ import annotations

from typing import Final

from refold.server.proxy.apis import anthropic, gemini, openai_chat, openai_responses
from refold.server.proxy.apis.base import Api

APIS: Final[tuple[Api, ...]] = (anthropic.API, openai_chat.API, openai_responses.API, gemini.API)


def find_api(path: str) -> Api | None:
    """Return the API that a request to *path* is for; `None` if there is nothing to fold."""
    return next((api for api in APIS if api.path.search(path)), None)


def api_called(name: str) -> Api:
    """Return the API with this name."""
    return next(api for api in APIS if api.name == name)
