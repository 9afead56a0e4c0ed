"""The contract of LiteLLM's guardrail, `/v1/compress` and `/v1/retrieve`: rows in, rows out.

The guardrail puts messages back by their place, so as many come out as went in. A handle must be 12
to 24 hexadecimal digits there, so each row that is shortened gets one, and its original is kept
under it, in the scope of the caller's key.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from hashlib import blake2b
from typing import Any, Final

from refold.errors import MessageError
from refold.notation.marks import show_handle
from refold.server.proxy.request import Folded, Job
from refold.stores.base import Store
from refold.tools.search import search
from refold.tools.shapes import find_texts

_HANDLE: Final = re.compile(r"#[0-9a-z]{5,36}(?=\])")
_KEY: Final = "proxy:original:"


async def answer_rows(
    fold: Callable[[Job], Awaitable[Folded]],
    store: Store,
    tenant: str,
    body: bytes,
    deadline: float,
) -> dict[str, Any]:
    """Answer `POST /v1/compress`; the rows that were shortened are named in `ccr_hashes`."""
    data = json.loads(body)
    rows = data.get("messages") if isinstance(data, dict) else None
    if not isinstance(rows, list):
        raise MessageError("must be a list", "messages")
    folded = await fold(Job("openai-chat", "", tenant, "", body, deadline, is_lossless=True))
    sent = rows if folded.body is None else json.loads(folded.body)["messages"]
    originals: dict[str, Any] = {}
    result = [_named(row, short, originals) for row, short in zip(rows, sent, strict=True)]
    if originals:
        store.put({_KEY + name: row for name, row in originals.items()})
    before, after = folded.tokens_before, folded.tokens_after
    return {
        "messages": result,
        "tokens_before": before,
        "tokens_after": after,
        "tokens_saved": before - after,
        "compression_ratio": round(after / before, 4) if before else 1.0,
        "transforms_applied": ["refold"] if originals else [],
        "ccr_hashes": list(originals),
    }


def original_of(store: Store, name: str, query: str) -> str | None:
    """Answer `GET /v1/retrieve/HASH`: the whole text, or its pieces that fit a *query*."""
    row = store.get([_KEY + name]).get(_KEY + name)
    if row is None:
        return None
    if query:
        return search([row], query)
    return "\n\n".join(one.text for one in find_texts([row]))


def _named(row: Any, short: Any, originals: dict[str, Any]) -> Any:
    """Return a shortened row with a handle that the guardrail takes; note its original."""
    if short == row or not isinstance(short.get("content"), str):
        return short
    name = blake2b(json.dumps([row, short]).encode(), digest_size=12).hexdigest()
    text, count = _HANDLE.subn(show_handle(name), short["content"], count=1)
    if not count:
        return row  # it has no handle to be fetched by
    originals[name] = row
    return {**short, "content": text}
