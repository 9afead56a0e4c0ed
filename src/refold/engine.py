"""The engine room: loading, planning, writing out; what `Compressor` and `Session` share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, TypeVar

from refold.asking import Asker, Tally, run
from refold.budget import fit_budget
from refold.classifiers import as_classifier
from refold.errors import BudgetError, ConfigError
from refold.events import Listener
from refold.flow import Flow, ask_until_known, keep_all, plan_fold, plan_rest
from refold.formats import Loader, load
from refold.model.message import Message
from refold.model.plan import Fold, Plan
from refold.model.provenance import Provenance, link_key
from refold.model.wire import clone_message
from refold.options import Options, check_used
from refold.quality.report import measure
from refold.render import Rendering, provenance_of, render
from refold.restore import looks_folded
from refold.result import BudgetReport, Result
from refold.stages import Analyses
from refold.stores.base import Store, check_store
from refold.summarizers import guard
from refold.tokens.base import CountedTexts
from refold.tokens.choose import counter_for, is_estimate
from refold.tokens.estimate import SAFETY_FACTOR, estimate_tokens

T = TypeVar("T")

Planned = tuple[Plan, BudgetReport | None]


def combine(options: Options | None, choices: Mapping[str, Any]) -> Options:
    """Make options from a set of them, from keywords, or from one changed by the other."""
    if options is None:
        return Options(**choices)
    if not isinstance(options, Options):
        raise ConfigError(f"options must be Options, got {type(options).__name__}")
    return replace(options, **choices)


@dataclass(slots=True)
class Job:
    """One compression under way."""

    messages: tuple[Message, ...]
    analyses: Analyses
    tally: Tally = field(default_factory=Tally)


def _left_alone(messages: Sequence[Message], total: int, options: Options) -> BudgetReport | None:
    """Report on a budget when the conversation is too short to be folded at all."""
    if options.token_budget is None:
        return None
    limit = f"compression_threshold={options.compression_threshold}"
    return BudgetReport(
        token_budget=options.token_budget,
        token_count=total,
        recency_window=len(messages),
        stopped_by=limit if total > options.token_budget else "",
    )


class Engine:
    """Everything that one set of options needs; holds no state of any conversation."""

    def __init__(
        self,
        options: Options,
        *,
        store: Store | None = None,
        summarizer: object = None,
        classifier: object = None,
        on_event: Listener | None = None,
        pass_seconds: float | None = None,
    ) -> None:
        if store is not None:
            check_store(store)
        helpers = {
            "summarizer": summarizer,
            "classifier": classifier,
            "on_event": on_event,
            "pass_seconds": pass_seconds,
        }
        for name, helper in helpers.items():
            if helper is not None:
                check_used(name, options.profile)
        self.options = options
        self._store = store
        if options.profile != "balanced":
            import_module("refold.planner")  # now, not in the middle of somebody's turn
        self._counter = options.counter or counter_for(options.model)
        self.asker = Asker(
            summarizer=None if summarizer is None else guard(summarizer),
            classifier=None if classifier is None else as_classifier(classifier),
            count_tokens=self._counter,
            pass_seconds=pass_seconds,
            listener=on_event,
        )

    def begin(self, messages: Sequence[Mapping[str, Any]]) -> Job:
        """Read a conversation."""
        loaded = load(
            messages, format_name=self.options.format, strict_roles=self.options.strict_roles
        )
        return self.job_of(self.recognize(loaded))

    def job_of(self, messages: tuple[Message, ...]) -> Job:
        """Begin with messages that were read before."""
        plans_once = self.options.token_budget is None and not self.asker.is_there
        return Job(messages, self.new_analyses(keeps_sentences=not plans_once))

    def flow(self, job: Job) -> Flow[Planned]:
        """Plan a job; stops where it wants to ask something."""
        return ask_until_known(
            lambda: self.plan(job.messages, job.analyses, self.options), job.analyses
        )

    def finish(self, job: Job, planned: Planned) -> Result:
        """Write the plan out; nothing has been written before this."""
        plan, budget = planned
        if self.options.strict and budget is not None and not budget.fits:
            raise BudgetError(budget.explain())
        job.analyses.forget_sentences()
        job.tally.settle(job.analyses.written_in(plan))
        rendering = self.render(plan)
        self.save(rendering)
        finder = job.analyses.finder if self.options.profile == "balanced" else None
        return Result(
            messages=rendering.messages,
            verbatim=rendering.verbatim,
            compression=replace(
                measure(plan, self.options, job.analyses.tokens, finder),
                messages_llm_classified=job.analyses.count_judged(job.messages),
                hook_failures=job.analyses.hook_failures,
            ),
            budget=budget,
            model=job.tally.report() if self.asker.is_there else None,
        )

    def settle(self, make: Callable[[], T], analyses: Analyses, tally: Tally) -> T:
        """Make a plan, asking for whatever it wants to know."""
        return run(ask_until_known(make, analyses), self.asker, tally)

    def new_analyses(self, *, keeps_sentences: bool = True) -> Analyses:
        """Start afresh with what is known of texts."""
        return Analyses(
            CountedTexts(self._counter, estimate_tokens),
            score_sentences=self.options.entropy_scorer,
            score_mode=self.options.entropy_scorer_mode,
            classify_tokens=self.options.ml_token_classifier,
            may_judge=self.asker.classifier is not None,
            may_write=self.asker.summarizer is not None,
            keeps_sentences=keeps_sentences,
        )

    def plan(
        self,
        messages: Sequence[Message],
        analyses: Analyses,
        options: Options,
        target: int | None = None,
    ) -> Planned:
        """Decide what happens to *messages*; a budget aims at *target*, if given."""
        aim = None if options.token_budget is None else target
        if options.compression_threshold is not None or options.token_budget is not None:
            total = sum(map(analyses.tokens.message, messages))
            if total < (options.compression_threshold or 0):
                return keep_all(messages, "below_threshold"), _left_alone(messages, total, options)
            if aim is None and options.token_budget is not None:
                aim = self.aim(options.token_budget, analyses.tokens)
        if options.profile != "balanced":
            from refold.planner import plan_profile  # who does without need not load it

            return plan_profile(messages, options, analyses, aim)
        if aim is None:
            return plan_fold(messages, options, analyses), None
        return fit_budget(messages, options, analyses, aim)

    def plan_rest(
        self,
        messages: Sequence[Message],
        analyses: Analyses,
        *,
        start: int,
        hidden: frozenset[int],
        pinned: Mapping[int, str],
    ) -> Plan:
        """Decide what happens to the messages from *start* on; see `flow.plan_rest`."""
        if self.options.profile == "balanced":
            return plan_rest(
                messages, self.options, analyses, start=start, hidden=hidden, pinned=pinned
            )
        from refold.planner import plan_shorter

        plan = plan_shorter(messages, self.options, analyses, pinned=pinned, hidden=hidden)
        return tuple(fold for fold in plan if fold.sources[0].index >= start)

    def aim(self, budget: int, tokens: CountedTexts) -> int:
        """Aim lower where tokens are only estimated, so that the real ones fit too."""
        is_guess = is_estimate(self._counter) or tokens.failures > 0
        return int(budget / SAFETY_FACTOR) if is_guess else budget

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
            message.changed(provenance=known[message.index]) if message.index in known else message
            for message in messages
        )

    def render(self, plan: Sequence[Fold]) -> Rendering:
        """Write *plan* out as messages and originals."""
        return render(plan, version=self.options.source_version)

    def read_back(self, fold: Fold, wire: Mapping[str, Any], index: int) -> Message:
        """Read the message that *fold* has become, so that it can be folded again."""
        loaded = Loader(fold.sources[0].format).load(clone_message(wire), index)
        return loaded.changed(provenance=provenance_of(fold.sources, self.options.source_version))

    def save(self, rendering: Rendering) -> None:
        """Put the originals into the store, if there is one."""
        if self._store is not None and rendering.entries:
            self._store.put(rendering.entries)
