"""Without a budget everything is spelled shorter and nothing is lost: each text can be read."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from refold.codecs import CodecTable
from refold.fold.whole import Speller, spell_all
from refold.messages.folds import Plan
from refold.messages.token_count import CountedTexts
from refold.scan.tokens.estimate import estimate_tokens
from tests.conversations import Conversation
from tests.plan.runs import anthropic_call, call, counted, read, runs, source_code

sys.path.append(str(Path(__file__).parents[2] / "bench"))

from undone import Seen, undo

CODE = source_code(1)
CHANGED = CODE.replace("queue_3.pull", "queue_3.push")
RECORDS = json.dumps([{"id": n, "name": f"row {n}", "ok": True} for n in range(30)], indent=2)


def spell(messages: Conversation, whole: dict[int, str] | None = None, **choices: Any) -> Plan:
    return spell_all(read(messages), whole or {}, counted(), CodecTable(), **choices)


def spell_estimated(messages: Conversation) -> Plan:
    """Spell by the estimate of tokens: words alone do not say what JSON costs."""
    tokens = CountedTexts(estimate_tokens, estimate_tokens)
    return spell_all(read(messages), {}, tokens, CodecTable())


def body_of(shown: str) -> str:
    head, _, body = shown.partition("\n")
    assert head.startswith("[reformatted #")
    return body


def assert_readable(plan: Plan) -> None:
    """Every text that is not shown as it was can be had from what is shown before it."""
    readable: list[str] = []
    seen = Seen()
    for fold in plan:
        message = fold.sources[0]
        for number, (part, shown) in enumerate(zip(message.parts, fold.texts_after, strict=True)):
            reason = fold.outcomes[0][number].reason
            if reason == "same_read":
                assert shown.startswith("[same as the ")
                assert part.text in readable
            elif fold.outcomes[0][number].action == "recoded":
                by = tuple(n for n in reason.removeprefix("recoded:").split(",") if n != "shown")
                assert undo(body_of(shown), by, part.text, seen if "shown" in reason else None)
            else:
                assert shown == part.text
            readable.append(part.text)
            seen.add(shown)
        for made in message.calls:
            for text in (made.arguments or {}).values():
                seen.add(text if isinstance(text, str) else "")


@given(runs())
def test_everything_can_be_read(messages: Conversation) -> None:
    plan = spell(messages)
    assert [fold.sources[0].index for fold in plan] == list(range(len(messages)))
    assert_readable(plan)


@given(runs())
def test_nothing_costs_more_and_only_results_change(messages: Conversation) -> None:
    tokens = counted()
    for fold in spell(messages):
        message = fold.sources[0]
        assert tokens.fold(fold) <= tokens.message(message)
        for number, text in fold.texts.items():
            assert message.is_result(message.parts[number])
            assert len(text) < len(message.parts[number].text)


def test_results_are_spelled_shorter_but_no_words_of_people() -> None:
    messages: Conversation = [
        {"role": "user", "content": RECORDS},
        *call(1, "list", json.loads(RECORDS), RECORDS),
        {"role": "assistant", "content": RECORDS},
    ]
    assert [fold.is_kept for fold in spell(messages)] == [True, True, False, True]
    assert all(fold.is_kept for fold in spell(messages, {2: "newest"}))
    assert not spell(messages, is_paste=True)[0].is_kept


def test_an_unchanged_read_refers_to_the_earlier_one() -> None:
    look = {"path": "a.py"}
    plan = spell([*call(1, "read", look, CODE), *call(2, "read", look, CODE)])
    assert plan[1].is_kept
    assert plan[3].outcomes[0][0].reason == "same_read"
    assert plan[3].texts[0].startswith("[same as the result of read path=a.py above #")
    assert_readable(plan)


def test_half_a_call_names_nothing() -> None:
    look = {"path": "a.py", "why": "to see what is in it, " * 8}
    plan = spell([*call(1, "read", look, CODE), *call(2, "read", look, CODE)])
    assert plan[3].texts[0].startswith("[same as the copy above #")


def test_a_changed_read_shows_what_has_changed() -> None:
    look = {"path": "a.py"}
    plan = spell([*call(1, "read", look, CODE), *call(2, "read", look, CHANGED)])
    assert plan[3].outcomes[0][0].reason == "recoded:shown"
    shown = plan[3].texts[0]
    assert "    return queue_3.push(1003)" in shown
    assert "queue_7" not in shown
    assert_readable(plan)


def test_short_answers_are_not_worth_a_reference() -> None:
    plan = spell([*call(1, "ls", {}, "a.py b.py"), *call(2, "ls", {}, "a.py b.py")])
    assert all(fold.is_kept for fold in plan)


def test_what_stays_whole_is_kept_for_its_reason_and_can_be_referred_to() -> None:
    look = {"path": "a.py"}
    messages = [step for n in range(3) for step in call(n, "read", look, CODE)]
    plan = spell(messages, {1: "open_tool_call", 5: "recency_window"})
    assert plan[1].is_kept
    assert plan[1].outcomes[0][0].reason == "open_tool_call"
    assert plan[3].outcomes[0][0].reason == "same_read"
    assert plan[5].is_kept


def test_every_part_of_a_result_is_seen() -> None:
    steps = anthropic_call(1, "list", {}, "")
    parts = [
        {"type": "text", "text": RECORDS},
        {"type": "text", "text": RECORDS.replace("row", "line")},
    ]
    steps[1]["content"][0]["content"] = parts
    plan = spell(steps)
    assert set(plan[1].texts) == {0, 1}
    assert_readable(plan)


FILE = json.dumps({"name": "harbour", "scripts": {"test": "node", "lint": "eslint ."}}, indent=2)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("read_file", {"path": "package.json"}), ("bash", {"command": "cat package.json"})],
)
def test_a_file_that_is_read_keeps_its_own_records_and_tabs(
    tool: str, arguments: dict[str, str]
) -> None:
    tabs = "\n".join(f"\tgate_{n}:\n\t\topen: {n} \t" for n in range(20))
    plan = spell([*call(1, tool, arguments, FILE), *call(2, tool, arguments, tabs)])
    assert all(fold.is_kept for fold in plan)
    wrapped = json.dumps({"output": tabs, "metadata": {"exit_code": 0}})
    shown = spell_estimated(call(1, tool, arguments, wrapped))[1].texts[0]
    assert tabs in shown
    (fold,) = [f for f in spell(call(1, "query", {"q": "rows"}, RECORDS)) if not f.is_kept]
    assert "rows (30) id|name, all ok=true:" in fold.texts[0]


def test_an_agent_that_writes_its_commands_as_words_reads_files_too() -> None:
    output = f"<returncode>0</returncode>\n<output>\n{RECORDS}\n</output>"

    def talk(command: str) -> Conversation:
        return [
            {"role": "user", "content": "Look into the harbour."},
            {"role": "assistant", "content": f"```bash\n{command}\n```"},
            {"role": "user", "content": output},
            {"role": "assistant", "content": f"```bash\n{command} again\n```"},
            {"role": "user", "content": f"{output}\n"},
        ]

    read_one, _, read_two = spell_estimated(talk("cat rows.json"))[2:]
    assert read_one.is_kept
    assert read_two.outcomes[0][0].reason == "recoded:shown"
    query_one, _, _ = spell_estimated(talk("query rows"))[2:]
    assert "rows (30)" in query_one.texts[0]


def test_what_a_call_may_quote_is_not_referred_to_where_it_has_escapes() -> None:
    """Lines that a call wrote read the same there, unless JSON writes them in another way."""
    plain = "\n".join(f"crate_{n} = load(place={n % 7}, weight={n * 31})" for n in range(30))
    for text, is_left_out in ((plain, True), (plain.replace("crate_", '\tname["a"]_'), False)):
        run = [*call(1, "write", {"path": "a.py", "text": text}, "done"), *call(2, "get", {}, text)]
        loaded = read(run)
        quoted = Speller(counted(), CodecTable(), is_quoted=True)
        assert any(quoted.spell(message).texts for message in loaded) is is_left_out
        speller = Speller(counted(), CodecTable())
        assert any(speller.spell(message).texts for message in loaded)
