"""Which texts of a conversation may be shortened now, why the others may not, and if it is time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from refold.messages.formats.base import Reading
from refold.messages.token_count import count_beside
from refold.messages.wire import text_digest
from refold.notation.recognize import has_tag
from refold.scan.tokens.counter import TokenCounter
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A text, whether it may be shortened, and the context for its summarizer."""

    found: TextRef
    tokens: int
    policy: ToolPolicy
    may_send: bool
    """Whether a model may see it."""
    skip: str = ""
    """Why it stays as it is; empty if it may be shortened."""
    target: int | None = None
    """The target in tokens, if it is to be shortened further."""
    task: str = ""
    """The last request of the user before the text."""
    short: str | None = None
    """Its present short form."""
    shown_tokens: int
    """Its present tokens: those of the short form, if there is one."""

    @property
    def key(self) -> str:
        """The cache key: the same text under the same policy gives the same result."""
        return f"{self.text_key}{self.target or ''}"

    @property
    def text_key(self) -> str:
        """The key of the text, under which its short form is kept."""
        return f"{text_digest(self.found.text)}:{self.policy}:{self.may_send}:"


@dataclass(frozen=True, slots=True)
class Chooser:
    """The rules by which texts are chosen; holds no conversation."""

    options: ManagerOptions
    count: TokenCounter

    def survey(
        self,
        messages: Sequence[Any],
        rests: Callable[[str], bool],
        known: Callable[[str], str | None],
        *,
        again: bool = False,
    ) -> list[Candidate]:
        """Judge every text that could be shortened at all.

        *rests* tells of a key what failed lately, *known* the short form where none stands beside
        the text.
        """
        turns = read_turns(messages)
        texts = texts_of(turns)
        fresh = self._fresh(texts, _unseen(turns))
        sizes: dict[int, int] = {}
        for text in texts:
            sizes[text.index] = sizes.get(text.index, 0) + self.count(text.text)
        judged: list[Candidate] = []
        task = ""
        for found in texts:
            if self._is_wanted(found, sizes[found.index]):
                candidate = self._judge(found, task, fresh.get(found.index, ""))
                short = read_short_form(messages[found.index], found)
                if short is None and not candidate.skip:
                    short = known(candidate.text_key)
                if short is not None:
                    candidate = self._shortened(candidate, short, again=again)
                if not candidate.skip and rests(candidate.key):
                    candidate = replace(candidate, skip="it was tried lately, without success")
                judged.append(candidate)
            if found.role == "user" and not isinstance(found, ToolResultRef):
                task = found.text
        return judged

    def _is_wanted(self, found: TextRef, message_tokens: int) -> bool:
        """Tell whether texts of this kind are shortened; the calls beside a text never are.

        These are the results of tools, and any text in a message over the limit.
        """
        is_of_tools = isinstance(found, ToolResultRef) or found.beside_calls
        is_large = 0 < self.options.compress_token_limit < message_tokens
        return is_large or (is_of_tools and self.options.compress_tool_results)

    def _judge(self, found: TextRef, task: str, fresh: str) -> Candidate:
        """Judge a text that has no short form; *fresh* says why it is too early for one."""
        tokens = self.count(found.text)
        result = found if isinstance(found, ToolResultRef) else None
        rules = self.options.tool_policies
        policy: ToolPolicy = "model" if result is None else rules.policy_for(result)
        skip = fresh
        if policy == "verbatim":
            skip = "it failed" if result and result.is_error else "its tool's policy is verbatim"
        elif tokens < self.options.min_tokens or not found.text.strip():
            skip = f"it has less than {self.options.min_tokens} tokens"
        elif has_tag(found.text):  # its handle would be that of a short form, not of the original
            skip = "it stands for something longer already"
        return Candidate(
            found=found,
            tokens=tokens,
            policy=policy,
            may_send=result is None or rules.may_send(result),
            skip=skip,
            task=task,
            shown_tokens=tokens,
        )

    def _shortened(self, candidate: Candidate, short: str, *, again: bool) -> Candidate:
        """Judge a text that has a short form: it may be too long still."""
        now, limit = self.count(short), self.options.compress_token_limit
        is_long = again and now > limit
        return replace(
            candidate,
            short=short,
            shown_tokens=now,
            target=(limit or now // 2) if is_long else None,
            skip="" if is_long else "it is short already",
        )

    def _fresh(self, texts: Sequence[TextRef], unseen: range) -> dict[int, str]:
        """Return the messages that stay raw for now, unless they alone do not fit."""
        recent = f"it is one of the newest {self.options.keep_recent} results"
        fresh = dict.fromkeys(_newest(texts, self.options.keep_recent), recent)
        fresh |= dict.fromkeys(unseen, "the model has not seen it yet")
        total = sum(self.count(text.text) for text in texts if text.index in fresh)
        limit = self.options.compress_context_limit
        return fresh if limit is None or total <= limit else {}


def _unseen(turns: Sequence[Reading]) -> range:
    """Return the last turn, if the model has not answered its results yet."""
    called = max((n for n, turn in enumerate(turns) if turn.calls), default=-1)
    spoke = max((n for n, turn in enumerate(turns) if turn.role == "assistant"), default=-1)
    return range(0) if called < 0 or spoke > called else range(called, len(turns))


def _newest(texts: Sequence[TextRef], count: int) -> Sequence[int]:
    """Return the messages of the last *count* tool results."""
    results = dict.fromkeys((t.index, t.block) for t in texts if isinstance(t, ToolResultRef))
    return [index for index, _ in list(results)[max(len(results) - count, 0) :]] if count else []


def describe(candidate: Candidate, hide: Callable[[str], str]) -> str:
    """Describe a text for its summarizer; *hide* takes the secrets out of that.

    The task is what the user had asked for before, not since: so a text is always asked about in
    the same words, and caches hit.
    """
    found, task = candidate.found, candidate.task
    said = {"Tool": "", "Arguments": "", "Task": " ".join(hide(task).split())}
    if isinstance(found, ToolResultRef):
        said |= {"Tool": found.tool or "unknown", "Arguments": hide(found.arguments)}
    return "\n".join(f"{name}: {text[:_MAX_CONTEXT_CHARS]}" for name, text in said.items() if text)


def find_trigger(
    messages: Sequence[Any],
    judged: Sequence[Candidate],
    options: ManagerOptions,
    count: TokenCounter,
) -> str:
    """Return the limit that is reached; none if nothing could be done about it."""
    if all(candidate.skip for candidate in judged):
        return ""
    results, limit = _count_raw(judged), options.compress_tool_results_limit
    if options.compress_tool_results and results >= limit:
        return f"{results} tool results, the limit is {limit}"
    largest, limit = _count_largest(judged), options.compress_token_limit
    if 0 < limit < largest:
        return f"a message of {largest} tokens, the limit is {limit}"
    if options.compress_context_limit is not None:
        total, limit = _count_context(messages, count), options.compress_context_limit
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


def _count_context(messages: Sequence[Any], count: TokenCounter) -> int:
    """Return the estimated tokens of *messages*: short forms, calls, pictures, framing."""
    turns = read_turns([apply_short_form(message) for message in messages])
    texts = sum(count(part.text) for turn in turns for part in turn.parts)
    return texts + sum(count_beside(turn, count) for turn in turns if turn.is_turn)
