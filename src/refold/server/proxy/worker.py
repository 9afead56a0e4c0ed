"""A worker: a process that folds one request after the other, that arrives on its input.

It ends when its input does.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any, Final

from refold.conversation.session import Session
from refold.errors import JobError, describe
from refold.notation.marks import show_handle
from refold.server.proxy.folding import Folder
from refold.server.proxy.request import Folding, Job, make_frame, read_frame
from refold.server.proxy.settings import Settings
from refold.stores.base import Store
from refold.tools.shapes import find_texts
from refold.tools.text_store import search_lines

_API: Final = "openai-chat"
_HANDLE: Final = re.compile(r"#[0-9a-z]{5,36}(?=\])")
_KEY: Final = "proxy:original:"


def _operations(folder: Folder) -> Mapping[str, Callable[..., Any]]:
    return {
        "fold": folder.fold,
        "retrieve": folder.retrieve,
        "rounds": folder.enter_rounds,
        "off": folder.turn_off,
        "look": folder.look,
        "compress": lambda *given: compress(folder, *given),
        "original": lambda *given: original(folder, *given),
        "ping": lambda: None,
    }


def warm_up() -> None:
    """Load what folding needs, so that the first request does not wait for it past its deadline."""
    log = "\n".join(f"10:00:{n:02} INFO worker {n} took {7 * n} ms" for n in range(200))
    call = {"type": "tool_use", "id": "c", "name": "read_log", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "c", "content": log}
    session = Session(token_budget=2_000, thinking="append")
    session.append({"role": "user", "content": "Why?"})
    session.append({"role": "assistant", "content": [call]})
    session.append({"role": "user", "content": [result]})
    session.view()


def main() -> None:
    """Work until the input ends."""
    source, target = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # whatever is printed must not end up among the answers
    settings: Settings = read_frame(source)
    warm_up()
    operations = _operations(Folder(settings, time.monotonic))
    while True:
        try:
            number, name, given = read_frame(source)
        except EOFError:
            return
        answer: object
        try:
            answer = operations[name](*given)
        except Exception as error:  # noqa: BLE001 - a request must never end the worker
            answer = JobError(describe(error))
        target.write(make_frame((number, answer)))
        target.flush()


# `/v1/compress` and `/v1/retrieve/HASH` are the contract of LiteLLM's guardrail. It puts messages
# back by their place, so that as many come out as went in. A handle must be twelve to twenty-four
# hexadecimal digits there, so each row that is shortened gets such a one, and its original is kept
# under it, in the scope of the key that asked.


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
        return row  # it has no handle to be fetched by
    originals[name] = row
    return {**short, "content": text}


if __name__ == "__main__":
    main()
