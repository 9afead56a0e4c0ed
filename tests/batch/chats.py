"""Small invented conversations, and files of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TOPICS = ("harbour", "orchard", "library", "kitchen", "workshop", "meadow", "station", "archive")


def chat(number: int, turns: int = 6) -> list[dict[str, Any]]:
    """Return a conversation like no other: prose, and records that a tool has brought."""
    topic = TOPICS[number % len(TOPICS)]
    told = " ".join(
        f"In the {topic} the {nth} shelf was counted on day {number}, and nobody was surprised "
        f"that the list of the {topic} had {number + len(nth)} lines more."
        for nth in ("first", "second", "third", "fourth", "fifth", "last")
    )
    rows = json.dumps([{"id": n, "place": topic, "count": n * number} for n in range(20)])
    call = {"name": "count", "arguments": json.dumps({"place": topic})}
    turn: list[dict[str, Any]] = [
        {"role": "user", "content": f"Count the {topic} again, please, for day {number}."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "type": "function", "function": call}],
        },
        {"role": "tool", "tool_call_id": "c", "content": rows},
        {"role": "assistant", "content": told},
    ]
    return [{"role": "system", "content": "You count things."}, *(turn * turns)[: 4 * turns]]


def line(number: int) -> str:
    """Spell a record: lists and objects, in the styles that are common."""
    value: Any = chat(number)
    if number % 3:
        value = {"id": number, "messages": value, "split": "train"}
    separators = (",", ":") if number % 2 else None
    return json.dumps(value, ensure_ascii=bool(number % 5), separators=separators)


def write_lines(path: Path, count: int, first: int = 0) -> list[str]:
    """Write a file of that many records; return its lines."""
    lines = [line(number) for number in range(first, first + count)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{one}\n" for one in lines), encoding="utf-8")
    return lines


def tree(folder: Path) -> dict[str, bytes]:
    """Return every file below *folder*."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def parts(folder: Path) -> bytes:
    """Return all parts of an output, one after the other."""
    return b"".join(file.read_bytes() for file in sorted(folder.glob("part-*")))
