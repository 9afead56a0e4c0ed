"""Which texts of a conversation may be shortened now, and how one is.

A text is shortened without loss if that is enough, else by a model if there is one, else by the
engine. The model is asked inside of a limit and a cache, and never shown a secret.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from refold.errors import ConfigError, ToolCallError, describe
from refold.llm.ask import Asker, Questions, Tally
from refold.llm.summarizers.base import Summarizer, Summary, SummaryRequest, as_summarizer
from refold.llm.summarizers.calls import Generate, generating
from refold.llm.summarizers.prompt import DEFAULT_COMPRESSION_PROMPT
from refold.llm.summarizers.stack import resolve_summarizer, wrap_summarizer
from refold.messages.message import Message
from refold.messages.token_count import count_beside
from refold.messages.wire import text_digest
from refold.notation.notes import summarized_from
from refold.notation.recognize import has_tag
from refold.scan.redaction import hide_secrets
from refold.scan.secrets import find_secrets
from refold.scan.structure import is_json
from refold.tools.policy import ManagerOptions, ToolPolicy
from refold.tools.report import ItemReport, Status
from refold.tools.shapes import (
    TextRef,
    apply_short_form,
    read_short_form,
    read_turns,
    texts_of,
)
from refold.tools.text_store import TextStore, excerpt, respelled, show_short

_MAX_CONTEXT_CHARS: Final = 400
"""How much of the arguments and of the task a summarizer gets. A guess, about 100 tokens each:
less hides what a result was asked for, more is paid for with every result."""
_ENOUGH: Final = 0.5
"""A lossless form of at most this share of the tokens is good enough: no model is asked."""
_SHORT_SHARE: Final = 0.4
"""The share of a text's tokens that its excerpt may take, and that its summary is expected to.

The latter, like the two below, is a guess that only decides whether asking pays: too high asks too
seldom, too low pays for what is not used often enough."""
_PROMPT_TOKENS: Final = 200
"""Tokens of the prompt around a text."""
_OUTPUT_PRICE: Final = 4
"""The price of an output token, relative to an input token."""
_EXCERPT_LEAST: Final = 60
"""Tokens of an excerpt of a short text: two or three sentences, since one says little. A guess."""
_USELESS: Final = frozenset({"not_empty", "no_talk", "shorter"})
"""The checks that say: this is not a summary at all. Then the model is left alone for a while."""
_TOOL_CALL: Final = re.compile(
    r"\s{0,20}(?:```\w{0,10}\s{1,5})?(?:<\|?/?(?:tool|function|antml:|invoke)[\w:|]{0,20}"
    r"|\{\s{0,20}\"(?:tool_calls?|function_call|tool_use)\"|\[TOOL_CALLS?\])",
    re.IGNORECASE,
)
"""How calls of tools begin that a model writes into its text."""


@dataclass(slots=True, kw_only=True)
class Candidate:
    """A text, whether it may be shortened, and the context for its summarizer."""

    ref: TextRef
    tokens: int
    task: str
    """The last request of the user before the text."""
    policy: ToolPolicy = "model"
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
        return f"{text_digest(self.ref.text)}:{self.policy}:"

    def report(self, status: Status, reason: str) -> ItemReport:
        """Report it as it is."""
        ref, size = self.ref, len(self.ref.text)
        return ItemReport(
            index=ref.index,
            place=ref.place,
            tool=ref.tool,
            status=status,
            reason=reason,
            chars_before=size,
            chars_after=size,
            tokens_before=self.tokens_now,
            tokens_after=self.tokens_now,
        )

    def describe(self, hide: Callable[[str], str]) -> str:
        """Describe the text for its summarizer; *hide* takes the secrets out of that.

        The task is what the user had asked for before, not since: so a text is always asked about
        in the same words, and caches hit.
        """
        about = {"Task": " ".join(hide(self.task).split())}
        if self.ref.is_result:
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

    *rests* says for a key what failed lately, *known* the short form where none stands beside the
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
        is_large = 0 < limit < sizes[ref.index]
        if is_large or (options.compress_tool_results and (ref.is_result or ref.beside_calls)):
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
                one.skip = "it failed recently"
            judged.append(one)
        if ref.role == "user" and not ref.is_result:
            task = ref.text
    return judged


def _judge(one: Candidate, fresh: str, options: ManagerOptions) -> str:
    """Note the policy for a text, and return why it stays as it is; *fresh* is one such reason."""
    ref = one.ref
    if ref.is_result:
        one.policy = options.policies.policy_for(ref)
        if one.policy == "verbatim":
            return "it failed" if ref.is_error else "its tool's policy is verbatim"
    if one.tokens < options.min_tokens or not ref.text.strip():
        return f"it has fewer than {options.min_tokens} tokens"
    if has_tag(ref.text):  # its handle would be that of a short form, not of the original
        return "it is already a short form"
    return fresh


def _fresh(
    texts: Sequence[TextRef], turns: Sequence[Message], options: ManagerOptions
) -> dict[int, str]:
    """Return the messages that stay raw for now, unless they alone do not fit."""
    keep, limit = options.keep_recent, options.compress_context_limit
    results = dict.fromkeys((t.index, t.block) for t in texts if t.is_result)
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
        if one.ref.is_result and one.policy != "verbatim" and one.short is None
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


class Shortener:
    """Shortens texts in the ways that the options allow; stateless."""

    def __init__(
        self, options: ManagerOptions, summarizer: Summarizer | None, text_store: TextStore | None
    ) -> None:
        self._options, self._count = options, options.counter
        self._asker = Asker(summarizer=summarizer, count_tokens=options.counter)
        self._text_store = text_store

    async def shorten(
        self, one: Candidate, deadline: float | None
    ) -> tuple[str | None, ItemReport]:
        """Return the short form of a text, if there is one, and how that came about.

        Errors are outcomes too.
        """
        text, item = one.ref.text, one.report("skipped", "")
        # A prompt of the caller's own may want less than all of the text, or another form.
        may_pack = not self._asker.is_enabled or self._options.prompt == DEFAULT_COMPRESSION_PROMPT
        enough = one.tokens * (1 if one.policy == "lossless" else _ENOUGH)
        enough = min(enough, one.target or enough)
        try:
            short = await asyncio.to_thread(respelled, text, self._count, self._text_store)
            short = packed = self._if_shorter(one, short)
            if packed is None or not may_pack or self._count(packed) > enough:
                short, item = await self._ask(one, item, deadline)
            if short is None and item.status not in ("failed", "rejected"):
                short = await asyncio.to_thread(self._excerpt, one, packed)
            if short is not None and self._text_store is not None:
                await asyncio.to_thread(self._text_store.keep, text)
        except Exception as error:  # noqa: BLE001 - stores and secret finders may be foreign
            return None, replace(item, status="failed", reason=describe(error))
        if short is not None:
            return short, replace(item, status="compressed", by=item.by or "engine")
        if item.status == "skipped":
            why = item.reason or "nothing shorter was found"
            item = replace(item, status="rejected", reason=why)
        return None, item

    def _if_shorter(self, one: Candidate, short: str | None) -> str | None:
        """Return *short* if it saves enough."""
        most = int(one.tokens_now * (1 - self._options.min_saving))
        if short is None or len(short) >= len(one.ref.text) or self._count(short) > most:
            return None
        return short

    async def _ask(
        self, one: Candidate, item: ItemReport, deadline: float | None
    ) -> tuple[str | None, ItemReport]:
        """Ask the model, if there is one that may be asked and if that pays.

        Its answer is judged together with everything that is added to it.
        """
        options, text = self._options, one.ref.text
        written = _SHORT_SHARE * one.tokens
        cost = options.price_factor * (_PROMPT_TOKENS + one.tokens + _OUTPUT_PRICE * written)
        pays = cost < (one.tokens - written) * options.expected_uses
        if not self._asker.is_enabled or one.policy != "model" or not pays:
            return None, item
        hide = partial(hide_secrets, find=options.find_secrets or find_secrets)
        questions = Questions(
            write=(text,),
            contexts={text: await asyncio.to_thread(one.describe, hide)},
            rooms={} if one.target is None else {text: one.target},
            is_free=options.prompt != DEFAULT_COMPRESSION_PROMPT,
        )
        tally, calls = Tally(), [0]
        token = _CALLS.set(calls)
        whys, is_late = list[str](), False
        try:
            async with asyncio.timeout_at(deadline):
                answer = (await self._asker.answer(questions, tally)).get(text)
        except TimeoutError:
            answer, is_late, whys = None, True, ["the pass had ended"]
        finally:
            _CALLS.reset(token)
        whys += tally.failures
        whys += dict.fromkeys(f"{refusal.check}: {refusal.why}" for refusal in tally.refused)
        item = replace(item, usage=tally.usage, attempts=calls[0])
        if answer is not None:
            words = summarized_from(one.tokens, "tokens")
            short = self._if_shorter(one, show_short(answer, text, words, self._text_store))
            if short is not None:
                return short, replace(item, by="model", reason="; ".join(whys))
            whys.append("it saves too little")
        elif is_late:
            item = replace(item, status="deferred")
        elif tally.failures:
            item = replace(item, status="failed")
        elif any(refusal.check in _USELESS for refusal in tally.refused):
            item = replace(item, status="rejected")
        return None, replace(item, reason="; ".join(whys))

    def _excerpt(self, one: Candidate, packed: str | None) -> str | None:
        """Shorten without a model: an excerpt if the policy allows loss, else the lossless form.

        Of JSON an excerpt would lose records and fields, which a model is told to preserve; only
        a policy that asks for excerpts gets one.
        """
        text = one.ref.text
        most = one.target or max(_EXCERPT_LEAST, int(_SHORT_SHARE * one.tokens))
        keeps_all = one.policy == "lossless" or (one.policy == "model" and is_json(text))
        if keeps_all or (packed is not None and self._count(packed) <= most):
            return packed
        short = excerpt(text, most, self._count, self._text_store)
        return self._if_shorter(one, short) or packed


def build_summarizer(
    generate: Generate | None, model: object, summarizer: object, options: ManagerOptions
) -> Summarizer | None:
    """Make a summarizer of the one that is given: a name is looked up; around it what all get."""
    models = [value for value in (generate, model, summarizer) if value is not None]
    if len(models) > 1:
        raise ConfigError("give generate, model or summarizer, only one of them")
    if not models:
        return None
    if generate is not None:
        asked: Summarizer = generating(generate, options.prompt)
    elif isinstance(models[0], str):
        is_default = options.prompt == DEFAULT_COMPRESSION_PROMPT
        asked = resolve_summarizer(models[0], system_prompt="" if is_default else options.prompt)
    else:
        asked = as_summarizer(models[0])
    return wrap_summarizer(
        _Watched(asked),
        cache=options.cache,
        version=f"{getattr(asked, 'version', '')}:{options.cache_version}",
        max_concurrent=options.max_concurrent,
        call_seconds=options.call_seconds,
        find_secrets=options.find_secrets,
    )


_CALLS: Final[ContextVar[list[int] | None]] = ContextVar("calls", default=None)
"""How often the model was called for one text, those calls too that failed."""


class _Watched:
    """Counts calls of a model, and refuses calls of tools: it took up the work instead."""

    def __init__(self, inner: Summarizer) -> None:
        self._inner = inner

    async def summarize(self, request: SummaryRequest) -> Summary:
        """Return the answer, or raise if it is not readable text, so that it is not cached."""
        calls = _CALLS.get()
        if calls is not None:
            calls[0] += 1
        answer = await self._inner.summarize(request)
        call = _TOOL_CALL.match(answer.text)
        if call is not None and call[0].strip() not in request.text:
            raise ToolCallError("the model answered with a tool call", answer.usage)
        return answer
