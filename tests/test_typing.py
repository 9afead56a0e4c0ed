"""Typed code may send what comes back: mypy reads this file with the types of the SDKs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from anthropic.types import MessageParam, ToolParam
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam
from pydantic import TypeAdapter

from refold import (
    CompressionManager,
    ContextWindowManager,
    Session,
    compress,
    retrieve_tool,
    uncompress,
)
from refold.window import send_fitting
from tests.conversations import SENTENCES

WORDS = " ".join(SENTENCES)


def check(kind: Any, sent: object) -> None:
    TypeAdapter(kind).validate_python(sent)


def test_messages_for_openai() -> None:
    chat: list[ChatCompletionMessageParam] = [
        {"role": "user", "content": WORDS},
        {"role": "assistant", "content": f"{WORDS} {WORDS}"},
        {"role": "user", "content": "And now?"},
    ]
    session = Session(recency_window=1)
    session.extend(chat)
    folded = compress(chat, recency_window=1)
    window = ContextWindowManager(context_limit=4_000)

    def send(messages: Iterable[ChatCompletionMessageParam]) -> Iterable[Any]:
        return messages

    sent: list[Iterable[ChatCompletionMessageParam]] = [
        folded.messages,
        uncompress(folded.messages, folded.verbatim).messages,
        session.view(),
        session.messages,
        window.fit(chat).messages,
        CompressionManager().view(chat),
        send_fitting(window, chat, send),
    ]
    for messages in sent:
        check(list[ChatCompletionMessageParam], messages)


def test_messages_for_anthropic() -> None:
    chat: list[MessageParam] = [
        {"role": "user", "content": [{"type": "text", "text": WORDS}]},
        {"role": "assistant", "content": f"{WORDS} {WORDS}"},
        {"role": "user", "content": "And now?"},
    ]
    sent: Iterable[MessageParam] = compress(chat, recency_window=1).messages
    check(list[MessageParam], sent)


def test_the_tool_that_fetches_originals() -> None:
    for_openai: ChatCompletionToolParam = retrieve_tool({}).schema
    for_anthropic: ToolParam = retrieve_tool({}, style="anthropic").schema
    check(ChatCompletionToolParam, for_openai)
    check(ToolParam, for_anthropic)
