"""Choose pieces: what has priority first, each group up to a share of the room, then the best."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from heapq import heapify, heappop, heapreplace
from math import exp
from typing import Final
from zlib import crc32

from refold.fold.asked import Question, belongings
from refold.fold.lay_out import Layout
from refold.fold.people import forbids, is_prose, names_value, wills
from refold.fold.pieces import Grade, Kind, Place, Reading, Room, Voice
from refold.scan.items import Shape

_WEIGHT: Final = {
    Grade.EMPTY: 0.0,
    Grade.PLAIN: 1.0,
    Grade.NOISE: 0.2,
    Grade.REPEAT: 0.5,
    Grade.SIGNATURE: 1.5,
    Grade.HEAD: 1.5,
    Grade.ACT: 2.0,
    Grade.ERROR: 2.0,
    Grade.GRAVE: 3.0,
    Grade.FAILED: 4.0,
}
_HEADS: Final = frozenset((Grade.HEAD, Grade.ACT))
_STALE: Final = 0.8
"""What is worth less because a file was read again or written since."""
_COPY: Final = 0.1
"""What is worth less because all its lines stand in a message that stays whole."""
_WEIGHT_OF: Final = {Voice.USER: 1.2, Voice.ASSISTANT: 1.5, Voice.CALL: 2.0, Voice.TOOL: 1.0}
"""Words and calls count more than what tools return."""
_RECENT: Final = 4.0
_RECENT_TURNS: Final = 3.0
"""How much more the newest turns count, and how fast that fades."""
_WHOLE_ITEM: Final = 0.35
"""What an item is worth that is in view already, in a message that stays whole."""
_LEAST: Final = 20_000
"""What a piece is worth without any item that counts, in millionths."""
_WORTH: Final = "worth"
_NAMED: Final = 3
"""So many items are named to say why a piece is shown."""
_TYPED: Final = 0.2
_FORBIDDEN: Final = 0.05
_EVIDENCE: Final = 0.1
_PENDING: Final = 0.05
_ANSWER: Final = 0.5
"""Of the room: what people typed, the most of it that they ask for, and further answers."""
_PLAN: Final = 0.15
_ACTS: Final = 0.25
_ERRORS: Final = 0.1
_NAMES: Final = 0.8
_NEW_ERRORS: Final = 0.5
"""Of the room: the newest plan, calls that change something, failures; of the newest results the
names of failed tests, and why they failed.
"""
_GAP: Final = 5
"""Tokens of what is shown rather than the sign of a gap."""
_FEW: Final = 40
"""So many answers are looked at."""


class Choice:
    """Greedy and lazy: what adds most per token first, each item counted once."""

    def __init__(self, reading: Reading, worth: Sequence[int]) -> None:
        texts, pieces = reading.texts, reading.pieces
        self.is_talk, self._names, self._shapes = reading.is_talk, reading.names, reading.shapes
        self._worth = worth
        self.texts, self.pieces = texts, pieces
        heads = {p.head for p in pieces}
        self.open = [
            n
            for n, p in enumerate(pieces)
            if texts[p.text].place is not Place.WHOLE
            and (p.items or not texts[p.text].text[p.start : p.end].isspace())
            # the header of a table comes with its rows, and says nothing without
            and not (n in heads and texts[p.text].text[p.start : p.end].rstrip().endswith(":"))
        ]
        self.left = list(worth)
        self.chosen: list[int] = []
        self.taken: set[int] = set()
        self.opened: set[int] = set()
        self.why: dict[int, str] = {}
        for piece in pieces:
            if texts[piece.text].place is Place.WHOLE:
                for row in piece.items:
                    self.left[row] = min(self.left[row], round(_WHOLE_ITEM * worth[row]))
        lines = {
            line.strip()
            for text in texts
            if text.place is Place.WHOLE
            for line in text.text.split("\n")
        }
        self.copies = {n for n in self.open if self._stands(n, lines)}
        """Pieces all of whose lines stand in a message that stays whole."""
        last = max((text.message for text in texts), default=0)
        recent = [
            round(1_000 * (1 + _RECENT * exp((n - last) / _RECENT_TURNS))) for n in range(last + 1)
        ]
        self._factor = (
            [1_000.0] * len(pieces)
            if self.is_talk
            else [
                _WEIGHT[piece.grade]
                * _WEIGHT_OF[texts[piece.text].voice]
                * (_STALE if texts[piece.text].is_stale and piece.grade not in _HEADS else 1.0)
                * recent[texts[piece.text].message]
                * (_COPY if n in self.copies else 1.0)
                for n, piece in enumerate(pieces)
            ]
        )

    def _stands(self, n: int, lines: Container[str]) -> bool:
        piece = self.pieces[n]
        body = self.texts[piece.text].text[piece.start : piece.end]
        return all(line.strip() in lines for line in body.split("\n"))

    def gain(self, n: int) -> float:
        """Return what a piece adds per token."""
        piece = self.pieces[n]
        added = sum(map(self.left.__getitem__, piece.items))
        return self._factor[n] * (_LEAST + added) / (piece.cost + 2)

    def price(self, n: int) -> float:
        """Return what a piece costs: more if it is the first of its text."""
        piece = self.pieces[n]
        if piece.text in self.opened:
            return piece.cost
        return piece.cost + (4 if self.texts[piece.text].voice is Voice.USER else 2)

    def take(self, n: int, budget: float, why: str, *, alone: bool = False) -> float:
        """Take a piece with the headers that it stands under, if all fit; return what is left."""
        group: list[int] = []
        m = n
        while m >= 0 and m not in self.taken and len(group) < 4:
            group.append(m)
            m = -1 if alone else self.pieces[m].head
        price = sum(map(self.price, group))
        if not group or price > budget:
            return budget
        for m in reversed(group):
            for row in self.pieces[m].items:
                self.left[row] = 0
            self.chosen.append(m)
            self.taken.add(m)
            self.opened.add(self.pieces[m].text)
            self.why[m] = why if m == n else "heading"
        return budget - price

    def _tie(self, n: int) -> int:
        """Return what decides between equals: the later one; of the rows of a list, any."""
        piece, text = self.pieces[n], self.texts[self.pieces[n].text]
        if text.kind is not Kind.RECORDS:
            return -n
        return crc32(text.text[piece.start : piece.end].encode("utf-8", "replace"))

    def reason(self, n: int) -> str:
        """Return why a piece was chosen; of one for its worth, the values or words in it."""
        why = self.why.get(n, _WORTH)
        if why in (_WORTH, "line") and self.pieces[n].grade >= Grade.ERROR:
            return "error"
        if why != _WORTH:
            return why
        best = sorted(self.pieces[n].items, key=lambda row: (-self._worth[row], row))
        values = [row for row in best if self._shapes[row] < Shape.WORD]
        named = [self._names[row] for row in (values or best)[:_NAMED]]
        return f"{'value' if values else 'word'}:{','.join(named)}" if named else "line"

    def drop_last(self) -> float:
        """Take back the piece that was chosen last; return its cost."""
        n = self.chosen.pop()
        self.taken.discard(n)
        return self.pieces[n].cost

    def spend(self, numbers: Iterable[int], budget: float, why: str) -> float:
        """Take the best of these pieces until the budget is spent; return what is left."""
        heap = [
            (-self.gain(n), self._tie(n), n)
            for n in numbers
            if n not in self.taken and self.pieces[n].grade is not Grade.EMPTY
        ]
        heapify(heap)
        while heap and budget > 3:
            _, tie, n = heap[0]
            if n in self.taken:
                heappop(heap)
                continue
            now = -self.gain(n)
            if len(heap) > 1 and min(heap[1:3])[0] < now:
                heapreplace(heap, (now, tie, n))
                continue
            heappop(heap)
            budget = self.take(n, budget, why)
        return budget

    def close_gaps(self) -> None:
        """Take what costs hardly more than the sign of a gap, between pieces that are shown."""
        for n in sorted(self.taken):
            m, cost = n + 1, 0.0
            while m < len(self.pieces) and m not in self.taken and cost <= _GAP:
                cost += self.pieces[m].cost
                m += 1
            number = self.pieces[n].text
            is_within = m < len(self.pieces) and self.pieces[m].text == number
            if cost <= _GAP and is_within and self.texts[number].kind is not Kind.RECORDS:
                for k in range(n + 1, m):
                    self.take(k, _GAP, "between", alone=True)

    def spend_within(self, most: float, numbers: Iterable[int], left: float, why: str) -> float:
        """Take the best of these pieces for at most *most* of what is *left*."""
        most = max(0.0, min(left, most))
        return left - (most - self.spend(numbers, most, why))


def choose(choice: Choice, question: Question, left: float, room: Room, layout: Layout) -> None:
    """Choose what the tokens that are *left* of a *room* can show.

    What is asked first; a line of every result in place; what people forbid and want; further
    answers; the state of the work; then what is worth most.
    """
    pieces, texts, open_ = choice.pieces, choice.texts, choice.open
    is_open = set(open_)
    answers = [n for n in question.ranked if n in is_open and n not in choice.copies][:_FEW]

    def answer(numbers: Sequence[int], left: float) -> float:
        for n in numbers:
            left = choice.take(n, left, "asked")
            owned = [m for m in belongings(n, pieces, texts) if m in is_open]
            if sum(pieces[m].cost for m in owned) > left:
                owned.sort(key=lambda m: (-choice.gain(m), m))
            for m in owned:
                left = choice.take(m, left, "asked")
        return left

    start, full = left, room.full
    for n in answers[:1]:
        left = choice.take(n, left, "asked")
    if not question.is_direct:  # what it is about is a guess, what came last is not
        left = _show_lines(choice, left)
    most = left if question.is_direct else min(left, _ANSWER * start)
    left -= most - answer(answers[:1], most)
    left = _show_lines(choice, left)
    if choice.is_talk:
        choice.spend(open_, left, _WORTH)
        return
    if layout.task >= 0:
        most = max(0.0, min(left, layout.task_part * full))
        left -= most - _tell_task(choice, layout.task, most)
    left = _tell_typed(choice, left, full, room.share)
    most = min(left, (_EVIDENCE if question.is_direct else _PENDING) * start)
    left -= most - answer(answers[1:], most)
    for numbers, part, why in _state(choice):
        left = choice.spend_within(part * full, numbers, left, why)
    choice.spend(open_, left, _WORTH)


def _show_lines(choice: Choice, left: float) -> float:
    """Let every result in its place show the line that is worth most."""
    lines: dict[int, list[int]] = {}
    for n in choice.open:
        piece = choice.pieces[n]
        text = choice.texts[piece.text]
        if text.place is not Place.EXCERPT or piece.text in choice.opened:
            continue
        if piece.grade not in (Grade.NOISE, Grade.EMPTY):
            lines.setdefault(piece.text, []).append(n)
    for count, numbers in enumerate(lines.values()):
        rest, most = left, left / (len(lines) - count)
        for alone in (False, True):
            fitting = [n for n in numbers if choice.price(n) <= most]
            if fitting and rest == left:
                left = choice.take(max(fitting, key=choice.gain), left, "line", alone=alone)
    return left


def _tell_task(choice: Choice, task: int, left: float) -> float:
    """Of a task that is too long, show how it begins and what it forbids."""
    of_task = [
        n
        for n in choice.open
        if choice.texts[choice.pieces[n].text].message == task
        and choice.pieces[n].grade is not Grade.NOISE
    ]
    bans = [n for n in of_task if _says(choice, n, forbids)]
    for n in of_task[:1]:  # how it begins is worth twice the share, if it is one long sentence
        left = choice.take(n, 2 * left, "task") - left
    left = choice.spend(bans, left, "task")
    for n in of_task[1:]:
        if choice.pieces[n].cost > left:
            break
        left = choice.take(n, left, "task")
    return left


def _says(choice: Choice, n: int, test: Callable[[str, int, int], bool]) -> bool:
    piece = choice.pieces[n]
    return test(choice.texts[piece.text].text, piece.start, piece.end)


def _tell_typed(choice: Choice, left: float, full: float, share: float) -> float:
    """Show what people typed: all of it if that is little, else what they forbid, want, name."""
    pieces, texts = choice.pieces, choice.texts
    typed = [
        n
        for n in choice.open
        if texts[pieces[n].text].is_typed
        and pieces[n].grade is Grade.PLAIN
        and n not in choice.copies
    ]
    if sum(pieces[n].cost + 2 for n in typed) <= _TYPED * full:
        for n in typed:
            left = choice.take(n, left, "typed")
        return left
    prose = [
        n for n in typed if is_prose(texts[pieces[n].text].text[pieces[n].start : pieces[n].end])
    ]
    willed = [
        n
        for n in prose
        if _says(choice, n, wills)
        or (texts[pieces[n].text].tokens <= 60 and _says(choice, n, names_value))
    ]
    bans = [n for n in prose if _says(choice, n, forbids)]
    one: dict[int, int] = {}
    for group in (typed, prose, willed):
        one |= {pieces[n].text: n for n in sorted(group, key=choice.gain)}
    much = _TYPED * min(1.0, share / 0.3) * full
    for numbers, part in ((bans, max(_FORBIDDEN * full, much / 2)), (list(one.values()), much)):
        left = choice.spend_within(part, numbers, left, "typed")
    return choice.spend_within(much / 2, willed, left, "typed")


def _state(choice: Choice) -> list[tuple[list[int], float, str]]:
    """Return what shows the state of the work: the newest plan, changes, failures."""
    pieces, texts = choice.pieces, choice.texts
    plans = [number for number, text in enumerate(texts) if text.is_plan]
    spoken = (t.message for t in texts if t.voice in (Voice.ASSISTANT, Voice.CALL))
    newest = max(spoken, default=-1)
    plan: list[int] = []
    acts: list[int] = []
    failed: list[int] = []
    new: list[int] = []
    errors: list[int] = []
    for n in choice.open:
        piece = pieces[n]
        if plans and piece.text == plans[-1]:
            plan.append(n)
        if piece.grade is Grade.ACT or (piece.grade is Grade.HEAD and texts[piece.text].outcome):
            acts.append(n)
        if piece.grade is Grade.FAILED and texts[piece.text].message > newest:
            failed.append(n)
        elif piece.grade >= Grade.GRAVE:
            (new if texts[piece.text].message > newest else errors).append(n)
    return [
        (failed, _NAMES, "error"),
        (new, _NEW_ERRORS, "error"),
        (plan, _PLAN, "plan"),
        (acts, _ACTS, "change"),
        (errors, _ERRORS, "error"),
    ]
