"""Write what was chosen: excerpts in their places, digests of whole stretches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from refold.kinds import test_run
from refold.lossless.line_index import spell_count
from refold.model.message import Message
from refold.model.plan import Fold, Outcome
from refold.planner.field import CALLS, Text
from refold.planner.layout import Key
from refold.stages.originals import handle_of
from refold.stages.tags import part_tag

Span = tuple[int, int]
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


def share_shown(spans: Iterable[Span], length: int) -> int:
    """Return the share of a text that is shown, in percent, never rounded up to all."""
    return min(99, 100 * sum(stop - start for start, stop in spans) // max(1, length))


def write_excerpt(
    message: Message, texts: Mapping[Key, Text], spans: Mapping[Key, Sequence[Span]]
) -> Fold:
    """Fold one message in its place, showing the *spans* that were chosen of its texts."""
    handle = handle_of([message])
    shown: dict[int, str] = {}
    rows: list[Outcome] = []
    for number, part in enumerate(message.parts):
        text = texts.get((message.index, number))
        if text is None or not text.is_open:
            rows.append(Outcome("preserved", "short_content", len(part.text), len(part.text)))
            continue
        chosen = spans.get((message.index, number), ())
        percent = share_shown(chosen, len(text.text))
        tag = part_tag(_show(text, chosen), percent, handle)
        if len(tag) < len(part.text):
            shown[number] = tag
            rows.append(
                Outcome(
                    "excerpted",
                    f"excerpt:{_kind_words(text)},{percent}%",
                    len(part.text),
                    len(tag),
                )
            )
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


def write_digest(
    sources: Sequence[Message], texts: Mapping[Key, Text], spans: Mapping[Key, Sequence[Span]]
) -> Fold:
    """Fold a stretch of messages into one that shows what was chosen of each."""
    lines: list[tuple[str, str]] = []
    rows: list[tuple[Outcome, ...]] = []
    shown = whole = 0
    for message in sources:
        said: list[str] = []
        kinds: list[str] = []
        for number in (*range(len(message.parts)), CALLS):
            text = texts.get((message.index, number))
            chosen = spans.get((message.index, number), ())
            if text is None:
                continue
            whole += len(text.text)
            shown += sum(stop - start for start, stop in chosen)
            if number != CALLS:
                kinds.append(_kind_words(text))
            if chosen:
                said.append(_show(text, chosen))
        body = "\n".join(said)
        if said:
            lines.append((message.role, body))
        why = f"digest:{','.join(dict.fromkeys(kinds))}" if kinds else "oldest_stretch"
        rows.append((Outcome("digested", why, message.chars, len(body), body),))
    percent = min(99, 100 * shown // max(1, whole))
    tag = part_tag(_dialogue(lines), percent, handle_of(sources))
    return Fold(sources=tuple(sources), texts={0: tag}, outcomes=tuple(rows), is_rolled=True)
