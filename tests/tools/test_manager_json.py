"""What a manager makes of JSON: with a model, with a prompt of the caller's own, and without."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

import pytest

from refold import CompressionManager

PROMPT = (
    "You are a JSON compressor. Rewrite the JSON without losing facts. "
    "Preserve: id, name, status, error. Remove: timestamps, audit fields, empty arrays."
)
ROWS: list[dict[str, Any]] = [
    {
        "id": 4_100 + n,
        "name": f"job {n}",
        "status": "failed" if n == 3 else "done",
        "error": "disk is full" if n == 3 else None,
        "created_at": f"2031-03-{n + 10}T08:15:00Z",
        "audit": {"by": "cron", "trace": f"f00dfeed{n:04}"},
        "tags": [],
    }
    for n in range(12)
]
TEXT = json.dumps(ROWS, indent=2)


def talk(text: str = TEXT) -> list[dict[str, Any]]:
    call = {"id": "c1", "type": "function", "function": {"name": "list_jobs", "arguments": "{}"}}
    return [
        {"role": "user", "content": "Which jobs failed?"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": text},
        {"role": "assistant", "content": "I will look."},
    ]


def answering(answer: Callable[[str], str]) -> tuple[Callable[[Any], str], list[str]]:
    """Return a model and the list of what it is asked."""
    asked: list[str] = []

    def generate(messages: Any) -> str:
        asked.append("\n".join(message["content"] for message in messages))
        return answer(asked[-1])

    return generate, asked


def shortened(generate: Any = None, **choices: Any) -> tuple[str, Any]:
    messages = talk()
    manager = CompressionManager(generate=generate, **choices)
    report = manager.compress(messages)
    return messages[2].get("compressed_content", ""), report.items[-1]


def test_the_documented_prompt_drops_fields() -> None:
    short_rows = [
        {name: row[name] for name in ("id", "name", "status", "error") if row[name]} for row in ROWS
    ]
    generate, asked = answering(lambda _: json.dumps(short_rows))
    short, item = shortened(generate, prompt=PROMPT)
    assert item.by == "model"
    assert PROMPT in asked[0]
    assert json.loads(short)[:-1] == short_rows  # the last one is the note
    assert "created_at" not in short
    assert "[summarized from 1," in short


def test_it_may_not_invent() -> None:
    generate, _ = answering(lambda _: '[{"id": 9999, "name": "job 3", "status": "failed"}]')
    short, item = shortened(generate, prompt=PROMPT)
    assert item.by == "engine"
    assert "9999" not in short
    assert "nothing_invented: 1 number not in the source" in item.reason


def test_it_may_write_something_else_than_json() -> None:
    generate, _ = answering(lambda _: "4103 job 3 failed: disk is full; 999 others are done")
    short, item = shortened(generate, prompt="Say in a line of prose which jobs failed.")
    assert item.by == "engine"  # 999 is not in the text
    generate, _ = answering(lambda _: "4103 job 3 failed: disk is full; all others are done")
    short, item = shortened(generate, prompt="Say in a line of prose which jobs failed.")
    assert item.by == "model"
    assert short.startswith("4103 job 3 failed")


@pytest.mark.parametrize("prompt", [None, PROMPT])
def test_without_a_model_no_field_is_lost(prompt: str | None) -> None:
    short, item = shortened(**({} if prompt is None else {"prompt": prompt}))
    assert item.by == "engine"
    assert len(short) < len(TEXT)
    for row in ROWS:
        assert str(row["id"]) in short
        assert str(row["created_at"])[8:] in short or "2031-03" in short
    assert "disk is full" in short


def test_reasons_and_debug_lines_show_no_values(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    secrets = (
        "sk-proj-Zx81aa02Qw93mmPLk2",
        "hunter2-not-a-word",
        "4111 1111 1111 1111",
        "7731-xyz",
    )
    text = " ".join(
        f"The login {n} is password={secret} for now." for n, secret in enumerate(secrets)
    )
    messages = talk(f"{text} " + "It was a long day and nobody read the gauge at all. " * 20)
    for answer in ("The id is 99887 at https://x.example/7 for the login.", "", "I cannot help."):
        generate, _ = answering(lambda _, answer=answer: answer)  # type: ignore[misc]
        manager = CompressionManager(generate=generate, debug=True, prompt=PROMPT)
        with caplog.at_level(logging.DEBUG, "refold.tools"):
            report = manager.compress([dict(message) for message in messages])
        shown = repr(report) + "".join(item.reason for item in report.items)
        shown += caplog.text + "".join(capsys.readouterr())
        assert not any(secret in shown for secret in secrets)
        assert "99887" not in shown
        assert "x.example" not in shown


def test_an_error_that_quotes_a_secret_is_shown_without_it() -> None:
    def generate(_: Any) -> str:
        raise ValueError("invalid api_key=sk-proj-Zx81aa02Qw93mmPLk2aa77bb")

    _, item = shortened(generate, prompt=PROMPT)
    assert item.status == "failed"
    assert "ValueError" in item.reason
    assert "Zx81aa02" not in item.reason
