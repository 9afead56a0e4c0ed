"""Reading, planning, asking models and writing out: what `Compressor` and `Session` share."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeVar

from refold.checks import check_name
from refold.classic.detectors import Detector
from refold.classic.rules import Rule
from refold.codecs import Codec
from refold.errors import BudgetError, ConfigError, StoreError
from refold.events import Listener
from refold.figures import measure, trace_of
from refold.lazy import Lazy
from refold.llm import summarizers
from refold.llm.ask import Asker, Flow, Tally
from refold.messages.folds import Plan
from refold.messages.growing import GrowingLoader
from refold.messages.handles import Sizes, behind_of, grow, visible_handle
from refold.messages.manifest import Behind, Get, Trail, find_clash, folds_in, read_wording
from refold.messages.message import Message
from refold.messages.provider import show_stripped
from refold.messages.render import Rendering, render
from refold.messages.token_count import CountedTexts
from refold.messages.wire import clone_message
from refold.options import Options, check_function, check_used
from refold.planner import Planned, Planner
from refold.result import Result
from refold.scan.tokens.choose import counter_for
from refold.scan.tokens.estimate import estimate_tokens
from refold.stores.base import Store
from refold.stores.scope import scoped
from refold.text_cache import Tables, TextCache

T = TypeVar("T")

_MAX_PASSES: Final = 4
"""Answers may lead to new questions, so a plan is made again after each pass; this ends the
loop."""
_MAX_TRIES: Final = 20
"""How often stand-ins get longer handles because the store has others with theirs."""


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

    A conversation that has neither a name nor a session is tied to its view by a long handle.

    What it knows of the texts of the last conversation helps with the next one, which is often the
    same one with some turns more; nothing else is kept.
    """

    def __init__(
        self,
        options: Options,
        *,
        store: Store | None = None,
        conversation: str | None = None,
        is_session: bool = False,
        summarizer: object = None,
        on_event: Listener | None = None,
        pass_seconds: float | None = None,
        detectors: Sequence[Detector] | None = None,
        codecs: Sequence[Codec] | None = None,
        rules: Sequence[Rule] | None = None,
    ) -> None:
        self._tables = Tables(detectors=detectors, codecs=codecs, rules=rules)
        for_models = {"on_event": on_event, "pass_seconds": pass_seconds}
        chosen = [name for name, value in for_models.items() if value is not None]
        asked = [] if summarizer is None else ["summarizer"]
        for name in (*asked, *chosen, *self._tables.chosen):
            check_used(name, options.profile)
        check_function("on_event", on_event)
        if chosen and not asked:
            raise ConfigError(f"{chosen[0]} has no effect without a model: give a summarizer too")
        self._last_cache: TextCache | None = None
        self._loader = GrowingLoader(options.format, strict_roles=options.strict_roles)
        counter = options.counter or counter_for(options.model)
        super().__init__(options, counter, conversation, is_session=is_session)
        self._store = None if store is None else scoped(store, conversation)
        if conversation is not None:
            check_name("conversation", conversation)
        self.asker = Asker(
            summarizer=None if summarizer is None else summarizers.wrap_summarizer(summarizer),
            count_tokens=self._counter,
            pass_seconds=pass_seconds,
            listener=on_event,
        )

    def begin(self, messages: Sequence[Mapping[str, Any]]) -> Job:
        """Read a conversation, and find out what in it stands for something else."""
        loaded = self._loader.load(messages)
        trail = self.new_trail()
        known = self.recognize(loaded, trail)
        return Job(known, self.new_text_cache(before=self._last_cache), trail)

    def flow(self, job: Job) -> Flow[Planned]:
        """Plan a job; yields where it has questions for models."""
        options = self.options
        if options.token_share is not None:
            options = options.with_share_of(sum(map(job.text_cache.tokens.message, job.messages)))
        return ask_until_known(
            lambda: self.plan(job.messages, job.text_cache, options), job.text_cache
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
            compression=measure(plan, self.options, job.text_cache.tokens),
            entries=Lazy(partial(trace_of, plan)),
            budget=budget,
            model=job.tally.report() if self.asker.is_enabled else None,
        )

    def new_text_cache(self, *, before: TextCache | None = None) -> TextCache:
        """Return a cache of what is known of texts: nothing, or what was known *before*."""
        tokens = None if before is None else before.tokens
        return TextCache(
            CountedTexts(self._counter, estimate_tokens, tokens),
            spelling=self.spelling,
            tables=self._tables,
            may_write=self.asker.summarizer is not None,
            before=before,
        )

    @property
    def get(self) -> Get | None:
        """Fetches records from the store, if there is one."""
        return None if self._store is None else self._store.get

    def new_trail(self) -> Trail:
        """Return the empty trail of a view of this conversation."""
        return Trail.named(self.conversation)

    def recognize(self, messages: tuple[Message, ...], trail: Trail) -> tuple[Message, ...]:
        """Find out which of *messages* are stand-ins; they go on where *trail* ends.

        Of what came before, the trail may have learned more, too. Without a store nothing is known.
        """
        first = len(trail.keys)
        for message in messages:
            trail.add(read_wording(message.wire, message, message.index))
        trail.look(self.get, first)
        at = dict(trail.since(first))
        known = {} if self.get is None else folds_in(at.values(), self.get)
        return tuple(
            message.changed(stands_for=known.get(at[place], Behind(at[place])))
            if place in at
            else message
            for place, message in enumerate(messages, first)
        )

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
        sizes: Sizes = {}
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
            place = find_clash(rendering.entries, rendering.owners, self._store.get)
            if place is None:
                return sealed, rendering
            taker = sealed if place < 0 else sealed[first + place : first + place + 1]
            marked = [fold for fold in taker if fold.is_marked]
            if not marked:  # thinking alone was left out: then that has to be seen
                noted = show_stripped(sealed[first:])
                if noted is None:
                    break
                sealed = (*sealed[:first], *noted)
                continue
            last = marked[-1]
            if not grow(sizes, behind_of(last.sources).fold, len(visible_handle(last))):
                break
            sealed = self.seal(sealed, sizes=sizes)
        raise StoreError("the store has other originals under every key that was tried")

    def save(self, rendering: Rendering) -> None:
        """Put the originals into the store, if there is one."""
        if self._store is not None and rendering.entries:
            self._store.put(rendering.entries)


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
