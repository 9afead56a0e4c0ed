"""Which texts of a conversation may be shortened now, and why the others may not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from refold.agent.beside import short_at, shown
from refold.agent.policy import FoundText, Policies, ToolPolicy, ToolText
from refold.agent.shapes import find_calls, find_texts, get
from refold.model.wire import text_digest
from refold.tokens.base import IMAGE_TOKENS, MESSAGE_OVERHEAD, TokenCounter

_MAX_CONTEXT_CHARS: Final = 400
_NEVER_TOUCHED: Final = frozenset({"system", "developer", "user"})
_ASSISTANTS: Final = frozenset({"assistant", "model", "ai"})
_MEDIA: Final = ("image", "audio", "video", "file", "document", "inline_data", "inlineData")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A text, whether it may be shortened, and what to tell whoever does it."""

    found: FoundText
    tokens: int
    policy: ToolPolicy
    may_send: bool
    """Whether a model may see it."""
    skip: str = ""
    """Why it stays as it is; empty if it may be shortened."""
    target: int | None = None
    """How many tokens to get to, if it is to be shortened more than before."""
    task: str = ""
    """What the user had asked for last, when the text came."""
    shown_tokens: int
    """What it costs at the moment: the short form, if there is one."""

    @property
    def key(self) -> str:
        """Names the work to be done: the same text under the same policy is the same work."""
        return f"{text_digest(self.found.text)}:{self.policy}:{self.may_send}:{self.target or ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chooser:
    """The rules by which texts are chosen; knows no conversation."""

    tool_results: bool
    results_limit: int
    token_limit: int
    context_limit: int | None
    keep_recent: int
    min_tokens: int
    policies: Policies
    count: TokenCounter

    def survey(
        self, messages: Sequence[Any], rests: Callable[[str], bool], *, again: bool = False
    ) -> list[Candidate]:
        """Judge every text that could be shortened at all; *rests* knows what failed lately."""
        texts = find_texts(messages)
        fresh = self._fresh(messages, texts)
        sizes: dict[int, int] = {}
        for text in texts:
            sizes[text.index] = sizes.get(text.index, 0) + self.count(text.text)
        judged: list[Candidate] = []
        task = ""
        for found in texts:
            if found.role == "user" and not isinstance(found, ToolText):
                task = found.text
            if self._is_wanted(found, sizes[found.index]):
                candidate = self._judge(messages[found.index], found, fresh, again=again)
                if not candidate.skip and rests(candidate.key):
                    candidate = replace(candidate, skip="it was tried lately, without success")
                judged.append(replace(candidate, task=task))
        return judged

    def _is_wanted(self, found: FoundText, message_tokens: int) -> bool:
        """Tell whether texts of this kind are shortened; the calls beside a text never are."""
        is_large = 0 < self.token_limit < message_tokens
        if isinstance(found, ToolText):
            return self.tool_results or is_large
        if found.role in _NEVER_TOUCHED:
            return False
        return is_large or (found.beside_calls and self.tool_results)

    def _judge(
        self, message: Any, found: FoundText, fresh: dict[int, str], *, again: bool
    ) -> Candidate:
        tokens = self.count(found.text)
        short = short_at(message, found)
        now = tokens if short is None else self.count(short)
        result = found if isinstance(found, ToolText) else None
        policy: ToolPolicy = "model" if result is None else self.policies.policy_for(result)
        skip = fresh.get(found.index, "")
        target = None
        if short is not None:
            is_long = again and now > self.token_limit
            target = (self.token_limit or now // 2) if is_long else None
            skip = "" if is_long else "it is short already"
        elif policy == "verbatim":
            skip = "it failed" if result and result.is_error else "its tool's policy is verbatim"
        elif tokens < self.min_tokens or not found.text.strip():
            skip = f"it has less than {self.min_tokens} tokens"
        return Candidate(
            found=found,
            tokens=tokens,
            policy=policy,
            may_send=result is None or self.policies.may_send(result),
            skip=skip,
            target=target,
            shown_tokens=now,
        )

    def _fresh(self, messages: Sequence[Any], texts: Sequence[FoundText]) -> dict[int, str]:
        """Return the messages that stay raw for now, unless they alone do not fit."""
        recent = f"it is one of the newest {self.keep_recent} results"
        fresh = dict.fromkeys(_newest(texts, self.keep_recent), recent)
        fresh |= dict.fromkeys(_unseen(messages), "the model has not seen it yet")
        total = sum(self.count(text.text) for text in texts if text.index in fresh)
        if self.context_limit is not None and total > self.context_limit:
            return {}
        return fresh

    def trigger(self, messages: Sequence[Any], judged: Sequence[Candidate]) -> str:
        """Say which limit is reached; nothing if none is, or if nothing could be done about it."""
        ready = [candidate for candidate in judged if not candidate.skip]
        if not ready:
            return ""
        raw = {
            (c.found.index, c.found.block)
            for c in judged
            if isinstance(c.found, ToolText)
            and c.policy != "verbatim"
            and short_at(messages[c.found.index], c.found) is None
        }
        if self.tool_results and len(raw) >= self.results_limit:
            return f"{len(raw)} tool results, the limit is {self.results_limit}"
        sizes = dict.fromkeys((candidate.found.index for candidate in ready), 0)
        for candidate in judged:
            if candidate.found.index in sizes:
                sizes[candidate.found.index] += candidate.shown_tokens
        if self.token_limit and max(sizes.values()) > self.token_limit:
            return f"a message of {max(sizes.values())} tokens, the limit is {self.token_limit}"
        if self.context_limit is not None:
            total = count_context(messages, self.count)
            if total >= self.context_limit:
                return f"{total} tokens in all, the limit is {self.context_limit}"
        return ""


def count_context(messages: Sequence[Any], count: TokenCounter) -> int:
    """Return about what sending *messages* costs: short forms, calls, pictures, framing."""
    view = [shown(message) for message in messages]
    texts = sum(count(text.text) for text in find_texts(view))
    calls = sum(count(call.name) + count(call.arguments) for call in find_calls(view))
    media = sum(_is_media(part) for message in view for part in _parts(message))
    return texts + calls + IMAGE_TOKENS * media + MESSAGE_OVERHEAD * len(view)


def _parts(message: Any) -> Sequence[Any]:
    found = (get(message, name) for name in ("content", "parts"))
    return next((value for value in found if isinstance(value, list | tuple)), ())


def _is_media(part: Any) -> bool:
    kind = get(part, "type")
    if isinstance(kind, str):
        return kind.removeprefix("input_").startswith(_MEDIA)
    return any(get(part, name) is not None for name in _MEDIA)


def _unseen(messages: Sequence[Any]) -> range:
    """Return the last turn, if the model has not answered to its results yet."""
    called = max((call.index for call in find_calls(messages)), default=-1)
    spoke = max((n for n, m in enumerate(messages) if get(m, "role") in _ASSISTANTS), default=-1)
    return range(0) if called < 0 or spoke > called else range(called, len(messages))


def _newest(texts: Sequence[FoundText], count: int) -> Sequence[int]:
    """Return the messages of the last *count* tool results."""
    results = dict.fromkeys((t.index, t.block) for t in texts if isinstance(t, ToolText))
    return [index for index, _ in list(results)[max(len(results) - count, 0) :]] if count else []


def describe(candidate: Candidate, hide: Callable[[str], str]) -> str:
    """Say what a text is, for whoever shortens it; *hide* takes the secrets out of that.

    The task is what the user had asked for before, not since: so a text is always asked about in
    the same words, and caches hit.
    """
    found, task = candidate.found, candidate.task
    said = {"Tool": "", "Arguments": "", "Task": hide(" ".join(task.split()))}
    if isinstance(found, ToolText):
        said |= {"Tool": found.tool or "unknown", "Arguments": hide(found.arguments)}
    return "\n".join(f"{name}: {text[:_MAX_CONTEXT_CHARS]}" for name, text in said.items() if text)
