"""Write what was chosen: excerpts in their places, digests of whole stretches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from refold.model.message import Message
from refold.model.plan import Fold, Outcome
from refold.planner.field import CALLS, Text
from refold.planner.layout import Key
from refold.stages.originals import handle_of
from refold.stages.tags import part_tag

Span = tuple[int, int]
_GAP: Final = "…"
_IDEOGRAPHS: Final = "\u2e80"
"""The first character of the East Asian scripts."""


def join_spans(text: str, spans: Iterable[Span]) -> str:
    """Show the *spans* of *text*, which come in order, with a mark where something is left out."""
    shown: list[str] = []
    end = 0
    for start, stop in spans:
        if start > end and shown:
            shown.append(_GAP if shown[-1].endswith("\n") else f"\n{_GAP}")
        shown.append(text[start:stop])
        end = stop
    return "".join(shown).rstrip()


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
        tag = part_tag(join_spans(text.text, chosen), percent, handle)
        if len(tag) < len(part.text):
            shown[number] = tag
            rows.append(
                Outcome("excerpted", f"excerpt:{text.kind},{percent}%", len(part.text), len(tag))
            )
        else:
            rows.append(Outcome("preserved", "within_budget", len(part.text), len(part.text)))
    if not rows:
        rows.append(Outcome("preserved", "short_content", 0, 0))
    return Fold(sources=(message,), texts=shown, outcomes=(tuple(rows),))


def _labelled(role: str, body: str) -> str:
    """Say who speaks; scripts without blanks between words need none here, and it costs a token."""
    return f"{role}:{body}" if body[:1] >= _IDEOGRAPHS else f"{role}: {body}"


def write_digest(
    sources: Sequence[Message], texts: Mapping[Key, Text], spans: Mapping[Key, Sequence[Span]]
) -> Fold:
    """Fold a stretch of messages into one that shows what was chosen of each."""
    lines: list[str] = []
    rows: list[tuple[Outcome, ...]] = []
    shown = whole = 0
    for message in sources:
        said: list[str] = []
        for number in (*range(len(message.parts)), CALLS):
            text = texts.get((message.index, number))
            chosen = spans.get((message.index, number), ())
            if text is not None:
                whole += len(text.text)
                shown += sum(stop - start for start, stop in chosen)
            if text is not None and chosen:
                said.append(join_spans(text.text, chosen))
        body = "\n".join(said)
        if said:
            lines.append(_labelled(message.role, body))
        rows.append((Outcome("digested", "oldest_stretch", message.chars, len(body), body),))
    percent = min(99, 100 * shown // max(1, whole))
    tag = part_tag("\n".join(lines), percent, handle_of(sources))
    return Fold(sources=tuple(sources), texts={0: tag}, outcomes=tuple(rows), is_rolled=True)
