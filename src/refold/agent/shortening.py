"""Shorten one text: without loss if that is enough, by a model if there is one, by the engine."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from refold.agent.candidates import Candidate, describe
from refold.agent.leash import Capped
from refold.agent.manager_report import By, Status
from refold.agent.policy import handle_of_text, tool_key
from refold.asking import Asker, Tally
from refold.asking import describe as describe_error
from refold.engine import Engine
from refold.model.ask import Questions
from refold.options import Options
from refold.stores.base import Store
from refold.summarizers.base import Summarizer, Usage
from refold.text.json_text import is_json
from refold.tokens.base import TokenCounter

_ENOUGH: Final = 0.5
"""What is written without loss in this share of its tokens needs no model."""
_ANSWER_SHARE: Final = 0.4
_PROMPT_TOKENS: Final = 200
_OUTPUT_PRICE: Final = 4
"""What writing a token costs, compared with reading one."""
_USELESS: Final = frozenset({"not_empty", "no_refusal", "shorter"})
"""The gates that say: this is no summary at all. Then the model is left alone for a while."""
_JSON_SPACE: Final = re.compile(r'("(?:[^"\\]|\\.)*+")|\s++')
_ALWAYS_KEPT: Final = re.compile(
    r"https?://[^\s<>\"'`)\]]+|^[ \t]*+(?:async def|def|class|function|func|fn)\s[^\n]{1,120}", re.M
)
"""What the engine's summaries must not lose: addresses, and the names of what code defines."""
_MOST_KEPT: Final = 500
"""With more of them, a text is little else: then it stays as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of shortening one text."""

    status: Status
    short: str | None = None
    by: By = ""
    reason: str = ""
    missing: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    attempts: int = 0
    """Calls of the model, those that failed too."""
    is_final: bool = False
    """Whether trying again can never help: no model had a say."""


class Shortener:
    """Knows the means to shorten a text; keeps nothing of what it has seen."""

    def __init__(
        self,
        *,
        summarizer: Summarizer | None,
        store: Store | None,
        count: TokenCounter,
        min_saving: float,
        expected_uses: float,
        price_factor: float,
        hide: Callable[[str], str],
    ) -> None:
        self._summarizer = summarizer
        self._store = store
        self._count = count
        self._min_saving = min_saving
        self._expected_uses = expected_uses
        self._price_factor = price_factor
        self._hide = hide
        self._engine = Engine(Options(recency_window=0, counter=count))
        tight = Options(recency_window=0, counter=count, compression_depth="aggressive")
        self._tight_engine = Engine(tight)

    async def shorten(self, candidate: Candidate, deadline: float | None) -> Outcome:
        """Return the short form of a text, or why there is none; errors are outcomes too."""
        text = candidate.found.text
        try:
            packed = await asyncio.to_thread(self._pack, candidate)
            if packed is not None and self._is_enough(candidate, packed):
                return Outcome(status="compressed", short=packed, by="engine")
            outcome = await self._ask(candidate, deadline)
            if outcome.short is None and outcome.status not in ("failed", "rejected"):
                outcome = await self._fall_back(candidate, packed, outcome)
            if outcome.short is not None and self._store is not None:
                await asyncio.to_thread(self._keep, text)
        except Exception as error:  # noqa: BLE001 - stores and secret finders may be foreign
            return Outcome(status="failed", reason=describe_error(error))
        return outcome

    def _is_enough(self, candidate: Candidate, packed: str) -> bool:
        most = candidate.tokens * _ENOUGH
        if candidate.policy == "lossless":
            most = candidate.tokens
        return self._count(packed) <= min(most, candidate.target or most)

    def _pack(self, candidate: Candidate) -> str | None:
        """Write JSON without the white space between its values: nothing is lost."""
        text = candidate.found.text
        if not is_json(text):
            return None
        packed = _JSON_SPACE.sub(lambda found: found[1] or "", text)
        return packed if self._saves(candidate, packed) else None

    def _saves(self, candidate: Candidate, short: str) -> bool:
        now = candidate.shown_tokens
        is_shorter = len(short) < len(candidate.found.text)
        return is_shorter and self._count(short) <= int(now * (1 - self._min_saving))

    async def _ask(self, candidate: Candidate, deadline: float | None) -> Outcome:
        """Ask the model, if there is one that may be asked and if that pays."""
        summarizer = self._summarizer
        may_ask = candidate.policy == "model" and candidate.may_send
        if summarizer is None or not may_ask or not self._pays(candidate.tokens):
            return Outcome(status="skipped", is_final=True)
        if candidate.target is not None:
            summarizer = Capped(summarizer, candidate.target)
        text, tally = candidate.found.text, Tally()
        context = await asyncio.to_thread(describe, candidate, self._hide)
        questions = Questions(write=(text,), contexts={text: context})
        asker = Asker(summarizer=summarizer, count_tokens=self._count)
        try:
            async with asyncio.timeout_at(deadline):
                answers = await asker.answer(questions, tally)
        except TimeoutError:
            return Outcome(status="deferred", reason="the pass was over", usage=tally.usage)
        return self._read(candidate, answers.written.get(text), tally)

    def _read(self, candidate: Candidate, answer: str | None, tally: Tally) -> Outcome:
        """Judge what came back, together with everything that is added to it."""
        gates = {refusal.gate for refusal in tally.refused}
        whys = dict.fromkeys(f"{r.gate}: {r.why}" for r in tally.refused)
        outcome = Outcome(
            status="skipped",
            reason="; ".join((*tally.failures, *whys)),
            missing=tuple(dict.fromkeys(m for r in tally.refused for m in r.missing)),
            usage=tally.usage,
            attempts=tally.usage.calls + len(tally.failures),
        )
        if tally.failures:
            return replace(outcome, status="failed")
        if answer is None:
            return replace(outcome, status="rejected") if gates & _USELESS else outcome
        short = self._annotate(candidate.found.text, answer)
        if not self._saves(candidate, short):
            return replace(outcome, reason=f"{outcome.reason}; it saves too little".lstrip("; "))
        return replace(outcome, status="compressed", short=short, by="model")

    def _pays(self, tokens: int) -> bool:
        """Tell whether what is saved each time the text is sent is more than asking costs."""
        written = _ANSWER_SHARE * tokens
        cost = self._price_factor * (_PROMPT_TOKENS + tokens + _OUTPUT_PRICE * written)
        return cost < (tokens - written) * self._expected_uses

    async def _fall_back(self, candidate: Candidate, packed: str | None, asked: Outcome) -> Outcome:
        """Use what needs no model, unless the policy forbids to lose anything."""
        if candidate.policy != "lossless":
            short = await asyncio.to_thread(self._fold, candidate)
            if short is not None and self._saves(candidate, short):
                return replace(asked, status="compressed", short=short, by="engine")
        if packed is not None:
            return replace(asked, status="compressed", short=packed, by="engine")
        status: Status = "deferred" if asked.status == "deferred" else "rejected"
        return replace(asked, status=status, reason=asked.reason or "nothing shorter was found")

    def _fold(self, candidate: Candidate) -> str | None:
        """Shorten with the engine's own means, and say how much is left out."""
        text = candidate.found.text
        engine = self._engine if candidate.target is None else self._tight_engine
        job = engine.begin([{"role": "tool", "content": text, "id": "text"}])
        plan, _ = engine.plan(job.messages, job.analyses, engine.options)
        short = next(iter(plan[0].texts.values()), None)
        if short is None:
            return None
        facts = dict.fromkeys(found[0].strip() for found in _ALWAYS_KEPT.finditer(text))
        if len(facts) > _MOST_KEPT:
            return None
        kept = [fact for fact in facts if fact not in short]
        short += f"\n[kept: {'; '.join(kept)}]" if kept else ""
        return self._annotate(text, short, f"shortened from {candidate.tokens} tokens")

    def _annotate(self, text: str, short: str, note: str = "") -> str:
        """Add what a reader has to know: how much is left out, and how to get it."""
        notes = [note] if note else []
        if self._store is not None:
            notes.append(f"whole text: #{handle_of_text(text)}")
        if not notes:
            return short
        said = "; ".join(notes)
        if is_json(short):
            return _into_json(short, said)
        return f"{short}{chr(10) if chr(10) in short else ' '}[{said}]"

    def _keep(self, text: str) -> None:
        if self._store is not None:
            self._store.put({tool_key(handle_of_text(text)): {"role": "tool", "content": text}})


def _into_json(short: str, note: str) -> str:
    """Say *note* inside a JSON object or array, so that it stays one."""
    body, end = short.rstrip()[:-1].rstrip(), short.rstrip()[-1]
    comma = "" if body in ("{", "[") else ","
    key = '"…":' if end == "}" else ""
    return f'{body}{comma}{key}"[{note}]"{end}'
