"""The story of `classic`: the rules decide, neighbors merge, stand-ins replace what they shorten.

    messages ─► Run.decide (rules) ─► runs of neighbors ─► stand-ins (guard) ─► folds

The guard: a stand-in must be shorter in characters and in tokens. Under a budget, `budget` climbs
from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from refold.classic.names import Names, choose_names, entity_cap
from refold.classic.rules import Rule, Run, Text, Verdict, protection
from refold.classic.sentences import char_budget, cut, read, summarize
from refold.classic.structured import cut_json, is_structured, shorten_around, summarize_structured
from refold.classic.texts import tag_handle_of
from refold.messages.folds import Fold, Outcome, Plan, kept_fold
from refold.messages.foreign import summary_id_of_fold
from refold.messages.handles import behind_of
from refold.messages.message import Message
from refold.notation.recognize import TAG, unmarked
from refold.notation.spelling import Beginning, Copy, Correction, Summary
from refold.options import Depth
from refold.scan.structure import is_json, lines_missing_from
from refold.scan.truncate import cut as cut_characters

_WITHOUT_SUMMARY: Final = frozenset({"preserved", "deduped", "fuzzy_deduped"})
_FAMILIES: Final = {"compressed": "single", "contradicted": "contradiction"}
"""What stand-ins that are not used are called in the trace, if not by their action."""


def plan_by_rules(run: Run, rules: Sequence[Rule]) -> Plan:
    """Fold a conversation as the rules decide."""
    run.decide(rules)
    folder, depth = Folder(run), run.options.depth
    return tuple([fold for group in folder.groups() for fold in folder.fold(group, depth)])


class Folder:
    """Folds the messages of a run on which the rules have decided."""

    def __init__(self, run: Run) -> None:
        self.run: Final = run
        self._reader: Final = run.reader
        self._spelling: Final = run.reader.spelling
        self._quoted: Final = {
            text.text for text in run.texts if text.text.startswith("[") and TAG.match(text.text)
        }
        """Texts of the conversation that look like stand-ins, which no stand-in may equal."""

    def groups(self, border: int | None = None) -> Iterator[tuple[Message, ...]]:
        """Yield neighbors that may share one summary, and all others alone.

        No group crosses *border*, the index of a message.
        """
        group: list[Message] = []
        for message, texts in zip(self.run.messages, self.run.by_message, strict=True):
            # Two tool results never merge: each answers a call of its own.
            merges = (
                len(texts) == 1
                and (verdict := texts[0].verdict) is not None
                and verdict.action == "compressed"
                and message.sole_part is not None
            )
            goes_on = merges and message.index != border
            if group and not (goes_on and _same_speaker(group[0], message)):
                yield tuple(group)
                group = []
            if merges:
                group.append(message)
            else:
                yield (message,)
        if group:
            yield tuple(group)

    def fold(self, group: Sequence[Message], depth: Depth) -> list[Fold]:
        """Fold a group into one summary; message by message if that is not shorter."""
        if len(group) > 1:
            texts = [message.parts[0].text for message in group]
            tag = self._summary(texts, group, depth)
            if tag is not None:
                share = int(len(tag) / len(group) + 0.5)
                merged = [Outcome("compressed", "merged_compressed", len(t), share) for t in texts]
                rows = tuple([(outcome,) for outcome in merged])
                return [Fold(sources=tuple(group), texts={0: tag}, outcomes=rows)]
        return [self._fold_one(message, depth) for message in group]

    def is_fixed(self, message: Message) -> bool:
        """Tell whether *message* is folded alike at every depth: no text of it is summarized."""
        verdicts = [text.verdict for text in self.run.by_message[message.index]]
        return all(v is not None and v.action in _WITHOUT_SUMMARY for v in verdicts)

    def _fold_one(self, message: Message, depth: Depth) -> Fold:
        """Replace the texts of one message, each where that makes it shorter."""
        if not message.parts:
            return kept_fold(message, protection(self.run, message, "") or "short_content")
        texts: dict[int, str] = {}
        row: list[Outcome] = []
        for text in self.run.by_message[message.index]:
            verdict, chars = text.verdict, len(text.text)
            assert verdict is not None, "every text is decided on"
            action, reason, size = verdict.action, verdict.reason, chars
            if action != "preserved":  # few
                tag = self._stand_in(text, verdict, depth)
                if tag is None:
                    reason = f"{_FAMILIES.get(action, action)}_reverted"
                    action = "preserved"
                else:
                    texts[text.part], size = tag, len(tag)
            row.append(Outcome(action, reason, chars, size))
        return Fold(sources=(message,), texts=texts, outcomes=(tuple(row),))

    def _stand_in(self, text: Text, verdict: Verdict, depth: Depth) -> str | None:
        """Make the stand-in that was decided on for *text*; `None` if it would not be shorter."""
        if verdict.action == "compressed":
            return self._summary([text.text], [text.message], depth)
        if verdict.action == "code_split":
            return self._first(self._around_code(text, depth), [text.text])
        target, handle = verdict.to, tag_handle_of([text.message], self._spelling)
        assert target is not None, "a reference names a text"
        is_below = target.message.index > text.message.index
        if verdict.action == "contradicted":
            body = self._ask(text.text, depth)
            body = body or self._summarize([text.text], char_budget(len(text.text), depth))
            signal = verdict.reason.partition(":")[2]
            corrections = (Correction(target.message.id, signal, is_below, t) for t in (body, ""))
            tags = [self._spelling.correction(correction, handle) for correction in corrections]
            return self._first(tags, [text.text])
        copy = Copy(target.message.id, len(text.text), is_below)
        if verdict.similarity is not None:  # the lines that changed may be all that matters
            lines = tuple(lines_missing_from(text.text, target.text))
            copy = copy._replace(similarity=verdict.similarity, lines=lines)
        elif "id" not in target.message.wire and len(target.message.parts) == 1:
            # An id that is derived from a message with one text identifies that text.
            handle = handle if self._spelling.shows_handles else ""
        return self._first([self._spelling.copy(copy, handle)], [text.text])

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

    def _summary(
        self, texts: Sequence[str], sources: Sequence[Message], depth: Depth
    ) -> str | None:
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
                best = self._first((named, tag) if names else (tag,), texts)
                if best is not None:
                    return best
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
        view = self._reader.view(text)
        if view.names is None:
            view.names = Names(view, self._reader.detectors)
        return view.names

    def _summarize(self, texts: Sequence[str], budget: int) -> str:
        """Join the best sentences of *texts*; where there are none, show the beginning."""
        summary = summarize([read(self._reader.view(text)) for text in texts], budget)
        return summary or cut("\n\n".join(texts).strip(), budget)

    def _once(
        self, texts: Sequence[str], kind: str, label: str, make: Callable[[], str | None]
    ) -> str | None:
        """Return what was made for *texts* before, except what a model may have written."""
        if self._asks(kind):
            return make()
        tag = self._reader.stand_in((tuple(texts), kind, label), make)
        if not self.run.is_tried:
            for text in texts:
                self._reader.view(text).forget()
        return tag

    def _asks(self, depth: str) -> bool:
        """Tell whether a model may write: it is asked at the first depth only."""
        return self.run.write is not None and depth == self.run.options.depth

    def _ask(self, text: str, depth: Depth) -> str | None:
        """Return what a model wrote for *text*; not of JSON, which it would not write as JSON."""
        write = self.run.write
        return write(text) if write and self._asks(depth) and not is_json(text) else None

    def beginning(self, message: Message, text: str, chars: int) -> str | None:
        """Show the first *chars* characters of a text; `None` if that would not be shorter.

        JSON ends after a value, and its brackets are closed.
        """
        bare = unmarked(text)
        begin = cut_json(bare, chars) if is_json(bare) else cut_characters(bare, chars)
        handle = tag_handle_of([message], self._spelling)
        return self._first([self._spelling.beginning(Beginning(begin, len(text)), handle)], [text])

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
        if not self.run.options.embed_summary_id:
            return ""
        return summary_id_of_fold(behind_of(sources).fold)


def _same_speaker(a: Message, b: Message) -> bool:
    return a.role == b.role and a.wire.get("name") == b.wire.get("name")
