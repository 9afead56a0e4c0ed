"""What providers accept: alternating roles, who speaks last, and no outdated thinking.

The newest Claude models check each block of thinking that is sent back against what precedes it.
Once an earlier message has changed, all thinking after it has to go; thinking that was produced
after the change stays.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from operator import is_
from typing import Final

from refold.lazy import regex
from refold.messages.folds import SUMMARIZED, Fold, Outcome, Plan, kept_fold
from refold.messages.formats import find_format
from refold.messages.formats.chat import PLAIN
from refold.messages.handles import handle_of
from refold.messages.message import Message
from refold.messages.untouchable import words_beside_results
from refold.notation.marks import (
    ANCHOR_CHARS,
    HANDLE_CHARS,
    digest,
    excerpt,
    find_handle,
    put_handle,
)
from refold.options import ThinkingWay

_ASSISTANT: Final = "assistant"
_USER: Final = "user"
_SIDES: Final = (_USER, _ASSISTANT, "tool")
"""Whose messages count where the user has to speak first: no instructions."""
_SHORT_RESULT: Final = 40
"""Characters of a result for which a mark alone would cost about as much and say nothing."""


def alternate(plan: Plan) -> Plan:
    """Return *plan* with roles in an order that its provider accepts; itself if they are.

    A digest is a message of the assistant, whatever it stands for. Where the user has to speak
    first, a digest of talk that the user began gets the user's role at no cost, as it labels who
    said what. Otherwise, and where roles must alternate, a user message at an end of a stretch gets
    a line of its own in the user's role, so that the neighbors of the stretch still alternate.
    """
    if not any(fold.is_rolled for fold in plan):
        return plan
    # Plain messages fit several formats, so any other one says more.
    names = (source.format for fold in plan for source in fold.sources)
    match find_format(next(filter(PLAIN.name.__ne__, names), PLAIN.name)).sides:
        case "in turns":
            pieces = [piece for fold in plan for piece in _in_turns(fold, is_last=fold is plan[-1])]
        case "user first":
            talk = (n for n, fold in enumerate(plan) if fold.sources[0].role in _SIDES)
            first = next(talk, 0)
            pieces = [*plan[:first], *_begun_by_user(plan[first]), *plan[first + 1 :]]
        case "any":
            return plan
    return plan if _is_same(pieces, plan) else tuple(pieces)


def _in_turns(fold: Fold, *, is_last: bool) -> Iterator[Fold]:
    """Yield a digest, with a separate line where the user spoke first or last in it."""
    if not fold.is_rolled:
        yield fold
        return
    first, last = fold.sources[0].role != _ASSISTANT, fold.sources[-1].role != _ASSISTANT
    if all(source.role != _ASSISTANT for source in fold.sources):
        yield _spoken_by_user(fold)
    else:
        words = words_beside_results(fold.sources[-1]) if last and is_last else ""
        yield from _split(fold, first=first, last=last, words=words)


def _begun_by_user(fold: Fold) -> Iterator[Fold]:
    """Let the user speak first, if the user began what a digest at the beginning stands for.

    A digest of talk, or of user messages only, gets the user's role. Any other stays with the
    assistant, after a line of the user's.
    """
    if not fold.is_rolled or fold.sources[0].role != _USER:
        yield fold
    elif all(source.role == _USER for source in fold.sources) or _says_who(fold):
        yield _spoken_by_user(fold)
    else:
        yield from _split(fold, first=True)


def end_alike(plan: Plan) -> Plan:
    """Return *plan* so that it ends with the assistant only if its conversation does.

    A model continues a message of its own at the end, and some providers reject it. Linked records
    of session files stay together.
    """
    seen = [n for n, fold in enumerate(plan) if any(source.is_turn for source in fold.sources)]
    if not seen:
        return plan
    fold = plan[seen[-1]]
    last = fold.sources[-1]
    if not fold.is_rolled or fold.role == _USER or last.role == _ASSISTANT:
        return plan
    if find_format(fold.sources[0].format).ties is not None:
        return plan
    if len(fold.sources) == 1 or _says_who(fold):
        pieces = [_spoken_by_user(fold)]
    else:
        pieces = [*_split(fold, last=True, words=words_beside_results(last))]
    return (*plan[: seen[-1]], *pieces, *plan[seen[-1] + 1 :])


def _says_who(fold: Fold) -> bool:
    """Tell whether *fold* is a digest of talk that labels who said what."""
    is_summary = any(outcome.reason == SUMMARIZED for row in fold.outcomes for outcome in row)
    has_tools = any(source.is_tool_result or source.calls for source in fold.sources)
    return not is_summary and not has_tools


def _spoken_by_user(fold: Fold) -> Fold:
    return fold if fold.role == _USER else replace(fold, role=_USER)


def _split(
    fold: Fold, *, first: bool = False, last: bool = False, words: str = ""
) -> Iterator[Fold]:
    """Yield a digest without its first or last message, and lines of the user's for these.

    The line for the last one has these *words*.
    """
    sources, rows = fold.sources, fold.outcomes
    inner = slice(int(first), len(sources) - last)
    if not first and not last:
        yield fold
        return
    if first:
        yield _line(sources[0], rows[0])
    handle = find_handle(fold.texts[0], handle_of(sources))
    text = put_handle(fold.texts[0], handle, handle_of(sources[inner]))
    text = text.removesuffix(f"\n{_USER}: {words}" if words else "")
    yield Fold(sources=sources[inner], texts={0: text}, outcomes=rows[inner], is_rolled=True)
    if last:
        yield _line(sources[-1], rows[-1], words)


def _line(source: Message, row: tuple[Outcome, ...], words: str = "") -> Fold:
    """Fold *source* into a line with its handle and these *words*; a short result is shown."""
    if not words and source.is_tool_result and source.chars <= _SHORT_RESULT:
        words = "\n".join(part.text for part in source.parts)
    if source.is_stand_in and not source.is_tool_result:  # it is such a line already
        return kept_fold(source, "already_compressed")
    text = digest(words, 1, handle_of((source,)))
    is_plain = not (source.is_tool_result or source.images or source.opaque)
    if is_plain and source.chars <= len(text):
        return kept_fold(source, "within_budget")
    return Fold(sources=(source,), texts={0: text}, outcomes=(row,), is_rolled=True, role=_USER)


def spread(plan: Plan) -> Plan:
    """Return *plan* with one fold per message; itself if it is like that.

    What a digest shows of each message then replaces that message's text, and calls stay. A budget
    buys less that way, and may not be kept.
    """
    pieces: list[Fold] = []
    for fold in plan:
        if len(fold.sources) == 1 and not fold.is_rolled:
            pieces.append(fold)
        else:
            rows = zip(fold.sources, fold.outcomes, strict=True)
            pieces += [_alone(source, row[0].shown or "") for source, row in rows]
    return plan if _is_same(pieces, plan) else tuple(pieces)


def _alone(source: Message, body: str) -> Fold:
    """Fold one message so that its first text shows the *body*, and the others nothing."""
    handle = handle_of((source,))
    texts: dict[int, str] = {}
    outcomes: list[Outcome] = []
    for number, part in enumerate(source.parts):
        size = len(part.text)
        text = excerpt(body, handle)
        if len(text) < size:
            texts[number], body = text, ""
        outcomes.append(Outcome("compressed", "same_count", size, min(size, len(text))))
    if not texts:
        return kept_fold(source, "same_count")
    return Fold(sources=(source,), texts=texts, outcomes=(tuple(outcomes),))


def _is_same(pieces: Sequence[Fold], plan: Plan) -> bool:
    return len(pieces) == len(plan) and all(map(is_, pieces, plan))


_VERSION: Final = regex(r"(?<![\d.])(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)")
_FIRST_BOUND: Final = {"fable": (5, 1), "opus": (5, 5), "sonnet": (5, 5), "haiku": (5, 5)}
"""The first version of each model family that checks thinking."""


def is_bound(model: str | None) -> bool:
    """Tell whether *model* may check thinking; an unknown model is assumed to."""
    if model is None:
        return True
    name = model.lower()
    family = next((family for family in _FIRST_BOUND if family in name), None)
    if family is None:
        return "claude" in name and _VERSION.search(name) is None
    versions = [(int(major), int(minor or 0)) for major, minor in _VERSION.findall(name)]
    return not versions or max(versions) >= _FIRST_BOUND[family]


def is_checked(way: ThinkingWay, model: str | None) -> bool:
    """Tell whether thinking after a change is removed: by choice, or because *model* checks it."""
    return way == "strip" or (way == "auto" and is_bound(model))


def strip_thinking(
    plan: Plan,
    previous: Sequence[Fold] = (),
    rewritten: Container[int] = (),
    *,
    is_named: bool = False,
    is_resumed: bool = False,
) -> Plan:
    """Return a sealed *plan* without the thinking from its first change on; itself if all stays.

    *previous* is the view before: a change is what differs from it, and what was stripped there
    stays so. Without it, the first change is the first message that is not as it was given: folded,
    *rewritten* before, or with dropped messages before it. A conversation that *is_resumed* may
    have been sent in another form than was given, so all of its thinking goes.

    Stripped thinking is found again through the stand-ins before it, or because its conversation
    *is_named*; otherwise a note takes its place.
    """
    stripped: list[Fold] = []
    is_changed = is_resumed
    is_anchored = is_named
    expected = 0
    for place, fold in enumerate(plan):
        before = previous[place] if place < len(previous) else None
        source = fold.sources[0]
        is_kept = fold.is_kept and source.index == expected and source.index not in rewritten
        expected = fold.sources[-1].index + 1
        is_same = is_kept if before is None else before.shows_same(fold)
        is_changed = is_changed or not is_same
        if is_changed or (before is not None and before.is_stripped):
            fold = _without(fold, is_anchored=is_anchored)  # noqa: PLW2901
        stripped.append(fold)
        is_anchored = is_anchored or fold.is_marked or bool(fold.note) or source.is_stand_in
    return plan if _is_same(stripped, plan) else tuple(stripped)


def show_stripped(plan: Plan) -> Plan | None:
    """Return *plan* with a note in its last message that lost its thinking without a trace.

    Without, a view says what it said before it was stripped, and its record may be taken. `None` if
    there is no such message.
    """
    for place in reversed(range(len(plan))):
        fold = plan[place]
        if fold.is_stripped and not (fold.note or fold.is_marked):
            noted = replace(fold, note=excerpt("", handle_of(fold.sources)))
            return (*plan[:place], noted, *plan[place + 1 :])
    return None


def _without(fold: Fold, *, is_anchored: bool) -> Fold:
    source = fold.sources[0]
    if fold.is_rolled or fold.is_stripped or not source.thinking:
        return fold
    if find_format(source.format).is_thinking is None:
        return fold
    is_empty = not (source.parts or source.calls or source.images or source.opaque)
    is_unknown = not (fold.is_marked or is_anchored)
    if not (is_empty or is_unknown):
        return replace(fold, is_stripped=True)
    handle = handle_of(fold.sources, ANCHOR_CHARS if is_unknown else HANDLE_CHARS)
    return replace(fold, is_stripped=True, note=excerpt("", handle))
