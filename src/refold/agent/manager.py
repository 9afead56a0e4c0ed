"""Shorten tool results inside an agent loop, beside the originals and never in their place."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any, Final

from refold.agent.beside import is_done, put_beside, shown
from refold.agent.candidates import Candidate, current_task, describe_text, newest, unseen
from refold.agent.manager_report import ItemReport, ManagerReport, Status
from refold.agent.policy import FoundText, Policies, ToolText, handle_of_text, tool_key
from refold.agent.shapes import find_texts
from refold.asking import Asker, Tally, run_apart
from refold.engine import Engine
from refold.errors import ConfigError
from refold.events import Listener
from refold.model.ask import Questions
from refold.model.wire import text_digest
from refold.options import Options
from refold.stores.base import Store
from refold.summarizers import guard
from refold.summarizers.generate import DEFAULT_COMPRESSION_PROMPT, Generate, GenerateSummarizer
from refold.tokens.base import CountedTexts, TokenCounter
from refold.tokens.estimate import estimate_tokens

_log: Final = logging.getLogger("refold.agent")
_NEVER_TOUCHED: Final = frozenset({"system", "developer", "user"})


class CompressionManager:
    """Decides when tool results are worth shortening, and keeps the short form beside them.

    `compress` and `acompress` put a `compressed_content` beside the unchanged `content` of the
    messages given; `view` returns what to send. With *generate* a model writes the short form and
    the gates check it; without one, or where it fails, the engine's own means are used. Results
    that the model has not seen yet, failed results and small ones stay as they are.
    """

    def __init__(
        self,
        *,
        generate: Generate | None = None,
        summarizer: object = None,
        compress_tool_results: bool = True,
        compress_tool_results_limit: int = 3,
        compress_token_limit: int = 0,
        compress_context_limit: int | None = None,
        prompt: str = DEFAULT_COMPRESSION_PROMPT,
        debug: bool = False,
        policies: Policies | None = None,
        keep_recent: int = 0,
        min_tokens: int = 40,
        min_saving: float = 0.1,
        cool_down_seconds: float = 300.0,
        pass_seconds: float | None = None,
        counter: TokenCounter | None = None,
        store: Store | None = None,
        on_event: Listener | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        _check_values(compress_tool_results_limit, compress_token_limit, keep_recent, min_tokens)
        if generate is not None and summarizer is not None:
            raise ConfigError("give generate or summarizer, not both")
        if not 0 <= min_saving < 1:
            raise ConfigError(f"min_saving must be from 0 to below 1, got {min_saving!r}")
        self.compress_tool_results = compress_tool_results
        self.compress_tool_results_limit = compress_tool_results_limit
        self.compress_token_limit = compress_token_limit
        self.compress_context_limit = compress_context_limit
        self.debug = debug
        self._policies = policies or Policies()
        self._keep_recent = keep_recent
        self._min_tokens = min_tokens
        self._min_saving = min_saving
        self._cool_down = cool_down_seconds
        self._clock = clock
        self._store = store
        self._count = counter or estimate_tokens
        self._tokens = CountedTexts(self._count, estimate_tokens)
        asked = GenerateSummarizer(generate, prompt) if generate is not None else summarizer
        self._asker = Asker(
            summarizer=None if asked is None else guard(asked),
            count_tokens=self._count,
            pass_seconds=pass_seconds,
            listener=on_event,
        )
        self._engine = Engine(Options(recency_window=0, counter=self._count))
        self._resting: dict[str, float] = {}
        """Texts that could not be shortened, and until when not to try again."""
        self._totals = ManagerReport()
        self._last: ContextVar[ManagerReport] = ContextVar("last_report", default=ManagerReport())

    @property
    def compression_count(self) -> int:
        """How many texts were shortened since this manager was made."""
        return self._totals.compressed

    @property
    def stats(self) -> ManagerReport:
        """Totals since this manager was made."""
        return self._totals

    @property
    def last_report(self) -> ManagerReport:
        """What the last call in this task or thread did."""
        return self._last.get()

    def should_compress(self, messages: Sequence[Any]) -> bool:
        """Tell whether a limit is reached and something can be done about it."""
        return bool(self.explain(messages))

    async def ashould_compress(self, messages: Sequence[Any]) -> bool:
        """Tell the same without blocking the event loop."""
        return await asyncio.to_thread(self.should_compress, messages)

    def explain(self, messages: Sequence[Any]) -> str:
        """Say why `should_compress` is true; an empty string means that it is not."""
        texts = find_texts(messages)
        candidates = list(self._candidates(messages, texts))
        if not candidates:
            return ""
        raw = sum(
            isinstance(text, ToolText) and not is_done(messages[text.index]) for text in texts
        )
        if self.compress_tool_results and raw >= self.compress_tool_results_limit:
            return f"{raw} tool results, the limit is {self.compress_tool_results_limit}"
        limit = self.compress_token_limit
        largest = max(candidate.tokens for candidate in candidates)
        if limit and largest > limit:
            return f"a text of {largest} tokens, the limit is {limit}"
        total = sum(self._tokens(text.text) for text in texts)
        if self.compress_context_limit is not None and total >= self.compress_context_limit:
            return f"{total} tokens in all, the limit is {self.compress_context_limit}"
        return ""

    def compress(self, messages: Sequence[Any]) -> ManagerReport:
        """Shorten what may be shortened, one text after the other."""
        return run_apart(lambda: self._pass(messages, at_once=False))

    async def acompress(self, messages: Sequence[Any]) -> ManagerReport:
        """Shorten what may be shortened, several texts at once; finished ones survive a cancel."""
        report = await self._pass(messages, at_once=True)
        self._last.set(report)
        return report

    def view(self, messages: Sequence[Any]) -> list[Any]:
        """Return the list to send: short forms in the place of the long ones, inputs untouched."""
        return [shown(message) for message in messages]

    async def _pass(self, messages: Sequence[Any], *, at_once: bool) -> ManagerReport:
        candidates = list(self._candidates(messages, find_texts(messages)))
        items: list[ItemReport] = []

        async def work(candidate: Candidate) -> None:
            items.append(await self._shorten(messages, candidate))

        try:
            if at_once:
                async with asyncio.TaskGroup() as group:
                    for candidate in candidates:
                        group.create_task(work(candidate))
            else:
                for candidate in candidates:
                    await work(candidate)
        finally:
            report = ManagerReport(items=tuple(sorted(items, key=lambda item: item.place)))
            self._totals = self._totals + report
            self._last.set(report)
        return report

    async def _shorten(self, messages: Sequence[Any], candidate: Candidate) -> ItemReport:
        """Shorten one text, and put the result beside it the moment it is there."""
        started = self._clock()
        tally = Tally()
        text = candidate.found.text
        short = await self._ask(candidate, tally) or await asyncio.to_thread(self._fold, text)
        short = self._with_handle(text, short)
        limit = int(candidate.tokens * (1 - self._min_saving))
        if short is None or self._tokens(short) > limit or len(short) >= len(text):
            self._resting[text_digest(text)] = self._clock() + self._cool_down
            return self._note(candidate, "kept", tally, started, None)
        put_beside(messages[candidate.found.index], candidate.found, short)
        status: Status = "by_model" if tally.accepted or tally.repaired else "by_engine"
        return self._note(candidate, status, tally, started, short)

    async def _ask(self, candidate: Candidate, tally: Tally) -> str | None:
        if self._asker.summarizer is None or not candidate.may_send:
            return None
        text = candidate.found.text
        questions = Questions(write=(text,), contexts={text: candidate.context})
        return (await self._asker.answer(questions, tally)).written.get(text)

    def _fold(self, text: str) -> str | None:
        """Shorten with the engine's own means, if they find anything to shorten."""
        job = self._engine.begin([{"role": "tool", "content": text, "id": "text"}])
        plan, _ = self._engine.plan(job.messages, job.analyses, self._engine.options)
        return next(iter(plan[0].texts.values()), None)

    def _with_handle(self, text: str, short: str | None) -> str | None:
        """Keep the original where a model can fetch it, and say under which handle."""
        if short is None or self._store is None:
            return short
        handle = handle_of_text(text)
        self._store.put({tool_key(handle): {"role": "tool", "content": text}})
        return f"{short} [whole text: #{handle}]"

    def _note(
        self,
        candidate: Candidate,
        status: Status,
        tally: Tally,
        started: float,
        short: str | None,
    ) -> ItemReport:
        found = candidate.found
        item = ItemReport(
            index=found.index,
            place=found.place,
            tool=found.tool if isinstance(found, ToolText) else "",
            status=status,
            reason="; ".join(
                (*tally.failures, *dict.fromkeys(f"{r.gate}: {r.why}" for r in tally.refused))
            ),
            missing=tuple(dict.fromkeys(m for r in tally.refused for m in r.missing)),
            tokens_before=candidate.tokens,
            tokens_after=candidate.tokens if short is None else self._tokens(short),
            attempts=tally.usage.calls,
            seconds=self._clock() - started,
            usage=tally.usage,
        )
        if self.debug:
            _log.debug(
                "%s: %s, %d to %d tokens", item.place, status, item.tokens_before, item.tokens_after
            )
        return item

    def _candidates(
        self, messages: Sequence[Any], texts: Sequence[FoundText]
    ) -> Iterator[Candidate]:
        """Yield the texts that may be shortened now, in order."""
        fresh = unseen(messages) | newest(texts, self._keep_recent)
        task = current_task(texts)
        for found in texts:
            if is_done(messages[found.index]) or found.index in fresh:
                continue
            if not self._is_eligible(found) or self._is_resting(found.text):
                continue
            tokens = self._tokens(found.text)
            if tokens >= self._min_tokens:
                yield Candidate(found, tokens, self._may_send(found), describe_text(found, task))

    def _is_eligible(self, found: FoundText) -> bool:
        if isinstance(found, ToolText) and self.compress_tool_results:
            return self._policies.policy_for(found) not in ("verbatim", "lossless")
        limit = self.compress_token_limit
        return (
            found.role not in _NEVER_TOUCHED
            and bool(limit)
            and self._tokens(found.text) > limit
            and not (isinstance(found, ToolText) and found.is_error)
        )

    def _may_send(self, found: FoundText) -> bool:
        if not isinstance(found, ToolText):
            return True
        return self._policies.policy_for(found) == "model" and self._policies.may_send(found)

    def _is_resting(self, text: str) -> bool:
        until = self._resting.get(text_digest(text))
        return until is not None and self._clock() < until


def _check_values(*values: object) -> None:
    names = ("compress_tool_results_limit", "compress_token_limit", "keep_recent", "min_tokens")
    for name, value in zip(names, values, strict=True):
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise ConfigError(f"{name} must be a whole number, 0 or more; got {value!r}")
