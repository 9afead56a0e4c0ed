"""What stands in for a text, and the guard: it must be shorter in characters and in tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from refold.classic.names import Names, choose_names, entity_cap
from refold.classic.rules import Run, Text, Verdict
from refold.classic.sentences import char_budget, cut, read, summarize
from refold.classic.structured import cut_json, is_structured, shorten_around, summarize_structured
from refold.classic.texts import tag_handle_of
from refold.messages.foreign import summary_id_of_fold
from refold.messages.handles import behind_of
from refold.messages.message import Message
from refold.notation.recognize import TAG, unmarked
from refold.notation.spelling import Beginning, Copy, Correction, Summary
from refold.options import Depth
from refold.scan.structure import is_json, lines_missing_from
from refold.scan.truncate import cut as cut_characters


class StandIns:
    """Makes the stand-ins of one run."""

    def __init__(self, run: Run) -> None:
        self._run: Final = run
        self._reader: Final = run.reader
        self._spelling: Final = run.reader.spelling
        self._quoted: Final = {
            text.text for text in run.texts if text.text.startswith("[") and TAG.match(text.text)
        }
        """Texts of the conversation that look like stand-ins, which no stand-in may equal."""
        self._names_of: Final[dict[str, Names]] = {}

    def for_text(self, text: Text, verdict: Verdict, depth: Depth) -> str | None:
        """Make the stand-in that was decided on for *text*; `None` if it would not be shorter."""
        match verdict.action:
            case "compressed":
                return self.summary([text.text], [text.message], depth)
            case "code_split":
                tags = self._around_code(text, depth)
            case "contradicted":
                tags = self._correction(text, verdict, depth)
            case _:
                tags = [self._copy(text, verdict)]
        return self._first(tags, [text.text])

    def _first(self, tags: Iterable[str], texts: Sequence[str]) -> str | None:
        """Return the first of *tags* that may stand in for *texts*.

        It must be shorter in characters and in tokens, and must not look like a text that is there.
        """
        chars, count = sum(map(len, texts)), self._reader.tokens.count
        for tag in tags:
            is_shorter = len(tag) < chars and tag not in self._quoted
            if is_shorter and count(tag) < sum(map(count, texts)):
                return tag
        return None

    def summary(self, texts: Sequence[str], sources: Sequence[Message], depth: Depth) -> str | None:
        """Summarize some texts in one tag; `None` if that would not be shorter."""
        id_, handle = self._id(sources), tag_handle_of(sources, self._spelling)

        def make() -> str | None:
            chars = sum(map(len, texts))
            for body in self._bodies(texts, char_budget(chars, depth), depth):
                tag = self._spelling.summary(Summary(body, len(texts), (), id_), handle)
                if len(tag) >= chars:
                    continue  # with names it would be longer still
                names = choose_names(list(map(self._names, texts)), body, entity_cap(chars))
                named = self._spelling.summary(Summary(body, len(texts), names, id_), handle)
                found = self._first((named, tag) if names else (tag,), texts)
                if found is not None:
                    return found
            return None

        tag = self._once(texts, depth, f"{id_} {handle}", make)
        return make() if tag in self._quoted else tag

    def _bodies(self, texts: Sequence[str], budget: int, depth: Depth) -> Iterator[str]:
        """Yield what may say the same in short, the best first."""
        # Of a text that is a stand-in itself, only what it shows is summarized: none is nested.
        bare = [unmarked(text) for text in texts]
        if len(bare) == 1 and is_structured(bare[0]):
            yield summarize_structured(bare[0], budget)
            return
        written = self._ask("\n\n".join(bare), depth)
        if written is not None:
            yield written
        yield self._summarize(bare, budget)

    def _names(self, text: str) -> Names:
        names = self._names_of.get(text) or Names(self._reader.view(text), self._reader.detectors)
        if self._run.is_tried:
            self._names_of[text] = names
        return names

    def _summarize(self, texts: Sequence[str], budget: int) -> str:
        """Join the best sentences of *texts*; where there are none, show the beginning."""
        views = [self._reader.view(text) for text in texts]
        summary = summarize([read(view) for view in views], budget)
        for view in views if not self._run.is_tried else ():
            view.forget()
        return summary or cut("\n\n".join(texts).strip(), budget)

    def _once(
        self, texts: Sequence[str], kind: str, shown: str, make: Callable[[], str | None]
    ) -> str | None:
        """Return what was made for *texts* before, except what a model may have written."""
        if self._asks(kind):
            return make()
        tag = self._reader.stand_in((tuple(texts), kind, shown), make)
        if not self._run.is_tried:
            for text in texts:
                self._reader.view(text).forget()
        return tag

    def _asks(self, depth: str) -> bool:
        """Tell whether a model may write: it is asked at the first depth only."""
        return self._run.write is not None and depth == self._run.options.depth

    def _ask(self, text: str, depth: Depth) -> str | None:
        """Return what a model wrote for *text*; not of JSON, which it would not write as JSON."""
        write = self._run.write
        return write(text) if write and self._asks(depth) and not is_json(text) else None

    def beginning(self, message: Message, text: str, chars: int) -> str | None:
        """Show the first *chars* characters of a text; `None` if that would not be shorter.

        JSON ends after a value, and its brackets are closed.
        """
        bare = unmarked(text)
        shown = cut_json(bare, chars) if is_json(bare) else cut_characters(bare, chars)
        handle = tag_handle_of([message], self._spelling)
        return self._first([self._spelling.beginning(Beginning(shown, len(text)), handle)], [text])

    def _copy(self, text: Text, verdict: Verdict) -> str:
        target = verdict.to
        assert target is not None, "a reference names a text"
        is_below = target.message.index > text.message.index
        handle = tag_handle_of([text.message], self._spelling)
        copy = Copy(target.message.id, len(text.text), is_below)
        if verdict.similarity is None:
            # An id that is derived from a message with one text identifies that text.
            is_plain = "id" not in target.message.wire and len(target.message.parts) == 1
            shows_id = is_plain and not self._spelling.shows_handles
            return self._spelling.copy(copy, "" if shows_id else handle)
        # The lines that changed may be all that matters.
        lines = tuple(lines_missing_from(text.text, target.text))
        near = copy._replace(similarity=verdict.similarity, lines=lines)
        return self._spelling.copy(near, handle)

    def _correction(self, text: Text, verdict: Verdict, depth: Depth) -> list[str]:
        by = verdict.to
        assert by is not None, "a correction has a text"
        body = self._ask(text.text, depth)
        body = body or self._summarize([text.text], char_budget(len(text.text), depth))
        signal = verdict.reason.partition(":")[2]
        is_below = by.message.index > text.message.index
        handle = tag_handle_of([text.message], self._spelling)
        corrections = (Correction(by.message.id, signal, is_below, t) for t in (body, ""))
        return [self._spelling.correction(correction, handle) for correction in corrections]

    def _around_code(self, text: Text, depth: Depth) -> list[str]:
        id_, handle = self._id([text.message]), tag_handle_of([text.message], self._spelling)

        def make_tag(prose: str, room: int) -> str:
            for body in (self._ask(prose, depth), self._summarize([prose], room)):
                if body is not None:
                    tag = self._spelling.beside_code(Summary(body, summary_id=id_), handle)
                    if len(tag) < len(prose):
                        break
            return tag

        def make() -> str | None:
            bare = unmarked(text.text)
            short = shorten_around(bare, lambda chars: char_budget(chars, depth), make_tag)
            # Without a tag it would not be recognized as a stand-in.
            return None if short == bare else self._spelling.around_code(Summary(short), handle)

        kind = depth if self._asks(depth) else f"around code, {depth}"
        tag = self._once([text.text], kind, f"{id_} {handle}", make)
        return [] if tag is None else [tag]

    def _id(self, sources: Sequence[Message]) -> str:
        """Return the id that a stand-in shows; "" unless the options ask for one."""
        if not self._run.options.embed_summary_id:
            return ""
        return summary_id_of_fold(behind_of(sources).fold)
