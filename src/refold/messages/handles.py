"""Handles: the letters that stand-ins show, derived from what they stand for.

Five letters do, unless two folds of a view or of its conversation begin with the same ones. What is
folded by itself without a name shows 28 in its first stand-in, so that nobody can write a view that
they do not have. A planner writes `handle_of` into each stand-in once, as `#letters` at the end of
a mark; `seal_plan` exchanges it where it must be longer, and changes nothing else of a plan.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from refold.messages.folds import Fold, Plan, kept_fold
from refold.messages.manifest import Behind
from refold.messages.message import Message
from refold.messages.token_count import CountedTexts
from refold.messages.wire import letters_of, spell
from refold.notation.marks import HANDLE_CHARS, MOST_CHARS, ends_in, find_handle, put_handle
from refold.notation.recognize import find_handles

Sizes = dict[str, int]
"""How many letters the handles of some folds have; all others have `HANDLE_CHARS`."""
_MORE: Final = 4
"""Letters more where a handle is taken."""


def behind_of(sources: Sequence[Message]) -> Behind:
    """Return what a stand-in for *sources* stands for; a stand-in shown anew keeps its fold."""
    first = sources[0]
    if len(sources) == 1:
        if first.stands_for is not None:
            return first.stands_for
        if first.lone is None:
            first.lone = Behind.made((first.digest,), (first.id,))
        return first.lone
    known = [source.stands_for for source in sources if source.stands_for is not None]
    return Behind.made(
        [s.digest if s.stands_for is None else s.stands_for.fold for s in sources],
        [source.id for source in sources],
        list(dict.fromkeys([b.fold for b in known] + [key for b in known for key in b.below])),
    )


def handle_of(sources: Sequence[Message], chars: int = HANDLE_CHARS) -> str:
    """Return the handle that a mark for *sources* shows, with which a model can fetch them."""
    return letters_of(behind_of(sources).fold, chars)


def visible_handle(fold: Fold) -> str:
    """Return the handle that a fold shows; "" if it shows none."""
    short = handle_of(fold.sources)
    texts = [*fold.texts.values(), *(call.spelled for call in fold.calls.values()), fold.note]
    return next((handle for text in texts if (handle := find_handle(text, short))), "")


def grow(sizes: Sizes, fold: str, least: int = 0) -> bool:
    """Give a fold a longer handle, of more than *least* letters; false if there is none."""
    size = max(sizes.get(fold, HANDLE_CHARS), least)
    sizes[fold] = min(size + _MORE, MOST_CHARS)
    return size < MOST_CHARS


def seal_plan(
    plan: Sequence[Fold],
    sizes: Sizes | None = None,
    *,
    lacking: int = 0,
    tokens: CountedTexts | None = None,
) -> Plan:
    """Return *plan* with unique handles of at least these *sizes*.

    The first that shows one makes up for the letters that are *lacking*, and not those after it: so
    a conversation that grows keeps its beginning.

    With *tokens*, a fold that a longer handle makes longer than its sources is undone. A plan that
    is sealed already comes back as it is.
    """
    sizes = {} if sizes is None else sizes
    owners: dict[str, str] = {}
    sealed: list[Fold] = []
    for fold in plan:
        if not fold.is_marked:
            sealed.append(fold)
            if fold.note or fold.sources[0].stands_for is not None:
                lacking -= sum(map(len, find_handles(fold.note or spell(fold.sources[0].wire))))
            continue
        key, visible = behind_of(fold.sources).fold, visible_handle(fold)
        while owners.setdefault(letters_of(key, sizes.get(key, HANDLE_CHARS)), key) != key:
            if not grow(sizes, key):
                break
        if visible and lacking > 0:
            sizes[key] = max(sizes.get(key, HANDLE_CHARS), lacking)
        if len(visible) < sizes.get(key, 0):
            longer = _show(fold, visible, letters_of(key, sizes[key]))
            if tokens is not None and not _is_shorter(longer, tokens):
                sealed += [kept_fold(source, "anchor_reverted") for source in fold.sources]
                continue
            fold = longer  # noqa: PLW2901
        sealed.append(fold)
        lacking = 0 if visible else lacking
    return tuple(sealed)


def _show(fold: Fold, old: str, handle: str) -> Fold:
    """Let *fold* show a *handle* in the place of the *old* one, if it shows any."""
    shows = (n for n, text in fold.texts.items() if not old or ends_in(text, old))
    if (number := next(shows, None)) is not None:
        text = put_handle(fold.texts[number], old, handle)
        rows = fold.outcomes
        if len(rows) == 1 and number < len(rows[0]):
            changed = replace(rows[0][number], output_chars=len(text))
            rows = ((*rows[0][:number], changed, *rows[0][number + 1 :]),)
        return replace(fold, texts={**fold.texts, number: text}, outcomes=rows)
    calls = dict(fold.calls)
    for number, call in fold.calls.items():
        if ends_in(call.spelled, old):
            spelled = put_handle(call.spelled, old, handle)
            raw = spelled if isinstance(call.raw_arguments, str) else json.loads(spelled)
            calls[number] = replace(call, raw_arguments=raw)
    return replace(fold, calls=calls)


def _is_shorter(fold: Fold, tokens: CountedTexts) -> bool:
    """Tell whether *fold* is shorter than its sources, in characters and in tokens."""
    calls = [(fold.sources[0].calls[number], call) for number, call in fold.calls.items()]
    before = sum(source.chars for source in fold.sources) + sum(len(was.text) for was, _ in calls)
    after = sum(map(len, fold.texts_after)) + sum(len(now.text) for _, now in calls)
    return after < before and tokens.fold(fold) < sum(map(tokens.message, fold.sources))
