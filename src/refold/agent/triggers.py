"""When there is a reason to compress: too many results, too long a text, too much in all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from refold.agent.candidates import Candidate
from refold.agent.compressed_content import apply_short_form
from refold.agent.fields import get
from refold.agent.manager_options import ManagerOptions
from refold.agent.shapes import find_texts_and_calls
from refold.agent.text_refs import ToolResultRef
from refold.formats import turn_of
from refold.tokens.base import IMAGE_TOKENS, MESSAGE_OVERHEAD
from refold.tokens.counter import TokenCounter

_MEDIA: Final = ("image", "audio", "video", "file", "document", "inline_data", "inlineData")


def find_trigger(
    messages: Sequence[Any],
    judged: Sequence[Candidate],
    options: ManagerOptions,
    count: TokenCounter,
) -> str:
    """Say which limit is reached; nothing if none is, or if nothing could be done about it."""
    if all(candidate.skip for candidate in judged):
        return ""
    results, limit = _count_raw(judged), options.compress_tool_results_limit
    if options.compress_tool_results and results >= limit:
        return f"{results} tool results, the limit is {limit}"
    largest, limit = _count_largest(judged), options.compress_token_limit
    if 0 < limit < largest:
        return f"a message of {largest} tokens, the limit is {limit}"
    if options.compress_context_limit is not None:
        total, limit = count_context(messages, count), options.compress_context_limit
        if total >= limit:
            return f"{total} tokens in all, the limit is {limit}"
    return ""


def _count_raw(judged: Sequence[Candidate]) -> int:
    """Return how many results have no short form yet and might get one."""
    raw = {
        (candidate.found.index, candidate.found.block)
        for candidate in judged
        if isinstance(candidate.found, ToolResultRef)
        and candidate.policy != "verbatim"
        and candidate.short is None
    }
    return len(raw)


def _count_largest(judged: Sequence[Candidate]) -> int:
    """Return the tokens of the longest message in which something can be shortened."""
    sizes = {candidate.found.index: 0 for candidate in judged if not candidate.skip}
    for candidate in judged:
        if candidate.found.index in sizes:
            sizes[candidate.found.index] += candidate.shown_tokens
    return max(sizes.values())


def count_context(messages: Sequence[Any], count: TokenCounter) -> int:
    """Return about what sending *messages* costs: short forms, calls, pictures, framing."""
    view = [apply_short_form(message) for message in messages]
    found, made = find_texts_and_calls(view)
    texts = sum(count(text.text) for text in found)
    calls = sum(count(call.name) + count(call.arguments) for call in made)
    media = sum(_is_media(part) for message in view for part in _parts(message))
    return texts + calls + IMAGE_TOKENS * media + MESSAGE_OVERHEAD * len(view)


def _parts(message: Any) -> Iterator[Any]:
    """Yield the parts of *message*, and those of the results among them."""
    for part in _list_in(turn_of(message)):
        yield part
        yield from _list_in(part)


def _list_in(holder: Any) -> Sequence[Any]:
    found = (get(holder, name) for name in ("content", "parts"))
    return next((value for value in found if isinstance(value, list | tuple)), ())


def _is_media(part: Any) -> bool:
    kind = get(part, "type")
    if isinstance(kind, str):
        return kind.removeprefix("input_").startswith(_MEDIA)
    return any(get(part, name) is not None for name in _MEDIA)
