"""What happened to each text of a conversation: before, after, the decision, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from refold.messages.message import Message
from refold.notation.marks import is_lossless_mark
from refold.report.pieces import say_reason
from refold.result import Piece, TraceEntry

_SAME: Final = 0.9
"""The share of its lines that a text must have in common with an earlier one to repeat it."""
_LONG_CHARS: Final = 16
"""Shorter lines may be the same by chance. A guess."""
CLIPPED: Final = "clipped"
"""What was done to calls of which long arguments are cut; all else is done to texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One text before and after, with the decision on it and why."""

    index: int
    part: int
    id: str
    role: str
    action: str
    reason: str
    before: str
    after: str
    chars_before: int
    chars_after: int
    is_turn: bool
    """False for records of a session file that no model sees."""
    entry: TraceEntry
    repeats: int | None = None
    """The earlier message that has the same lines, of a text that is not kept."""
    line: int = 0
    """Where its message begins in a file; 0 if it comes from none."""

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """What became of each piece of the text, if it was cut into some; computed on demand."""
        return self.entry.pieces


def say_why(row: Row) -> str:
    """Return in words why a text is as it is."""
    if row.repeats is not None and not row.after:
        return f"dropped: repeats message {row.repeats}"
    why = say_reason(row.reason)
    return why if row.repeats is None else f"{why}; repeats message {row.repeats}"


class _Repeats:
    """Finds the earlier message that has the lines of a text."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._first: dict[str, int] = {}
        for message in messages:
            for line in {line for part in message.parts for line in _long_lines(part.text)}:
                self._first.setdefault(line, message.index)

    def find(self, text: str, index: int) -> int | None:
        """Return the message before *index* that has nearly all long lines of *text*."""
        lines = _long_lines(text)
        seen = Counter(self._first.get(line, index) for line in lines)
        message, count = seen.most_common(1)[0] if seen else (index, 0)
        return message if message < index and count >= _SAME * len(lines) else None


def _long_lines(text: str) -> list[str]:
    """Return the lines that are too long to be the same by chance."""
    return [line.strip() for line in text.split("\n") if len(line.strip()) >= _LONG_CHARS]


def make_rows(
    before: Sequence[Message],
    after: Sequence[Message],
    places: Sequence[range],
    decisions: Iterable[TraceEntry],
) -> Iterator[Row]:
    """Yield one row per text, in the order of the conversation.

    *places* has the messages of *before* that each one of *after* stands for, as `align` does;
    *decisions* are those of a fold with a trace, or what `compare` makes of it.
    """
    repeats = _Repeats(before)
    target_of = [target for target, place in zip(after, places, strict=True) for _ in place]
    for entry in decisions:
        source = before[entry.message_index]
        text, after_fold = _spell(source, entry), entry.shown
        if after_fold is None:
            after_fold = _spell(target_of[entry.message_index], entry)
        yield Row(
            index=entry.message_index,
            part=entry.part,
            id=entry.message_id,
            role=source.role,
            action=entry.action,
            reason=entry.reason,
            before=text,
            after=after_fold,
            repeats=repeats.find(text, source.index) if text != after_fold else None,
            chars_before=entry.input_chars,
            chars_after=entry.output_chars,
            is_turn=source.is_turn,
            entry=entry,
        )


def compare(
    before: Sequence[Message], after: Sequence[Message], places: Sequence[range]
) -> Iterator[TraceEntry]:
    """Yield what became of each text, found by comparing the texts where there is no trace."""
    for target, place in zip(after, places, strict=True):
        shared = "\n\n".join(part.text for part in target.parts) if len(place) > 1 else None
        for number in place:
            source = before[number]
            texts = [part.text for part in source.parts]
            is_cut = shared is None and _are_cut(source, target)
            for part, text in enumerate(texts or ([] if is_cut else [""])):
                view = shared
                if view is None:
                    view = target.parts[part].text if target.parts else ""
                action, reason = _verdict(text, view, is_shared=shared is not None)
                yield TraceEntry(
                    message_id=source.id,
                    message_index=source.index,
                    part=part,
                    action=action,
                    reason=reason,
                    input_chars=len(text),
                    output_chars=len(view),
                    shown=shared,
                )
            if is_cut:
                yield TraceEntry(
                    message_id=source.id,
                    message_index=source.index,
                    part=len(source.parts),
                    action=CLIPPED,
                    reason="long_arguments",
                    input_chars=len(_spell_calls(source)),
                    output_chars=len(_spell_calls(target)),
                )


def _verdict(text: str, view: str, *, is_shared: bool) -> tuple[str, str]:
    """Return the action on a text, and why, as a trace would have it."""
    if is_shared:
        return "digested", "oldest_stretch"
    if text == view:
        return "preserved", "sent_unchanged"
    return ("recoded", "same_data") if is_lossless_mark(view) else ("excerpted", "sent_in_part")


def _spell(message: Message, entry: TraceEntry) -> str:
    """Return the text of *message* that *entry* is about, or its calls."""
    if entry.action == CLIPPED:
        return _spell_calls(message)
    return message.parts[entry.part].text if message.parts else ""


def _are_cut(source: Message, target: Message) -> bool:
    """Return whether *target* makes the calls of *source* with other arguments."""
    has_all = len(target.calls) == len(source.calls)
    return has_all and _spell_calls(source) != _spell_calls(target)


def _spell_calls(message: Message) -> str:
    return "\n".join(call.text for call in message.calls)
