"""Give a plan's stand-ins handles that are unguessable and unique, before it is written out.

The first stand-in of a conversation without a name shows a handle of 128 bits, its anchor; all the
others are found through it (see `messages.provenance.Chain`). Handles that a model sees are unique
in their view. Nothing else of a plan changes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final

from refold.messages.folds import Fold, Plan, kept_fold
from refold.messages.formats import Loader
from refold.messages.handles import anchor_of, carries_provenance, summary_id_of
from refold.messages.message import Message
from refold.messages.provenance import ID_PREFIX, find_anchors, make_anchor
from refold.messages.token_count import CountedTexts
from refold.messages.wire import clone
from refold.notation.marks import ANCHOR_CHARS, HANDLE_CHARS, ends_in, excerpt, put_handle
from refold.notation.recognize import find_anchor_letters
from refold.plan.shorten.arguments import clip_call
from refold.scan.tokens.counter import TokenCounter

_FIRST_TOKENS: Final = 14
"""Tokens of an anchor on top of a short handle: enough for 99.99 % of 20,000 random ones, by the
estimate and by the tokenizers of gpt-4 and gpt-4o."""
_KEPT_TOKENS: Final = 19
"""The same for an anchor that is carried over, followed by the stand-in's own handle."""
_SAMPLES: Final = ("vmzdzbrninvqjhihdnfirfrdalgaoaibkylh", "ukqlxkpvqhxohhqvyuxyniqgijxeivwodqmq")


def anchor_tokens(count: TokenCounter, *, is_kept: bool) -> int:
    """Return how many tokens an anchor may add to a short handle; 0 where words are counted.

    An anchor that *is_kept* from an earlier fold is followed by a handle.
    """
    least = _KEPT_TOKENS if is_kept else _FIRST_TOKENS
    shown = [letters if is_kept else letters[:ANCHOR_CHARS] for letters in _SAMPLES]
    extra = max(
        count(excerpt("", 0, long)) - count(excerpt("", 0, long[:HANDLE_CHARS])) for long in shown
    )
    return max(least, extra) if extra > 0 else 0


def seal_plan(
    plan: Sequence[Fold],
    *,
    is_named: bool,
    tokens: CountedTexts | None = None,
    taken: Collection[str] = (),
) -> Plan:
    """Return *plan* with an anchor, if it needs one, and with unique handles.

    *taken* are summary ids of new stand-ins, and links of earlier ones, whose links are in use for
    something else: these get longer handles. With *tokens*, a fold that an anchor makes longer than
    its sources is undone. A plan that is sealed already comes back as it is.
    """
    sealed: list[Fold] = []
    is_anchored = is_named
    anchor = "" if is_named else _anchor_in(plan)
    shown: dict[str, str] = {}
    for fold in plan:
        first = fold.sources[0]
        if not fold.is_marked:
            needs_anchor = not is_anchored or first.link in taken
            if needs_anchor and first.link and first.provenance is not None:
                fold = _anchor_carried(fold, anchor)  # noqa: PLW2901
                is_anchored = is_anchored or bool(find_anchors(fold.sources[0].wire))
            sealed.append(fold)
            continue
        name = summary_id_of(fold.sources)
        short = name[len(ID_PREFIX) : len(ID_PREFIX) + HANDLE_CHARS]
        needs_anchor = not is_anchored and not carries_provenance(fold.sources)
        if needs_anchor or name in taken or shown.setdefault(short, name) != name:
            longer = _with_handle(fold, short, anchor, is_taken=name in taken)
            is_new = needs_anchor and longer is not fold
            if is_new and tokens is not None and not _is_shorter(longer, tokens):
                sealed += [kept_fold(source, "anchor_reverted") for source in fold.sources]
                continue
            sealed.append(longer)
            is_anchored = is_anchored or needs_anchor
        else:
            sealed.append(fold)
    return tuple(sealed)


def _anchor_in(plan: Sequence[Fold]) -> str:
    """Return the anchor that the conversation has already, which it keeps; "" without one."""
    for fold in plan:
        for source in fold.sources:
            if source.link and source.provenance is not None:
                found = find_anchors(source.wire)
                if found:
                    return found[0]
    return ""


def _with_handle(fold: Fold, short: str, anchor: str, *, is_taken: bool) -> Fold:
    """Lengthen the handle in a text of *fold* to an anchor; further if that *is_taken*."""
    own = anchor_of(fold.sources)
    if not fold.texts:
        return _call_with_handle(fold, short, anchor, is_taken=is_taken)
    texts = dict(fold.texts)
    anchor = _anchor_before(texts.values(), short) or anchor
    forms = [short, *([anchor + short] if anchor else []), own, own + short]
    shown = [(k, n) for n, text in texts.items() for k, f in enumerate(forms) if ends_in(text, f)]
    now, number = max(shown, default=(0, min(texts)))
    if now and not is_taken:
        return fold
    after = forms[min(now + 1, len(forms) - 1)]
    texts[number] = put_handle(texts[number], forms[now], after)
    outcomes = fold.outcomes
    if len(outcomes) == 1 and number < len(outcomes[0]):
        row = list(outcomes[0])
        row[number] = row[number].with_output(len(texts[number]))
        outcomes = (tuple(row),)
    return fold.changed(texts=texts, outcomes=outcomes)


def _call_with_handle(fold: Fold, short: str, anchor: str, *, is_taken: bool) -> Fold:
    """Do the same in the clipped arguments of a call, if nothing else of the message is folded.

    They are clipped again with another handle, so that only the mark changes.
    """
    own = anchor_of(fold.sources)
    number, shown = min(fold.calls.items())
    anchor = _anchor_before([shown.text], short) or anchor
    forms = [short, *([anchor + short] if anchor else []), own, own + short]
    source = fold.sources[0].calls[number]
    cut = [clip_call(source, form) for form in forms]
    now = max((n for n, call in enumerate(cut) if call and call.text == shown.text), default=0)
    call = cut[min(now + 1, len(cut) - 1)]
    if call is None or (now and not is_taken):
        return fold
    *texts, told = fold.outcomes[0]
    told = told.with_output(told.output_chars + len(call.text) - len(shown.text))
    return fold.changed(calls={**fold.calls, number: call}, outcomes=((*texts, told),))


def _anchor_before(texts: Iterable[str], short: str) -> str:
    """Return the anchor that one of *texts* shows before its *short* handle: a kept one."""
    shown = ((text, letters) for text in texts for letters in find_anchor_letters(text))
    return next((letters for text, letters in shown if ends_in(text, letters + short)), "")


def _is_shorter(fold: Fold, tokens: CountedTexts) -> bool:
    calls = [(fold.sources[0].calls[n].text, call.text) for n, call in fold.calls.items()]
    saved = sum(source.chars for source in fold.sources) - sum(map(len, fold.texts_after))
    saved += sum(len(before) - len(after) for before, after in calls)
    return saved > 0 and tokens.fold(fold) < sum(map(tokens.message, fold.sources))


def _anchor_carried(fold: Fold, anchor: str) -> Fold:
    """Let a stand-in of an earlier fold show an anchor."""
    source = fold.sources[0]
    behind = source.provenance
    assert behind is not None, "the caller has checked"
    if find_anchors(source.wire):
        return fold
    own = make_anchor(behind.ids, behind.digests)
    short = own[:HANDLE_CHARS]
    wire: Any = clone(dict(source.wire))
    for holder, name in _texts(wire):
        if ends_in(holder[name], short):
            handle = anchor + short if anchor else own
            holder[name] = put_handle(holder[name], short, handle)
            return kept_fold(_reloaded(source, wire), fold.outcomes[0][0].reason)
    return fold


def _texts(wire: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the place of each string in a message: its container and key."""
    todo = [wire]
    while todo:
        holder = todo.pop()
        for name, value in holder.items() if isinstance(holder, dict) else enumerate(holder):
            if isinstance(value, str):
                yield holder, name
            elif isinstance(value, dict | list):
                todo.append(value)


def _reloaded(source: Message, wire: dict[str, Any]) -> Message:
    loaded = Loader(source.format).load(wire, source.index)
    return loaded.changed(id=source.id, provenance=source.provenance, link=source.link)
