"""Reading, planning, asking models and writing out: what `Compressor` and `Session` share."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypedDict, TypeVar, Unpack

from refold.checks import check_name
from refold.classic.detectors import Detector
from refold.classic.rules import Rule, check_rules
from refold.codecs import Codec
from refold.errors import BudgetError, ConfigError, StoreError
from refold.events import Listener
from refold.llm import summarizers
from refold.llm.ask import Asker, Flow, Tally, run
from refold.messages.folds import Fold, Plan
from refold.messages.formats import Loader, load
from refold.messages.handles import Handles, behind_of
from refold.messages.manifest import Get, Source, StoreSource, Taken, Trail, check_view
from refold.messages.message import Message
from refold.messages.restore import find_behind
from refold.messages.said import read_said
from refold.messages.token_count import CountedTexts
from refold.messages.wire import clone_message
from refold.options import Options, check_function, check_used
from refold.plan.figures import measure
from refold.plan.fit import Planned, Planner
from refold.plan.render import Rendering, render
from refold.plan.sealing import shown_in
from refold.plan.tables import Tables
from refold.plan.text_cache import TextCache
from refold.result import Result
from refold.scan.tokens.choose import counter_for
from refold.scan.tokens.estimate import estimate_tokens
from refold.stores.base import Store, check_store
from refold.stores.scope import ScopedStore

T = TypeVar("T")

_MAX_PASSES: Final = 4
"""Answers may lead to new questions, so a plan is made again after each pass; this ends the
loop."""
_MAX_TRIES: Final = 20
"""How often stand-ins get longer handles because the store has others with theirs."""


class Helpers(TypedDict, total=False):
    """What folding may use besides options and a store; `Compressor` says what each is for."""

    conversation: str | None
    summarizer: object
    on_event: Listener | None
    pass_seconds: float | None
    detectors: Sequence[Detector] | None
    codecs: Sequence[Codec] | None
    rules: Sequence[Rule] | None


def split_helpers(choices: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split *choices* into helpers and fields of `Options`."""
    helpers = {name: choices[name] for name in choices if name in Helpers.__annotations__}
    return helpers, {name: choices[name] for name in choices if name not in helpers}


def combine(options: Options | None, choices: Mapping[str, Any]) -> Options:
    """Return *options* with these *choices* changed; without options, make them of the choices.

    Raises `ConfigError` for options that are none, and for choices that can never work.
    """
    if options is None:
        return Options(**choices)
    if not isinstance(options, Options):
        raise ConfigError(f"options must be Options, got {type(options).__name__}")
    return replace(options, **choices)


@dataclass(slots=True)
class Job:
    """One compression in progress."""

    messages: tuple[Message, ...]
    text_cache: TextCache
    trail: Trail
    """What is known of the view that was given."""
    tally: Tally = field(default_factory=Tally)


class Engine(Planner):
    """A planner with a store to write to and models to ask.

    What it knows of the texts of the last conversation helps with the next one, which is often the
    same one with some turns more; nothing else is kept.
    """

    def __init__(
        self, options: Options, *, store: Store | None = None, **helpers: Unpack[Helpers]
    ) -> None:
        self._tables = Tables.of(
            detectors=helpers.get("detectors"),
            codecs=helpers.get("codecs"),
            rules=check_rules(helpers.get("rules")),
        )
        for_models = ("summarizer", "on_event", "pass_seconds")
        given = [name for name in for_models if helpers.get(name) is not None]
        for name in (*given, *self._tables.chosen):
            check_used(name, options.profile)
        listener = helpers.get("on_event")
        check_function("on_event", listener)
        unused = [name for name in ("on_event", "pass_seconds") if name in given]
        if unused and unused == given:
            raise ConfigError(f"{unused[0]} has no effect without a model: give a summarizer too")
        self._last_cache: TextCache | None = None
        conversation = helpers.get("conversation")
        super().__init__(options, options.counter or counter_for(options.model), conversation)
        self._store = None if store is None else scoped(store, conversation)
        if conversation is not None:
            check_name("conversation", conversation)
        summarizer = helpers.get("summarizer")
        self.asker = Asker(
            summarizer=None if summarizer is None else summarizers.wrap_summarizer(summarizer),
            count_tokens=self._counter,
            pass_seconds=helpers.get("pass_seconds"),
            listener=listener,
        )

    def begin(self, messages: Sequence[Mapping[str, Any]]) -> Job:
        """Read a conversation, and find out what in it stands for something else."""
        loaded = load(
            messages, format_name=self.options.format, strict_roles=self.options.strict_roles
        )
        trail = self.new_trail()
        known = self.recognize(loaded, trail)
        plans_once = self.options.token_budget is None and not self.asker.is_enabled
        cache = self.new_text_cache(keeps_sentences=not plans_once, before=self._last_cache)
        return Job(known, cache, trail)

    def flow(self, job: Job) -> Flow[Planned]:
        """Plan a job; yields where it has questions for models."""
        return ask_until_known(
            lambda: self.plan(job.messages, job.text_cache, self.options), job.text_cache
        )

    def finish(self, job: Job, planned: Planned) -> Result:
        """Write the plan out; nothing has been written before this.

        Raises `BudgetError` with `strict` if the budget is not kept, `StoreError` if the store
        fails.
        """
        plan, budget = self.sealed(planned, job.text_cache.tokens)
        if self.options.strict and budget is not None and not budget.fits:
            raise BudgetError(budget.explain())
        job.text_cache.forget_sentences()
        self._last_cache = job.text_cache
        job.tally.settle(job.text_cache.written_in(planned[0]))
        kept = next(
            (n for n, fold in enumerate(plan) if not fold.is_kept or fold.sources[0].index != n),
            len(plan),
        )
        plan, rendering = self.write(plan, first=kept, trail=job.trail.copy(kept))
        return Result(
            messages=[
                *(clone_message(fold.sources[0].wire) for fold in plan[:kept]),
                *rendering.messages,
            ],
            verbatim=rendering.verbatim,
            conversation=self.conversation,
            places=tuple(
                [range(fold.sources[0].index, fold.sources[-1].index + 1) for fold in plan]
            ),
            first_changed=next((n for n, fold in enumerate(plan) if not fold.is_kept), len(plan)),
            thinking="stripped" if any(fold.is_stripped for fold in plan) else "kept",
            compression=replace(
                measure(plan, self.options, job.text_cache.tokens),
            ),
            budget=budget,
            model=job.tally.report() if self.asker.is_enabled else None,
        )

    def settle(self, make: Callable[[], T], text_cache: TextCache, tally: Tally) -> T:
        """Make a plan, asking models what it needs to know."""
        return run(ask_until_known(make, text_cache), self.asker, tally)

    def new_text_cache(
        self, *, keeps_sentences: bool = True, before: TextCache | None = None
    ) -> TextCache:
        """Return a cache of what is known of texts: nothing, or what was known *before*."""
        tokens = None if before is None else before.tokens
        return TextCache(
            CountedTexts(self._counter, estimate_tokens, tokens),
            spelling=self.preset.spelling,
            tables=self._tables,
            may_write=self.asker.summarizer is not None,
            keeps_sentences=keeps_sentences,
            before=before,
        )

    @property
    def get(self) -> Get | None:
        """Fetches records from the store, if there is one."""
        return None if self._store is None else self._store.get

    @property
    def source(self) -> Source | None:
        """Finds originals in the store, if there is one."""
        return None if self._store is None else StoreSource(self._store.get)

    def new_trail(self) -> Trail:
        """Return the empty trail of a view of this conversation."""
        return Trail.named(self.conversation)

    def recognize(self, messages: tuple[Message, ...], trail: Trail) -> tuple[Message, ...]:
        """Find out which of *messages* are stand-ins; they go on where *trail* ends.

        Of what came before, the trail may have learned more, too. Without a store nothing is known.
        """
        first = len(trail.keys)
        for message in messages:
            trail.add(read_said(message.wire, message, message.index))
        trail.look(self.get, first)
        source = self.source
        return messages if source is None else find_behind(trail, messages, source)

    def sealed(self, planned: Planned, tokens: CountedTexts) -> Planned:
        """Return a finished plan as it will be written, and the budget report for that."""
        unsealed, budget = planned
        plan = self.unbind(self.seal(unsealed, tokens=tokens if budget is None else None))
        if budget is None:
            return plan, None
        return self.report_sealed(plan, budget, tokens)

    def write(
        self,
        sealed: Plan,
        *,
        first: int = 0,
        trail: Trail | None = None,
        rewritten: Container[int] = (),
        add: Callable[[Rendering], None] | None = None,
    ) -> tuple[Plan, Rendering]:
        """Write a sealed plan out from its fold number *first* on; the originals go to the store.

        *trail* has the view up to there; *rewritten* are places of messages that were written
        shorter before; *add* may add what else is to be stored. Returns the plan as it was written,
        and what was written. Raises `StoreError`.

        If the store has something else under a handle or for such a view, a handle grows. This is
        checked after everything is stored: a store keeps the first record under a key, whoever
        wrote it and when.
        """
        handles = Handles()
        for _ in range(_MAX_TRIES):
            rendering = render(
                sealed[first:],
                version=self.options.source_version,
                trail=trail.copy() if trail else self.new_trail(),
                rewritten=rewritten,
            )
            if add is not None:
                add(rendering)
            self.save(rendering)
            if self._store is None:
                return sealed, rendering
            try:
                check_view(rendering.entries, rendering.owners, self._store.get)
            except Taken as taken:
                if not self._grow(handles, sealed, first + taken.place if taken.place >= 0 else -1):
                    break
                sealed = self.seal(sealed, handles=handles)
            else:
                return sealed, rendering
        raise StoreError("the store has other originals under every key that was tried")

    def _grow(self, handles: Handles, plan: Plan, place: int) -> bool:
        """Make the handle of a fold longer, or that of the last one; false if there is none."""
        marked = [
            fold for fold in (plan if place < 0 else plan[place : place + 1]) if fold.is_marked
        ]
        if not marked:
            return False
        behind, shown = behind_of(marked[-1].sources), shown_in(marked[-1])
        return handles.grow(behind.fold, least=len(shown))

    def read_back(self, fold: Fold, wire: Mapping[str, Any], index: int) -> Message:
        """Read the message that *fold* has become, so that it can be folded again."""
        loaded = Loader(fold.sources[0].format).load(clone_message(wire), index)
        return loaded.changed(stands_for=behind_of(fold.sources))

    def save(self, rendering: Rendering) -> None:
        """Put the originals into the store, if there is one."""
        if self._store is not None and rendering.entries:
            self._store.put(rendering.entries)


def scoped(store: Store, conversation: str | None) -> Store:
    """Return the scope of *store* for a named conversation; the whole store without a name."""
    check_store(store)
    if conversation is None:
        return store
    check_name("conversation", conversation)
    return ScopedStore(store, conversation)


def ask_until_known(make: Callable[[], T], text_cache: TextCache) -> Flow[T]:
    """Make a plan; if that left questions for models, ask them and make the plan again.

    Making it again is cheap, since *text_cache* has everything it is made of. Answers may raise new
    questions, so this repeats a few times.
    """
    plan = make()
    for _ in range(_MAX_PASSES):
        questions = text_cache.take_questions()
        if not questions:
            break
        text_cache.learn(questions, (yield questions))
        plan = make()
    return plan
