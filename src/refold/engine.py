"""Loading, planning and writing out: what `Compressor` and `Session` share."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypedDict, TypeVar

from refold.checks import check_name
from refold.codecs import Codec
from refold.detectors import Detector
from refold.errors import BudgetError, ConfigError, StoreError
from refold.events import Listener
from refold.kinds import Kind
from refold.llm import summarizers
from refold.llm.ask import Asker, Flow, Tally, run
from refold.llm.classify import as_classifier
from refold.messages.chain import Chain
from refold.messages.formats import Loader, load
from refold.messages.lookup import Lookup, StoreLookup, recognize
from refold.messages.message import Message
from refold.messages.provenance import identity_of_link
from refold.messages.restore import Trust
from refold.messages.wire import clone_message
from refold.options import Options, check_used
from refold.plan.fit import Planned, Planner
from refold.plan.fold import Fold, Plan
from refold.plan.hooks import Hooks
from refold.plan.provider import is_checked, strip_thinking
from refold.plan.quality import measure
from refold.plan.render import Rendering, provenance_of, render
from refold.plan.rules import Rule, check_rules
from refold.plan.tables import Tables
from refold.plan.text_cache import TextCache
from refold.plan.token_count import CountedTexts
from refold.result import Result
from refold.scan.tokens.choose import counter_for
from refold.scan.tokens.estimate import estimate_tokens
from refold.stores.base import Store, check_store
from refold.stores.scope import ScopedStore

T = TypeVar("T")

_MAX_PASSES: Final = 4
"""Each pass may ask for what the answers before it have made possible; the bound ends a plan that
would ask for ever."""
_MAX_TRIES: Final = 20
"""How often links that are taken are made anew: each time another stand-in may be in the way."""


class Helpers(TypedDict, total=False):
    """What `Compressor` and `Session` take beside options and a store; see `Compressor`."""

    conversation: str | None
    summarizer: object
    classifier: object
    on_event: Listener | None
    pass_seconds: float | None
    detectors: Sequence[Detector] | None
    codecs: Sequence[Codec] | None
    kinds: Sequence[Kind] | None
    rules: Sequence[Rule] | None


def split_helpers(choices: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the helpers among *choices*, and the other ones."""
    helpers = {name: choices[name] for name in choices if name in Helpers.__annotations__}
    return helpers, {name: choices[name] for name in choices if name not in helpers}


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
    text_cache: TextCache
    tally: Tally = field(default_factory=Tally)


class Engine(Planner):
    """A planner with a store to write to and models to ask; holds no state of any conversation."""

    def __init__(
        self,
        options: Options,
        *,
        store: Store | None = None,
        conversation: str | None = None,
        summarizer: object = None,
        classifier: object = None,
        on_event: Listener | None = None,
        pass_seconds: float | None = None,
        detectors: Sequence[Detector] | None = None,
        codecs: Sequence[Codec] | None = None,
        kinds: Sequence[Kind] | None = None,
        rules: Sequence[Rule] | None = None,
    ) -> None:
        self._tables = Tables.of(
            detectors=detectors, codecs=codecs, kinds=kinds, rules=check_rules(rules)
        )
        helpers = {
            "summarizer": summarizer,
            "classifier": classifier,
            "on_event": on_event,
            "pass_seconds": pass_seconds,
        }
        given = [name for name, helper in helpers.items() if helper is not None]
        for name in (*given, *self._tables.chosen):
            check_used(name, options.profile)
        super().__init__(options, options.counter or counter_for(options.model), conversation)
        self._store = None if store is None else scoped(store, conversation)
        if conversation is not None:
            check_name("conversation", conversation)
        self.asker = Asker(
            summarizer=None if summarizer is None else summarizers.wrap_summarizer(summarizer),
            classifier=None if classifier is None else as_classifier(classifier),
            count_tokens=self._counter,
            pass_seconds=pass_seconds,
            listener=on_event,
        )

    def begin(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        chain: Chain | None = None,
        links: Sequence[str] | None = None,
    ) -> Job:
        """Read a conversation; *links* are those of messages that are no whole view.

        A *chain* is taken on by the stand-ins among them.
        """
        loaded = load(
            messages, format_name=self.options.format, strict_roles=self.options.strict_roles
        )
        return self.job_of(self.recognize(loaded, chain, links))

    def job_of(self, messages: tuple[Message, ...]) -> Job:
        """Begin with messages that were read before."""
        plans_once = self.options.token_budget is None and not self.asker.is_enabled
        return Job(messages, self.new_text_cache(keeps_sentences=not plans_once))

    def flow(self, job: Job) -> Flow[Planned]:
        """Plan a job; stops where it wants to ask something."""
        return ask_until_known(
            lambda: self.plan(job.messages, job.text_cache, self.options), job.text_cache
        )

    def finish(self, job: Job, planned: Planned) -> Result:
        """Write the plan out; nothing has been written before this."""
        plan, budget = self.sealed(planned, job.text_cache.tokens)
        if self.options.strict and budget is not None and not budget.fits:
            raise BudgetError(budget.explain())
        job.text_cache.forget_sentences()
        job.tally.settle(job.text_cache.written_in(planned[0]))
        plan, rendering = self.write(plan)
        finder = job.text_cache.finder if self.preset.counts_names else None
        return Result(
            messages=rendering.messages,
            verbatim=rendering.verbatim,
            first_changed=next((n for n, fold in enumerate(plan) if not fold.is_kept), len(plan)),
            thinking="stripped" if any(fold.is_stripped for fold in plan) else "kept",
            compression=replace(
                measure(plan, self.options, job.text_cache.tokens, finder),
                messages_llm_classified=job.text_cache.count_judged(job.messages),
                hook_failures=job.text_cache.hooks.failures,
            ),
            budget=budget,
            model=job.tally.report() if self.asker.is_enabled else None,
        )

    def settle(self, make: Callable[[], T], text_cache: TextCache, tally: Tally) -> T:
        """Make a plan, asking for whatever it wants to know."""
        return run(ask_until_known(make, text_cache), self.asker, tally)

    def new_text_cache(self, *, keeps_sentences: bool = True) -> TextCache:
        """Start afresh with what is known of texts."""
        return TextCache(
            CountedTexts(self._counter, estimate_tokens),
            spelling=self.preset.spelling,
            rules=self.preset.summary_rules,
            tables=self._tables,
            hooks=Hooks(
                score_sentences=self.options.entropy_scorer,
                score_mode=self.options.entropy_scorer_mode,
                classify_tokens=self.options.ml_token_classifier,
            ),
            may_judge=self.asker.classifier is not None,
            may_write=self.asker.summarizer is not None,
            keeps_sentences=keeps_sentences,
        )

    @property
    def trust(self) -> Trust:
        """What is taken for provenance in this conversation."""
        return Trust(conversation=self.conversation)

    @property
    def lookup(self) -> Lookup | None:
        """Finds originals in the store, if there is one."""
        return None if self._store is None else StoreLookup(self._store.get)

    def new_chain(self) -> Chain:
        """Start to name the stand-ins of a view."""
        return Chain(self.conversation)

    def recognize(
        self,
        messages: tuple[Message, ...],
        chain: Chain | None = None,
        links: Sequence[str] | None = None,
    ) -> tuple[Message, ...]:
        """Find out which of *messages*, that follow those in *chain*, stand for others.

        What cannot carry provenance gets the key under which it is kept. With a store, what claims
        to be a stand-in and is not known there is an ordinary message.
        """
        if links is None:
            chain = chain or self.new_chain()
            links = [chain.link_of(message.wire) for message in messages]
        if not any(links) and not any(message.provenance for message in messages):
            return messages
        get = None if self._store is None else self._store.get
        return recognize(messages, links, self.conversation, get)

    def sealed(self, planned: Planned, tokens: CountedTexts) -> Planned:
        """Return a finished plan as it will be written, and what that means for its budget."""
        unsealed, budget = planned
        plan = self.unbind(self.seal(unsealed, tokens=tokens if budget is None else None))
        if budget is None:
            return plan, None
        return self.report_sealed(plan, budget, tokens)

    def unbind(
        self,
        plan: Plan,
        shown: Sequence[Fold] = (),
        rewritten: Container[int] = (),
        *,
        is_resumed: bool = False,
    ) -> Plan:
        """Return a plan without thinking that its provider would refuse; see `strip_thinking`."""
        way, model = self.options.thinking, self.options.model
        if way != "append" and not is_checked(way, model):
            return plan
        is_named = self.conversation is not None
        return strip_thinking(plan, shown, rewritten, is_named=is_named, is_resumed=is_resumed)

    def write(
        self,
        sealed: Plan,
        *,
        first: int = 0,
        chain: Chain | None = None,
        add: Callable[[Rendering, Plan], None] | None = None,
    ) -> tuple[Plan, Rendering]:
        """Write a sealed plan out from its fold number *first* on; the originals go to the store.

        *chain* has the stand-ins before that one; *add* may add what else is to be kept. Returns
        the plan as it was written, and what was written.

        A link that the store already has for other originals is never taken for ours: then the
        handle grows, the text is another one, and so is its link. The store is asked once it has
        everything: what was there before us, or came while we wrote, it has kept as it was.
        """
        crowded: set[str] = set()
        for _ in range(_MAX_TRIES):
            rendering = render(
                sealed[first:],
                version=self.options.source_version,
                chain=chain.copy() if chain else self.new_chain(),
                conversation=self.conversation,
            )
            if add is not None:
                add(rendering, sealed)
            taken = _claimed(rendering, sealed) - (crowded & {*rendering.carried.values()})
            if not taken:
                self.save(rendering)
                taken = self._taken(rendering)
            if not taken:
                return sealed, rendering
            crowded |= taken
            sealed = self.seal(sealed, crowded=crowded)
        raise StoreError("the store has other originals under every key that was tried")

    def _taken(self, rendering: Rendering) -> set[str]:
        """Return the ids of stand-ins whose link the store has for other originals."""
        if self._store is None or not rendering.stand_ins:
            return set()
        return {
            rendering.stand_ins[key]
            for key, record in self._store.get(rendering.stand_ins).items()
            if identity_of_link(record) != identity_of_link(rendering.entries[key])
        }

    def read_back(self, fold: Fold, wire: Mapping[str, Any], index: int, link: str) -> Message:
        """Read the message that *fold* has become, so that it can be folded again.

        *link* is the key under which its provenance was written, if it cannot carry it.
        """
        loaded = Loader(fold.sources[0].format).load(clone_message(wire), index)
        provenance = provenance_of(fold.sources, self.options.source_version)
        return loaded.changed(provenance=provenance, link=link)

    def save(self, rendering: Rendering) -> None:
        """Put the originals into the store, if there is one."""
        if self._store is not None and rendering.entries:
            self._store.put(rendering.entries)


def scoped(store: Store, conversation: str | None) -> Store:
    """Return the part of *store* that belongs to a conversation; all of it if that has no name."""
    check_store(store)
    if conversation is None:
        return store
    check_name("conversation", conversation)
    return ScopedStore(store, conversation)


def _claimed(rendering: Rendering, plan: Plan) -> set[str]:
    """Return the ids of stand-ins that would be taken for a message that only reads like one.

    Of those that were there before, and are only found elsewhere now, the links.
    """
    links = {source.link for fold in plan for source in fold.sources if source.link}
    known = rendering.stand_ins | rendering.carried
    return {name for key, name in known.items() if key in links}


def ask_until_known(make: Callable[[], T], text_cache: TextCache) -> Flow[T]:
    """Make a plan; if it would have liked to know more, ask, and make it again.

    A plan is cheap, because everything it is made of is kept in *text_cache*. Answers may change
    what is worth asking, so this repeats, but only a few times.
    """
    plan = make()
    for _ in range(_MAX_PASSES):
        questions = text_cache.take_questions()
        if not questions:
            break
        text_cache.learn(questions, (yield questions))
        plan = make()
    return plan
