"""Turn decisions into a plan: make the stand-ins, and use only those that are really shorter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from refold.detectors import soft_texts
from refold.model.decision import Decision, Keep, Refer, SplitCode, Summarize, Supersede
from refold.model.draft import Draft
from refold.model.message import Message
from refold.model.plan import Fold, Outcome, Plan
from refold.model.provenance import make_summary_id
from refold.model.segment import Segment
from refold.model.wire import digest
from refold.stages.base import Setting
from refold.stages.protect import protection
from refold.stages.tags import duplicate_tag, near_duplicate_tag, summary_tag, superseded_tag
from refold.strategies.code import summarize_around_code
from refold.strategies.prose import char_budget, summarize_prose
from refold.strategies.structured import is_structured, summarize_structured
from refold.text.entities import entity_cap, iter_entities
from refold.text.lines import lines_missing_from
from refold.text.view import TextView

_MAX_ENTITY_CHARS = 60


def make_plan(draft: Draft, setting: Setting) -> Plan:
    """Make the plan that *draft*'s decisions ask for."""
    return tuple(_Planner(draft, setting).folds())


class _Planner:
    def __init__(self, draft: Draft, setting: Setting) -> None:
        self._draft = draft
        self._setting = setting
        self._tokens = setting.analyses.tokens
        self._segments: dict[int, list[Segment]] = {}
        for segment in draft.segments:
            self._segments.setdefault(segment.message.index, []).append(segment)

    def folds(self) -> Iterator[Fold]:
        """Yield the folds in the order of the conversation."""
        for run in self._runs():
            merged = self._merge(run) if len(run) > 1 else None
            if merged is not None:
                yield merged
            else:
                yield from (self._fold_one(message) for message in run)

    def _runs(self) -> Iterator[list[Message]]:
        """Cut the conversation into runs of neighbours that may share one summary."""
        run: list[Message] = []
        for message in self._draft.messages:
            if run and not (self._can_merge(message) and _same_speaker(run[0], message)):
                yield run
                run = []
            run.append(message)
            if not self._can_merge(message):
                yield run
                run = []
        if run:
            yield run

    def _can_merge(self, message: Message) -> bool:
        if message.sole_part is None:
            return False
        decision = self._decision(self._segments[message.index][0])
        return isinstance(decision.action, Summarize)

    def _decision(self, segment: Segment) -> Decision:
        decision = self._draft.decision(segment)
        assert decision is not None, "every stage table ends with one that decides all"
        return decision

    def _merge(self, run: Sequence[Message]) -> Fold | None:
        """Fold a run into one summary that speaks for each of its messages, if that is shorter."""
        texts = [message.parts[0].text for message in run]
        tag = self._summary(texts, run)
        if tag is None:
            return None
        share = int(len(tag) / len(run) + 0.5)
        rows = tuple(
            (Outcome("compressed", "merged_compressed", len(text), share),) for text in texts
        )
        return Fold(sources=tuple(run), texts={0: tag}, outcomes=rows)

    def _fold_one(self, message: Message) -> Fold:
        """Replace the texts of one message, each where that makes it shorter."""
        texts: dict[int, str] = {}
        outcomes: list[Outcome] = []
        for number, segment in enumerate(self._segments.get(message.index, ())):
            stand_in, action, reason = self._replace(segment)
            if stand_in is not None:
                texts[number] = stand_in
            length = len(segment.text)
            outcomes.append(
                Outcome(action, reason, length, length if stand_in is None else len(stand_in))
            )
        if not outcomes:
            reason = protection(message, 0, self._setting) or "short_content"
            outcomes.append(Outcome("preserved", reason, 0, 0))
        return Fold(sources=(message,), texts=texts, outcomes=(tuple(outcomes),))

    def _replace(self, segment: Segment) -> tuple[str | None, str, str]:
        """Return the stand-in for one segment (if any), what was done, and why."""
        decision = self._decision(segment)
        match decision.action:
            case Keep():
                return None, "preserved", decision.reason
            case Refer() as refer:
                action = "deduped" if refer.exact else "fuzzy_deduped"
                return self._guarded([self._refer(segment, refer)], segment, action, decision)
            case Supersede() as supersede:
                tags = self._superseded(segment, supersede)
                return self._guarded(tags, segment, "contradicted", decision)
            case SplitCode():
                tag = summarize_around_code(segment.text, self._id_for([segment.message]))
                return self._guarded([tag], segment, "code_split", decision)
            case Summarize():
                summary = self._summary([segment.text], [segment.message])
                if summary is None:
                    return None, "preserved", "single_reverted"
                return summary, "compressed", decision.reason

    def _guarded(
        self, tags: Sequence[str], segment: Segment, action: str, decision: Decision
    ) -> tuple[str | None, str, str]:
        for tag in tags:
            if self._is_shorter(tag, [segment.text]):
                return tag, action, decision.reason
        family = "contradiction" if action == "contradicted" else action
        return None, "preserved", f"{family}_reverted"

    def _is_shorter(self, stand_in: str, originals: Sequence[str]) -> bool:
        """Tell whether *stand_in* is shorter in characters and in tokens."""
        if len(stand_in) >= sum(map(len, originals)):
            return False
        return self._tokens(stand_in) < sum(map(self._tokens, originals))

    def _refer(self, segment: Segment, refer: Refer) -> str:
        target = self._draft.segments[refer.to]
        if refer.exact:
            return duplicate_tag(target.id, len(segment.text))
        tag = near_duplicate_tag(target.id, len(segment.text), refer.similarity)
        # What differs may be all that matters: the changed lines stay readable.
        return "\n".join((tag, *lines_missing_from(segment.text, target.text)))

    def _superseded(self, segment: Segment, action: Supersede) -> list[str]:
        by = self._draft.segments[action.by].id
        text = summarize_prose(segment.text, char_budget(len(segment.text)))
        return [superseded_tag(by, action.signal, text), superseded_tag(by, action.signal)]

    def _summary(self, texts: Sequence[str], sources: Sequence[Message]) -> str | None:
        """Make the summary of one or more texts, or nothing if it would not be shorter."""
        joined = "\n\n".join(texts)
        length = sum(map(len, texts))
        budget = char_budget(length)
        if is_structured(joined):
            body = summarize_structured(joined, budget)
        else:
            body = summarize_prose(joined, budget, must_cover=_borders(texts))
        summary_id = self._id_for(sources)
        for entities in (_entities(joined, body, entity_cap(length)), []):
            tag = summary_tag(body, merged=len(texts), entities=entities, summary_id=summary_id)
            if self._is_shorter(tag, texts):
                return tag
        return None

    def _id_for(self, sources: Sequence[Message]) -> str:
        """Return the id to write into the tag: none unless asked for."""
        if not self._setting.options.embed_summary_id:
            return ""
        return summary_id_of(sources)


def summary_id_of(sources: Sequence[Message]) -> str:
    """Derive the id of the stand-in for *sources*."""
    keys = [original_key(message) for message in sources]
    return make_summary_id(keys, [digest(message.wire) for message in sources])


def original_key(message: Message) -> str:
    """Return the key under which *message* is kept when something stands in for it.

    A stand-in shares its id with its first source, so folding it again under that id would bury
    the source: it goes under its own summary id instead.
    """
    return message.provenance.summary_id if message.provenance else message.id


def _same_speaker(a: Message, b: Message) -> bool:
    return a.role == b.role and a.wire.get("name") == b.wire.get("name")


def _borders(texts: Sequence[str]) -> list[int]:
    """Return where each of several joined texts begins."""
    if len(texts) < 2:
        return []
    borders, place = [], 0
    for text in texts:
        borders.append(place)
        place += len(text) + 2
    return borders


def _entities(text: str, body: str, cap: int) -> list[str]:
    """Choose the entities to name: those that the summary lost first, then the others."""
    lost: dict[str, None] = {}
    shown: dict[str, None] = {}
    for entity in (*iter_entities(text), *soft_texts(TextView(text))):
        if len(entity) <= _MAX_ENTITY_CHARS:
            (shown if entity in body else lost).setdefault(entity)
    return [*lost, *shown][:cap]
