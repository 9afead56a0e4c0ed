"""Write what was chosen: excerpts in their places, digests of whole stretches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from refold.kinds import test_run
from refold.lossless.line_index import spell_count
from refold.model.message import Message
from refold.model.plan import Fold, Outcome
from refold.planner.field import CALLS, Text
from refold.planner.layout import STUB_TOKENS
from refold.stages.originals import handle_of
from refold.stages.tags import part_tag

Span = tuple[int, int]
Chosen = Mapping[int, Sequence[Span]]
"""The spans to show of each text of a message, by its number."""
_GAP: Final = "…"
IDEOGRAPHS: Final = "\u2e80"
"""The first character of the East Asian scripts, which have no blanks between words."""


def join_spans(text: str, spans: Iterable[Span]) -> str:
    """Show the *spans* of *text*, which come in order, with a mark where something is left out."""
    shown: list[str] = []
    end = 0
    for start, stop in spans:
        if start > end and shown:
            shown.append(_GAP if shown[-1].endswith("\n") else f"\n{_GAP}")
        shown.append(text[start:stop])
        end = stop
    if shown and _goes_on(text, end):
        shown.append(_GAP)
    return "".join(shown).rstrip()


def _show(text: Text, spans: Sequence[Span]) -> str:
    """Show the *spans* of *text*; the passed tests among the rest are counted if it does not."""
    shown = join_spans(text.text, spans)
    if not shown or text.kind != test_run.KIND.name or test_run.counts_itself(text.text):
        return shown
    known = sum(test_run.count_passed(text.text[start:stop]) for start, stop in spans)
    passed = test_run.count_passed(text.text) - known
    return f"{shown}\n{_GAP}{spell_count(passed)} passed" if passed > 0 else shown


def _goes_on(text: str, end: int) -> bool:
    """Tell whether a phrase goes on after *end*, with nothing but a blank between its words."""
    before, after = text[max(0, end - 2) : end].rstrip(" "), text[end : end + 2].lstrip(" ")
    return before[-1:].isalnum() and after[:1].isalnum()


def share_shown(shown: int, whole: int) -> int:
    """Return how much is shown of so many characters, in percent, never rounded up to all."""
    return min(99, 100 * shown // max(1, whole))


def _chars(spans: Iterable[Span]) -> int:
    return sum([stop - start for start, stop in spans])


def write_excerpt(message: Message, texts: Mapping[int, Text], chosen: Chosen) -> Fold:
    """Fold one message in its place, showing what was *chosen* of its *texts*."""
    handle = handle_of([message])
    shown: dict[int, str] = {}
    rows: list[Outcome] = []
    for number, part in enumerate(message.parts):
        text = texts.get(number)
        if text is None or not text.is_open:
            is_short = text is None or text.tokens <= STUB_TOKENS
            why = "short_content" if is_short else "last_user_message"
            rows.append(Outcome("preserved", why, len(part.text), len(part.text)))
            continue
        spans = chosen.get(number, ())
        percent = share_shown(_chars(spans), len(text.text))
        tag = part_tag(_show(text, spans), percent, handle)
        if len(tag) < len(part.text):
            shown[number] = tag
            why = f"excerpt:{_kind_words(text)},{percent}%"
            rows.append(Outcome("excerpted", why, len(part.text), len(tag)))
        else:
            rows.append(Outcome("preserved", "within_budget", len(part.text), len(part.text)))
    if not rows:
        rows.append(Outcome("preserved", "short_content", 0, 0))
    return Fold(sources=(message,), texts=shown, outcomes=(tuple(rows),))


def _kind_words(text: Text) -> str:
    """Say of which kind *text* is, and whether its file was written since."""
    return f"{text.kind},out_of_date" if text.is_outdated else text.kind


def _dialogue(lines: Sequence[tuple[str, str]]) -> str:
    """Say who says what, unless one message of the assistant's is all: the digest is his, too."""
    if [role for role, _ in lines] == ["assistant"]:
        return lines[0][1]
    return "\n".join(_labelled(role, body) for role, body in lines)


def _labelled(role: str, body: str) -> str:
    """Say who speaks; scripts without blanks between words need none here, and it costs a token."""
    return f"{role}:{body}" if body[:1] >= IDEOGRAPHS else f"{role}: {body}"


class Line(NamedTuple):
    """What a digest shows of one message."""

    role: str
    body: str
    shown: int
    """How many characters of its texts are shown, and of how many."""
    whole: int
    outcome: Outcome


def write_line(message: Message, texts: Mapping[int, Text], chosen: Chosen) -> Line:
    """Say what a digest shows of *message*: what was *chosen* of its *texts*."""
    said = [_show(text, chosen[number]) for number, text in texts.items() if number in chosen]
    body = "\n".join(said)
    shown = sum(map(_chars, chosen.values()))
    whole = sum([len(text.text) for text in texts.values()])
    kinds = dict.fromkeys(_kind_words(text) for number, text in texts.items() if number != CALLS)
    why = f"digest:{','.join(kinds)}" if kinds else "oldest_stretch"
    outcome = Outcome("digested", why, message.chars, len(body), body)
    return Line(message.role, body, shown, whole, outcome)


def write_digest(sources: Sequence[Message], lines: Sequence[Line]) -> Fold:
    """Fold a stretch of messages into one that shows a line of each of which anything is shown."""
    said = [(line.role, line.body) for line in lines if line.shown]
    percent = share_shown(sum(line.shown for line in lines), sum(line.whole for line in lines))
    tag = part_tag(_dialogue(said), percent, handle_of(sources))
    rows = tuple((line.outcome,) for line in lines)
    return Fold(sources=tuple(sources), texts={0: tag}, outcomes=rows, is_rolled=True)
