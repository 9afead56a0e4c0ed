"""What providers accept: alternating roles, who speaks last, and no outdated thinking.

The newest Claude models check each block of thinking that is sent back against what precedes it.
Once an earlier message has changed, all thinking after it has to go; thinking that was produced
after the change stays.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import Final

from refold.lazy import regex
from refold.messages.folds import SUMMARIZED, Fold, Outcome, Plan, kept_fold
from refold.messages.formats import find_format
from refold.messages.formats.base import Sides
from refold.messages.formats.chat import PLAIN
from refold.messages.handles import handle_of
from refold.messages.message import Message
from refold.messages.untouchable import words_beside_results
from refold.notation.marks import (
    ANCHOR_CHARS,
    HANDLE_CHARS,
    digest,
    excerpt,
    put_handle,
    shown_handle,
)
from refold.options import ThinkingWay

_ASSISTANT: Final = "assistant"
_USER: Final = "user"
_REASON: Final = "same_count"


def alternate(plan: Plan) -> Plan:
    """Return *plan* with roles in an order that its provider accepts; itself if they are.

    A digest is a message of the assistant, whatever it stands for. Where the user has to speak
    first, a digest of talk that the user began gets the user's role at no cost, as it labels who
    said what. Otherwise, and where roles must alternate, a user message at an end of a stretch gets
    a line of its own in the user's role, so that the neighbors of the stretch still alternate.
    """
    if not any(fold.is_rolled for fold in plan):
        return plan
    match _sides_of(plan):
        case "in turns":
            pieces = [piece for fold in plan for piece in _pieces(fold, is_last=fold is plan[-1])]
        case "user first":
            first = next((n for n, fold in enumerate(plan) if _is_sided(fold)), 0)
            pieces = [*plan[:first], *_begun(plan[first]), *plan[first + 1 :]]
        case "any":
            return plan
    return plan if len(pieces) == len(plan) and all(map(_is_same, pieces, plan)) else tuple(pieces)


def _is_same(one: Fold, other: Fold) -> bool:
    return one is other


def _sides_of(plan: Plan) -> Sides:
    """Return which order of roles the provider wants; plain messages fit several formats."""
    names = (source.format for fold in plan for source in fold.sources)
    return find_format(next(filter(PLAIN.name.__ne__, names), PLAIN.name)).sides


def _is_sided(fold: Fold) -> bool:
    """Tell whether *fold* is a message of the user, the assistant or a tool, no instruction."""
    return fold.sources[0].role in (_USER, _ASSISTANT, "tool")


def _begun(fold: Fold) -> Iterator[Fold]:
    """Let the user speak first, if the user began what a digest at the beginning stands for.

    A digest of talk, or of user messages only, gets the user's role. Any other stays with the
    assistant, behind a line of the user's.
    """
    sources, rows = fold.sources, fold.outcomes
    if not fold.is_rolled or sources[0].role != _USER:
        yield fold
    elif all(source.role == _USER for source in sources) or _says_who(fold):
        yield _spoken_by_user(fold)
    else:
        yield _line(sources[0], rows[0])
        yield _digest(fold, 1, len(sources))


def end_alike(plan: Plan) -> Plan:
    """Return *plan* so that it ends with the assistant only if its conversation does.

    A model continues a message of its own at the end, and some providers reject it. Linked records
    of session files stay together.
    """
    last = next((n for n in reversed(range(len(plan))) if _is_seen(plan[n])), None)
    if last is None or not plan[last].is_rolled:
        return plan
    if find_format(plan[last].sources[0].format).ties is not None:
        return plan
    pieces = tuple(_ended(plan[last]))
    return plan if pieces == (plan[last],) else (*plan[:last], *pieces, *plan[last + 1 :])


def _ended(fold: Fold) -> Iterator[Fold]:
    """Yield the last digest so that the side that spoke last still does."""
    sources = fold.sources
    if fold.role == _USER or sources[-1].role == _ASSISTANT:
        yield fold
    elif len(sources) == 1 or _says_who(fold):
        yield _spoken_by_user(fold)
    else:
        yield from _with_last_line(fold, 0, words_beside_results(sources[-1]))


def _with_last_line(fold: Fold, first: int, words: str) -> Iterator[Fold]:
    """Yield a digest without its last message, and a line for that with its *words*."""
    end = len(fold.sources) - 1
    digest = _digest(fold, first, end)
    said = f"\n{_USER}: {words}"
    if words and digest.texts[0].endswith(said):
        digest = digest.changed(texts={0: digest.texts[0].removesuffix(said)})
    yield digest
    yield _line(fold.sources[end], fold.outcomes[end], words)


def _is_seen(fold: Fold) -> bool:
    return any(source.is_turn for source in fold.sources)


def _says_who(fold: Fold) -> bool:
    """Tell whether *fold* is a digest of talk that labels who said what."""
    is_summary = any(row.reason == SUMMARIZED for own in fold.outcomes for row in own)
    return _is_talk(fold.sources) and not is_summary


def _is_talk(sources: Sequence[Message]) -> bool:
    """Tell whether nobody called a tool."""
    return not any(source.is_tool_result or source.calls for source in sources)


def _pieces(fold: Fold, *, is_last: bool) -> Iterator[Fold]:
    """Yield a digest, with a separate line where the user spoke first or last in it."""
    sources, rows = fold.sources, fold.outcomes
    if not fold.is_rolled:
        yield fold
    elif all(source.role != _ASSISTANT for source in sources):
        yield _spoken_by_user(fold)
    else:
        first = int(sources[0].role != _ASSISTANT)
        end = len(sources) - int(sources[-1].role != _ASSISTANT)
        if first:
            yield _line(sources[0], rows[0])
        if end < len(sources):
            yield from _with_last_line(
                fold, first, words_beside_results(sources[end]) if is_last else ""
            )
        else:
            yield _digest(fold, first, end)


def _spoken_by_user(fold: Fold) -> Fold:
    if fold.role == _USER:
        return fold
    return Fold(
        sources=fold.sources, texts=fold.texts, outcomes=fold.outcomes, is_rolled=True, role=_USER
    )


def _digest(fold: Fold, first: int, end: int) -> Fold:
    sources = fold.sources[first:end]
    if sources == fold.sources:
        return fold
    shown = shown_handle(fold.texts[0], handle_of(fold.sources))
    text = put_handle(fold.texts[0], shown, handle_of(sources))
    return Fold(sources=sources, texts={0: text}, outcomes=fold.outcomes[first:end], is_rolled=True)


def _line(source: Message, row: tuple[Outcome, ...], words: str = "") -> Fold:
    """Fold *source* into a line with its handle and these *words*."""
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
    if all(len(fold.sources) == 1 and not fold.is_rolled for fold in plan):
        return plan
    return tuple(row for fold in plan for row in _rows(fold))


def _rows(fold: Fold) -> Iterator[Fold]:
    if len(fold.sources) == 1 and not fold.is_rolled:
        yield fold
        return
    for source, row in zip(fold.sources, fold.outcomes, strict=True):
        yield _row(source, row[0].shown or "")


def _row(source: Message, shown: str) -> Fold:
    """Fold one message so that its first text shows what was shown of it, the others nothing."""
    handle = handle_of((source,))
    texts: dict[int, str] = {}
    outcomes: list[Outcome] = []
    for number, part in enumerate(source.parts):
        size = len(part.text)
        text = excerpt(shown, handle)
        if len(text) < size:
            texts[number], shown = text, ""
        outcomes.append(Outcome("compressed", _REASON, size, min(size, len(text))))
    if not texts:
        return kept_fold(source, _REASON)
    return Fold(sources=(source,), texts=texts, outcomes=(tuple(outcomes),))


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
    shown: Sequence[Fold] = (),
    rewritten: Container[int] = (),
    *,
    is_named: bool = False,
    is_resumed: bool = False,
) -> Plan:
    """Return a sealed *plan* without the thinking from its first change on; itself if all stays.

    *shown* is the previous view: a change is what differs from it, and what was stripped there
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
        before = shown[place] if place < len(shown) else None
        source = fold.sources[0]
        is_kept = fold.is_kept and source.index == expected and source.index not in rewritten
        expected = fold.sources[-1].index + 1
        is_same = is_kept if before is None else before.shows_same(fold)
        is_changed = is_changed or not is_same
        if is_changed or (before is not None and before.is_stripped):
            fold = _without(fold, is_anchored=is_anchored)  # noqa: PLW2901
        stripped.append(fold)
        is_anchored = is_anchored or fold.is_marked or bool(fold.note) or source.is_stand_in
    return plan if all(map(_is_same, stripped, plan)) else tuple(stripped)


def _without(fold: Fold, *, is_anchored: bool) -> Fold:
    source = fold.sources[0]
    if fold.is_rolled or fold.is_stripped or not source.thinking:
        return fold
    if find_format(source.format).strip is None:
        return fold
    is_empty = not (source.parts or source.calls or source.images or source.opaque)
    is_unknown = not (fold.is_marked or is_anchored)
    if not (is_empty or is_unknown):
        return fold.stripped()
    handle = handle_of(fold.sources, ANCHOR_CHARS if is_unknown else HANDLE_CHARS)
    return fold.stripped(excerpt("", handle))
