"""What stands in for a text, and the guard: it must be shorter in characters and in tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from refold.classic.code import shorten_around
from refold.classic.rules import Run, Text, Verdict
from refold.classic.sentences import char_budget
from refold.classic.structured import cut_json, is_structured, summarize_structured
from refold.messages.handles import summary_id_of, tag_handle_of
from refold.messages.message import Message
from refold.notation.recognize import TAG, unmarked
from refold.notation.spelling import Beginning, Copy, Correction, Summary
from refold.options import Depth
from refold.scan.structure import is_json, lines_missing_from
from refold.scan.truncate import cut


class StandIn(NamedTuple):
    """What replaces a text, or `None` and the reason why nothing does."""

    text: str | None
    action: str
    reason: str


class StandIns:
    """Makes the stand-ins of one run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._reader: Final = run.reader
        self._tokens: Final = run.reader.tokens
        self._spelling: Final = run.reader.spelling
        self._writer: Final = run.writer
        """A model that is asked at the first depth only."""
        self._quoted: Final = {
            text.text for text in run.texts if text.text.startswith("[") and TAG.match(text.text)
        }
        """Texts of the conversation that look like stand-ins, which no stand-in may equal."""

    def for_text(self, text: Text, depth: Depth) -> StandIn:
        """Make the stand-in that was decided on for *text*."""
        verdict = self._run.verdict(text)
        match verdict.action:
            case "preserved":
                return StandIn(None, "preserved", verdict.reason)
            case "compressed":
                tag = self.summary([text.text], [text.message], depth)
                if tag is None:
                    return StandIn(None, "preserved", "single_reverted")
                return StandIn(tag, "compressed", verdict.reason)
            case "code_split":
                tags, family = self._around_code(text, depth), "code_split"
            case "contradicted":
                tags, family = self._corrected(text, verdict, depth), "contradiction"
            case "deduped" | "fuzzy_deduped":
                tags, family = [self._copy(text, verdict)], verdict.action
        for tag in tags:
            if self._may_stand_in(tag, [text.text]):
                return StandIn(tag, verdict.action, verdict.reason)
        return StandIn(None, "preserved", f"{family}_reverted")

    def summary(self, texts: Sequence[str], sources: Sequence[Message], depth: Depth) -> str | None:
        """Summarize some texts in one tag; `None` if that would not be shorter."""
        summary_id, handle = self._id(sources), self._handle(sources)

        def make() -> str | None:
            return self._summary(texts, summary_id, handle, depth)

        if self._asks(depth):  # what a model writes is not known from the texts alone
            return make()
        tag = self._reader.stand_in((tuple(texts), depth, summary_id, handle), make)
        return make() if tag in self._quoted else tag

    def _summary(
        self, texts: Sequence[str], summary_id: str, handle: str, depth: Depth
    ) -> str | None:
        # Of a text that is a stand-in itself, only what it shows is summarized: none is nested.
        bare = [unmarked(text) for text in texts]
        budget = char_budget(sum(map(len, texts)), depth)
        joined = "\n\n".join(bare)
        if len(texts) == 1 and is_structured(joined):
            bodies: Iterable[str] = [summarize_structured(joined, budget)]
        else:
            written = self._written(joined, depth)
            bodies = [] if written is None else [written]
            bodies = (*bodies, self._reader.summary(bare, budget))
        chars = sum(map(len, texts))
        for body in bodies:
            tag = self._spelling.summary(Summary(body, len(texts), (), summary_id), handle)
            if len(tag) >= chars:
                continue  # with names it would be longer still
            named = self._reader.names(texts, body)
            whole = Summary(body, len(texts), named, summary_id)
            for one in (self._spelling.summary(whole, handle), tag) if named else (tag,):
                if self._may_stand_in(one, texts):
                    self._note(one, joined, body)
                    return one
        return None

    def _asks(self, depth: Depth) -> bool:
        return self._writer is not None and depth == self._run.options.depth

    def _written(self, text: str, depth: Depth) -> str | None:
        """Return what a model wrote for *text*; not of JSON, which it would not write as JSON."""
        if self._writer is None or not self._asks(depth) or is_json(text):
            return None
        return self._writer.written(text)

    def _note(self, tag: str, text: str, body: str) -> None:
        """Note that a model wrote the *body* of *tag*, if it did."""
        if self._writer is not None and body == self._writer.written(text):
            self._writer.note_use(tag, text)

    def beginning(self, message: Message, text: str, chars: int) -> str | None:
        """Show the first *chars* characters of a text; `None` if that would not be shorter.

        JSON ends after a value, and its brackets are closed.
        """
        bare = unmarked(text)
        beginning = cut_json(bare, chars) if is_json(bare) else cut(bare, chars)
        tag = self._spelling.beginning(Beginning(beginning, len(text)), self._handle([message]))
        return tag if self._may_stand_in(tag, [text]) else None

    def _may_stand_in(self, tag: str, texts: Sequence[str]) -> bool:
        """Tell whether *tag* is shorter than *texts* in characters and tokens, and none of them."""
        if tag in self._quoted or len(tag) >= sum(map(len, texts)):
            return False
        return self._tokens.count(tag) < sum(map(self._tokens.count, texts))

    def _copy(self, text: Text, verdict: Verdict) -> str:
        target = verdict.to
        assert target is not None, "a reference names a text"
        is_below = target.message.index > text.message.index
        copy = Copy(target.message.id, len(text.text), is_below)
        handle = self._handle([text.message])
        if verdict.similarity is None:
            # An id that is derived from a message with one text identifies that text.
            is_plain = "id" not in target.message.wire and len(target.message.parts) == 1
            shows_id = is_plain and not self._spelling.shows_handles
            return self._spelling.copy(copy, "" if shows_id else handle)
        # The lines that changed may be all that matters.
        lines = tuple(lines_missing_from(text.text, target.text))
        near = copy._replace(similarity=verdict.similarity, lines=lines)
        return self._spelling.copy(near, handle)

    def _corrected(self, text: Text, verdict: Verdict, depth: Depth) -> list[str]:
        by = verdict.to
        assert by is not None, "a correction has a text"
        written = self._written(text.text, depth)
        body = written or self._reader.summary([text.text], char_budget(len(text.text), depth))
        signal = verdict.reason.partition(":")[2]
        is_below = by.message.index > text.message.index
        handle = self._handle([text.message])
        tags = [
            self._spelling.correction(Correction(by.message.id, signal, is_below, text_now), handle)
            for text_now in (body, "")
        ]
        if written:
            self._note(tags[0], text.text, written)
        return tags

    def _around_code(self, text: Text, depth: Depth) -> list[str]:
        summary_id, handle = self._id([text.message]), self._handle([text.message])
        answered: dict[str, str] = {}

        def make_tag(prose: str, room: int) -> str:
            written = self._written(prose, depth)
            if written is not None:
                summary = Summary(written, summary_id=summary_id)
                tag = self._spelling.beside_code(summary, handle)
                if len(tag) < len(prose):
                    answered[tag] = prose
                    return tag
            body = self._reader.summary([prose], room)
            return self._spelling.beside_code(Summary(body, summary_id=summary_id), handle)

        def make() -> str | None:
            bare = unmarked(text.text)
            short = shorten_around(bare, lambda chars: char_budget(chars, depth), make_tag)
            # Without a tag it would not be recognized as a stand-in.
            return None if short == bare else self._spelling.around_code(Summary(short), handle)

        if self._asks(depth):
            tag = make()
        else:
            key = ((text.text,), f"around code, {depth}", summary_id, handle)
            tag = self._reader.stand_in(key, make)
        if tag is not None and self._writer is not None and answered:
            self._writer.note_use(tag, *(answered[one] for one in answered if one in tag))
        return [] if tag is None else [tag]

    def _handle(self, sources: Sequence[Message]) -> str:
        """Return the handle that a stand-in for *sources* shows; "" if it shows none."""
        return tag_handle_of(sources, self._spelling)

    def _id(self, sources: Sequence[Message]) -> str:
        """Return the id that it shows; "" unless the options ask for one."""
        return summary_id_of(sources) if self._run.options.embed_summary_id else ""
