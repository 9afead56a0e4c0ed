"""Shorten one text: without loss if that is enough, by a model if there is one, by the engine.

The model is asked inside of a limit and a cache, and never shown a secret.
"""

from __future__ import annotations

import asyncio
import re
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from refold.codecs import reencode
from refold.errors import ConfigError, ToolCallError, describe
from refold.fold.one_text import fold_text
from refold.llm.ask import Asker, Questions, Tally
from refold.llm.summarizers.base import Summarizer, Summary, SummaryRequest, as_summarizer
from refold.llm.summarizers.calls import Generate, generating
from refold.llm.summarizers.prompt import DEFAULT_COMPRESSION_PROMPT
from refold.llm.summarizers.stack import resolve_summarizer, wrap_summarizer
from refold.notation.notes import shortened_from, summarized_from
from refold.scan.redaction import hide_secrets
from refold.scan.secrets import find_secrets
from refold.scan.structure import is_json
from refold.tools.candidates import Candidate
from refold.tools.policy import ManagerOptions
from refold.tools.report import ItemReport, Status
from refold.tools.text_store import TextStore, show_short

_ENOUGH: Final = 0.5
"""A lossless form of at most this share of the tokens is good enough: no model is asked."""
_EXCERPT_SHARE: Final = 0.4
"""The share of a text's tokens that its excerpt may take."""
_EXCERPT_LEAST: Final = 60
"""Tokens of an excerpt of a short text: two or three sentences, since one says little. A guess."""
_ANSWER_SHARE: Final = 0.4
"""How much of a text its summary is expected to take. Like the two below a guess that only decides
whether asking pays: too high asks too seldom, too low pays for what is not used often enough."""
_PROMPT_TOKENS: Final = 200
"""Tokens of the prompt around a text."""
_OUTPUT_PRICE: Final = 4
"""The price of an output token, relative to an input token."""
_USELESS: Final = frozenset({"not_empty", "no_talk", "shorter"})
"""The checks that say: this is no summary at all. Then the model is left alone for a while."""
_TOOL_CALL: Final = re.compile(
    r"\s{0,20}(?:```\w{0,10}\s{1,5})?(?:<\|?/?(?:tool|function|antml:|invoke)[\w:|]{0,20}"
    r"|\{\s{0,20}\"(?:tool_calls?|function_call|tool_use)\"|\[TOOL_CALLS?\])",
    re.IGNORECASE,
)
"""How calls of tools begin that a model writes into its text."""

Shortened = tuple[str | None, ItemReport]
"""A short form, if there is one, and how that came about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortener:
    """Shortens texts in the ways that the options allow; stateless."""

    options: ManagerOptions
    summarizer: Summarizer | None
    text_store: TextStore | None

    async def shorten(self, one: Candidate, item: ItemReport, deadline: float | None) -> Shortened:
        """Return the short form of a text, or why there is none; errors are outcomes too."""
        # A prompt of the caller's own may want less than all of the text, or another form.
        may_pack = self.summarizer is None or self.options.prompt == DEFAULT_COMPRESSION_PROMPT
        enough = one.tokens * (1 if one.policy == "lossless" else _ENOUGH)
        enough = min(enough, one.target or enough)
        try:
            short = packed = await asyncio.to_thread(self._pack, one)
            if packed is None or not may_pack or self.options.counter(packed) > enough:
                short, item = await self._ask(one, item, deadline)
            if short is None and item.status not in ("failed", "rejected"):
                short = await asyncio.to_thread(self._excerpt, one, packed)
            if short is not None and self.text_store is not None:
                await asyncio.to_thread(self.text_store.keep, one.ref.text)
        except Exception as error:  # noqa: BLE001 - stores and secret finders may be foreign
            return None, replace(item, status="failed", reason=describe(error))
        if short is not None:
            return short, replace(item, status="compressed", by=item.by or "engine")
        if item.status == "skipped":
            why = item.reason or "nothing shorter was found"
            item = replace(item, status="rejected", reason=why)
        return None, item

    def _saves(self, one: Candidate, short: str) -> bool:
        most = int(one.tokens_now * (1 - self.options.min_saving))
        return len(short) < len(one.ref.text) and self.options.counter(short) <= most

    def _pack(self, one: Candidate) -> str | None:
        """Return the text re-encoded without loss, if that saves enough."""
        text = one.ref.text
        recoded = reencode(text, self.options.counter)
        packed = None if recoded is None else show_short(recoded.text, text, "", self.text_store)
        return packed if packed is not None and self._saves(one, packed) else None

    async def _ask(self, one: Candidate, item: ItemReport, deadline: float | None) -> Shortened:
        """Ask the model, if there is one that may be asked and if that pays.

        Its answer is judged together with everything that is added to it.
        """
        options, text = self.options, one.ref.text
        written = _ANSWER_SHARE * one.tokens
        cost = options.price_factor * (_PROMPT_TOKENS + one.tokens + _OUTPUT_PRICE * written)
        pays = cost < (one.tokens - written) * options.expected_uses
        if self.summarizer is None or one.policy != "model" or not one.may_send or not pays:
            return None, item
        hide = partial(hide_secrets, find=options.find_secrets or find_secrets)
        questions = Questions(
            write=(text,),
            contexts={text: await asyncio.to_thread(one.describe, hide)},
            rooms={} if one.target is None else {text: one.target},
            is_free=options.prompt != DEFAULT_COMPRESSION_PROMPT,
        )
        asker = Asker(summarizer=self.summarizer, count_tokens=options.counter)
        tally, calls = Tally(), [0]
        token = _CALLS.set(calls)
        whys, is_late = list[str](), False
        try:
            async with asyncio.timeout_at(deadline):
                answer = (await asker.answer(questions, tally)).get(text)
        except TimeoutError:
            answer, is_late, whys = None, True, ["the pass was over"]
        finally:
            _CALLS.reset(token)
        whys += tally.failures
        whys += dict.fromkeys(f"{refusal.check}: {refusal.why}" for refusal in tally.refused)
        item = replace(item, usage=tally.usage, attempts=calls[0])
        if answer is not None:
            words = summarized_from(one.tokens, "tokens")
            short = show_short(answer, text, words, self.text_store)
            if self._saves(one, short):
                return short, replace(item, by="model", reason="; ".join(whys))
            whys.append("it saves too little")
        status: Status = item.status
        if is_late:
            status = "deferred"
        elif answer is None and tally.failures:
            status = "failed"
        elif answer is None and any(refusal.check in _USELESS for refusal in tally.refused):
            status = "rejected"
        return None, replace(item, status=status, reason="; ".join(whys))

    def _excerpt(self, one: Candidate, packed: str | None) -> str | None:
        """Shorten without a model: an excerpt if the policy allows loss, else the lossless form.

        Of JSON an excerpt would lose records and fields, which a model is told to preserve; only
        a policy that asks for excerpts gets one.
        """
        text, count = one.ref.text, self.options.counter
        most = one.target or max(_EXCERPT_LEAST, int(_EXCERPT_SHARE * one.tokens))
        keeps_all = one.policy == "lossless" or (one.policy == "model" and is_json(text))
        if keeps_all or (packed is not None and count(packed) <= most):
            return packed
        excerpt = fold_text(text, most, count)
        if excerpt is None:
            return packed
        words = shortened_from(one.tokens, "tokens")
        short = show_short(excerpt, text, words, self.text_store)
        return short if self._saves(one, short) else packed


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
        """Return the answer, or raise if it is no readable text, so that it is not cached."""
        calls = _CALLS.get()
        if calls is not None:
            calls[0] += 1
        answer = await self._inner.summarize(request)
        call = _TOOL_CALL.match(answer.text)
        if call is not None and call[0].strip() not in request.text:
            raise ToolCallError("the model answered with a tool call", answer.usage)
        return answer
