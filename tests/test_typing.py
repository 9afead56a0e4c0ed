"""Typed code may send what comes back, and a misspelled keyword is found before anything runs.

mypy reads this file with the types of the SDKs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, assert_type

import pytest
from anthropic.types import MessageParam, ToolParam
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam
from pydantic import TypeAdapter

from refold import (
    CompressionManager,
    Compressor,
    ConfigError,
    ContextWindowManager,
    Options,
    Result,
    Session,
    acompress,
    compress,
    retrieve_tool,
    uncompress,
)
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

    sent: list[Iterable[ChatCompletionMessageParam]] = [
        folded.messages,
        uncompress(folded.messages, folded.verbatim).messages,
        session.view(),
        session.messages,
        window.fit(chat).messages,
        CompressionManager().view(chat),
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


def test_mistakes_are_found_by_type_checkers_and_when_they_run() -> None:
    """`make lint` fails if mypy has nothing to say about one of these: no ignore may be unused."""
    chat: list[MessageParam] = [{"role": "user", "content": WORDS}]
    mistakes: list[Callable[[], object]] = [
        lambda: compress(chat, token_budgt=900),  # type: ignore[call-arg]
        lambda: compress(chat, profile="fast"),  # type: ignore[arg-type]
        lambda: compress(chat, token_budget=9.5),  # type: ignore[arg-type]
        lambda: asyncio.run(acompress(chat, token_budgt=900)),  # type: ignore[call-arg]
        lambda: Compressor(token_budgt=900),  # type: ignore[call-arg]
        lambda: Options(token_budgt=900),  # type: ignore[call-arg]
        lambda: Session(token_budgt=900),  # type: ignore[call-arg]
        lambda: CompressionManager(keep_recnt=2),  # type: ignore[call-arg]
        lambda: ContextWindowManager(context_limt=9_000),  # type: ignore[arg-type]
    ]
    for mistake in mistakes:
        with pytest.raises(ConfigError):
            mistake()


def test_the_type_of_messages_is_that_of_the_ones_given() -> None:
    chat: list[MessageParam] = [{"role": "user", "content": WORDS}]
    assert_type(compress(chat), Result[MessageParam])
    assert_type(Compressor(recency_window=1).compress(chat).messages, list[MessageParam])
    session: Session[MessageParam] = Session(recency_window=1)
    session.extend(chat)
    assert_type(session.view(), list[MessageParam])
    assert_type(session.messages, list[MessageParam])
    assert_type(session.pop(), MessageParam)
    assert_type(session.fork().view(), list[MessageParam])
    assert_type(Session().view(), list[Any])
    folded = compress(chat)
    assert_type(uncompress(folded.messages, folded.verbatim).messages, list[MessageParam])
    window = ContextWindowManager(context_limit=4_000)
    assert_type(window.fit(chat).messages, list[MessageParam])
    assert_type(asyncio.run(window.afit(chat)).messages, list[MessageParam])
