"""The engine room: loading, planning, writing out; what `Compressor` and `Session` share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final, TypeVar

from refold.checks import check_name
from refold.codecs import TABLE as CODEC_TABLE
from refold.codecs import Codec
from refold.codecs import table_of as codecs_of
from refold.detectors import TABLE as DETECTOR_TABLE
from refold.detectors import Detector
from refold.detectors import table_of as detectors_of
from refold.errors import BudgetError, ConfigError, StoreError
from refold.events import Listener
from refold.llm.ask import Asker, Tally, run
from refold.llm.classifiers import as_classifier
from refold.llm.summarizers import wrap_summarizer
from refold.messages.formats import Loader, load
from refold.messages.message import Message
from refold.messages.provenance import Chain, Provenance, seal_key, seal_of, what_is_behind
from refold.messages.restore import Lookup, StoreLookup, Trust, find_linked
from refold.messages.wire import clone_message
from refold.notation.spelling import spelling_of
from refold.options import Options, check_used
from refold.plan.budget_report import find_obstacles
from refold.plan.flow import Flow, ask_until_known, keep_all, plan_fold, plan_rest
from refold.plan.fold import Fold, Plan, kept_fold
from refold.plan.ladder import fit_budget
from refold.plan.quality import measure
from refold.plan.render import Rendering, provenance_of, render
from refold.plan.sealing import anchor_tokens, seal_plan
from refold.plan.shape import alternate, end_alike, spread
from refold.plan.shorten.rules import summary_rules
from refold.plan.text_cache import TextCache
from refold.plan.thinking import is_bound, strip_thinking
from refold.plan.token_count import CountedTexts
from refold.plan.untouchable import find_untouchable
from refold.result import BudgetReport, Result
from refold.scan.tokens.choose import counter_for, is_estimate
from refold.scan.tokens.estimate import SAFETY_FACTOR, estimate_tokens
from refold.stores.base import Store, check_store
from refold.stores.scope import ScopedStore

T = TypeVar("T")

Planned = tuple[Plan, BudgetReport | None]

NO_PINS: Final[Mapping[int, str]] = MappingProxyType({})
_MAX_REPLANS: Final = 3
"""How often a plan is made for less room, because what a provider wants takes more."""
_MAX_TRIES: Final = 20
"""How often links that are taken are made anew: each time another stand-in may be in the way."""


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


def _last_question(plan: Plan) -> int:
    """Return the index of the last message of the user's that is as it was given."""
    kept = (fold.sources[0] for fold in plan if fold.is_kept)
    asked = (source.index for source in kept if source.role == "user" and not source.is_tool_result)
    return max(asked, default=-1)


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


def _turn(plan: Plan) -> Plan:
    """Return *plan* as a provider wants it, and ending as its conversation does."""
    return end_alike(alternate(plan))


def _count(plan: Plan, tokens: CountedTexts) -> int:
    return sum(map(tokens.fold, plan))


class Engine:
    """Everything that one set of options needs; holds no state of any conversation."""

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
    ) -> None:
        self._detectors = detectors_of(detectors)
        self._codecs = codecs_of(codecs)
        helpers = {
            "summarizer": summarizer,
            "classifier": classifier,
            "on_event": on_event,
            "pass_seconds": pass_seconds,
            "detectors": None if self._detectors is DETECTOR_TABLE else detectors,
            "codecs": None if self._codecs is CODEC_TABLE else codecs,
        }
        for name, helper in helpers.items():
            if helper is not None:
                check_used(name, options.profile)
        self.options = options
        self.conversation = conversation
        self._store = scoped(store, conversation)
        if options.profile != "classic":
            import_module("refold.plan.profile")  # now, not in the middle of somebody's turn
        self._counter = options.counter or counter_for(options.model)
        self.asker = Asker(
            summarizer=None if summarizer is None else wrap_summarizer(summarizer),
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
        finder = job.text_cache.finder if self.options.profile == "classic" else None
        return Result(
            messages=rendering.messages,
            verbatim=rendering.verbatim,
            first_changed=next((n for n, fold in enumerate(plan) if not fold.is_kept), len(plan)),
            thinking="stripped" if any(fold.is_stripped for fold in plan) else "kept",
            compression=replace(
                measure(plan, self.options, job.text_cache.tokens, finder),
                messages_llm_classified=job.text_cache.count_judged(job.messages),
                hook_failures=job.text_cache.hook_failures,
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
            spelling=spelling_of(self.options.profile),
            rules=summary_rules(self.options.profile),
            detectors=self._detectors,
            codecs=self._codecs,
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
        text_cache: TextCache,
        options: Options,
        target: int | None = None,
        *,
        pinned: Mapping[int, str] = NO_PINS,
    ) -> Planned:
        """Decide what happens to *messages*; a budget aims at *target*, if given.

        Under a budget the messages in *pinned* (index to reason) stay word for word.
        """
        aim, reserved = None if options.token_budget is None else target, 0
        if options.compression_threshold is not None or options.token_budget is not None:
            total = sum(map(text_cache.tokens.message, messages))
            if total < (options.compression_threshold or 0):
                return keep_all(messages, "below_threshold"), _left_alone(messages, total, options)
            if aim is None and options.token_budget is not None:
                aim = self.aim(options.token_budget, text_cache.tokens)
            if aim is not None and total > aim:
                reserved = self.anchor_room(messages)
                aim = max(0, aim - reserved)
        make = self._planner(messages, text_cache, options, pinned)
        first = plan, report = make(aim, options.token_budget)
        arrange = spread if options.same_count else _turn
        turned, room = arrange(plan), aim
        for _ in range(_MAX_REPLANS):
            if turned is plan or aim is None or not room:
                break
            over = sum(map(text_cache.tokens.fold, turned)) - aim
            if over <= 0:
                break
            room = max(0, room - over)
            plan, report = make(room, options.token_budget)
            turned = arrange(plan)
        if aim is not None and not options.same_count and _count(turned, text_cache.tokens) > aim:
            bare = alternate(first[0])  # how it ends is worth less than that it fits
            if _count(bare, text_cache.tokens) <= aim:
                turned, report, room = bare, first[1], aim
        over = 0
        if options.profile == "standard" and report is not None and report.fits:
            over = self._overshoot(turned, text_cache.tokens, report.token_budget, reserved)
        if report is None or room is None or over <= 0:
            return turned, report
        # What only an anchor, or a line between the sides, makes too long is made shorter.
        budget = report.token_budget
        plan, tight = make(max(0, room - over), max(0, budget - over))
        shorter = arrange(plan)
        is_over = self._overshoot(shorter, text_cache.tokens, budget, reserved) > 0
        if tight is None or is_over or _last_question(shorter) != _last_question(turned):
            return turned, report
        return shorter, replace(tight, token_budget=budget, obstacles=(), stopped_by="")

    def _overshoot(self, plan: Plan, tokens: CountedTexts, budget: int, reserved: int) -> int:
        """Return by how much *plan* is over its *budget* once it is sealed, which adds tokens.

        An anchor adds about as many as are *reserved*.
        """
        if sum(map(tokens.fold, plan)) + reserved <= budget:
            return 0
        return sum(map(tokens.fold, self.seal(plan))) - budget

    def _planner(
        self,
        messages: Sequence[Message],
        text_cache: TextCache,
        options: Options,
        pinned: Mapping[int, str],
    ) -> Callable[[int | None, int | None], Planned]:
        """Return what plans for a number of tokens to aim at and for a budget, again and again."""
        if options.profile != "classic":
            from refold.plan import ProfilePlanner  # lazily: classic never needs the planner

            return ProfilePlanner(messages, options, text_cache, pinned=pinned).plan

        def plan(aim: int | None, token_budget: int | None) -> Planned:
            if aim is None:
                return plan_fold(messages, options, text_cache), None
            least = replace(options, token_budget=token_budget)
            return fit_budget(messages, least, text_cache, aim, pinned=pinned)

        return plan

    def plan_rest(
        self,
        messages: Sequence[Message],
        text_cache: TextCache,
        *,
        start: int,
        hidden: frozenset[int],
        pinned: Mapping[int, str],
        options: Options | None = None,
    ) -> Plan:
        """Decide what happens to the messages from *start* on; see `flow.plan_rest`."""
        options = options or self.options
        if options.profile == "classic":
            return plan_rest(
                messages, options, text_cache, start=start, hidden=hidden, pinned=pinned
            )
        from refold.plan.profile import plan_shorter

        plan = plan_shorter(
            messages, options, text_cache, start=start, pinned=pinned, hidden=hidden
        )
        return tuple(fold for fold in plan if fold.sources[0].index >= start)

    def aim(self, budget: int, tokens: CountedTexts) -> int:
        """Aim lower where tokens are only estimated, so that the real ones fit too."""
        is_guess = is_estimate(self._counter) or tokens.failures > 0
        return int(budget / SAFETY_FACTOR) if is_guess else budget

    def anchor_room(self, messages: Sequence[Message]) -> int:
        """Return what the first stand-in may cost more than it does in a plan."""
        if self.conversation is not None or all(message.has_envelope for message in messages):
            return 0
        tokens = CountedTexts(self._counter, estimate_tokens)
        return anchor_tokens(tokens, is_kept=any(message.link for message in messages))

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
        known = {} if self._store is None else self._known(messages, [*filter(None, links)])
        pairs = zip(messages, links, strict=True)
        return tuple([self._recognized(message, link, known) for message, link in pairs])

    def _known(self, messages: Sequence[Message], keys: Sequence[str]) -> dict[str, Provenance]:
        """Return the provenance that the store confirms, by link or by seal."""
        assert self._store is not None, "whoever asks has looked"
        known = find_linked(keys, self._store.get)
        seals = {self._seal_key(m): m.provenance for m in messages if m.provenance}
        found = self._store.get(seals) if seals else {}
        known.update((key, behind) for key, behind in seals.items() if key in found)
        return known

    def _seal_key(self, message: Message) -> str:
        assert message.provenance is not None, "whoever asks has looked"
        return seal_key(seal_of(message.wire, message.provenance, self.conversation))

    def _recognized(self, message: Message, key: str, known: Mapping[str, Provenance]) -> Message:
        if key:
            return message.changed(provenance=known.get(key), link=key)
        if message.provenance is None or self._store is None:
            return message
        return message if self._seal_key(message) in known else message.unproven()

    def sealed(self, planned: Planned, tokens: CountedTexts) -> Planned:
        """Return a finished plan as it will be written, and what that means for its budget."""
        unsealed, budget = planned
        plan = self.unbind(self.seal(unsealed, tokens=tokens if budget is None else None))
        if budget is None:
            return plan, None
        count = sum(map(tokens.fold, plan))
        sources = [source for fold in plan for source in fold.sources]
        if count > budget.token_budget and count > sum(map(tokens.message, sources)):
            # An anchor costs more than a short message.
            plan = self.seal([kept_fold(source, "anchor_reverted") for source in sources])
            count = sum(map(tokens.fold, plan))
        report = replace(budget, token_count=count)
        if report.fits or report.obstacles or report.stopped_by:
            return plan, report
        # An anchor was too much: whatever is left is in the way.
        must_stay = find_untouchable(sources, self.options)
        obstacles = find_obstacles(plan, tokens, must_stay, report.token_budget)
        return plan, replace(report, obstacles=obstacles)

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
        if way == "keep" or (way == "auto" and not is_bound(model)):
            return plan
        is_named = self.conversation is not None
        return strip_thinking(plan, shown, rewritten, is_named=is_named, is_resumed=is_resumed)

    def seal(
        self,
        plan: Sequence[Fold],
        *,
        tokens: CountedTexts | None = None,
        crowded: Collection[str] = (),
    ) -> Plan:
        """Make the stand-ins of a plan ones that nobody can guess or mistake; see `seal_plan`."""
        is_named = self.conversation is not None
        plan = spread(tuple(plan)) if self.options.same_count else alternate(tuple(plan))
        return seal_plan(plan, is_named=is_named, tokens=tokens, crowded=crowded)

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
            taken = _claimed(rendering, sealed)
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
            if what_is_behind(record) != what_is_behind(rendering.entries[key])
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


def scoped(store: Store | None, conversation: str | None) -> Store | None:
    """Return the part of *store* that belongs to a conversation; all of it if that has no name."""
    if store is not None:
        check_store(store)
    if conversation is None:
        return store
    check_name("conversation", conversation)
    return None if store is None else ScopedStore(store, conversation)


def _claimed(rendering: Rendering, plan: Plan) -> set[str]:
    """Return the ids of stand-ins that would be taken for a message that only reads like one."""
    links = {source.link for fold in plan for source in fold.sources if source.link}
    return {id_ for key, id_ in rendering.stand_ins.items() if key in links}
