"""What of a conversation is shown for a budget: the pieces that add most, until it is spent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from refold.lazy import Lazy
from refold.messages.folds import Fold, Plan
from refold.messages.token_count import CountedTexts
from refold.plan.choose import FEW_TOKENS, Choice, best_span, fit_end
from refold.plan.conversation import Conversation
from refold.plan.corpus import find_candidates, find_cut_away, open_texts
from refold.plan.explain import PieceExplainer
from refold.plan.layout import Layout, Place, lay_out
from refold.plan.open_question import rank_evidence
from refold.plan.pieces import CHANGE
from refold.plan.priority import (
    RequiredPieces,
    find_long_prose,
    find_typed,
    first_of_newest,
    one_of_each,
    rank_task,
)
from refold.plan.writing import Pick, PlanWriter, Spans, with_whole_calls
from refold.scan.runs import Span

_NO_ERRORS: Final[Mapping[int, int]] = MappingProxyType({})
_ROUNDS: Final = 4
"""How often pieces are chosen and written: what one round leaves over, the next spends. A guess."""
_CLOSE: Final = 6
_CLOSE_SHARE: Final = 0.0005
"""Tokens, and the share of the budget, that are not worth another round."""
_LABEL_TOKENS: Final = 3.0
"""About what it costs to name the speaker or the call, for each text of a digest."""
_NEWEST: Final = 3.0
"""The newest words count this much more where a single span is all that can be shown."""

# How much each group of priority pieces may take, as a share of the room beside what must stay
# whole (the errors and the evidence: of the room that is left). Tuned on 293 recorded cuts.
_TRACE_SHARE: Final = 1 / 3
"""For one sentence of each message that people typed, so that all of them leave a trace."""
_TYPED_SHARE: Final = 0.2
"""Up to this share, all that people typed is shown word for word; the rest competes. With a third,
3 % more of it is whole, and a model foresees .01 less of what comes next."""
_TASK_SHARE: Final = 0.25
"""For a task that is too long to stay whole: how it begins and what it asks for. Without it a model
reads tracebacks of an issue and not its title, and foresees .02 less in SWE runs."""
_LONGER_SHARE: Final = 0.05
"""For long prose of the user's: one passage of each text that asks, forbids or decides. With a
third, as for what was typed, a model foresees .01 less (.1 in talk about code, at 20 %)."""
_EVIDENCE_SHARE: Final = 0.1
"""For what is about the open question."""
_CHANGE_SHARE: Final = 0.1
"""For the lines that say what was changed; one is about ten tokens. The same share of the room left
by the newest turns lost twice as many of them at 15 % of the tokens."""
_ERROR_SHARE: Final = 1 / 4
"""For errors that are not the newest: most of them were resolved since."""
_RANKED: Final = ("task", "asked")
"""Groups that are taken in their order; of others the best per token win."""


class Selection:
    """The texts of a conversation, cut into candidates, and the choice among them.

    *relevance* tells how likely each item is needed again, by its row; *newest* has re-encoded
    folds of the newest messages. Aims at *target* tokens; what must stay may take up to *limit*.
    With *explains*, the plan can tell why each piece was kept or dropped.
    """

    def __init__(
        self,
        conversation: Conversation,
        tokens: CountedTexts,
        *,
        target: int,
        limit: int,
        untouchable: Mapping[int, str],
        relevance: Lazy[list[float]],
        newest: Mapping[int, Fold] = MappingProxyType({}),
        explains: bool = False,
    ) -> None:
        messages, talk = conversation.messages, conversation.talk
        self._conversation = conversation
        self._tokens = tokens
        self._target = target
        self._task = next((i for i, why in untouchable.items() if why == "first_task"), None)
        self._relevance = relevance
        self._talk = talk
        self._layout: Layout = lay_out(
            messages,
            untouchable,
            tokens,
            target,
            limit=limit,
            talk=talk,
            recoded={index: tokens.fold(fold) for index, fold in newest.items()},
        )
        whole = untouchable.keys() & self._layout.reasons.keys()
        self._free = target - sum(tokens.message(messages[index]) for index in whole)
        """The room beside what must stay whole."""
        self._texts = open_texts(conversation.texts, self._layout, conversation.superseded)
        self._writer = PlanWriter(messages, self._texts, self._layout, tokens, newest=newest)
        self._shown: Spans = {}
        """What was last written."""
        self._explains = explains
        self._explainer: PieceExplainer | None = None

    def make(self) -> Plan:
        """Choose pieces until the budget is spent, and write them out."""
        bare, cost = self._write({})
        has_room = cost <= self._target or self._talk
        if self._explains or has_room:
            self._start_choice()
        plan = self._fill(bare, cost) if has_room else self._show_calls(bare, self._target - cost)
        if self._explainer is None:
            return plan
        self._explainer.shown, self._explainer.chosen = self._shown, self._choice.chosen
        return self._explainer.explain(plan)

    def _start_choice(self) -> None:
        """Make candidates of the open texts; what all other texts say is covered."""
        conversation, corpus, texts = self._conversation, self._conversation.corpus, self._texts
        cuts, relevance = corpus.cuts, self._relevance.get()
        self._candidates = find_candidates(texts, cuts, talk=self._talk)
        self._required = RequiredPieces(self._candidates, texts)
        for place, times in self._required.repeat_counts().items():
            texts[place] = texts[place]._replace(times=times)
            self._writer.update(texts[place])
        hidden = find_cut_away(texts, cuts, self._layout.calls)
        if self._explains:
            self._explainer = PieceExplainer(texts, corpus, relevance, self._candidates, hidden)
        places = self._layout.places
        self._opening_costs = [
            _LABEL_TOKENS if places[text.message.index] is Place.DIGEST else 0.0 for text in texts
        ]
        self._choice = Choice(self._candidates, relevance, self._opening_costs)
        for text, pieces in zip(texts, cuts.of, strict=True):
            if not text.is_open:
                # A question is no evidence for what it asks about.
                is_asking = text.message.index in conversation.asking
                asked = conversation.asked if is_asking else frozenset[int]()
                for piece in pieces:
                    if piece not in hidden:
                        self._choice.cover(set(cuts.rows[piece]) - asked)

    def _fill(self, plan: Plan, cost: int) -> Plan:
        """Choose pieces beside a *plan* that shows none of them and has this *cost*."""
        choice, target = self._choice, self._target
        if self._talk and target - cost <= FEW_TOKENS:
            return self._show_one_span(plan, target - cost)
        if target - cost > 1:
            cost += int(self._take_priorities(target - cost))
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
        if cost > target:  # not even room to count the errors
            plan, cost = self._write(self._spans())
        while cost > target and choice.chosen:
            choice.undo(cost - target)
            plan, cost = self._write(self._spans())
        return self._show_calls(plan, target - cost)

    def _show_calls(self, plan: Plan, room: int) -> Plan:
        """Show clipped calls whole after all, the newest first, as far as there is *room* left."""
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

    def _take_priorities(self, room: float) -> float:
        """Choose the pieces with priority; return what they take of the *room*.

        What people typed, a task that is not whole, what is about the open question, the first line
        of every call that may have changed something, and what went wrong, the most severe first.
        Each group has a share of its own, so that none takes all.
        """
        candidates, texts, task = self._candidates, self._texts, self._task
        shares = {
            "typed": _TRACE_SHARE * self._free,
            "longer prose": _LONGER_SHARE * self._free,
            "task": _TASK_SHARE * self._free,
            "asked": _EVIDENCE_SHARE * room,
            "changes": _CHANGE_SHARE * self._free,
            "newest errors": room,
            "errors": _ERROR_SHARE * room,
        }
        shapes = self._conversation.corpus.stats.shape
        newest = first_of_newest(candidates, texts)
        groups: list[tuple[str, Sequence[int]]] = [
            ("typed", self._typed()),
            ("longer prose", [] if self._talk else find_long_prose(candidates, texts, task)),
            (
                "task",
                []
                if task is None or task in self._layout.reasons
                else rank_task(candidates, texts, task),
            ),
            ("asked", rank_evidence(candidates, texts, self._conversation.asked, shapes)),
            ("changes", [n for n, grade in enumerate(candidates.grade) if grade is CHANGE]),
            *(("newest errors", errors) for errors in self._required.by_severity(newest)),
            *(("errors", errors) for errors in self._required.by_severity()),
        ]
        left = room
        for group, numbers in groups:
            most = min(left, shares[group])
            if numbers and most > 1:
                take = self._choice.take if group in _RANKED else self._choice.pick
                spent = most - take(numbers, most)
                shares[group] -= spent
                left -= spent
        return room - left

    def _typed(self) -> list[int]:
        """Return the candidates that people typed; one of each text if that is too much."""
        typed = find_typed(self._candidates, self._texts)
        cost = sum(self._candidates.cost[n] for n in typed)
        if self._talk and cost > self._target / 3:
            return []  # where people do nothing but talk, all of it competes
        if cost <= _TYPED_SHARE * self._free:
            return typed
        return one_of_each(typed, self._candidates, self._texts)

    def _show_one_span(self, bare: Plan, room: float) -> Plan:
        """Show the best span of words as far as there is *room*; *bare* shows none."""
        candidates, texts = self._candidates, self._texts
        gains = [
            gain * _NEWEST if texts[text].message is texts[-1].message else gain
            for gain, text in zip(self._choice.gains_left(), candidates.text, strict=True)
        ]
        first = best_span(candidates, gains, [room - cost for cost in self._opening_costs])
        if first is None:
            return bare
        text, start = texts[candidates.text[first]], candidates.start[first]

        def plan_to(end: int) -> tuple[Plan, int]:
            return self._write({text.message.index: {text.part: Pick([(start, end)])}})

        end = fit_end(text.text, start, lambda end: plan_to(end)[1] <= self._target)
        return plan_to(end)[0] if end > start else self._write({})[0]

    def _write_chosen(self) -> tuple[Plan, int]:
        """Write what is chosen so far, with the number of errors that are not."""
        return self._write(self._spans(self._required.errors_left_out(self._choice.chosen)))

    def _write(self, spans: Spans) -> tuple[Plan, int]:
        self._shown = spans
        return self._writer.write(spans)

    def _spans(self, errors: Mapping[int, int] = _NO_ERRORS) -> Spans:
        """Return what is chosen so far of each message, with the headings that go with it.

        *errors* tell how many of each text are not shown.
        """
        candidates, chosen = self._candidates, self._choice.chosen
        texts, starts, ends = candidates.text, candidates.start, candidates.end
        by_text: defaultdict[int, list[Span]] = defaultdict(list)
        for number in sorted({*chosen, *map(candidates.heading.__getitem__, chosen)}):
            by_text[texts[number]].append((starts[number], ends[number]))
        spans: defaultdict[int, dict[int, Pick]] = defaultdict(dict)
        for place in by_text.keys() | errors.keys():
            text = self._texts[place]
            pick = Pick(by_text.get(place, ()), errors.get(place, 0))
            spans[text.message.index][text.part] = pick
        return spans
