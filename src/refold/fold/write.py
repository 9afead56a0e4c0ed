"""Write a view: messages as they are, excerpts in their place, digests of the stretches between."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import Any, Final

from refold.fold.choose import Choice
from refold.fold.lay_out import Layout
from refold.fold.pieces import Grade, Kind, Place, Voice
from refold.lazy import Lazy
from refold.messages.folds import Fold, Outcome, Plan, kept_fold
from refold.messages.handles import handle_of
from refold.messages.message import Call, Message
from refold.messages.token_count import CountedTexts
from refold.notation import marks
from refold.notation.recognize import count_messages
from refold.result import Piece as PieceRow

_CLIPPED: Final = 160
"""Characters of an argument that a call in its place shows."""
_END: Final = 30
"""Of these, at its end."""
_AT_LENGTH: Final = 32
"""Tokens from which what a person typed is worth the frame of a message and another mark."""
_SAVED: Final = 4
"""A digest that saves no more tokens hides more than it saves."""
Spans = Mapping[int, Sequence[int]]
"""Number of a text → the pieces of it that are shown, in order."""


class Writer:
    """Writes plans for one conversation."""

    def __init__(
        self,
        messages: Sequence[Message],
        choice: Choice,
        tokens: CountedTexts,
        runs: dict[tuple[int, int], tuple[int, str, int, int]],
        *,
        explains: bool = False,
    ) -> None:
        self._runs = runs
        """First and last message of a stretch → how many it stands for, its handle and its size:
        the same ones are written again and again."""
        self._messages, self._texts, self._choice = messages, choice.texts, choice
        self._tokens, self._explains = tokens, explains
        self._is_bare = False
        self._tied: set[int] = set()
        self._of: defaultdict[int, list[int]] = defaultdict(list)
        for number, text in enumerate(choice.texts):
            self._of[text.message].append(number)
        self._pieces_of: defaultdict[int, list[int]] = defaultdict(list)
        for n, piece in enumerate(choice.pieces):
            self._pieces_of[piece.text].append(n)

    def write(self, layout: Layout, *, is_bare: bool = False) -> tuple[Plan, int]:
        """Return the plan that shows what was chosen, and its tokens."""
        self._is_bare = is_bare
        spans: defaultdict[int, list[int]] = defaultdict(list)
        for n in () if is_bare else sorted(self._choice.taken):
            spans[self._choice.pieces[n].text].append(n)
        places = self._places(layout, spans)
        self._tied = {i for block in layout.blocks if len(block) > 1 for i in block}
        plan: list[Fold] = []
        for place, group in groupby(self._messages, key=lambda m: places[m.index]):
            run = list(group)
            if place is Place.DIGEST:
                plan += self._digests(run, spans)
            elif place is Place.EXCERPT:
                plan += [self._excerpt(message, spans) for message in run]
            else:
                plan += [self._whole(m, layout.reasons.get(m.index, "within_budget")) for m in run]
        return tuple(plan), sum(map(self._tokens.fold, plan))

    def _places(self, layout: Layout, spans: Spans) -> list[Place]:
        """Return where messages stand; a call whose result shows nothing goes into the digest."""
        places = layout.places.copy()
        for block in layout.blocks:
            results = [n for i in block for n in self._of[i] if self._texts[n].voice is Voice.TOOL]
            is_open = all(
                places[i] is Place.EXCERPT or layout.reasons.get(i) == "newest" for i in block
            ) and not any(self._texts[n].voice is Voice.USER for i in block for n in self._of[i])
            bare = [
                n for n in results if n not in spans and self._texts[n].place is not Place.WHOLE
            ]
            if is_open and bare:
                for i in block:
                    places[i] = Place.DIGEST
        return places

    # in place

    def _whole(self, message: Message, why: str) -> Fold:
        """Keep a message; data that is shorter as records is written so, with nothing left out."""
        texts = {
            self._texts[n].part: marks.reformatted(self._texts[n].text, handle_of((message,)))
            for n in self._of[message.index]
            if self._texts[n].saves
        }
        if not texts:
            return kept_fold(message, why)
        rows = [
            Outcome("recoded", f"recoded:{Kind.RECORDS}", len(part.text), len(texts[number]))
            if number in texts
            else Outcome("preserved", why, len(part.text), len(part.text))
            for number, part in enumerate(message.parts)
        ]
        return Fold(sources=(message,), texts=texts, outcomes=(tuple(rows),))

    def _excerpt(self, message: Message, spans: Spans) -> Fold:
        handle = handle_of((message,))
        texts: dict[int, str] = {}
        rows: list[Outcome] = []
        by_part = {self._texts[n].part: n for n in self._of[message.index] if not self._is_call(n)}
        for number, part in enumerate(message.parts):
            size = len(part.text)
            n = by_part.get(number)
            if n is None or self._texts[n].place is Place.WHOLE:
                rows.append(Outcome("preserved", "short_content", size, size))
                continue
            text = self._texts[n]
            body = self._show(n, spans)
            is_all = len(spans.get(n, ())) == len(self._pieces_of[n])
            if is_all and (text.is_part or not text.is_respelled):
                rows.append(Outcome("preserved", "within_budget", size, size))
                continue
            tag = marks.reformatted(body, handle) if is_all else marks.excerpt(body, handle)
            if len(tag) >= size or self._tokens(tag) >= self._tokens(part.text):
                rows.append(Outcome("preserved", "within_budget", size, size))
                continue
            texts[number] = tag
            share = 100 * len(body) // max(1, len(text.text))
            why = f"excerpt:{text.kind},{min(99, share)}%"
            if is_all:
                rows.append(Outcome("recoded", f"recoded:{text.kind}", size, len(tag)))
                continue
            rows.append(self._explained(Outcome("excerpted", why, size, len(tag)), [n]))
        rows = rows or [Outcome("preserved", "short_content", 0, 0)]
        calls = {} if texts else self._clip(message, handle)
        if texts or not calls:
            calls = self._clip(message, "" if texts else handle)
        if calls:
            before = sum(len(call.text) for call in message.calls)
            saved = sum(len(message.calls[n].text) - len(call.text) for n, call in calls.items())
            rows = rows[: len(message.parts)]
            rows.append(Outcome("clipped", "long_arguments", before, before - saved))
        return Fold(sources=(message,), texts=texts, calls=calls, outcomes=(tuple(rows),))

    def _clip(self, message: Message, handle: str) -> dict[int, Call]:
        clipped: dict[int, Call] = {}
        for n in self._of[message.index]:
            text = self._texts[n]
            if not text.is_call or text.is_plan or message.is_fixed:
                continue
            call = message.calls[text.part]
            short = clip(call, handle)
            if short is not None:
                clipped[text.part] = short
                handle = ""
        return clipped

    def _is_call(self, n: int) -> bool:
        return self._texts[n].is_call

    # digests

    def _digests(self, run: Sequence[Message], spans: Spans) -> Iterator[Fold]:
        """Write a stretch; what a person typed at length stays a message of its own."""
        rest: list[Message] = []
        for message in run:
            if self._is_typed_at_length(message, spans):
                yield from self._digest(rest, spans)
                yield kept_fold(message, "typed")
                rest = []
            else:
                rest.append(message)
        yield from self._digest(rest, spans)

    def _is_typed_at_length(self, message: Message, spans: Spans) -> bool:
        """Tell whether a message is words that somebody typed, all of which are shown."""
        numbers = self._of[message.index]
        return (
            message.index not in self._tied  # what is tied to it stands in the same digest
            and len(numbers) == len(message.parts) == 1
            and self._texts[numbers[0]].is_typed
            and self._texts[numbers[0]].tokens >= _AT_LENGTH
            and len(spans.get(numbers[0], ())) == len(self._pieces_of[numbers[0]])
        )

    def _digest(self, run: Sequence[Message], spans: Spans) -> Iterator[Fold]:
        """Write a stretch as one message, unless that costs no less."""
        if not run:
            return
        lines: list[str] = []
        rows: list[tuple[Outcome, ...]] = []
        speaker = Voice.ASSISTANT
        for message in run:
            entries: list[str] = []
            for n in self._of[message.index]:
                text = self._texts[n]
                if n not in spans and text.place is not Place.WHOLE:
                    continue
                entry = self._show(n, spans)
                if text.kind is Kind.DIGEST:
                    pass  # its lines say who spoke
                elif text.voice is Voice.USER:
                    entry = f"user: {entry}"
                elif text.voice is Voice.ASSISTANT:
                    entry = f"assistant: {entry}" if speaker is Voice.USER else entry
                elif text.is_call:
                    entry = f"{entry} → {text.outcome}" if text.outcome else entry
                else:
                    entry = f"{self._label(n, spans)}→ {entry}"
                speaker = text.voice
                entries.append(entry)
            line = "\n".join(entries)
            lines += entries
            why = "digest" if entries else "left_out"
            chars = message.chars
            outcome = Outcome("digested", why, chars, min(len(line), chars), line)
            rows.append((self._explained(outcome, self._of[message.index]),))
        sources = tuple(run)
        place = run[0].index, run[-1].index
        if place not in self._runs:
            chars = sum(m.chars + sum(len(call.text) for call in m.calls) for m in run)
            cost = sum(map(self._tokens.message, run))
            self._runs[place] = count_sources(run), handle_of(sources), chars, cost
        count, handle, chars, cost = self._runs[place]
        view = marks.digest("\n".join(lines), count, handle)
        fold = Fold(sources=sources, texts={0: view}, outcomes=tuple(rows), is_rolled=True)
        is_shorter = len(view) < chars or not chars
        saved = cost - self._tokens.fold(fold)
        if is_shorter and saved > _SAVED:
            yield fold
        else:
            yield from (kept_fold(message, "within_budget") for message in run)

    def _label(self, n: int, spans: Spans) -> str:
        """Return what a result is the result of, unless the call stands right there."""
        text = self._texts[n]
        if text.call < 0 or text.call in spans:
            return ""
        return f"{text.label} "

    def _show(self, n: int, spans: Spans) -> str:
        """Join the shown pieces of a text, with a sign where something is missing between them."""
        text, pieces = self._texts[n], self._choice.pieces
        if text.place is Place.WHOLE:
            return text.text
        out: list[str] = []
        end = 0
        for m in spans.get(n, ()):
            start = pieces[m].start
            if start > end and not text.text[start : pieces[m].end].strip():
                continue  # a blank line after a gap says nothing
            if start > end and out and text.text[end:start].strip():
                out[-1] = out[-1].rstrip("\n ")
                out.append(marks.NEXT_LINE if text.text[start - 1] == "\n" else marks.BETWEEN)
            elif start > end and out:
                out.append(text.text[end:start])
            out.append(text.text[start : pieces[m].end])
            end = pieces[m].end
        return "".join(out).strip("\n ")

    # what became of each piece

    def _explained(self, outcome: Outcome, numbers: Sequence[int]) -> Outcome:
        """Return *outcome* with what became of each piece of these texts, if that is wanted."""
        if not self._explains:
            return outcome
        taken = frozenset(() if self._is_bare else self._choice.taken)
        account = partial(self._account, tuple(numbers), taken, self._is_bare)
        return replace(outcome, pieces=Lazy(account))

    def _account(
        self, numbers: Sequence[int], taken: frozenset[int], is_bare: bool
    ) -> tuple[PieceRow, ...]:
        return tuple(row for n in numbers for row in self._account_of(n, taken, is_bare))

    def _account_of(self, number: int, taken: frozenset[int], is_bare: bool) -> Iterator[PieceRow]:
        text, choice = self._texts[number], self._choice
        rate, line = text.tokens / max(1, len(text.text)), 1
        for n in self._pieces_of[number]:
            piece = choice.pieces[n]
            body = text.text[piece.start : piece.end]
            breaks = body.count("\n")
            if n in taken:
                reason = choice.reason(n)
            elif is_bare:
                reason = "no_room"
            elif not piece.items or piece.grade is Grade.EMPTY:
                reason = "says_little"
            elif text.is_stale:
                reason = "out_of_date"
            elif piece.grade in (Grade.NOISE, Grade.REPEAT):
                reason = piece.grade.name.lower()
            else:
                reason = "worth_less"
            yield PieceRow(
                text=body,
                is_kept=n in taken,
                reason=reason,
                tokens=round(rate * piece.end) - round(rate * piece.start),
                part=None if text.is_call else text.part,
                first_line=line,
                last_line=line + breaks - body.endswith("\n"),
            )
            line += breaks


def count_sources(run: Sequence[Message]) -> int:
    """Return how many messages a digest of *run* stands for, those of earlier digests included."""
    firsts = (m.parts[0].text if m.stands_for and m.parts else "" for m in run)
    return sum(count_messages(first) or 1 for first in firsts)


def _begin(text: str, most: int) -> str:
    """Return how a long *text* begins: whole lines, or else whole words."""
    for sign in ("\n", " "):
        end = text.rfind(sign, most // 2, most)
        if end > 0:
            return text[:end].rstrip()
    return text[:most].rstrip()


def clip(call: Call, handle: str) -> Call | None:
    """Return *call* with its long arguments shortened; `None` if it has none, or may not change."""
    if call.path is None or len(call.spelled) <= 1.5 * _CLIPPED:
        return None
    arguments = call.arguments
    if not arguments:
        return None
    left = [handle] if handle else []

    def short(value: Any) -> Any:
        if not isinstance(value, str) or len(value) <= 1.5 * _CLIPPED:
            return value
        begin = _begin(value, _CLIPPED - _END)
        if left:
            return marks.argument(begin, left.pop())
        return f"{begin}{marks.BETWEEN}{value[-_END:].lstrip()}"

    clipped = {key: short(value) for key, value in arguments.items()}
    if clipped == dict(arguments):
        return None
    text = json.dumps(clipped, ensure_ascii=False)
    return replace(call, raw_arguments=text if isinstance(call.raw_arguments, str) else clipped)
