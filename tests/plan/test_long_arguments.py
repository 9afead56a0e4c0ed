"""Under a budget, calls that keep their places get their long arguments cut there."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from refold import MemoryStore, Session, compress, legend, retrieve_tool, uncompress
from tests.conversations import Conversation, spelled
from tests.plan.runs import call, source_code

CUT = re.compile(r"… \[shortened, sent whole #([a-z]{5,36})\]")
TASK = {"role": "user", "content": "Write the four modules of the harbour, then run the tests."}


def writing(count: int = 4, lines: int = 120) -> Conversation:
    """An agent that writes long files, one after the other."""
    messages: Conversation = [TASK]
    for n in range(count):
        given = {"path": f"src/m{n}.py", "content": source_code(n, lines), "overwrite": True}
        messages += call(n, "write_file", given, f"wrote src/m{n}.py", f"Now module {n}.")
    return messages


def given_in(message: dict[str, Any]) -> Any:
    return json.loads(message["tool_calls"][0]["function"]["arguments"])


def cut_in(view: Conversation) -> list[str]:
    """Return the handles that are shown in arguments."""
    calls = [one["function"] for m in view for one in m.get("tool_calls", ())]
    return [handle for one in calls for handle in CUT.findall(one["arguments"])]


def test_a_call_keeps_its_place_its_name_and_its_short_arguments() -> None:
    messages = writing()
    result = compress(messages, token_budget=800, model="gpt-4o")
    assert result.fits
    last = given_in(result.messages[-2])
    assert last | {"content": ""} == given_in(messages[-2]) | {"content": ""}
    assert CUT.search(last["content"])
    assert messages[-2]["content"] == result.messages[-2]["content"]


@pytest.mark.parametrize("budget", range(120, 900, 60))
def test_a_view_ends_as_its_conversation_does(budget: int) -> None:
    messages = writing()
    result = compress(messages, token_budget=budget, model="gpt-4o")
    assert result.fits
    assert result.messages[-1]["role"] != "assistant"
    assert spelled(uncompress(result.messages, result.verbatim).messages) == spelled(messages)


def test_what_the_agent_has_not_read_yet_is_whole_beside_the_call_that_is_cut() -> None:
    given = {"path": "src/m.py", "content": source_code(1, 300)}
    report = "\n".join(f"src/m.py:{n}: line {n} is too long" for n in range(30))
    messages = [TASK, *call(1, "write_file", given, report)]
    result = compress(messages, token_budget=1_000, model="gpt-4o")
    assert result.messages[-1] == messages[-1]
    assert cut_in(result.messages)


def test_where_there_is_room_the_newest_calls_stay_whole() -> None:
    messages = writing()
    whole = compress(messages, token_budget=10**6, model="gpt-4o").tokens_before
    result = compress(messages, token_budget=whole - 300, model="gpt-4o")
    assert len(cut_in(result.messages)) < 4
    assert given_in(result.messages[-2]) == given_in(messages[-2])


def test_an_open_call_is_never_cut() -> None:
    messages = [*writing(), *call(9, "write_file", {"content": source_code(9, 90)}, None)]
    result = compress(messages, token_budget=2_000, model="gpt-4o")
    assert result.messages[-1] == messages[-1]


def test_beside_thinking_everything_stays() -> None:
    messages: Conversation = [{"role": "user", "content": "Write it."}]
    for n in range(4):
        thought = {"type": "thinking", "thinking": "I write it.", "signature": "c2ln"}
        given = {"content": source_code(n, 60)}
        use = {"type": "tool_use", "id": f"t{n}", "name": "write", "input": given}
        done = {"type": "tool_result", "tool_use_id": f"t{n}", "content": "wrote it"}
        messages.append({"role": "assistant", "content": [thought, use]})
        messages.append({"role": "user", "content": [done]})
    view = compress(messages, token_budget=1_200, model="claude-sonnet-4-5").messages
    assert "sent whole" not in spelled(view)


def test_a_cut_call_is_told_in_the_trace() -> None:
    messages = writing()
    result = compress(messages, token_budget=800, model="gpt-4o", trace=True)
    [*_, told] = [entry for entry in result.decisions if entry.action == "clipped"]
    assert (told.message_index, told.part, told.reason) == (7, 1, "long_arguments")
    shown = result.messages[-2]["tool_calls"][0]["function"]
    assert told.output_chars == len(f"{shown['name']} {shown['arguments']}")


def test_nothing_is_cut_twice() -> None:
    messages = writing()
    view = messages
    verbatim: dict[str, Any] = {}
    for budget in (1_200, 700, 400, 200):
        result = compress(view, token_budget=budget, model="gpt-4o")
        view, verbatim = result.messages, {**verbatim, **result.verbatim}
        strings = [one["function"]["arguments"] for m in view for one in m.get("tool_calls", ())]
        assert all(text.count("sent whole") <= 1 for text in strings)
        digests = [m["content"] for m in view if not m.get("tool_calls")]
        assert "sent whole" not in "".join(digests)
    restored = uncompress(view, verbatim, recursive=True)
    assert spelled(restored.messages) == spelled(messages)


@pytest.mark.parametrize("conversation", [None, "harbour"])
def test_the_whole_call_is_found_by_its_handle(conversation: str | None) -> None:
    messages, store = writing(), MemoryStore()
    view = compress(
        messages, token_budget=800, model="gpt-4o", store=store, conversation=conversation
    ).messages
    tool = retrieve_tool(store, messages=view, conversation=conversation)
    for handle in cut_in(view):
        assert "def " in tool.call({"handle": f"#{handle}", "search": "return"})
    assert spelled(uncompress(view, store, conversation=conversation).messages) == spelled(messages)


def test_two_calls_that_read_alike_are_told_apart() -> None:
    messages: Conversation = [TASK]
    for n in range(4):
        text = source_code(1, 80) + f"\nN = {n}\n"
        messages += call(n, "write_file", {"content": text}, "ok")
        messages[-2]["tool_calls"][0]["id"] = messages[-1]["tool_call_id"] = "c"
    result = compress(messages, token_budget=500, model="gpt-4o")
    assert len(set(cut_in(result.messages))) == len(cut_in(result.messages)) > 1
    assert spelled(uncompress(result.messages, result.verbatim).messages) == spelled(messages)


def test_a_session_keeps_what_it_cut() -> None:
    store = MemoryStore()
    session = Session(token_budget=900, model="gpt-4o", store=store)
    messages = writing(6)
    for message in messages:
        session.append(message)
    view = session.view()
    assert cut_in(view)
    assert view[-1]["role"] == "tool"
    assert session.fork().view() == view
    again = Session.resume(session.save(store), store)
    assert again.view() == view
    assert spelled(uncompress(view, store).messages) == spelled(messages)


def test_the_legend_tells_that_the_call_was_sent_whole() -> None:
    assert "shortened, sent whole #" in legend()


def test_calls_that_have_room_in_their_places_are_not_cut_for_what_tools_returned() -> None:
    """What the agent wrote tells more of what it does next than what it read."""
    messages: Conversation = [{"role": "user", "content": "Port the harbour, file by file."}]
    for n in range(3):
        given = {"path": f"src/m{n}.py", "content": source_code(n, 60)}
        messages += call(n, "write_file", given, source_code(n + 20, 200))
    result = compress(messages, token_budget=5_000, model="gpt-4o")
    assert result.tokens_after <= 5_000 < result.tokens_before
    assert not cut_in(result.messages)
    assert given_in(result.messages[-2]) == given_in(messages[-2])
