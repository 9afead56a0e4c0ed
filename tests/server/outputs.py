"""Outputs of tools that are long enough to be shortened."""

from __future__ import annotations

import json
from typing import Any

ERROR = "2026-11-16 10:02:13,001 ERROR worker-3 connection refused by db-7:5432 after 3 tries"


def log(lines: int = 200, *, error: bool = True) -> str:
    rows = [
        f"2026-11-16 10:{n // 60:02d}:{n % 60:02d},{n * 37 % 1000:03d} INFO worker-{n % 7} "
        f"request {1_000_000 + n * 7919} done in {n * 13 % 400} ms"
        for n in range(lines)
    ]
    if error:
        rows.insert(lines * 2 // 3, ERROR)
    return "\n".join(rows)


def source(lines: int = 150) -> str:
    return "\n".join(
        f"def step_{n}(value: int) -> int:\n    return value * {n}\n" for n in range(lines)
    )


def event(tool: str, output: Any) -> bytes:
    known = {"hook_event_name": "PostToolUse", "session_id": "s1", "cwd": "/repo"}
    call = {"tool_name": tool, "tool_input": {}, "tool_response": output}
    return json.dumps({**known, **call}).encode()
