"""Budgets for session files: what no model sees goes along, and the chain of records holds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold import uncompress
from refold.messages.blocks import find_blocks
from refold.messages.formats import load
from tests.classic import compress
from tests.conversations import SENTENCES
from tests.messages.formats.test_anthropic import answer, use
from tests.messages.formats.test_openai_chat import text
from tests.messages.formats.test_session_files import item

Records = list[dict[str, Any]]
PROFILES = pytest.mark.parametrize("profile", ["classic", "standard"])


class Writer:
    """Writes a session file as Claude Code does: every record names the one before it."""

    def __init__(self) -> None:
        self.records: Records = []
        self.uuids: list[str] = []

    def turn(self, role: str, content: Any, parent: int = -1) -> None:
        self.link(parent, type=role, message={"role": role, "content": content})

    def link(self, parent: int = -1, **fields: Any) -> None:
        before = self.uuids[parent] if self.uuids else None
        self.uuids.append(f"uuid-{len(self.uuids)}")
        self.records.append(
            {"parentUuid": before, "sessionId": "s", "uuid": self.uuids[-1], **fields}
        )

    def step(self, number: int) -> None:
        """Write a call, a note in between, and its result."""
        self.turn("assistant", [text(f"Step {number}."), use(f"t{number}")])
        self.link(type="progress", data={"elapsed": number})
        self.turn("user", [answer(f"t{number}", f"{number}: " + " ".join(SENTENCES * 3))])
        self.records.append({"type": "file-history-snapshot", "messageId": f"m{number}"})


def claude_code(steps: int) -> Records:
    writer = Writer()
    writer.turn("user", "Fix the tide table.")
    for number in range(steps):
        writer.step(number)
    writer.turn("assistant", "Done.")
    writer.turn("user", "Thanks. Now the moon table.")
    return writer.records


def codex(steps: int) -> Records:
    event = {"timestamp": "t", "type": "event_msg", "payload": {"type": "token_count"}}

    def said(role: str, words: str) -> dict[str, Any]:
        content = [{"type": "input_text", "text": words}]
        return item({"type": "message", "role": role, "content": content})

    records = [said("user", "Fix the tide table.")]
    for number in range(steps):
        call = {"call_id": f"c{number}", "name": "shell", "arguments": "{}"}
        output = {"call_id": f"c{number}", "output": f"{number}: " + " ".join(SENTENCES * 3)}
        records += [
            item({"type": "function_call", **call}),
            event,
            item({"type": "function_call_output", **output}),
            event,
        ]
    return [*records, said("user", "Thanks. Now the moon table.")]


@PROFILES
@pytest.mark.parametrize("records", [claude_code(40), codex(40)], ids=["claude-code", "codex"])
@pytest.mark.parametrize("share", [pytest.param(0.5, marks=pytest.mark.campaign), 0.2, 0.05])
def test_they_fit_and_come_back(records: Records, share: float, profile: Any) -> None:
    budget = int(share * compress(records).tokens_before)
    result = compress(records, token_budget=budget, profile=profile)
    assert result.fits
    assert uncompress(result.messages, result.verbatim).messages == records
    assert result.messages[0] == records[0]
    assert result.messages[-1] == records[-1]


@PROFILES
def test_a_roll_up_links_what_came_before_to_what_comes_after(profile: Any) -> None:
    records = claude_code(40)
    result = compress(records, token_budget=300, profile=profile)
    rolled = next(record for record in result.messages if record not in records)
    assert rolled["type"] == rolled["message"]["role"] == "assistant"
    assert rolled["sessionId"] == "s"
    assert rolled["parentUuid"] == records[0]["uuid"]
    assert _dangling(result.messages) == set()


NOTES: list[tuple[Any, dict[str, Any]]] = [
    ("Caveat: what follows was made by local commands.", {"isMeta": True}),
    ([text("Continued from a conversation that ran out of room.")], {"isCompactSummary": True}),
    ("Search for the tides.", {"isSidechain": True}),
    ("<command-name>/clear</command-name>\n<command-args></command-args>", {}),
    ("<local-command-stdout>Cleared.</local-command-stdout>\n", {}),
]


@PROFILES
@pytest.mark.parametrize(
    "task",
    [
        "Fix the tide table.",
        "<b>Fix</b> the tide table.",
        "<command-name>/fix</command-name>\n<command-args>the tide table</command-args>",
    ],
)
def test_the_first_task_is_what_the_user_typed_in_claude_code(task: str, profile: Any) -> None:
    writer = Writer()
    for content, marks in NOTES:
        writer.link(type="user", message={"role": "user", "content": content}, **marks)
    writer.turn("user", task)
    records = writer.records + claude_code(40)[1:]
    result = compress(records, token_budget=300, profile=profile)
    assert result.fits
    assert records[len(NOTES)] in result.messages


@PROFILES
def test_the_first_task_is_what_the_user_typed_in_codex(profile: Any) -> None:
    def noted(*texts: str) -> dict[str, Any]:
        content = [{"type": "input_text", "text": words} for words in texts]
        return item({"type": "message", "role": "user", "content": content})

    rules = "# AGENTS.md instructions for /srv\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>"
    machine = "<environment_context>\n  <cwd>/srv</cwd>\n</environment_context>"
    task, *rest = codex(40)
    records = [noted(rules, machine), noted(machine), noted(rules), task, *rest]
    result = compress(records, token_budget=300, profile=profile)
    assert result.fits
    assert task in result.messages


def test_without_a_word_of_the_users_the_first_note_is_the_task() -> None:
    writer = Writer()
    writer.turn("user", "<task>\nFix the tide table.\n</task>")
    records = [*writer.records, *claude_code(40)[1:-1]]
    result = compress(records, token_budget=300)
    assert result.fits
    assert result.messages[0] == records[0]


def test_records_that_no_model_sees_are_not_counted_in_a_roll_up() -> None:
    records = claude_code(40)
    result = compress(records, token_budget=150)
    rolled = next(record for record in result.messages if record not in records)
    assert "78 messages" in rolled["message"]["content"][0]["text"]


@PROFILES
def test_notes_at_the_edges_of_a_roll_up_stay_where_they_are(profile: Any) -> None:
    meta = {"timestamp": "t", "type": "session_meta", "payload": {"id": "s"}}
    first, *rest, last = codex(40)
    records = [meta, first, meta, *rest, last, meta]
    result = compress(records, token_budget=300, profile=profile)
    assert result.messages[:3] == [meta, first, meta]
    assert result.messages[-3:] == records[-3:]


def test_a_record_and_a_later_branch_from_it_go_together() -> None:
    writer = Writer()
    for number in range(4):
        writer.turn("user", f"Say {number}.")
    writer.turn("user", "Say something else.", parent=1)
    writer.turn("user", "And now this.")
    loaded = load(writer.records, format_name="auto", strict_roles=False)
    assert find_blocks(loaded) == [range(1), range(1, 5), range(5, 6)]


@st.composite
def session_files(draw: st.DrawFn) -> Records:
    """Any mixture of turns, calls, notes and branches."""
    writer = Writer()
    writer.turn("user", "Begin.")
    kinds = st.sampled_from(["user", "assistant", "step", "note", "branch"])
    for number, kind in enumerate(draw(st.lists(kinds, min_size=3, max_size=25))):
        words = f"{number}: " + " ".join(SENTENCES[: draw(st.integers(1, 6))])
        match kind:
            case "step":
                writer.step(number)
            case "note":
                writer.link(type="system", subtype="info")
            case "branch":
                parent = draw(st.integers(-len(writer.uuids), -1))
                writer.turn("user", words, parent)
            case role:
                writer.turn(role, words)
    return writer.records


@given(session_files(), st.integers(20, 900), st.sampled_from(["classic", "standard"]))
def test_no_record_ever_loses_the_one_it_names(records: Records, budget: int, profile: Any) -> None:
    result = compress(records, token_budget=budget, profile=profile)
    assert _dangling(result.messages) == set()
    assert uncompress(result.messages, result.verbatim).messages == records


def _dangling(records: Iterable[dict[str, Any]]) -> set[str]:
    links = [record for record in records if "uuid" in record]
    named = {record["parentUuid"] for record in links} - {None}
    return named - {record["uuid"] for record in links}
