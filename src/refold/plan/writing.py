"""Write what was chosen: excerpts in their places, digests of whole stretches."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from refold.kinds import test_run
from refold.messages.handles import handle_of
from refold.messages.message import Call, Message
from refold.notation.marks import Stretch, digest, excerpt, gap, spell_amount
from refold.notation.recognize import read_stretch
from refold.plan.corpus import CALLS, Text, shown_in
from refold.plan.fold import NO_CALLS, Fold, Outcome
from refold.plan.layout import SHORT_TOKENS, Key
from refold.plan.pieces import IDEOGRAPHS, join_spans
from refold.scan.runs import Span


class Pick(NamedTuple):
    """What was chosen of a text."""

    spans: Sequence[Span] = ()
    errors: int = 0
    """How many of its errors are shown nowhere."""


Chosen = Mapping[int, Pick]
"""What was chosen of each text of a message, by its number."""
NO_PICK: Final = Pick()


def _show(text: Text, spans: Sequence[Span], *, in_place: bool) -> str:
    """Show the *spans* of *text*; the passed tests among the rest are counted if it does not."""
    shown = join_spans(text.text, spans, text.times, in_place=in_place)
    if not shown or text.kind != test_run.KIND.name or test_run.counts_itself(text.text):
        return shown
    known = sum(test_run.count_passed(text.text[start:stop]) for start, stop in spans)
    passed = test_run.count_passed(text.text) - known
    return f"{shown}\n{gap(f'{spell_amount(passed)} passed')}" if passed > 0 else shown


def share_shown(shown: int, whole: int) -> int:
    """Return how much is shown of so many characters, in percent, never rounded up to all."""
    return min(99, 100 * shown // max(1, whole))


def _chars(spans: Iterable[Span]) -> int:
    return sum([stop - start for start, stop in spans])


def _whole(text: Text) -> int:
    """Return how many characters *text* had before anything of it was left out."""
    if text.part == CALLS:
        return len(text.text)
    return max(len(text.text), shown_in(text.message.parts[text.part].text).whole)


def write_excerpt(
    message: Message,
    texts: Mapping[int, Text],
    chosen: Chosen,
    last_words: Container[Key] = frozenset(),
) -> Fold:
    """Fold one message in its place, showing what was *chosen* of its *texts*.

    The user's *last_words* are whole for what they are, however short.
    """
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
        percent = share_shown(_chars(spans), _whole(text))
        tag = excerpt(_show(text, spans, in_place=True), percent, handle, errors)
        if len(tag) < len(part.text):
            shown[number] = tag
            why = f"excerpt:{_kind_words(text)},{percent}%"
            rows.append(Outcome("excerpted", why, len(part.text), len(tag)))
        else:
            rows.append(Outcome("preserved", "within_budget", len(part.text), len(part.text)))
    if not rows:
        rows.append(Outcome("preserved", "short_content", 0, 0))
    return Fold(sources=(message,), texts=shown, outcomes=(tuple(rows),))


def with_calls(fold: Fold, calls: Mapping[int, Call]) -> Fold:
    """Return the *fold* of a message in its place with these *calls* of it, which are cut."""
    if not calls:
        return fold
    message, row = fold.sources[0], fold.outcomes[0]
    before = sum(len(call.text) for call in message.calls)
    saved = sum(len(message.calls[n].text) - len(call.text) for n, call in calls.items())
    clipped = Outcome("clipped", "long_arguments", before, before - saved)
    return fold.changed(calls=calls, outcomes=((*row[: len(message.parts)], clipped),))


def with_whole_calls(fold: Fold) -> Fold:
    """Return the same *fold* with all calls as they are."""
    row = fold.outcomes[0][:-1] or (Outcome("preserved", "within_budget", 0, 0),)
    return fold.changed(calls=NO_CALLS, outcomes=(row,))


def _kind_words(text: Text) -> str:
    """Say of which kind *text* is, and whether its file was written since."""
    return f"{text.kind},out_of_date" if text.is_outdated else text.kind


def _dialogue(lines: Sequence[tuple[str, str]]) -> str:
    """Say who says what, unless one message of the assistant's is all: the digest is his, too."""
    if [role for role, _ in lines] == ["assistant"]:
        return lines[0][1]
    return "\n".join(_labelled(role, body) for role, body in lines)


def _labelled(role: str, body: str) -> str:
    """Say who speaks; scripts without blanks between words need none here, and it costs a token.

    An earlier digest, without a role, says so itself.
    """
    if not role:
        return body
    return f"{role}:{body}" if body[:1] >= IDEOGRAPHS else f"{role}: {body}"


class Line(NamedTuple):
    """What a digest shows of one message."""

    said: Sequence[tuple[str, str]]
    """Who said what: roles, and tools by their names."""
    shown: int
    """How many characters of its texts are shown."""
    errors: int
    """How many of its errors are shown nowhere."""
    outcome: Outcome


def write_line(message: Message, texts: Mapping[int, Text], chosen: Chosen) -> Line:
    """Say what a digest shows of *message*: what was *chosen* of its *texts*."""
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
    """Say whose words *text* has: a role, or a tool's name and what it was called for.

    An earlier digest says so itself.
    """
    message = text.message
    if text.part != CALLS and message.is_result(message.parts[text.part]):
        return " ".join(filter(None, (text.tool or "tool", text.subject)))
    return message.role if _inner_stretch(message) is None else ""


def _inner_stretch(message: Message) -> Stretch | None:
    """Return what *message* stands for if it reads like a digest: then it says itself who spoke."""
    return read_stretch(message.parts[0].text) if len(message.parts) == 1 else None


def _stretch_of(sources: Sequence[Message]) -> Stretch:
    """Count what a digest of *sources* stands for, with what the digests among them stand for."""
    messages = typed = calls = 0
    for source in sources:
        if source.is_turn:
            found = _inner_stretch(source) or _lone(source)
            messages += found.messages
            typed += found.typed
            calls += found.calls
    return Stretch(messages, typed, calls)


def _lone(message: Message) -> Stretch:
    is_typed = message.role == "user" and not message.is_tool_result
    return Stretch(1, int(is_typed), len(message.calls))


class Label(NamedTuple):
    """What the mark of a digest says of its sources, whatever is shown of them."""

    stretch: Stretch
    handle: str


def label_of(sources: Sequence[Message]) -> Label:
    """Name a stretch of messages, and count what it stands for."""
    return Label(_stretch_of(sources), handle_of(sources))


def write_digest(
    sources: Sequence[Message], lines: Sequence[Line], label: Label | None = None
) -> Fold:
    """Fold a stretch of messages into one that shows a line of each of which anything is shown."""
    label = label or label_of(sources)
    said = [spoken for line in lines if line.shown for spoken in line.said]
    errors = sum(line.errors for line in lines)
    tag = digest(_dialogue(said), label.stretch, label.handle, errors)
    rows = tuple((line.outcome,) for line in lines)
    return Fold(sources=tuple(sources), texts={0: tag}, outcomes=rows, is_rolled=True)
