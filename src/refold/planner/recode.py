"""Say the same in fewer tokens: the lossless layer, applied to a conversation.

The texts of tool results are re-encoded. A file that is read again unchanged becomes a reference to
the earlier read, one that has changed becomes a diff against it. All of it can be decoded, and the
originals are kept besides.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from refold.lossless import reencode
from refold.lossless.rereads import changes
from refold.model.message import Message, Part
from refold.model.plan import Fold, Outcome, Plan, kept_fold
from refold.planner.field import CALLS, calls_of, calls_text
from refold.planner.layout import Key
from refold.stages.originals import handle_of
from refold.stages.tags import duplicate_tag, recoded_tag
from refold.tokens.base import CountedTexts

_MIN_REREAD: Final = 200


@dataclass(frozen=True, slots=True)
class Recoded:
    """A text said otherwise, and how."""

    text: str
    why: str


def recode(
    messages: Sequence[Message], whole: Container[int], tokens: CountedTexts
) -> dict[Key, Recoded]:
    """Re-encode the tool calls and results of all messages but those that stay *whole*."""
    found: dict[Key, Recoded] = {}
    for message in messages:
        if message.index in whole or not message.is_turn:
            continue
        for number, part in enumerate(message.parts):
            if is_result(message, part):
                _note(found, (message.index, number), part.text, tokens)
        if message.calls:
            _note(found, (message.index, CALLS), calls_text(message), tokens)
    return found


def _note(found: dict[Key, Recoded], key: Key, text: str, tokens: CountedTexts) -> None:
    shorter = reencode(text, tokens)
    if shorter is not None:
        found[key] = Recoded(shorter.text, f"recoded:{','.join(shorter.by)}")


def is_result(message: Message, part: Part) -> bool:
    """Tell whether *part* is what a tool answered."""
    return part.call_id is not None or message.role in ("tool", "function")


def plan_lossless(
    messages: Sequence[Message],
    whole: Mapping[int, str],
    recoded: Mapping[Key, Recoded],
    tokens: CountedTexts,
    hidden: Container[int] = frozenset(),
) -> Plan:
    """Show every text in the shortest way that loses nothing.

    The messages in *whole* stay as they are, for the reason given; nothing refers to those in
    *hidden*, which cannot be read any more.
    """
    rereads = dict(_find_rereads(messages, whole, hidden))
    return tuple(
        kept_fold(message, whole[message.index])
        if message.index in whole
        else _fold(message, rereads, recoded, tokens)
        for message in messages
    )


def _fold(
    message: Message,
    rereads: Mapping[Key, Recoded],
    recoded: Mapping[Key, Recoded],
    tokens: CountedTexts,
) -> Fold:
    texts: dict[int, str] = {}
    rows: list[Outcome] = []
    for number, part in enumerate(message.parts):
        best, why = part.text, "nothing_to_gain"
        for made in (rereads.get((message.index, number)), recoded.get((message.index, number))):
            if made is None:
                continue
            is_reference = made.why == "same_read"
            text = made.text if is_reference else recoded_tag(made.text, handle_of([message]))
            if tokens(text) < tokens(best) and len(text) < len(best):
                best, why = text, made.why
        if best is not part.text:
            texts[number] = best
        action = "preserved" if best is part.text else "recoded"
        rows.append(Outcome(action, why, len(part.text), len(best)))
    if not rows:
        rows.append(Outcome("preserved", "short_content", 0, 0))
    return Fold(sources=(message,), texts=texts, outcomes=(tuple(rows),))


def _find_rereads(
    messages: Sequence[Message], whole: Container[int], hidden: Container[int]
) -> Iterator[tuple[Key, Recoded]]:
    """Yield the results that say what an earlier one said, or nearly."""
    calls: dict[str, str] = {}
    seen: dict[str, Message] = {}
    by_call: dict[str, str] = {}
    for message in messages:
        calls.update(calls_of(message))
        for number, part in enumerate(message.parts):
            if not is_result(message, part) or len(part.text) < _MIN_REREAD:
                continue
            call = calls.get(part.call_id or "", "")
            same, earlier = seen.get(part.text), by_call.get(call)
            if message.index not in whole and same is not None:
                tag = duplicate_tag(same.id, len(part.text), handle_of([message]))
                yield (message.index, number), Recoded(tag, "same_read")
                continue
            if message.index not in whole and call and earlier is not None:
                diff = changes(part.text, earlier)
                if diff is not None:
                    yield (message.index, number), Recoded(diff, "changed_read")
                    continue
            if message.index not in hidden:
                seen[part.text] = message
                by_call[call] = part.text
