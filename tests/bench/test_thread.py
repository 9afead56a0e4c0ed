"""The bench of the thread: what is typed, what changes something, where pieces end."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[2] / "bench"))

from tests.patience import FOR_EVER

from changing import Traces, find_changes, is_changing, subjects_of
from thread import find_cuts
from thread_figures import Figure
from typed import Shown, Typed, find_typed
from whole_pieces import Originals, check_pieces

BENCH = Path(__file__).parents[2] / "bench"


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str | None, *calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": text, **({"tool_calls": list(calls)} if calls else {})}


def call(id_: str, name: str, **arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": id_, "type": "function", "function": function}


def result(id_: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": text}


# what a person typed


@pytest.mark.parametrize(
    "note",
    [
        "<command-name>/clear</command-name>",
        "<local-command-stdout>Bye!</local-command-stdout>",
        "<system-reminder>Today is Monday.</system-reminder>",
        "<returncode>0</returncode>\n<output>\n3 files\n</output>",
        "[Request interrupted by user]",
        "/clear",
        "/add src/tide.py\nAdded src/tide.py to the chat.",
        "Tokens: 4,115 sent, 80 received.\nApplied edit to src/tide.py",
        "repair(",
        "",
    ],
)
def test_notes_of_a_harness_are_not_typed(note: str) -> None:
    assert find_typed([user(note)]) == []


@pytest.mark.parametrize(
    ("message", "typed"),
    [
        ("Fix the tide table.", "Fix the tide table."),
        ("<pr_description>\nFix it.\n</pr_description>", "<pr_description>\nFix it."),
        ("/clear\nprint the ledger", "print the ledger"),
        ("/ask which ledger is it", "which ledger is it"),
        ("Tokens: 9 sent, 2 received.\nuse a list", "use a list"),
        (
            "# Context from my IDE setup:\n- a.ts\n## My request for Codex:\nAdd a test",
            "Add a test",
        ),
        ("It fails:\n======== test session starts ====\nE  boom", "It fails:"),
    ],
)
def test_what_is_left_without_notes_is_typed(message: str, typed: str) -> None:
    (found,) = find_typed([user(message)])
    assert found.text.startswith(typed)


def test_a_prompt_ends_an_observation_but_also_the_first_task() -> None:
    task, seen = user("Repair the gate.\n(Open file: n/a)\nbash-$"), user("a.py b.py\nbash-$")
    assert [one.index for one in find_typed([task, assistant("Let me look."), seen])] == [0]


def test_a_long_message_is_no_short_one() -> None:
    assert Typed(0, "word " * 150).is_short
    assert not Typed(0, "word " * 151).is_short
    assert not Typed(0, "潮汐表" * 200).is_short


@pytest.mark.parametrize(
    ("typed", "view", "has_trace", "is_whole"),
    [
        ("Mend the gate. Do not touch the wall.", "user: Do not touch the wall.", True, False),
        ("Mend the gate. Leave it.", "Mend the\n  gate. Leave it.", True, True),
        ("Mend the gate now.", "They mend gates now.", False, False),
        ("yes", "user: yes", True, True),
        ("yes", "yes, said the gardener when the gate was mended", False, False),
        ("yes", "yes", True, True),
    ],
)
def test_a_trace_is_a_whole_sentence(
    typed: str, view: str, has_trace: bool, is_whole: bool
) -> None:
    shown = Shown([{"role": "system", "content": typed}, assistant(view)])
    assert shown.has_trace(Typed(0, typed)) == has_trace
    assert shown.has_whole(Typed(0, typed)) == is_whole


# calls that changed something


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Edit", {"file_path": "a.py"}),
        ("cancel_order", {"id": "W1"}),
        ("refuel", {}),
        ("get_and_delete_draft", {"id": 3}),
        ("mcp__tracker__create_issue", {"title": "gate"}),
        ("bash", {"command": "cat a.py > b.py"}),
        ("bash", {"command": "ls && rm a.py"}),
        ("bash", {"command": "cat <<'EOF' > a.py\nls\nEOF"}),
        ("Bash", {"command": "sed -i 's/a/b/' a.py"}),
        ("shell", {"command": ["bash", "-lc", "git commit -m gate"]}),
        ("bash", {"command": "python repair.py"}),
    ],
)
def test_what_is_not_known_to_read_changes_something(name: str, arguments: dict[str, Any]) -> None:
    assert is_changing(name, json.dumps(arguments))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Read", {"file_path": "a.py"}),
        ("get_order_details", {"id": "W1"}),
        ("think", {"thought": "delete it"}),
        ("TodoWrite", {"todos": []}),
        ("bash", {"command": "cd src && grep -rn 'a > b' . | head -5 2>/dev/null"}),
        ("bash", {"command": "sed -n '1,20p' a.py; git diff --stat"}),
        ("bash", {"command": "python -m pytest -q"}),
        ("shell", {"command": ["bash", "-lc", "git status -sb"]}),
        ("check_status", {}),
    ],
)
def test_reading_changes_nothing(name: str, arguments: dict[str, Any]) -> None:
    assert not is_changing(name, json.dumps(arguments))


def test_a_call_that_failed_changed_nothing() -> None:
    assert not is_changing("cancel_order", '{"id": "W1"}', "Error: no such order")
    assert is_changing("bash", '{"command": "rm a b"}', "error: b is missing")


def test_subjects_are_paths_ids_and_first_values() -> None:
    assert subjects_of("Edit", '{"file_path": "/home/me/src/tide.py"}')[0] == "src/tide.py"
    assert "#W17" in subjects_of("cancel_order", '{"order_id": "#W17", "reason": "late"}')
    assert subjects_of("bash", '{"command": "ls; git checkout main"}') == ("git checkout main",)
    patch = "apply_patch <<'P'\n*** Update File: src/tide.py\n+x\nP"
    assert subjects_of("shell", json.dumps({"command": patch})) == ("src/tide.py",)
    assert subjects_of("submit", "{}") == ()


def test_a_change_is_traced_by_its_name_and_subject_together() -> None:
    past = [
        assistant(None, call("1", "cancel_order", id="W17"), call("2", "get_order", id="W18")),
        *(result("1", "done"), result("2", "open")),
        assistant(None, call("3", "cancel_order", id="W19")),
    ]
    (change,) = find_changes(past)  # the last one has no answer yet
    assert Traces(past).has(change)
    assert Traces([assistant("cancel_order W17: done")]).has(change)
    assert not Traces([assistant("cancel_order was called\nabout W17")]).has(change)
    assert not Traces([assistant("cancel_orders W17")]).has(change)
    assert not Traces([assistant(None, call("3", "get_order", id="W17"))]).has(change)


# pieces


CITIES = "city|zip|note\nLos Angeles|6455|dry\nSan Jose|9511|wet"
PAST = [
    user("The gate is open and the wall is dry. Mend both."),
    assistant(None, call("1", "write", text='She said "go".\nThen she left the yard.')),
    result("1", CITIES),
    result("2", json.dumps({"note": "The harbour is closed today", "count": 3})),
]


def faults_of(view: str) -> list[tuple[str, str]]:
    tally = check_pieces(Originals(PAST), [assistant(view)])
    return [(fault.edge, fault.inside) for fault in tally.faults]


@pytest.mark.parametrize(
    ("view", "faults"),
    [
        ("[… #abcdef]\nuser: Mend both.", []),
        ("The gate is open … Mend both.", []),
        ("tool: Los Angeles|6455|dry\n… 1 line …", []),
        ("3 … 6455|dry", []),
        ("Angeles|6455|dry", [("begins", "cell")]),
        ("… Los Angeles|64", [("ends", "word")]),
        ("The gate is op … Mend both.", [("ends", "word")]),
        ('… closed today", "count": 3}', [("begins", "string")]),
        ('{"note": "The harbour …', [("ends", "string")]),
        ('go\\".\\nThen she left …', [("begins", "string")]),
        ("Then she left the yard.", []),
    ],
)
def test_pieces_are_looked_up_where_they_come_from(
    view: str, faults: list[tuple[str, str]]
) -> None:
    assert faults_of(view) == faults


def test_what_was_written_anew_is_counted_apart() -> None:
    tally = check_pieces(Originals(PAST), [assistant("{note=harbour count:3}"), PAST[0]])
    assert (tally.fragments, tally.unknown, tally.faults) == (1, 1, [])


# the whole bench


def test_cuts_are_before_turns_of_the_agent() -> None:
    run = [user("a"), assistant("b"), user("c"), assistant("d"), user("e")]
    assert find_cuts(run, (50, 75)) == [3]
    assert find_cuts(run, (50, 100)) == [3, 5]


def test_a_figure_has_its_target_at_every_share() -> None:
    most = Figure("lost", targets={50: 1, 15: 10})
    assert [most.target(at) for at in (70, 50, 30, 10)] == [1, 1, 10, 10]
    assert most.is_missed(2, 100, 50)
    assert not most.is_missed(2, 100, 15)
    assert not most.is_missed(0, 0, 50)
    assert Figure("kept", at_least=True, targets={30: 98}).is_missed(97, 100, 30)


def made_run(turns: int) -> list[dict[str, Any]]:
    run: list[dict[str, Any]] = [{"role": "system", "content": "You run a harbour."}]
    for n in range(turns):
        log = "\n".join(
            f"bay {n}.{line} crate K{n}{line} moved to wall {line}" for line in range(30)
        )
        run += [
            user(f"Move crate K{n} to bay {n} now, please."),
            assistant("I move it.", call(f"c{n}", "move_crate", id=f"K{n}", bay=n)),
            result(f"c{n}", log),
            assistant(f"Crate K{n} stands in bay {n}."),
        ]
    return run


def bench(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BENCH / "thread.py"), str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=FOR_EVER, check=False)


@pytest.mark.campaign
def test_the_bench_prints_a_table_for_each_share(tmp_path: Path) -> None:
    line = json.dumps({"messages": made_run(12)}) + "\n"
    (tmp_path / "trajectory.tau-own.jsonl.gz").write_bytes(gzip.compress(line.encode()))
    done = bench(tmp_path, "--shares", "95,10", "--workers", "1", "--examples", "1")
    assert not done.stderr
    assert "at 95 %" in done.stdout
    assert "at 10 %" in done.stdout
    assert "service" in done.stdout
    assert done.returncode == int("MISSED" in done.stdout)


@pytest.mark.campaign
def test_without_a_long_run_there_is_nothing_to_measure(tmp_path: Path) -> None:
    assert bench(tmp_path).returncode == 2
    line = json.dumps({"messages": made_run(1)}) + "\n"
    (tmp_path / "chat.own.jsonl.gz").write_bytes(gzip.compress(line.encode()))
    done = bench(tmp_path)
    assert done.returncode == 2
    assert "no run" in done.stderr
