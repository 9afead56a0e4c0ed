"""Make stand-ins for texts, and accept them only if they are really shorter."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Final, NamedTuple

from refold.messages.handles import summary_id_of, tag_handle_of
from refold.messages.message import Message
from refold.notation.recognize import TAG, unmarked
from refold.notation.spelling import Beginning, Copy, Correction, Summary
from refold.options import Depth
from refold.plan.draft import (
    Draft,
    Keep,
    Refer,
    RunContext,
    Segment,
    SplitCode,
    Summarize,
    Supersede,
)
from refold.plan.shorten.code import shorten_around_code
from refold.plan.shorten.structured import is_structured, summarize_structured
from refold.scan.entities import entity_cap
from refold.scan.mentions import is_place
from refold.scan.structure import is_json, lines_missing_from
from refold.scan.truncate import cut


class StandIn:
    """A replacement for one segment, or the reason why there is none; read-only."""

    __slots__ = ("action", "reason", "text")

    def __init__(self, text: str | None, action: str, reason: str) -> None:
        self.text: Final = text
        self.action: Final = action
        self.reason: Final = reason


class _Named(NamedTuple):
    """The names that a stand-in shows."""

    summary_id: str
    handle: str


class StandIns:
    """Makes stand-ins for the segments of one draft."""

    def __init__(self, draft: Draft, context: RunContext) -> None:
        self._draft = draft
        self._text_cache = context.text_cache
        self._tokens = context.text_cache.tokens
        self._spelling = context.text_cache.spelling
        self._rules = context.text_cache.rules
        self._ask_depth = context.options.depth if context.text_cache.can_ask else None
        """The depth at which models and hooks are asked."""
        self._shows_ids: bool = context.options.embed_summary_id
        self._quoted = {
            s.text for s in draft.segments if s.text.startswith("[") and TAG.match(s.text)
        }
        """Texts of the conversation that look like stand-ins, which no stand-in may equal."""

    def for_segment(self, segment: Segment, depth: Depth) -> StandIn:
        """Make the stand-in that the decision on *segment* asks for."""
        decision = self._draft.decision(segment)
        assert decision is not None, "the last rule decides whatever is left"
        match decision.action:
            case Keep():
                return StandIn(None, "preserved", decision.reason)
            case Refer() as refer:
                tags = [self._refer(segment, refer)]
                action = "deduped" if refer.similarity is None else "fuzzy_deduped"
                return self._first_shorter(tags, segment, action, decision.reason, action)
            case Supersede() as supersede:
                tags = self._superseded(segment, supersede, depth)
                return self._first_shorter(
                    tags, segment, "contradicted", decision.reason, "contradiction"
                )
            case SplitCode():
                tags = self._around_code(segment, depth)
                return self._first_shorter(
                    tags, segment, "code_split", decision.reason, "code_split"
                )
            case Summarize():
                text = self.summary([segment.text], [segment.message], depth)
                if text is None:
                    return StandIn(None, "preserved", "single_reverted")
                return StandIn(text, "compressed", decision.reason)

    def summary(self, texts: Sequence[str], sources: Sequence[Message], depth: Depth) -> str | None:
        """Summarize one or more texts; `None` if that would not be shorter.

        Of a text that is a stand-in itself, only what it shows is summarized: stand-ins do not
        nest. The result is cached, unless it depends on more than *texts*.
        """
        named = _Named(self._id(sources), self._handle(sources))
        if depth != self._ask_depth:
            key = (tuple(texts), depth, *named)
            known = self._text_cache.stand_in(key, lambda: self._summarize(texts, named, depth))
            if known not in self._quoted:
                return known
        return self._summarize(texts, named, depth, self._quoted)

    def _summarize(
        self, texts: Sequence[str], named: _Named, depth: Depth, quoted: Set[str] = frozenset()
    ) -> str | None:
        said_by = [unmarked(text) for text in texts]
        joined = "\n\n".join(said_by)
        budget = self._rules.room(sum(map(self._rules.measure, texts)), depth)
        if not self._rules.finds_acts and len(texts) == 1 and is_structured(joined):
            return self._tagged(summarize_structured(joined, budget), texts, named, quoted)
        for given in self._given(joined, depth):
            tag = self._tagged(given, texts, named, quoted)
            if tag is not None:
                self._note(tag, joined, given)
                return tag
        return self._tagged(self._text_cache.summary(said_by, budget), texts, named, quoted)

    def _tagged(
        self, body: str, texts: Sequence[str], named: _Named, quoted: Set[str]
    ) -> str | None:
        """Put *body* into a tag for *texts*, with entities if they fit; `None` if not shorter."""
        bare = self._spelling.summary(Summary(body, len(texts), [], named.summary_id), named.handle)
        if len(bare) >= _chars(texts):
            return None  # with entities it would be longer still
        for entities in self._named(texts, body):
            said = Summary(body, len(texts), entities, named.summary_id)
            tag = self._spelling.summary(said, named.handle)
            if tag not in quoted and self._is_shorter(tag, texts):
                return tag
        return None

    def _given(self, text: str, depth: Depth) -> list[str]:
        """Return what models and hooks made of *text*; they are asked at one depth only.

        Not of JSON, which a model would not write as JSON.
        """
        if depth != self._ask_depth or is_json(text):
            return []
        given = (self._text_cache.written(text), self._text_cache.kept_tokens(text))
        return [body for body in given if body is not None]

    def _note(self, stand_in: str, text: str, body: str) -> None:
        """Note that a model wrote the *body* of *stand_in*, if it did."""
        if body == self._text_cache.written(text):
            self._text_cache.note_use(stand_in, text)

    def _shorten(self, text: str, budget: int, depth: Depth) -> str:
        """Return what models and hooks made of *text*, or else its main sentences."""
        given = self._given(text, depth)
        return (given[0] if given else "") or self._text_cache.summary([text], budget)

    def _named(self, texts: Sequence[str], body: str) -> list[list[str]]:
        """Return lists of entities to try in a summary: all, only places, none."""
        entities = self._entities(texts, body)
        places = list(filter(is_place, entities)) if self._rules.finds_acts else []
        return [entities, places, []] if 0 < len(places) < len(entities) else [entities, []]

    def _entities(self, texts: Sequence[str], body: str) -> list[str]:
        """Choose the entities to name: those that the summary lost.

        By the contract, others follow up to its limit.
        """
        if self._rules.finds_acts:
            return self._text_cache.lost_mentions(texts, body, sum(map(self._rules.measure, texts)))
        cap = entity_cap(_chars(texts))
        lost: list[str] = []
        for text in texts:
            more = self._text_cache.lost_entities(text, body, cap)
            lost = list(dict.fromkeys(lost + more)) if lost else more
            if len(lost) >= cap:
                return lost[:cap]
        named = dict.fromkeys(lost)
        for text in texts:
            for name in self._text_cache.entities(text):
                named[name] = None
                if len(named) == cap:
                    return list(named)
        return list(named)

    def truncated(self, message: Message, text: str, chars: int) -> str | None:
        """Truncate a text of *message*; `None` if that would not be shorter."""
        shown = Beginning(cut(unmarked(text), chars), len(text))
        tag = self._spelling.beginning(shown, self._handle([message]))
        return tag if self._may_stand_in(tag, text) else None

    def _may_stand_in(self, tag: str, text: str) -> bool:
        """Tell whether *tag* may stand in for *text*."""
        return tag not in self._quoted and self._is_shorter(tag, [text])

    def _is_shorter(self, stand_in: str, originals: Sequence[str]) -> bool:
        """Tell whether *stand_in* is shorter, in characters and in tokens."""
        if len(stand_in) >= _chars(originals):
            return False
        tokens = self._tokens
        return tokens.count(stand_in) < sum(tokens.count(text) for text in originals)

    def _first_shorter(
        self, tags: Sequence[str], segment: Segment, action: str, reason: str, family: str
    ) -> StandIn:
        for tag in tags:
            if self._may_stand_in(tag, segment.text):
                return StandIn(tag, action, reason)
        return StandIn(None, "preserved", f"{family}_reverted")

    def _refer(self, segment: Segment, refer: Refer) -> str:
        target = self._draft.segments[refer.to]
        handle = self._handle([segment.message])
        is_below = target.message.index > segment.message.index
        copy = Copy(target.id, len(segment.text), is_below)
        if refer.similarity is None:
            # An id that is derived from a message with one text identifies that text.
            is_told = "id" not in target.message.wire and len(target.message.parts) == 1
            shows_id = is_told and not self._spelling.shows_handles
            return self._spelling.copy(copy, "" if shows_id else handle)
        missing = lines_missing_from(segment.text, target.text)
        near = copy._replace(similarity=refer.similarity, lines=tuple(missing))
        return self._spelling.copy(near, handle)

    def _superseded(self, segment: Segment, action: Supersede, depth: Depth) -> list[str]:
        by = self._draft.segments[action.by]
        text = self._shorten(segment.text, self._room(segment.text, depth), depth)
        handle = self._handle([segment.message])
        is_below = by.message.index > segment.message.index
        tags = [
            self._spelling.correction(Correction(by.id, action.signal, is_below, said), handle)
            for said in (text, "")
        ]
        if depth == self._ask_depth:
            self._note(tags[0], segment.text, text)
        return tags

    def _around_code(self, segment: Segment, depth: Depth) -> list[str]:
        sources = [segment.message]
        summary_id, handle = self._id(sources), self._handle(sources)

        given: dict[str, str] = {}

        def make_tag(prose: str, budget: int) -> str:
            for body in self._given(prose, depth):
                tag = self._spelling.beside_code(Summary(body, summary_id=summary_id), handle)
                if len(tag) < len(prose):
                    given[tag] = prose if body == self._text_cache.written(prose) else ""
                    return tag
            said = Summary(self._text_cache.summary([prose], budget), summary_id=summary_id)
            return self._spelling.beside_code(said, handle)

        bare = unmarked(segment.text)
        shown = shorten_around_code(bare, depth, make_tag, self._rules)
        if shown == bare:
            return []  # without a mark it would not be recognized as a stand-in
        entities = self._named([segment.text], shown) if self._rules.finds_acts else [[]]
        tags = [self._spelling.around_code(Summary(shown, 1, names), handle) for names in entities]
        for short in tags:
            self._text_cache.note_use(
                short, *(prose for tag, prose in given.items() if tag in short)
            )
        return tags

    def _room(self, text: str, depth: Depth) -> int:
        return self._rules.room(self._rules.measure(text), depth)

    def _handle(self, sources: Sequence[Message]) -> str:
        """Return the handle to show, if any."""
        return tag_handle_of(sources, self._spelling)

    def _id(self, sources: Sequence[Message]) -> str:
        """Return the id to show in the tag; "" unless the options ask for it."""
        return summary_id_of(sources) if self._shows_ids else ""


def _chars(texts: Sequence[str]) -> int:
    return sum(len(text) for text in texts)
