"""Write a selection: excerpts in place, digests of whole stretches, and the plan made of both."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import Final, NamedTuple

from refold.kinds import test_run
from refold.messages.folds import NO_CALLS, Fold, Outcome, Plan, kept_fold
from refold.messages.handles import handle_of
from refold.messages.message import Call, Message
from refold.messages.token_count import CountedTexts
from refold.notation.marks import (
    Stretch,
    digest,
    excerpt,
    gap,
    is_lossless_mark,
    reformatted,
    spell_amount,
)
from refold.notation.recognize import is_marked, read_stretch
from refold.plan.corpus import CALLS, Text, shown_in
from refold.plan.layout import SHORT_TOKENS, Key, Layout, Place, find_movable
from refold.plan.pieces import IDEOGRAPHS, join_spans
from refold.scan.runs import Span

_LEAST_IN_PLACE: Final = 120
"""Characters that a message must show to be worth a mark and a place of its own."""


class Pick(NamedTuple):
    """The spans of a text to show."""

    spans: Sequence[Span] = ()
    errors: int = 0
    """How many of its errors are shown nowhere."""


Chosen = Mapping[int, Pick]
"""What to show of one message: text number → pick."""
Spans = Mapping[int, Chosen]
"""What to show of the conversation: message index → its picks."""
NO_PICK: Final = Pick()
_NOTHING: Final[Chosen] = MappingProxyType({})


class PlanWriter:
    """Writes plans for one layout; what a second plan shows alike is not written again.

    Of *texts*, those that compete are shown as the spans say. *newest* has re-encoded folds of
    messages that stay whole. Where a digest, with *anchor_tokens* on top, would cost no less than
    its messages, these are kept for the *kept_reason*.
    """

    def __init__(
        self,
        messages: Sequence[Message],
        texts: Iterable[Text],
        layout: Layout,
        tokens: CountedTexts,
        *,
        newest: Mapping[int, Fold] = MappingProxyType({}),
        anchor_tokens: int = 0,
        kept_reason: str = "within_budget",
    ) -> None:
        self._messages = messages
        self._layout = layout
        self._tokens = tokens
        self._anchor_tokens = anchor_tokens
        self._kept_reason = kept_reason
        self._texts: defaultdict[int, dict[int, Text]] = defaultdict(dict)
        stays: set[int] = set()
        for text in texts:
            self._texts[text.message.index][text.part] = text
            if text.is_typed or not text.is_open:
                stays.add(text.message.index)
        self._movable = find_movable(messages, layout) - stays
        # Everything below is a cache.
        self._wholes = {index: newest[index] for index in layout.recoded}
        self._excerpts: dict[int, tuple[Chosen, Fold]] = {}
        self._lines: dict[int, tuple[Chosen, Line]] = {}
        self._labels: dict[tuple[int, int], Label] = {}
        self._costs: dict[Fold, int] = {}

    def update(self, text: Text) -> None:
        """Use *text* in place of the one with the same key."""
        self._texts[text.message.index][text.part] = text

    def write(self, spans: Spans) -> tuple[Plan, int]:
        """Write a plan that shows these *spans*; return it and its tokens."""
        plan = tuple(self._folds(spans))
        return plan, sum(map(self._cost, plan))

    def _cost(self, fold: Fold) -> int:
        known = self._costs.get(fold)
        if known is None:
            known = self._costs[fold] = self._tokens.fold(fold)
        return known

    def _folds(self, spans: Spans) -> Iterator[Fold]:
        own_places, places = self._layout.places, self._places(spans)
        for place, grouped in groupby(self._messages, lambda message: places[message.index]):
            run = list(grouped)
            if place is Place.WHOLE:
                yield from map(self._whole, run)
            elif place is Place.DIGEST and (
                len(run) > 1 or own_places[run[0].index] is Place.DIGEST
            ):
                yield from self._digest(run, spans)
            else:  # a digest of one message that has a place would only take its role away
                yield from (self._excerpt(message, spans) for message in run)

    def _places(self, spans: Spans) -> list[Place]:
        """Return where each message stands; one that shows next to nothing goes into a digest."""
        places = self._layout.places.copy()
        for index in self._movable:
            picks = spans.get(index, _NOTHING).values()
            if sum([_chars(pick.spans) for pick in picks]) < _LEAST_IN_PLACE:
                places[index] = Place.DIGEST
        return places

    def _whole(self, message: Message) -> Fold:
        known = self._wholes.get(message.index)
        if known is None:
            kept = kept_fold(message, self._layout.reasons[message.index])
            known = with_calls(kept, self._layout.calls.get(message.index, NO_CALLS))
            self._wholes[message.index] = known
        return known

    def _excerpt(self, message: Message, spans: Spans) -> Fold:
        chosen, known = spans.get(message.index, _NOTHING), self._excerpts.get(message.index)
        if known is None or known[0] != chosen:
            texts, layout = self._texts.get(message.index, {}), self._layout
            fold = write_excerpt(message, texts, chosen, layout.last_words)
            known = chosen, with_calls(fold, layout.calls.get(message.index, NO_CALLS))
            self._excerpts[message.index] = known
        return known[1]

    def _digest(self, stretch: Sequence[Message], spans: Spans) -> Iterator[Fold]:
        """Write a stretch as a digest, unless it costs no more as it is."""
        ends = stretch[0].index, stretch[-1].index
        label = self._labels.get(ends)
        if label is None:
            label = self._labels[ends] = label_of(stretch)
        digest = write_digest(stretch, [self._line(message, spans) for message in stretch], label)
        cost = self._tokens.fold(digest) + self._anchor_tokens
        if cost < sum(map(self._tokens.message, stretch)):
            yield digest
        else:
            yield from (kept_fold(message, self._kept_reason) for message in stretch)

    def _line(self, message: Message, spans: Spans) -> Line:
        chosen, known = spans.get(message.index, _NOTHING), self._lines.get(message.index)
        if known is None or known[0] != chosen:
            known = chosen, write_line(message, self._texts.get(message.index, {}), chosen)
            self._lines[message.index] = known
        return known[1]


def _show(text: Text, spans: Sequence[Span], *, in_place: bool) -> str:
    """Join the *spans* of *text*; count passed tests that are left out, unless the text does."""
    shown = join_spans(text.text, spans, text.times, in_place=in_place)
    if not shown or text.kind != test_run.KIND.name or test_run.counts_itself(text.text):
        return shown
    known = sum(test_run.count_passed(text.text[start:stop]) for start, stop in spans)
    passed = test_run.count_passed(text.text) - known
    return f"{shown}\n{gap(f'{spell_amount(passed)} passed')}" if passed > 0 else shown


def share_shown(shown: int, whole: int) -> int:
    """Return which percentage of *whole* characters is shown, never rounded up to 100."""
    return min(99, 100 * shown // max(1, whole))


def _chars(spans: Iterable[Span]) -> int:
    return sum([stop - start for start, stop in spans])


def _whole(text: Text) -> int:
    """Return the characters of *text* as it is shown, before anything was left out."""
    if not _is_cut(text):
        return len(text.text)
    return max(len(text.text), shown_in(text.message.parts[text.part].text).whole)


def _is_cut(text: Text) -> bool:
    """Tell whether *text* is what an earlier fold shows of another one, and not all of that."""
    if text.part == CALLS:
        return False
    part = text.message.parts[text.part].text
    return is_marked(part) and not is_lossless_mark(part)


def _is_all(text: Text, spans: Sequence[Span]) -> bool:
    """Tell whether *spans* leave out nothing of *text* but blanks."""
    if text.times or _is_cut(text):
        return False
    starts = [start for start, _ in spans] + [len(text.text)]
    ends = [0] + [stop for _, stop in spans]
    return not any(text.text[end:start].strip() for end, start in zip(ends, starts, strict=True))


def write_excerpt(
    message: Message,
    texts: Mapping[int, Text],
    chosen: Chosen,
    last_words: Container[Key] = frozenset(),
) -> Fold:
    """Fold one message in place, showing what was *chosen* of its *texts*."""
    handle = handle_of([message])
    shown: dict[int, str] = {}
    rows: list[Outcome] = []
    for number, part in enumerate(message.parts):
        text = texts.get(number)
        if text is None or not text.is_open:
            why = "newest_turns"
            if (message.index, number) in last_words:
                why = "last_user_message"
            elif text is None or text.tokens <= SHORT_TOKENS:
                why = "short_content"
            rows.append(Outcome("preserved", why, len(part.text), len(part.text)))
            continue
        spans, errors = chosen.get(number, NO_PICK)
        if _is_all(text, spans):
            tag = reformatted(text.text.rstrip(), handle)
            action, why = "recoded", f"recoded:{text.kind}"
        else:
            percent = share_shown(_chars(spans), _whole(text))
            tag = excerpt(_show(text, spans, in_place=True), percent, handle, errors)
            action, why = "excerpted", f"excerpt:{_kind_words(text)},{percent}%"
        if len(tag) < len(part.text):
            shown[number] = tag
            rows.append(Outcome(action, why, len(part.text), len(tag)))
        else:
            rows.append(Outcome("preserved", "within_budget", len(part.text), len(part.text)))
    if not rows:
        rows.append(Outcome("preserved", "short_content", 0, 0))
    return Fold(sources=(message,), texts=shown, outcomes=(tuple(rows),))


def with_calls(fold: Fold, calls: Mapping[int, Call]) -> Fold:
    """Return the *fold* of a message in place with these of its *calls* clipped."""
    if not calls:
        return fold
    message, row = fold.sources[0], fold.outcomes[0]
    before = sum(len(call.text) for call in message.calls)
    saved = sum(len(message.calls[n].text) - len(call.text) for n, call in calls.items())
    clipped = Outcome("clipped", "long_arguments", before, before - saved)
    return fold.changed(calls=calls, outcomes=((*row[: len(message.parts)], clipped),))


def with_whole_calls(fold: Fold) -> Fold:
    """Return the same *fold* with all its calls whole."""
    row = fold.outcomes[0][:-1] or (Outcome("preserved", "within_budget", 0, 0),)
    return fold.changed(calls=NO_CALLS, outcomes=(row,))


def _kind_words(text: Text) -> str:
    """Return the kind of *text*, and whether it is out of date, for a reason."""
    return f"{text.kind},out_of_date" if text.is_outdated else text.kind


def _dialogue(lines: Sequence[tuple[str, str]]) -> str:
    """Label lines with their speakers, unless there is only one, of the assistant's."""
    if [role for role, _ in lines] == ["assistant"]:
        return lines[0][1]
    return "\n".join(_labelled(role, body) for role, body in lines)


def _labelled(role: str, body: str) -> str:
    """Put the speaker before *body*; an earlier digest has none, as it labels its own lines.

    Before scripts without spaces the colon needs none, which saves a token.
    """
    if not role:
        return body
    return f"{role}:{body}" if body[:1] >= IDEOGRAPHS else f"{role}: {body}"


class Line(NamedTuple):
    """What a digest shows of one message."""

    said: Sequence[tuple[str, str]]
    """Pairs of a speaker, a role or the name of a tool, and what is shown."""
    shown: int
    """How many characters of its texts are shown."""
    errors: int
    """How many of its errors are shown nowhere."""
    outcome: Outcome


def write_line(message: Message, texts: Mapping[int, Text], chosen: Chosen) -> Line:
    """Return what a digest shows of *message*: what was *chosen* of its *texts*."""
    said: dict[str, list[str]] = {}
    shown = errors = 0
    for number, text in texts.items() if chosen else ():  # nothing was, of most messages
        spans, missed = chosen.get(number, NO_PICK)
        errors += missed
        if spans:
            said.setdefault(_speaker(text), []).append(_show(text, spans, in_place=False))
            shown += _chars(spans)
    lines = [(speaker, "\n".join(texts)) for speaker, texts in said.items()]
    body = "\n".join([text for _, text in lines])
    kinds = dict.fromkeys(_kind_words(text) for number, text in texts.items() if number != CALLS)
    why = f"digest:{','.join(kinds)}" if kinds else "oldest_stretch"
    outcome = Outcome("digested", why, message.chars, len(body), body)
    return Line(lines, shown, errors, outcome)


def _speaker(text: Text) -> str:
    """Return the speaker of *text*: a role, or the name of a tool and what it was called for.

    "" for an earlier digest, which labels its own lines.
    """
    message = text.message
    if text.part != CALLS and message.is_result(message.parts[text.part]):
        return " ".join(filter(None, (text.tool or "tool", text.subject)))
    return message.role if _inner_stretch(message) is None else ""


def _inner_stretch(message: Message) -> Stretch | None:
    """Return the stretch that *message* stands for, if it reads like a digest."""
    return read_stretch(message.parts[0].text) if len(message.parts) == 1 else None


def _stretch_of(sources: Sequence[Message]) -> Stretch:
    """Count what a digest of *sources* stands for, including what digests among them stand for."""
    messages = typed = calls = 0
    for source in sources:
        if source.is_turn:
            is_typed = source.role == "user" and not source.is_tool_result
            own = Stretch(1, int(is_typed), len(source.calls))
            found = _inner_stretch(source) or own
            messages += found.messages
            typed += found.typed
            calls += found.calls
    return Stretch(messages, typed, calls)


class Label(NamedTuple):
    """What the mark of a digest says of its sources, regardless of what is shown."""

    stretch: Stretch
    handle: str


def label_of(sources: Sequence[Message]) -> Label:
    """Return the label of a digest of *sources*."""
    return Label(_stretch_of(sources), handle_of(sources))


def write_digest(
    sources: Sequence[Message], lines: Sequence[Line], label: Label | None = None
) -> Fold:
    """Fold a stretch of messages into one that shows these *lines*, empty ones aside."""
    label = label or label_of(sources)
    said = [spoken for line in lines if line.shown for spoken in line.said]
    errors = sum(line.errors for line in lines)
    tag = digest(_dialogue(said), label.stretch, label.handle, errors)
    rows = tuple((line.outcome,) for line in lines)
    return Fold(sources=tuple(sources), texts={0: tag}, outcomes=rows, is_rolled=True)
