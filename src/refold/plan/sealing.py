"""Give a plan's stand-ins the handles that they are written with: longer ones where they must be.

Handles are unique in a view, and without the name of a conversation its first stand-in shows 28
letters, so that nobody can write a view that they do not have. Nothing else of a plan changes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from refold.messages.folds import Fold, Plan, kept_fold
from refold.messages.handles import Handles, behind_of, handle_of
from refold.messages.token_count import CountedTexts
from refold.messages.wire import spell
from refold.notation.marks import (
    ANCHOR_CHARS,
    HANDLE_CHARS,
    ends_in,
    excerpt,
    put_handle,
    shown_handle,
)
from refold.notation.recognize import find_handles
from refold.scan.tokens.counter import TokenCounter

_FIRST_TOKENS: Final = 14
"""Tokens of 28 letters on top of a short handle: enough for 99.99 % of 20,000 random ones, by the
estimate and by the tokenizers of gpt-4 and gpt-4o."""
_SAMPLES: Final = ("vmzdzbrninvqjhihdnfirfrdalga", "ukqlxkpvqhxohhqvyuxyniqgijxe")


def anchor_tokens(count: TokenCounter) -> int:
    """Return how many tokens a long handle may add to a short one; 0 where words are counted."""
    extra = max(
        count(excerpt("", long)) - count(excerpt("", long[:HANDLE_CHARS])) for long in _SAMPLES
    )
    return max(_FIRST_TOKENS, extra) if extra > 0 else 0


def shown_in(fold: Fold) -> str:
    """Return the handle that a fold shows; "" if it shows none."""
    short = handle_of(fold.sources)
    texts = [*fold.texts.values(), *(call.spelled for call in fold.calls.values()), fold.note]
    return next((shown for text in texts if (shown := shown_handle(text, short))), "")


def seal_plan(
    plan: Sequence[Fold],
    handles: Handles,
    *,
    is_named: bool,
    is_final: bool = False,
    tokens: CountedTexts | None = None,
) -> Plan:
    """Return *plan* with unique handles, and with a long one if it has no name.

    That is the first one, so that a conversation that grows keeps its beginning. If the plan
    *is_final*, the letters of all handles count together, and the first needs to be no longer than
    what the others lack.

    With *tokens*, a fold that a longer handle makes longer than its sources is undone. A plan that
    is sealed already comes back as it is.
    """
    shown: dict[str, str] = {}
    letters = ANCHOR_CHARS if is_named else 0
    if is_final:
        folds = {behind_of(f.sources).fold for f in plan if f.is_marked and shown_in(f)}
        letters += HANDLE_CHARS * max(0, len(folds) - 1)
    for fold in plan:
        behind = behind_of(fold.sources)
        if fold.is_marked:
            while shown.setdefault(handles.spell(behind.fold), behind.fold) != behind.fold:
                if not handles.grow(behind.fold):
                    break
            handle = shown_in(fold)
            if handle and letters < ANCHOR_CHARS:
                handles.grow(behind.fold, to=ANCHOR_CHARS - letters)
                letters += max(len(handle), len(handles.spell(behind.fold)))
        elif fold.sources[0].stands_for is not None or fold.note:
            said = fold.note or spell(fold.sources[0].wire)
            letters += sum(map(len, find_handles(said)))
    sealed: list[Fold] = []
    for fold in plan:
        longer = _with_handle(fold, handles) if fold.is_marked else fold
        if longer is not fold and tokens is not None and not _is_shorter(longer, tokens):
            sealed += [kept_fold(source, "anchor_reverted") for source in fold.sources]
        else:
            sealed.append(longer)
    return tuple(sealed)


def _with_handle(fold: Fold, handles: Handles) -> Fold:
    """Let *fold* show the handle that it has now."""
    behind = behind_of(fold.sources)
    handle, shown = handles.spell(behind.fold), shown_in(fold)
    if not handles.is_grown(behind.fold) or len(shown) >= len(handle):
        return fold
    texts = dict(fold.texts)
    number = next((n for n, text in texts.items() if ends_in(text, shown)), min(texts, default=-1))
    if shown and number >= 0 and not ends_in(texts[number], shown):
        number = -1  # it is among the calls
    if number < 0:
        calls = {n: c.given_as(_exchange(c.given, shown, handle)) for n, c in fold.calls.items()}
        return fold.changed(calls=calls)
    texts[number] = put_handle(texts[number], shown, handle)
    outcomes = fold.outcomes
    if len(outcomes) == 1 and number < len(outcomes[0]):
        row = list(outcomes[0])
        row[number] = row[number].with_output(len(texts[number]))
        outcomes = (tuple(row),)
    return fold.changed(texts=texts, outcomes=outcomes)


def _exchange(given: Any, shown: str, handle: str) -> Any:
    """Return the arguments of a call, text or data, with another handle than the one they show."""
    spelled = given if isinstance(given, str) else spell(given)
    if not ends_in(spelled, shown):
        return given
    longer = put_handle(spelled, shown, handle)
    return longer if isinstance(given, str) else json.loads(longer)


def _is_shorter(fold: Fold, tokens: CountedTexts) -> bool:
    calls = [(fold.sources[0].calls[n].text, call.text) for n, call in fold.calls.items()]
    saved = sum(source.chars for source in fold.sources) - sum(map(len, fold.texts_after))
    saved += sum(len(before) - len(after) for before, after in calls)
    return saved > 0 and tokens.fold(fold) < sum(map(tokens.message, fold.sources))
