"""`/v1/compress` and `/v1/retrieve/HASH`: the contract that LiteLLM's guardrail speaks.

It puts messages back by their place, so that as many come out as went in. A handle must be twelve
to twenty-four hexadecimal digits there, so each row that is shortened gets such a one, and its
original is kept under it, in the scope of the key that asked.
"""

from __future__ import annotations

import json
import re
from hashlib import blake2b
from typing import Any, Final

from refold.notation.marks import show_handle
from refold.server.proxy.folding import Folder
from refold.server.proxy.request import Folding, Job
from refold.stores.base import Store
from refold.tools.shapes import find_texts
from refold.tools.text_store import search_lines

_API: Final = "openai-chat"
_HANDLE: Final = re.compile(r"#[0-9a-z]{5,36}(?=\])")
_KEY: Final = "proxy:original:"


def compress(folder: Folder, tenant: str, body: bytes, deadline: float) -> dict[str, Any]:
    """Answer `POST /v1/compress`; the rows that were shortened are named in `ccr_hashes`."""
    given = json.loads(body)
    rows = given.get("messages") if isinstance(given, dict) else None
    if not isinstance(rows, list):
        raise ValueError("messages must be a list")
    folded = folder.fold(Job(_API, "", tenant, "", body, deadline, Folding.ROWS))
    shown = rows if folded.body is None else json.loads(folded.body)["messages"]
    originals: dict[str, Any] = {}
    result = [_named(row, short, originals) for row, short in zip(rows, shown, strict=True)]
    if originals:
        folder.store(tenant).put({_KEY + name: row for name, row in originals.items()})
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


def original(folder: Folder, tenant: str, name: str, query: str) -> str | None:
    """Answer `GET /v1/retrieve/HASH`: the whole text, or its lines around a *query*."""
    store: Store = folder.store(tenant)
    row = store.get([_KEY + name]).get(_KEY + name)
    if row is None:
        return None
    text = "\n\n".join(found.text for found in find_texts([row]))
    if not query:
        return text
    found, hits = search_lines(text.split("\n"), query, 1)
    return found if hits else text


def _named(row: Any, short: Any, originals: dict[str, Any]) -> Any:
    """Return a shortened row with a handle that the guardrail takes."""
    if short == row or not isinstance(short.get("content"), str):
        return short
    name = blake2b(json.dumps([row, short]).encode(), digest_size=12).hexdigest()
    text, count = _HANDLE.subn(show_handle(name), short["content"], count=1)
    if not count:
        return row  # nobody could ask for it
    originals[name] = row
    return {**short, "content": text}
