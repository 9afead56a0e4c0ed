"""The public face: compress, uncompress, classify."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from refold.budget import fit_budget
from refold.detectors import detect
from refold.errors import BudgetError, ConfigError, StoreError
from refold.flow import keep_all, plan_fold
from refold.formats import check_list, load
from refold.model.message import Message
from refold.model.plan import Fold, Plan
from refold.model.provenance import Provenance, link_key
from refold.options import Options
from refold.quality.report import measure
from refold.render import Rendering, render
from refold.restore import MappingLookup, StoreLookup, looks_folded, restore
from refold.result import BudgetReport, Result, UncompressResult
from refold.stages import Analyses
from refold.stores.base import Store
from refold.text.view import TextView
from refold.tokens.base import CountedTexts
from refold.tokens.choose import counter_for, is_estimate
from refold.tokens.estimate import SAFETY_FACTOR, estimate_tokens

Tier = Literal["T0", "T2", "T3"]
_T3_WORDS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Classification:
    """What kind of text something is: T0 structure, T2 short prose, T3 long prose."""

    tier: Tier
    confidence: float
    reasons: tuple[str, ...]


def classify(text: str) -> Classification:
    """Tell structure from prose, with the reasons."""
    if not isinstance(text, str):
        raise ConfigError(f"classify() takes a string, got {type(text).__name__}")
    reasons = detect(TextView(text)).reasons
    if reasons:
        confidence = min(0.95, 0.70 + 0.05 * len(reasons))
        return Classification(tier="T0", confidence=round(confidence, 2), reasons=reasons)
    tier: Tier = "T2" if len(text.split()) < _T3_WORDS else "T3"
    return Classification(tier=tier, confidence=0.65, reasons=())


class Compressor:
    """Folds conversations with one set of options; safe to share between threads."""

    def __init__(
        self, options: Options | None = None, *, store: Store | None = None, **choices: Any
    ) -> None:
        if options is not None and not isinstance(options, Options):
            raise ConfigError(f"options must be Options, got {type(options).__name__}")
        if options is not None and choices:
            Options.of(choices)  # names a misspelt option before merging
            options = replace(options, **choices)
        self.options = options or Options.of(choices)
        if store is not None and not isinstance(store, Store):
            raise ConfigError(f"store must have put() and get(), got {type(store).__name__}")
        self._store = store
        self._counter = self.options.counter or counter_for(self.options.model)

    def compress(self, messages: Sequence[Mapping[str, Any]]) -> Result:
        """Fold *messages*; the originals are in the store before this returns."""
        options = self.options
        loaded = self.recognize(
            load(messages, format_name=options.format, strict_roles=options.strict_roles)
        )
        analyses = self.new_analyses()
        plan, budget = self.plan(loaded, analyses, options)
        rendering = self.render(plan)
        self.save(rendering)
        return Result(
            messages=rendering.messages,
            verbatim=rendering.verbatim,
            compression=measure(plan, options, analyses.tokens, analyses.names),
            budget=budget,
        )

    async def acompress(self, messages: Sequence[Mapping[str, Any]]) -> Result:
        """Fold *messages* in a worker thread, so that the event loop stays free."""
        return await asyncio.to_thread(self.compress, messages)

    def new_analyses(self) -> Analyses:
        """Start afresh with what is known of texts."""
        return Analyses(CountedTexts(self._counter, estimate_tokens))

    def plan(
        self,
        messages: Sequence[Message],
        analyses: Analyses,
        options: Options,
        target: int | None = None,
    ) -> tuple[Plan, BudgetReport | None]:
        """Decide what happens to *messages*; a budget aims at *target*, if given."""
        total = sum(map(analyses.tokens.message, messages))
        if options.compression_threshold is not None and total < options.compression_threshold:
            return keep_all(messages, "below_threshold"), None
        if options.token_budget is None:
            return plan_fold(messages, options, analyses), None
        aim = self.aim(options.token_budget) if target is None else target
        plan, report = fit_budget(messages, options, analyses, aim)
        if options.strict and not report.fits:
            raise BudgetError(report.explain())
        return plan, report

    def aim(self, budget: int) -> int:
        """Aim lower where tokens are only estimated, so that the real ones fit too."""
        return int(budget / SAFETY_FACTOR) if is_estimate(self._counter) else budget

    def recognize(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """Give stand-ins without metadata the provenance that the store has for them."""
        if self._store is None:
            return messages
        links = {
            link_key(message.digest): message.index
            for message in messages
            if message.provenance is None and looks_folded(message.wire)
        }
        if not links:
            return messages
        known = {
            links[key]: Provenance.from_wire(wire) for key, wire in self._store.get(links).items()
        }
        return tuple(
            replace(message, provenance=known[message.index]) if message.index in known else message
            for message in messages
        )

    def render(self, plan: Sequence[Fold]) -> Rendering:
        """Write *plan* out as messages and originals."""
        return render(plan, version=self.options.source_version)

    def save(self, rendering: Rendering) -> None:
        """Put the originals into the store, if there is one."""
        if self._store is not None and rendering.entries:
            self._store.put(rendering.entries)


def compress(
    messages: Sequence[Mapping[str, Any]], *, store: Store | None = None, **options: Any
) -> Result:
    """Fold a conversation. See `Options` for what can be chosen."""
    return Compressor(store=store, **options).compress(messages)


async def acompress(
    messages: Sequence[Mapping[str, Any]], *, store: Store | None = None, **options: Any
) -> Result:
    """Fold a conversation without blocking the event loop; same result as `compress`."""
    return await Compressor(store=store, **options).acompress(messages)


def uncompress(
    messages: Sequence[Mapping[str, Any]],
    store: Store | Mapping[str, Any] | Callable[[str], Any],
    *,
    recursive: bool = True,
) -> UncompressResult:
    """Unfold a conversation from a store, from `Result.verbatim`, or with a look-up function."""
    checked = check_list(messages)
    lookup: StoreLookup | MappingLookup
    if isinstance(store, Mapping):
        lookup = MappingLookup(store)
    elif isinstance(store, Store):
        lookup = StoreLookup(store.get)
    elif callable(store):
        lookup = MappingLookup(store)
    else:
        raise StoreError(
            "uncompress() needs a store, a mapping of originals or a look-up function; "
            f"got {type(store).__name__}"
        )
    return restore(checked, lookup, recursive=recursive)
