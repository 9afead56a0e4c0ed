"""Make the text that stands in for others, and accept it only if it is really shorter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from refold.detectors import soft_texts
from refold.model.decision import Keep, Refer, SplitCode, Summarize, Supersede
from refold.model.depth import Depth
from refold.model.draft import Draft
from refold.model.message import Message
from refold.model.segment import Segment
from refold.stages.base import Setting
from refold.stages.originals import summary_id_of
from refold.stages.tags import (
    duplicate_tag,
    near_duplicate_tag,
    summary_tag,
    superseded_tag,
    truncated_tag,
)
from refold.strategies.code import summarize_around_code
from refold.strategies.prose import char_budget, summarize_prose
from refold.strategies.structured import is_structured, summarize_structured
from refold.text.entities import entity_cap, iter_entities
from refold.text.lines import lines_missing_from
from refold.text.truncate import cut
from refold.text.view import TextView

MAX_ENTITY_CHARS: Final = 120


@dataclass(frozen=True, slots=True)
class StandIn:
    """A replacement for one segment, or the reason why there is none."""

    text: str | None
    action: str
    reason: str


class StandIns:
    """Makes stand-ins for the segments of one draft."""

    def __init__(self, draft: Draft, setting: Setting) -> None:
        self._draft = draft
        self._setting = setting
        self._tokens = setting.analyses.tokens

    def for_segment(self, segment: Segment, depth: Depth) -> StandIn:
        """Make what the decision on *segment* asks for."""
        decision = self._draft.decision(segment)
        assert decision is not None, "the last stage decides whatever is left"
        match decision.action:
            case Keep():
                return StandIn(None, "preserved", decision.reason)
            case Refer() as refer:
                tags = [self._refer(segment, refer)]
                action = "deduped" if refer.exact else "fuzzy_deduped"
                return self._first_shorter(tags, segment, action, decision.reason, action)
            case Supersede() as supersede:
                tags = self._superseded(segment, supersede, depth)
                return self._first_shorter(
                    tags, segment, "contradicted", decision.reason, "contradiction"
                )
            case SplitCode():
                tags = [summarize_around_code(segment.text, depth, self._id([segment.message]))]
                return self._first_shorter(
                    tags, segment, "code_split", decision.reason, "code_split"
                )
            case Summarize():
                text = self.summary([segment.text], [segment.message], depth)
                if text is None:
                    return StandIn(None, "preserved", "single_reverted")
                return StandIn(text, "compressed", decision.reason)

    def summary(self, texts: Sequence[str], sources: Sequence[Message], depth: Depth) -> str | None:
        """Summarize one or more texts, or return nothing if that would not be shorter."""
        joined = "\n\n".join(texts)
        length = sum(map(len, texts))
        budget = char_budget(length, depth)
        if is_structured(joined):
            body = summarize_structured(joined, budget)
        else:
            body = summarize_prose(joined, budget, must_cover=_borders(texts))
        summary_id = self._id(sources)
        for entities in (choose_entities(joined, body, entity_cap(length)), []):
            tag = summary_tag(body, merged=len(texts), entities=entities, summary_id=summary_id)
            if self.is_shorter(tag, texts):
                return tag
        return None

    def truncated(self, text: str, chars: int) -> str | None:
        """Cut a text after *chars* characters, or return nothing if that would not be shorter."""
        tag = truncated_tag(cut(text, chars), len(text))
        return tag if self.is_shorter(tag, [text]) else None

    def is_shorter(self, stand_in: str, originals: Sequence[str]) -> bool:
        """Tell whether *stand_in* is shorter in characters and in tokens."""
        if len(stand_in) >= sum(map(len, originals)):
            return False
        return self._tokens(stand_in) < sum(map(self._tokens, originals))

    def _first_shorter(
        self, tags: Sequence[str], segment: Segment, action: str, reason: str, family: str
    ) -> StandIn:
        for tag in tags:
            if self.is_shorter(tag, [segment.text]):
                return StandIn(tag, action, reason)
        return StandIn(None, "preserved", f"{family}_reverted")

    def _refer(self, segment: Segment, refer: Refer) -> str:
        target = self._draft.segments[refer.to]
        if refer.exact:
            return duplicate_tag(target.id, len(segment.text))
        tag = near_duplicate_tag(target.id, len(segment.text), refer.similarity)
        # What differs may be all that matters: the changed lines stay readable.
        return "\n".join((tag, *lines_missing_from(segment.text, target.text)))

    def _superseded(self, segment: Segment, action: Supersede, depth: Depth) -> list[str]:
        by = self._draft.segments[action.by].id
        text = summarize_prose(segment.text, char_budget(len(segment.text), depth))
        return [superseded_tag(by, action.signal, text), superseded_tag(by, action.signal)]

    def _id(self, sources: Sequence[Message]) -> str:
        """Return the id to write into the tag: none unless asked for."""
        return summary_id_of(sources) if self._setting.options.embed_summary_id else ""


def _borders(texts: Sequence[str]) -> list[int]:
    """Return where each of several joined texts begins."""
    if len(texts) < 2:
        return []
    borders, place = [], 0
    for text in texts:
        borders.append(place)
        place += len(text) + 2
    return borders


def choose_entities(text: str, body: str, cap: int) -> list[str]:
    """Choose the entities to name: those that the summary lost first, then the others."""
    lost: dict[str, None] = {}
    shown: dict[str, None] = {}
    for entity in (*iter_entities(text), *soft_texts(TextView(text))):
        if len(entity) <= MAX_ENTITY_CHARS:
            (shown if entity in body else lost).setdefault(entity)
    return [*lost, *shown][:cap]
