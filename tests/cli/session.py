"""Invented conversations in every file shape that the command line reads."""

from __future__ import annotations

import json
from typing import Any

TOPICS = ("harbour", "orchard", "library", "kitchen", "workshop", "meadow", "station", "archive")


def prose(topic: str) -> str:
    return " ".join(
        f"In the {topic} the {nth} shelf was counted again, and the list of the {topic} "
        f"was written down by hand before anybody went home."
        for nth in ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "last")
    )


def chat(count: int = 8) -> list[dict[str, Any]]:
    return [
        {
            "role": ("user", "assistant")[n % 2],
            "content": prose(TOPICS[n % len(TOPICS)]) + f" ({n})",
        }
        for n in range(count)
    ]


def jsonl(records: list[dict[str, Any]], **style: Any) -> bytes:
    return "".join(json.dumps(record, **style) + "\n" for record in records).encode()


def odd_lines() -> bytes:
    """Spell lines as no one style would: spaces, escapes, key order, floats, CRLF, blanks."""
    lines = [
        '{ "role":"user",   "content" : "caf\\u00e9 \\/ PROSE" , "x": 1.0, "y":1e5}',
        '{"content":"harbour PROSE","role":"assistant","n":[1,2 , 3]}',
        json.dumps({"role": "user", "content": prose("pier") + " é"}, ensure_ascii=False),
        "",
        '\t{"role": "assistant", "content": "dune PROSE", "z": -0.0, "big": 1E400}  ',
        '{"role":"user","content":"PROSE\\ud83d\\ude00","role":"user"}',
        '{"role": "assistant", "content": "\\u00e9PROSE"}',
        '{"role":"user","content":"thanks"}',
    ]
    lines = [line.replace("PROSE", prose(f"room {n}")) for n, line in enumerate(lines)]
    return ("\ufeff\r\n" + "\r\n".join(lines)).encode()


def claude_code() -> bytes:
    records: list[dict[str, Any]] = [{"type": "summary", "summary": "Counting", "leafUuid": "u7"}]
    for n, message in enumerate(chat()):
        content: Any = message["content"]
        if message["role"] == "assistant":
            content = [{"type": "text", "text": content}]
        records.append(
            {
                "parentUuid": f"u{n - 1}" if n else None,
                "sessionId": "s1",
                "type": message["role"],
                "message": {"role": message["role"], "content": content},
                "uuid": f"u{n}",
                "timestamp": f"2031-01-01T00:00:0{n}.000Z",
            }
        )
    records.append({"type": "file-history-snapshot", "messageId": "x", "snapshot": {}})
    return jsonl(records, separators=(",", ":"), ensure_ascii=False)


def codex() -> bytes:
    records: list[dict[str, Any]] = [
        {"timestamp": "2031-01-01T00:00:00Z", "type": "session_meta", "payload": {"id": "s"}}
    ]
    for n, message in enumerate(chat()):
        kind = "input_text" if message["role"] == "user" else "output_text"
        payload = {
            "type": "message",
            "role": message["role"],
            "content": [{"type": kind, "text": message["content"]}],
        }
        records.append(
            {"timestamp": f"2031-01-01T00:00:0{n}Z", "type": "response_item", "payload": payload}
        )
        records.append({"type": "event_msg", "payload": {"type": "token_count", "n": n}})
    call = {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c1"}
    output = {"type": "function_call_output", "call_id": "c1", "output": prose("shell")}
    records[3:3] = [{"type": "response_item", "payload": call}]
    records[4:4] = [{"type": "response_item", "payload": output}]
    return jsonl(records, separators=(",", ":"), ensure_ascii=False)


def shapes() -> dict[str, bytes]:
    """Return files that must come back byte for byte, by name."""
    messages = chat()
    with_ids = [{"id": f"id-{n}", **message} for n, message in enumerate(messages)]
    body = {"model": "m", "messages": messages, "temperature": 1.0, "stream": False}
    runs = [{"role": "assistant", "content": prose(topic)} for topic in TOPICS]
    return {
        "list.json": json.dumps(messages).encode(),
        "list-indent.json": json.dumps(messages, indent=2).encode() + b"\n",
        "list-tab.json": json.dumps(messages, indent="\t").encode(),
        "list-compact.json": json.dumps(messages, separators=(",", ":")).encode(),
        "list-crlf.json": json.dumps(messages, indent=4).replace("\n", "\r\n").encode(),
        "body.json": json.dumps(body).encode(),
        "body-indent.json": json.dumps(body, indent=3).encode(),
        "odd-list.json": b' [ {"role" : "user",\n"content":"'
        + prose("odd").encode()
        + b'"} ,\n\n'
        + json.dumps(messages)[1:].encode()
        + b" \n",
        "chat.jsonl": jsonl(messages),
        "ids.jsonl": jsonl(with_ids),
        "merged.jsonl": jsonl(runs),
        "no-newline.jsonl": jsonl(messages).rstrip(b"\n"),
        "umlaut.jsonl": jsonl([{"role": "user", "content": prose("Käse")}, *messages]),
        "odd.jsonl": odd_lines(),
        "claude.jsonl": claude_code(),
        "codex.jsonl": codex(),
    }
