"""Which texts of a conversation may be shortened now, why the others may not, and if it is time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from refold.messages.message import Message
from refold.messages.token_count import count_beside
from refold.messages.wire import text_digest
from refold.notation.recognize import has_tag
from refold.tools.policy import ManagerOptions, ToolPolicy
from refold.tools.shapes import (
    TextRef,
    ToolResultRef,
    apply_short_form,
    read_short_form,
    read_turns,
    texts_of,
)

_MAX_CONTEXT_CHARS: Final = 400
"""How much of the arguments and of the task a summarizer gets. A guess, about 100 tokens each:
less hides what a result was asked for, more is paid for with every result."""


@dataclass(slots=True, kw_only=True)
class Candidate:
    """A text, whether it may be shortened, and the context for its summarizer."""

    ref: TextRef
    tokens: int
    task: str
    """The last request of the user before the text."""
    policy: ToolPolicy = "model"
    may_send: bool = True
    """Whether a model may see it."""
    skip: str = ""
    """Why it stays as it is; empty if it may be shortened."""
    target: int | None = None
    """The target in tokens, if it is to be shortened further."""
    short: str | None = None
    """Its present short form."""
    tokens_now: int
    """Its present tokens: those of the short form, if there is one."""

    @property
    def key(self) -> str:
        """The cache key: the same text under the same policy gives the same result."""
        return f"{self.text_key}{self.target or ''}"

    @property
    def text_key(self) -> str:
        """The key of the text, under which its short form is kept."""
        return f"{text_digest(self.ref.text)}:{self.policy}:{self.may_send}:"

    def describe(self, hide: Callable[[str], str]) -> str:
        """Describe the text for its summarizer; *hide* takes the secrets out of that.

        The task is what the user had asked for before, not since: so a text is always asked about
        in the same words, and caches hit.
        """
        about = {"Task": " ".join(hide(self.task).split())}
        if isinstance(self.ref, ToolResultRef):
            arguments = hide(self.ref.arguments)
            about = {"Tool": self.ref.tool or "unknown", "Arguments": arguments, **about}
        lines = (f"{name}: {text[:_MAX_CONTEXT_CHARS]}" for name, text in about.items() if text)
        return "\n".join(lines)


def survey(
    messages: Sequence[Any],
    options: ManagerOptions,
    rests: Callable[[str], bool],
    known: Callable[[str], str | None],
    *,
    again: bool = False,
) -> list[Candidate]:
    """Judge every text that could be shortened at all: results, text beside calls, long messages.

    *rests* tells of a key what failed lately, *known* the short form where none stands beside the
    text. With *again*, short forms over the limit may be shortened further.
    """
    turns = read_turns(messages)
    texts = texts_of(turns)
    fresh = _fresh(texts, turns, options)
    count, limit = options.counter, options.compress_token_limit
    sizes = Counter[int]()
    for text in texts:
        sizes[text.index] += count(text.text)
    judged: list[Candidate] = []
    task = ""
    for ref in texts:
        is_result = isinstance(ref, ToolResultRef)
        is_large = 0 < limit < sizes[ref.index]
        if is_large or (options.compress_tool_results and (is_result or ref.beside_calls)):
            tokens = count(ref.text)
            one = Candidate(ref=ref, tokens=tokens, tokens_now=tokens, task=task)
            one.skip = _judge(one, fresh.get(ref.index, ""), options)
            one.short = read_short_form(messages[ref.index], ref)
            if one.short is None and not one.skip:
                one.short = known(one.text_key)
            if one.short is not None:
                one.tokens_now = count(one.short)
                is_long = again and one.tokens_now > limit
                one.skip = "" if is_long else "it is short already"
                one.target = (limit or one.tokens_now // 2) if is_long else None
            if not one.skip and rests(one.key):
                one.skip = "it was tried lately, without success"
            judged.append(one)
        if ref.role == "user" and not is_result:
            task = ref.text
    return judged


def _judge(one: Candidate, fresh: str, options: ManagerOptions) -> str:
    """Note the policy for a text, and return why it stays as it is; *fresh* is one such reason."""
    ref = one.ref
    if isinstance(ref, ToolResultRef):
        one.policy, one.may_send = options.policies.policy_for(ref), options.policies.may_send(ref)
        if one.policy == "verbatim":
            return "it failed" if ref.is_error else "its tool's policy is verbatim"
    if one.tokens < options.min_tokens or not ref.text.strip():
        return f"it has less than {options.min_tokens} tokens"
    if has_tag(ref.text):  # its handle would be that of a short form, not of the original
        return "it stands for something longer already"
    return fresh


def _fresh(
    texts: Sequence[TextRef], turns: Sequence[Message], options: ManagerOptions
) -> dict[int, str]:
    """Return the messages that stay raw for now, unless they alone do not fit."""
    keep, limit = options.keep_recent, options.compress_context_limit
    results = dict.fromkeys((t.index, t.block) for t in texts if isinstance(t, ToolResultRef))
    newest = [index for index, _ in list(results)[max(len(results) - keep, 0) :]]
    fresh = dict.fromkeys(newest, f"it is one of the newest {keep} results")
    called = max((n for n, turn in enumerate(turns) if turn.calls), default=-1)
    if called >= 0 and not any(turn.role == "assistant" for turn in turns[called + 1 :]):
        fresh |= dict.fromkeys(range(called, len(turns)), "the model has not seen it yet")
    total = sum(options.counter(text.text) for text in texts if text.index in fresh)
    return fresh if limit is None or total <= limit else {}


def find_trigger(
    messages: Sequence[Any], judged: Sequence[Candidate], options: ManagerOptions
) -> str:
    """Return the limit that is reached; none if nothing could be done about it."""
    if all(one.skip for one in judged):
        return ""
    raw = {
        (one.ref.index, one.ref.block)
        for one in judged
        if isinstance(one.ref, ToolResultRef) and one.policy != "verbatim" and one.short is None
    }
    limit = options.compress_tool_results_limit
    if options.compress_tool_results and len(raw) >= limit:
        return f"{len(raw)} tool results, the limit is {limit}"
    sizes, limit = Counter[int](), options.compress_token_limit
    for one in judged:
        sizes[one.ref.index] += one.tokens_now
    largest = max(sizes[one.ref.index] for one in judged if not one.skip)
    if 0 < limit < largest:
        return f"a message of {largest} tokens, the limit is {limit}"
    if options.compress_context_limit is not None:
        count, limit = options.counter, options.compress_context_limit
        turns = read_turns([apply_short_form(message) for message in messages])
        total = sum(count(part.text) for turn in turns for part in turn.parts)
        total += sum(count_beside(turn, count) for turn in turns if turn.is_turn)
        if total >= limit:
            return f"{total} tokens in all, the limit is {limit}"
    return ""
