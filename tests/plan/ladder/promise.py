"""What no budget may touch and how small it can get, worked out from the messages alone."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hypothesis import strategies as st

from refold import Result, uncompress
from tests.classic import compress
from tests.conversations import (
    Conversation,
    Wire,
    anthropic,
    calls_and_results,
    openai_chat,
    plain,
    sources_of,
    spelled,
    texts_of,
    without_thinking,
)

LINE_TOKENS = 40
"""What a line that stands for a folded stretch costs at most, with any of the counters here."""


def words(text: str) -> int:
    return len(text.split())


def characters(text: str) -> int:
    return len(text)


COUNTERS: tuple[dict[str, Any], ...] = (
    {},
    {"model": "gpt-4o"},
    {"model": "gpt-4"},
    {"counter": words},
)


def cut_short() -> st.SearchStrategy[Conversation]:
    """Conversations that may stop anywhere: also between a tool call and its results."""
    whole = st.one_of(plain(), openai_chat(), anthropic())
    return st.builds(
        lambda messages, share: messages[: max(1, round(share * len(messages)))],
        whole.filter(bool),
        st.sampled_from((1.0, 1.0, 0.8, 0.6)),
    )


def tokens_of(messages: Sequence[Wire], **counting: Any) -> int:
    """Count a conversation as it stands."""
    return compress(messages, recency_window=len(messages), **counting).tokens_before


def kept_indices(
    messages: Conversation, *, window: int = 0, pattern: re.Pattern[str] | None = None
) -> dict[int, str]:
    """Return what must survive word for word, and why."""
    kept: dict[int, str] = {}
    for index, message in enumerate(messages):
        if message["role"] in ("system", "developer"):
            kept[index] = "preserved_role"
        elif pattern and any(map(pattern.search, texts_of(message))):
            kept[index] = "preserve_patterns"
    for index in open_calls(messages):
        kept.setdefault(index, "open_tool_call")
    sent = [i for i, m in enumerate(messages) if m["role"] == "user" and _asks(m)]
    asked = [i for i in sent if _says(messages[i])] or sent
    if asked:
        kept.setdefault(asked[0], "first_task")
        kept.setdefault(asked[-1], "last_user_message")
    for index in sent:
        if index > asked[-1]:
            kept.setdefault(index, "user_turn")
    for index in range(max(0, len(messages) - window), len(messages)):
        kept.setdefault(index, "min_recency_window")
    return kept


def _asks(message: Wire) -> bool:
    answers = any(kind == "result" for kind, _ in calls_and_results([message]))
    content = message.get("content")
    has_pictures = isinstance(content, list) and any("text" not in part for part in content)
    return not answers and (has_pictures or _says(message))


def _says(message: Wire) -> bool:
    return any(map(str.strip, texts_of(message)))


def open_calls(messages: Conversation) -> set[int]:
    """Return the messages with a call that no later message answers."""
    found: set[int] = set()
    for index, message in enumerate(messages):
        later = {id_ for kind, id_ in calls_and_results(messages[index + 1 :]) if kind == "result"}
        calls = {id_ for kind, id_ in calls_and_results([message]) if kind == "call"}
        if calls - later:
            found.add(index)
    return found


def smallest(
    messages: Conversation, kept: Sequence[int], cost: Callable[[Sequence[Wire]], int]
) -> int:
    """Return a size that every conversation can be folded to.

    What is kept costs what it costs. What is tied to it by a tool call stays too, at worst as it
    is. Each stretch between becomes one line, or stays if it is as short as that.
    """
    pinned = set(kept) | _last_words(messages)
    for block in _blocks(messages):
        if pinned & set(block):
            pinned.update(block)
    total = sum(cost([messages[index]]) for index in pinned)
    for stretch in _stretches(messages, pinned):
        total += min(LINE_TOKENS, cost(stretch))
    return total


def _last_words(messages: Conversation) -> set[int]:
    """Return the message with the user's last words, which may stand beside tool results."""
    for index in range(len(messages) - 1, -1, -1):
        content = messages[index]["content"] if messages[index]["role"] == "user" else None
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if any(b.get("type") == "text" and b["text"].strip() for b in blocks or ()):
            return {index}
    return set()


def _stretches(messages: Conversation, pinned: set[int]) -> Iterator[Conversation]:
    stretch: Conversation = []
    for index, message in enumerate(messages):
        if index not in pinned:
            stretch.append(message)
        elif stretch:
            yield stretch
            stretch = []
    if stretch:
        yield stretch


def _blocks(messages: Conversation) -> Iterator[range]:
    called: dict[str, int] = {}
    for index, message in enumerate(messages):
        for kind, id_ in calls_and_results([message]):
            if kind == "call":
                called[id_] = index
            elif id_ in called:
                yield range(called[id_], index + 1)


def assert_pairs(before: Conversation, after: Conversation) -> None:
    """No result without its call before it; no answered call without all its results."""
    answered = {id_ for kind, id_ in calls_and_results(before) if kind == "result"}
    called: set[str] = set()
    waiting: set[str] = set()
    for kind, id_ in calls_and_results(after):
        if kind == "call":
            assert id_ not in called
            called.add(id_)
            waiting.add(id_)
        else:
            assert id_ in waiting, f"{id_} is answered without a call, or twice"
            waiting.discard(id_)
    assert not waiting & answered
    for place, message in enumerate(after):
        if message["role"] == "tool" and "tool_call_id" in message:
            before_it = after[place - 1]
            assert before_it["role"] == "tool" or before_it.get("tool_calls"), "results are torn"


def assert_kept(before: Conversation, result: Result, kept: Sequence[int]) -> None:
    """What must survive stands in the output byte for byte, in its order."""
    shown = iter(spelled(without_thinking(message)) for message in result.messages)
    for index in sorted(kept):
        wanted = spelled(without_thinking(before[index]))
        assert any(one == wanted for one in shown), f"messages[{index}] is gone"


def assert_restored(before: Conversation, result: Result) -> None:
    restored = uncompress(result.messages, result.verbatim)
    assert not restored.missing_ids
    assert spelled(restored.messages) == spelled(before)


def sources_by_place(result: Result) -> list[tuple[Wire, Conversation]]:
    return list(zip(result.messages, sources_of(result), strict=True))


_REFERENCE = re.compile(r"\[cce:(?:near-)?dup of (.+?) — ")


def assert_references(before: Conversation, result: Result) -> None:
    """Every text that was replaced by a reference names a text that can be read in full."""
    shown: list[list[str]] = []
    for message, sources in sources_by_place(result):
        shown.extend([texts_of(message)] * len(sources))
    assert len(shown) == len(before)
    index_of = {entry.message_id: entry.message_index for entry in result.decisions}
    for entry in result.decisions:
        if entry.action not in ("deduped", "fuzzy_deduped"):
            continue
        tag = shown[entry.message_index][entry.part]
        found = _REFERENCE.match(tag)
        assert found is not None, tag
        target = index_of[found[1]]
        readable = [text for text in texts_of(before[target]) if text in shown[target]]
        if entry.action == "deduped":
            said = texts_of(before[entry.message_index])[entry.part]
            assert said in readable, f"messages[{target}] does not show what {tag!r} refers to"
        else:
            assert readable, f"messages[{target}] shows nothing of what {tag!r} refers to"


def assert_figures(before: Conversation, result: Result, **counting: Any) -> None:
    """Every figure is that of the messages."""
    figures = result.compression
    chars_before, chars_after = (
        sum(len(text) for message in side for text in texts_of(message))
        for side in (before, result.messages)
    )
    assert figures.ratio == (chars_before / chars_after if chars_after else 1.0)
    assert figures.tokens_before == tokens_of(before, **counting)
    assert figures.tokens_after == tokens_of(result.messages, **counting)
    assert figures.token_ratio == (
        figures.tokens_before / figures.tokens_after if figures.tokens_after else 1.0
    )
    assert result.tokens_saved == figures.tokens_before - figures.tokens_after
    assert len(before) == (
        figures.messages_compressed
        + figures.messages_preserved
        + figures.messages_deduped
        + figures.messages_fuzzy_deduped
        + figures.messages_contradicted
    )
    unchanged = sum([message] == sources for message, sources in sources_by_place(result))
    assert figures.messages_preserved == unchanged
    if result.budget is not None:
        assert result.budget.token_count == result.token_count == figures.tokens_after
        assert result.fits == (result.token_count <= result.budget.token_budget)


def as_json(rows: int, number: int) -> str:
    """Spell JSON of exactly 495 characters, different for each number."""
    body = json.dumps({"batch": number, "rows": [f"r{number}-{n}" for n in range(rows)], "pad": ""})
    return body[:-2] + "x" * (495 - len(body)) + '"}'
