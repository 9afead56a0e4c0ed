"""After /compact the task, the user's words and the plan are put back, in 1,000 tokens at most."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from refold.scan.tokens.estimate import estimate_tokens
from refold.server.compaction import MOST_TOKENS
from refold.server.mcp import Tools
from refold.server.originals import counts_beside, read_counts
from tests.cli.conftest import Refold
from tests.server.outputs import log

TASK = "Fix the flaky login test. Do not touch the database schema."
WISH = "Also: never use sleep() in a test, that has bitten us on CI."
STEP = "Freeze the clock in conftest.py"


class Transcript:
    """A session file as Claude Code writes it."""

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []

    def add(self, role: str, content: object, **marks: object) -> None:
        number = len(self.records) + 1
        known = {"sessionId": "s-1", "uuid": f"u{number}", "parentUuid": f"u{number - 1}"}
        turn = {"role": role, "content": content}
        self.records.append({**known, "type": role, "message": turn, **marks})

    def call(self, name: str, result: str, **arguments: object) -> None:
        id_ = f"t{len(self.records)}"
        use = {"type": "tool_use", "id": id_, "name": name, "input": arguments}
        self.add("assistant", [{"type": "text", "text": f"Next: {id_}."}, use])
        self.add("user", [{"type": "tool_result", "tool_use_id": id_, "content": result}])

    def compact(self) -> None:
        self.records.append({"type": "system", "subtype": "compact_boundary", "uuid": "b"})
        self.add("user", "This session is being continued: SUMMARY", isCompactSummary=True)

    def write(self, path: Path) -> Path:
        lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in self.records)
        path.write_text("".join(lines), encoding="utf-8")
        return path


def session(calls: int = 40) -> Transcript:
    made = Transcript()
    made.add("user", TASK)
    for number in range(calls):
        made.call("Bash", log(60), command=f"pytest tests/test_{number}.py")
        if number == calls // 4:
            made.add("user", WISH)
    todos = [{"content": STEP, "status": "in_progress", "activeForm": "Freezing the clock"}]
    made.call("TodoWrite", "Todos have been modified.", todos=todos)
    made.call("Bash", log(60), command="git status")
    return made


def ask(refold: Refold, store: Path, transcript: Path, **event: str) -> str:
    """Run the hook as Claude Code does; return what it puts back."""
    known = {"hook_event_name": "SessionStart", "source": "compact", "session_id": "s-1"}
    stdin = json.dumps({**known, "transcript_path": str(transcript), **event}).encode()
    ran = refold("hook", "session-start", "--store", store, stdin=stdin)
    assert (ran.code, ran.err) == (0, "")
    if not ran.out:
        return ""
    said = json.loads(ran.out)["hookSpecificOutput"]
    assert said["hookEventName"] == "SessionStart"
    text: str = said["additionalContext"]
    return text


@pytest.mark.parametrize("calls", [1, 40, 200])
@pytest.mark.parametrize("is_written", [True, False])
def test_what_a_summary_loses_is_put_back(
    refold: Refold, tmp_path: Path, calls: int, is_written: bool
) -> None:
    made = session(calls)
    if is_written:  # the summary may be in the file by the time the hook runs
        made.compact()
    text = ask(refold, tmp_path / "refold.db", made.write(tmp_path / "s.jsonl"))
    for said in (TASK, WISH, STEP):
        assert said in text
    assert "SUMMARY" not in text
    assert estimate_tokens(text) <= MOST_TOKENS


def test_the_past_is_found(refold: Refold, tmp_path: Path) -> None:
    store, file = tmp_path / "refold.db", session().write(tmp_path / "s.jsonl")
    text = ask(refold, store, file)
    name = text.split("with conversation '")[1].split("'")[0]
    with closing(Tools(store)) as tools:
        found = tools.retrieve({"conversation": name, "query": "refused by which database?"})
        assert "connection refused by db-7" in found
        (handle, *_) = re.findall(r"messages, shortened (#[a-z]+)", text)
        whole = tools.retrieve({"conversation": name, "handle": handle})
        assert "pytest tests/test_1.py" in whole
        assert tools.sessions() == [name]
        assert tools.session(name) == text
    ran = refold("retrieve", file, "--query", "what about sleep?")
    assert WISH in ran.out.decode()
    assert TASK in refold("show", file, "--no-pager").out.decode()


def codex_session(calls: range) -> list[dict[str, Any]]:
    """Return the records of a session file as Codex writes it, up to where it has compacted."""

    def message(role: str, text: str) -> dict[str, Any]:
        kind = "output_text" if role == "assistant" else "input_text"
        return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}

    items = [message("developer", "INSTRUCTIONS " * 400), message("user", TASK)]
    for number in calls:
        call = {"type": "function_call", "name": "exec_command", "call_id": f"c{number}"}
        items.append({**call, "arguments": json.dumps({"cmd": f"pytest tests/test_{number}.py"})})
        output = {"type": "function_call_output", "call_id": f"c{number}", "output": log(60)}
        items.append(output)
    items.append(message("assistant", "SUMMARY " * 400))
    records = [{"type": "session_meta", "payload": {"id": "s-1"}}]
    for item in items:
        records.append({"type": "response_item", "payload": item})
        records.append({"type": "event_msg", "payload": {"type": "token_count"}})
    summary = {"message": "Here is it: SUMMARY", "replacement_history": items[:2]}
    records.append({"type": "compacted", "payload": summary})
    return [*records, {"type": "turn_context", "payload": {"cwd": "/"}}]


def test_codex_gets_its_past_back_as_well(refold: Refold, tmp_path: Path) -> None:
    first = codex_session(range(20))
    follow = {"role": "user", "content": [{"type": "input_text", "text": WISH}]}
    second = [
        {"type": "response_item", "payload": {"type": "message", **follow}},
        *codex_session(range(20, 23))[5:],
    ]
    for records, said in ((first, (TASK, "test_19")), ([*first, *second], (TASK, WISH, "test_22"))):
        file = tmp_path / f"{len(records)}.jsonl"
        file.write_text("".join(json.dumps(record) + "\n" for record in records))
        text = ask(refold, tmp_path / "refold.db", file)
        assert all(words in text for words in said)
        assert "INSTRUCTIONS" not in text
        assert estimate_tokens(text) <= MOST_TOKENS
    assert not ask(refold, tmp_path / "refold.db", file, source="startup")


def test_a_session_is_shown_by_its_id(
    refold: Refold, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of it, however often it was compacted: the session file only grows."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    folder = tmp_path / "projects" / "-home-me-shop"
    folder.mkdir(parents=True)
    made = session(20)
    made.compact()
    made.add("assistant", "Going on.")
    made.write(folder / "7c2e91d4-aaaa.jsonl")
    session(1).write(folder / "99999999-bbbb.jsonl")
    for name in ("7c2e91d4-aaaa", "7c2e", "shop/7c2e91d4"):
        shown = refold("show", "--session", name, "--no-pager").out.decode()
        assert all(said in shown for said in (TASK, WISH, STEP, "Going on."))
    missing = refold("show", "--session", "0000")
    assert (missing.code, "refold watch lists them" in missing.err) == (2, True)
    assert "either a FILE or a --session" in refold("show").err
    assert "either a FILE or a --session" in refold("show", "x.jsonl", "--session", "7c2e").err


def test_the_second_compaction_puts_back_all_of_it(refold: Refold, tmp_path: Path) -> None:
    made = session(20)
    made.compact()
    made.add("assistant", "Going on.")
    made.add("user", "And update the changelog.")
    made.add("assistant", "Done.")
    made.compact()
    text = ask(refold, tmp_path / "refold.db", made.write(tmp_path / "s.jsonl"))
    for said in (TASK, WISH, "And update the changelog."):
        assert said in text


def test_a_separator_of_lines_in_a_text_ends_no_record(refold: Refold, tmp_path: Path) -> None:
    made = session(10)
    wish = "Never rename the harbour table."
    made.add("user", f"Pasted:\u2028{wish}\x85")
    made.compact()
    assert wish in ask(refold, tmp_path / "refold.db", made.write(tmp_path / "s.jsonl"))


def test_a_long_task_takes_no_more_room(refold: Refold, tmp_path: Path) -> None:
    made = Transcript()
    made.add("user", f"{TASK} {log(200)}")
    made.add("assistant", "I see.")
    text = ask(refold, tmp_path / "refold.db", made.write(tmp_path / "s.jsonl"))
    assert estimate_tokens(text) <= MOST_TOKENS
    assert TASK in text
    assert "refold_retrieve" in text


@pytest.mark.parametrize(
    "event",
    [{"source": "startup"}, {"source": "resume"}, {"hook_event_name": "PreCompact"}],
)
def test_other_events_are_passed_over(
    refold: Refold, tmp_path: Path, event: dict[str, str]
) -> None:
    store = tmp_path / "refold.db"
    assert ask(refold, store, session().write(tmp_path / "s.jsonl"), **event) == ""
    assert not store.exists()


def test_trouble_is_counted_and_says_nothing(refold: Refold, tmp_path: Path) -> None:
    store = tmp_path / "refold.db"
    assert ask(refold, store, tmp_path / "none.jsonl") == ""
    assert read_counts(counts_beside(store))["failures:FileNotFoundError"] == 1
    (tmp_path / "odd.jsonl").write_bytes(b'{"type": 1}\n\xff[]\n{"type": "user", "mess')
    assert ask(refold, store, tmp_path / "odd.jsonl") == ""
    store.write_bytes(b"no database" * 100)
    assert ask(refold, store, session().write(tmp_path / "s.jsonl")) == ""


def test_the_installed_command_runs_by_itself(refold: Refold, tmp_path: Path) -> None:
    """As Claude Code runs it: by a shell, somewhere else, with the event on standard input."""
    file = session(5).write(tmp_path / "s.jsonl")
    env = {"HOME": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}
    run = [sys.executable, "-m", "refold", "install", "claude", "--hook"]
    subprocess.run(run, env=env, capture_output=True, check=True)
    settings = json.loads((tmp_path / ".claude" / "settings.json").read_bytes())
    (entry,) = settings["hooks"]["SessionStart"]
    assert entry["matcher"] == "compact"
    event = {"hook_event_name": "SessionStart", "source": "compact", "session_id": "s-1"}
    stdin = json.dumps({**event, "transcript_path": str(file)}).encode()
    (hook,) = entry["hooks"]
    ran = subprocess.run(
        hook["command"], shell=True, env=env, cwd="/", input=stdin, capture_output=True, check=True
    )
    assert TASK in json.loads(ran.stdout)["hookSpecificOutput"]["additionalContext"]
