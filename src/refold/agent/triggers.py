"""When there is a reason to compress: too many results, too long a text, too much in all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from refold.agent.candidates import Candidate
from refold.agent.compressed_content import apply_short_form
from refold.agent.manager_options import ManagerOptions
from refold.agent.shapes import read_turns
from refold.agent.text_refs import ToolResultRef
from refold.tokens.base import count_beside
from refold.tokens.counter import TokenCounter


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
    turns = read_turns([apply_short_form(message) for message in messages])
    texts = sum(count(part.text) for turn in turns for part in turn.parts)
    return texts + sum(count_beside(turn, count) for turn in turns if turn.is_turn)
