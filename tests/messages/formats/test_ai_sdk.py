"""Messages of Vercel's AI SDK are folded with their calls and results together."""

from __future__ import annotations

from typing import Any

import pytest

from refold import MessageError, compress, uncompress
from refold.messages.formats import load
from tests.conversations import Conversation

LOG = "\n".join(f"line {n} of the build, module_{n % 7} compiled in {n} ms" for n in range(120))


def call(number: int) -> dict[str, Any]:
    return {
        "type": "tool-call",
        "toolCallId": f"c{number}",
        "toolName": "read",
        "input": {"n": number},
    }


def result(number: int, output: dict[str, Any]) -> dict[str, Any]:
    named = {"toolCallId": f"c{number}", "toolName": "read"}
    return {"role": "tool", "content": [{"type": "tool-result", **named, "output": output}]}


def run(turns: int = 6) -> Conversation:
    messages: Conversation = [{"role": "user", "content": "Read the logs."}]
    for number in range(turns):
        text = {"type": "text", "text": f"Now number {number}."}
        messages.append({"role": "assistant", "content": [text, call(number)]})
        messages.append(result(number, {"type": "text", "value": f"{number}\n{LOG}"}))
    return [*messages, {"role": "assistant", "content": "All read."}]


@pytest.mark.parametrize("profile", ["standard", "lossless", "classic"])
@pytest.mark.parametrize("budget", [None, 2_000, 600])
def test_calls_and_results_stay_together_and_come_back(profile: Any, budget: int | None) -> None:
    messages = run()
    folded = compress(messages, profile=profile, token_budget=budget)
    read = load(folded.messages)
    called = [made.id for message in read for made in message.calls]
    answered = [part.call_id for message in read for part in message.parts if part.call_id]
    assert called == answered
    assert folded.tokens_after < folded.tokens_before
    assert uncompress(folded.messages, folded.verbatim).messages == messages


@pytest.mark.parametrize(
    ("output", "texts"),
    [
        ({"type": "text", "value": "a"}, ["a"]),
        ({"type": "json", "value": {"a": "b", "n": [1]}}, ["b", "[1]"]),
        ({"type": "content", "value": [{"type": "text", "text": "a"}]}, ["a"]),
        ({"type": "json", "value": [1, 2]}, [""]),
    ],
)
def test_every_kind_of_output_is_read(output: dict[str, Any], texts: list[str]) -> None:
    (message,) = load([result(1, output)])
    assert [part.text for part in message.parts] == texts
    assert {part.call_id for part in message.parts} == {"c1"}


def test_an_output_says_that_the_tool_failed() -> None:
    (message,) = load([result(1, {"type": "error-text", "value": "no such file"})])
    told = message.parts[0].result
    assert told is not None
    assert told.has_failed


def test_a_result_without_an_id_is_refused_with_its_place() -> None:
    message = result(1, {"type": "text", "value": "a"})
    del message["content"][0]["toolCallId"]
    with pytest.raises(MessageError, match=r"messages\[0\]\.content\[0\]\.toolCallId: .* need an"):
        compress([message])
