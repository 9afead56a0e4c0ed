"""What of a conversation is shown for a budget: the pieces that add most, until it is spent."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from types import MappingProxyType
from typing import Final, Generic, TypeVar

from refold.lazy import Lazy
from refold.messages.message import Message
from refold.plan.choose import FEW_TOKENS, Choice, best_span, fit_end
from refold.plan.claims import (
    RequiredPieces,
    find_long_prose,
    find_typed,
    rank_task,
    worth_as_act,
)
from refold.plan.conversation import Conversation
from refold.plan.corpus import Text, find_candidates, find_cut_away, open_texts
from refold.plan.explain import PieceExplainer
from refold.plan.fold import NO_CALLS, Fold, Plan, kept_fold
from refold.plan.layout import Layout, Place, find_movable, lay_out
from refold.plan.open_question import rank_evidence
from refold.plan.pieces import CHANGE
from refold.plan.token_count import CountedTexts
from refold.plan.writing import (
    Chosen,
    Label,
    Pick,
    label_of,
    with_calls,
    with_whole_calls,
    write_digest,
    write_excerpt,
    write_line,
)
from refold.scan.runs import Span

T = TypeVar("T")

Spans = Mapping[int, Chosen]
"""What to show of each message, by its index."""
_NOTHING: Final[Chosen] = MappingProxyType({})
_NO_ERRORS: Final[Mapping[int, int]] = MappingProxyType({})
_ROUNDS: Final = 4
"""How often pieces are chosen and written: what one round leaves over, the next spends. A guess."""
_CLOSE: Final = 6
_CLOSE_SHARE: Final = 0.0005
"""Tokens, and the share of the budget, that are not worth another round."""
_LABEL_TOKENS: Final = 3.0
"""What naming the speaker or the call takes, for each text of a digest; about."""
_LEAST_IN_PLACE: Final = 120
"""Characters that a message must show to be worth a mark and a place of its own."""
_NEWEST: Final = 3.0
"""What the newest words are worth beside others where one stretch is all that can be shown."""
_TRACE_SHARE: Final = 1 / 3
"""What a sentence of each message that people typed may take of the room beside what must stay
whole, so that all of them leave a trace."""
_TYPED_SHARE: Final = 0.2
"""Up to this share of that room, all that people typed is shown word for word; the rest competes.
With a third, 3 % more of it is whole, and a model foresees .01 less of what comes next (on 293
recorded cuts, as everywhere here)."""
_TASK_SHARE: Final = 0.25
"""The same for a task that is too long to stay whole: how it begins and what it asks for. Without
it a model reads tracebacks of an issue and not its title, and foresees .02 less in SWE runs."""
_LONGER_SHARE: Final = 0.05
"""The same for what the user wrote at length: a passage of some texts that ask, forbid or decide.
With a third, as for what was typed, a model foresees .01 less (.1 in talk about code, at 20 %)."""
_EVIDENCE_SHARE: Final = 0.1
"""What speaks of what is asked about now may take this share of the room that is left then."""
_CHANGE_SHARE: Final = 0.1
"""What the lines that tell what was changed may take of the room beside what must stay whole; one
is about ten tokens. The same share of what the newest turns leave lost twice as many of them at
15 % of the tokens."""
_IN_ORDER: Final = ("task", "asked")
"""The claims whose candidates are ranked; among those of others the best for their tokens win."""
_ERROR_SHARE: Final = 1 / 4
"""The same for errors that are not the newest: most of them were resolved since."""


class Selection:
    """The texts of a conversation, cut into candidates, and the choice among them."""

    def __init__(
        self,
        conversation: Conversation,
        tokens: CountedTexts,
        *,
        target: int,
        limit: int,
        untouchable: Mapping[int, str],
        worths: Lazy[list[float]],
        newest: Mapping[int, Fold] = MappingProxyType({}),
        explains: bool = False,
    ) -> None:
        self._tokens = tokens
        self._target = target
        self._untouchable = untouchable
        self._conversation = conversation
        self._worths = worths
        messages, talk = conversation.messages, conversation.talk
        self._talk = talk
        self._layout: Layout = lay_out(
            messages,
            untouchable,
            tokens,
            target,
            limit=limit,
            talk=talk,
            shorter={index: tokens.fold(fold) for index, fold in newest.items()},
        )
        whole = untouchable.keys() & self._layout.reasons.keys()
        self._free = target - sum(tokens.message(messages[index]) for index in whole)
        """The room beside what must stay whole."""
        self._texts = open_texts(conversation.texts, self._layout, conversation.superseded)
        self._messages = messages
        stays = {text.message.index for text in self._texts if text.is_typed or not text.is_open}
        self._movable = find_movable(messages, self._layout) - stays
        self._by_message = _by_message(self._texts)
        self._excerpt = _Writer(partial(_write_in_place, self._layout), self._by_message)
        self._line = _Writer(write_line, self._by_message)
        self._labels: dict[tuple[int, int], Label] = {}
        """Of every stretch that was a digest so far."""
        self._wholes = {index: newest[index] for index in self._layout.recoded}
        """What is shown of messages that stay whole."""
        self._costs: dict[Fold, int] = {}
        self._explains = explains
        self._explainer: PieceExplainer | None = None
        """Tells why, if somebody may want to know."""

    def _open(self) -> None:
        """Let the pieces of the open texts compete."""
        conversation, corpus = self._conversation, self._conversation.corpus
        worths = self._worths.get()
        self._candidates = find_candidates(self._texts, corpus.cuts, talk=self._talk)
        self._required = RequiredPieces(self._candidates, self._texts)
        for place, times in self._required.times_said().items():
            text = self._texts[place] = self._texts[place]._replace(times=times)
            self._by_message[text.message.index][text.part] = text
        self._asked = conversation.asked
        self._shapes = corpus.stats.shape
        hidden = find_cut_away(self._texts, corpus.cuts, self._layout.calls)
        if self._explains:
            self._explainer = PieceExplainer(self._texts, corpus, worths, self._candidates, hidden)
        self._choice = Choice(self._candidates, worths, [self._entry(t) for t in self._texts])
        for text, pieces in zip(self._texts, corpus.cuts.of, strict=True):
            if not text.is_open:
                # A question is no evidence for what it asks about.
                passed = (
                    conversation.asked if text.message.index in conversation.asking else frozenset()
                )
                for piece in (piece for piece in pieces if piece not in hidden):
                    self._choice.cover(set(corpus.cuts.rows[piece]) - passed)

    def _entry(self, text: Text) -> float:
        """Return what it costs to show anything of *text* at all."""
        return _LABEL_TOKENS if self._layout.places[text.message.index] is Place.DIGEST else 0.0

    def make(self) -> Plan:
        """Choose pieces until the budget is spent, and write them out."""
        bare, cost = self._write({})
        is_over = cost > self._target and not self._talk  # then nothing can be chosen
        if self._explains or not is_over:
            self._open()
        plan = self._fill_calls(bare, self._target - cost) if is_over else self._make(bare, cost)
        if self._explainer is None:
            return plan
        self._explainer.chosen = self._choice.chosen
        return self._explainer.explain(plan)

    def _make(self, plan: Plan, cost: int) -> Plan:
        """Choose pieces beside a *plan* that shows none of them, for so many tokens."""
        choice, target = self._choice, self._target
        if self._talk and target - cost <= FEW_TOKENS:
            return self._show_one_span(plan, target - cost)
        if target - cost > 1:  # else nothing can be chosen
            cost += int(self._take_claims(target - cost))
            choice.offer(range(len(self._candidates)))
        for number in range(_ROUNDS):
            before = len(choice.chosen)
            choice.spend(target - cost)
            if number and len(choice.chosen) == before:
                break
            plan, cost = self._write_chosen()
            if cost > target and choice.chosen:
                choice.undo((cost - target) * 1.1)
                plan, cost = self._write_chosen()
            if target - cost <= max(_CLOSE, _CLOSE_SHARE * target):
                break
        if cost > target:  # not even room for a word on errors
            plan, cost = self._write(self._spans())
        while cost > target and choice.chosen:
            choice.undo(cost - target)
            plan, cost = self._write(self._spans())
        return self._fill_calls(plan, target - cost)

    def _fill_calls(self, plan: Plan, room: int) -> Plan:
        """Show calls whole after all, the newest first, as far as there is *room* left."""
        filled = list(plan)
        for place in range(len(plan) - 1, -1, -1):
            fold = plan[place]
            if fold.calls and not fold.is_rolled:
                whole = with_whole_calls(fold)
                more = self._tokens.fold(whole) - self._tokens.fold(fold)
                if more <= room:
                    filled[place] = whole
                    room -= more
        return tuple(filled)

    def _take_claims(self, room: float) -> float:
        """Choose what comes before all else; return what it takes of the *room*.

        First what people typed, or something of each message of theirs, then a task that is not
        whole, what speaks of what is asked, the first line of every call that may have changed
        something, and what went wrong, the gravest first. Each has a share of its own, so that none
        takes all.
        """
        shares = {
            "typed": _TRACE_SHARE * self._free,
            "longer prose": _LONGER_SHARE * self._free,
            "task": _TASK_SHARE * self._free,
            "asked": _EVIDENCE_SHARE * room,
            "changes": _CHANGE_SHARE * self._free,
            "newest errors": room,
            "errors": _ERROR_SHARE * room,
        }
        claims: list[tuple[str, Sequence[int]]] = [
            ("typed", self._typed()),
            ("longer prose", self._longer()),
            ("task", self._task()),
            ("asked", self._evidence()),
            ("changes", self._changes()),
            *(("newest errors", e) for e in self._required.by_severity(self._first_of_newest())),
            *(("errors", e) for e in self._required.by_severity()),
        ]
        left = room
        for claim, numbers in claims:
            most = min(left, shares[claim])
            if numbers and most > 1:
                take = self._choice.take if claim in _IN_ORDER else self._choice.pick
                spent = most - take(numbers, most)
                shares[claim] -= spent
                left -= spent
        return room - left

    def _typed(self) -> list[int]:
        """Return the candidates that people typed; one of each text if that is too much."""
        typed = find_typed(self._candidates, self._texts)
        cost = sum(self._candidates.cost[n] for n in typed)
        if self._talk and cost > self._target / 3:
            return []  # where people do nothing but talk, all of it competes
        return typed if cost <= _TYPED_SHARE * self._free else self._one_of_each(typed)

    def _longer(self) -> list[int]:
        """Return a candidate of each of the user's texts that is too long to count as typed."""
        if self._talk:
            return []
        return find_long_prose(self._candidates, self._texts, self._find_task())

    def _one_of_each(self, numbers: Iterable[int]) -> list[int]:
        """Return one of the candidates *numbers* for each text that they are of."""
        shown: dict[int, int] = {}
        said: set[int] = set()
        """Texts that show more than a mere greeting."""
        for number in numbers:  # the first of each text that says something, else the first
            text = self._candidates.text[number]
            if text in said:
                continue
            if not self._is_filler(number):
                shown[text] = number
                said.add(text)
            else:
                shown.setdefault(text, number)
        return list(shown.values())

    def _is_filler(self, number: int) -> bool:
        return worth_as_act(self._candidates, number, self._texts) <= 0

    def _task(self) -> list[int]:
        """Return the candidates that tell the task, if it could not stay whole."""
        task = self._find_task()
        if task is None or task in self._layout.reasons:
            return []
        return rank_task(self._candidates, self._texts, task)

    def _find_task(self) -> int | None:
        """Return the index of the message with the task, if there is one."""
        return next((i for i, why in self._untouchable.items() if why == "first_task"), None)

    def _evidence(self) -> list[int]:
        """Return the candidates that speak of what is asked about now."""
        return rank_evidence(self._candidates, self._texts, self._asked, self._shapes)

    def _changes(self) -> list[int]:
        """Return the candidates that name a call which may have changed something."""
        return [n for n, grade in enumerate(self._candidates.grade) if grade is CHANGE]

    def _first_of_newest(self) -> int:
        """Return the first candidate in what the newest tools returned, or in what came after."""
        spoken = [text.message.index for text in self._texts if text.message.role == "assistant"]
        newest = spoken[-1] if spoken else 0
        texts = self._texts
        return bisect_left(
            self._candidates.text, newest, key=lambda number: texts[number].message.index
        )

    def _write_chosen(self) -> tuple[Plan, int]:
        """Write out what is chosen so far, and say how many errors are not."""
        return self._write(self._spans(self._required.errors_left_out(self._choice.chosen)))

    def _show_one_span(self, bare: Plan, room: float) -> Plan:
        """Show the best stretch of words as far as there is *room*; *bare* shows none."""
        candidates, texts = self._candidates, self._texts
        worths = [
            worth * _NEWEST if texts[text].message is texts[-1].message else worth
            for worth, text in zip(self._choice.worths_left(), candidates.text, strict=True)
        ]
        first = best_span(candidates, worths, [room - self._entry(text) for text in texts])
        if first is None:
            return bare
        text, start = texts[candidates.text[first]], candidates.start[first]

        def plan_to(end: int) -> tuple[Plan, int]:
            return self._write({text.message.index: {text.part: Pick([(start, end)])}})

        end = fit_end(text.text, start, lambda end: plan_to(end)[1] <= self._target)
        return plan_to(end)[0] if end > start else self._write({})[0]

    def _spans(self, errors: Mapping[int, int] = _NO_ERRORS) -> Spans:
        """Return what is chosen so far of each message, and what leads it.

        *errors* tell how many of each text are not shown.
        """
        candidates, chosen = self._candidates, self._choice.chosen
        texts, starts, ends = candidates.text, candidates.start, candidates.end
        by_text: defaultdict[int, list[Span]] = defaultdict(list)
        for number in sorted({*chosen, *map(candidates.lead.__getitem__, chosen)}):
            by_text[texts[number]].append((starts[number], ends[number]))
        spans: defaultdict[int, dict[int, Pick]] = defaultdict(dict)
        for place in by_text.keys() | errors.keys():
            text = self._texts[place]
            pick = Pick(by_text.get(place, ()), errors.get(place, 0))
            spans[text.message.index][text.part] = pick
        return spans

    def _write(self, spans: Spans) -> tuple[Plan, int]:
        """Write out these *spans*, and count the tokens of it all."""
        plan = tuple(self._folds(spans))
        if self._explainer is not None:
            self._explainer.shown = spans
        return plan, sum(map(self._cost, plan))

    def _cost(self, fold: Fold) -> int:
        """Return the tokens of *fold*; most are in several plans."""
        known = self._costs.get(fold)
        if known is None:
            known = self._costs[fold] = self._tokens.fold(fold)
        return known

    def _folds(self, spans: Spans) -> Iterator[Fold]:
        places = self._places(spans)
        for place, grouped in groupby(self._messages, lambda message: places[message.index]):
            run = list(grouped)
            match place:
                case Place.DIGEST if self._is_lone(run):
                    yield self._excerpt(run[0], spans)
                case Place.DIGEST:
                    yield from self._digest(run, spans)
                case Place.EXCERPT:
                    yield from (self._excerpt(message, spans) for message in run)
                case Place.WHOLE:
                    yield from map(self._whole, run)

    def _is_lone(self, run: Sequence[Message]) -> bool:
        """Tell whether a digest would only take the role from one message that has its place."""
        return len(run) == 1 and self._layout.places[run[0].index] is Place.EXCERPT

    def _whole(self, message: Message) -> Fold:
        """Show all of *message*, if only in other words."""
        known = self._wholes.get(message.index)
        if known is None:
            kept = kept_fold(message, self._layout.reasons[message.index])
            known = with_calls(kept, self._layout.calls.get(message.index, NO_CALLS))
            self._wholes[message.index] = known
        return known

    def _places(self, spans: Spans) -> list[Place]:
        """Return where each message stands if *spans* are shown.

        A message in its place that shows next to nothing costs more than a line of a digest.
        """
        places = self._layout.places.copy()
        for index in self._movable:
            picks = spans.get(index, _NOTHING).values()
            shown = sum([stop - start for pick in picks for start, stop in pick.spans])
            if shown < _LEAST_IN_PLACE:
                places[index] = Place.DIGEST
        return places

    def _digest(self, stretch: Sequence[Message], spans: Spans) -> Iterator[Fold]:
        """Write a stretch as a digest, unless it costs no more as it is."""
        lines = [self._line(message, spans) for message in stretch]
        digest = write_digest(stretch, lines, self._label(stretch))
        if self._tokens.fold(digest) < sum(map(self._tokens.message, stretch)):
            yield digest
        else:
            yield from (kept_fold(message, "within_budget") for message in stretch)

    def _label(self, stretch: Sequence[Message]) -> Label:
        ends = stretch[0].index, stretch[-1].index
        if ends not in self._labels:
            self._labels[ends] = label_of(stretch)
        return self._labels[ends]


class _Writer(Generic[T]):
    """Writes messages; one that was written with the same spans before is not written again.

    What writes must not lead back to who holds this: all that a selection knows would be kept until
    the garbage collector comes.
    """

    def __init__(
        self,
        write: Callable[[Message, Mapping[int, Text], Chosen], T],
        texts: Mapping[int, Mapping[int, Text]],
    ) -> None:
        self._write = write
        self._texts = texts
        self._written: dict[int, tuple[Chosen, T]] = {}

    def __call__(self, message: Message, spans: Spans) -> T:
        """Write what *spans* show of *message*."""
        index = message.index
        chosen = spans.get(index, _NOTHING)
        known = self._written.get(index)
        if known is None or known[0] != chosen:
            known = chosen, self._write(message, self._texts.get(index, {}), chosen)
            self._written[index] = known
        return known[1]


def _write_in_place(
    layout: Layout, message: Message, texts: Mapping[int, Text], chosen: Chosen
) -> Fold:
    excerpt = write_excerpt(message, texts, chosen, layout.last_words)
    return with_calls(excerpt, layout.calls.get(message.index, NO_CALLS))


def _by_message(texts: Iterable[Text]) -> dict[int, dict[int, Text]]:
    """Map each message to its texts by their numbers, in reading order."""
    found: defaultdict[int, dict[int, Text]] = defaultdict(dict)
    for text in texts:
        found[text.message.index][text.part] = text
    return found
