"""One result of a tool: shortened on arrival, and kept whole under the handle that it then shows.

A hook starts a process for each result, so what only some results need is imported there.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from refold.checks import check_choice, check_whole
from refold.codecs import reencode
from refold.errors import StoreError
from refold.messages.wire import FOLD_PREFIX, letters_of, text_digest
from refold.notation.marks import ANCHOR_CHARS, GAP, HANDLE_CHARS, show_handle
from refold.notation.notes import annotate, annotate_json, note, shortened_from
from refold.scan.structure import is_json
from refold.scan.tokens.counter import TokenCounter
from refold.scan.tokens.estimate import estimate_tokens
from refold.stores.base import Store
from refold.stores.scope import scoped

TEXT_PREFIX: Final = "refold:text:"
_MIN_SAVING: Final = 0.1
"""A result that would not get this much shorter stays as it is: another notation is harder to read.
A guess, the same as in `CompressionManager`."""
_CRITICAL: Final = re.compile(r"(?m)^.*\bCRITICAL\b")
"""Lines of logs that report an error in a word that only logs have for it."""
_AROUND: Final = f" \t\r{GAP}"
"""What may surround a line in an excerpt: a short gap has no line of its own."""


def anchor_of_text(text: str) -> str:
    """Derive the longest handle of a text: the same text, the same handle, on every machine."""
    return letters_of(FOLD_PREFIX + text_digest(text), ANCHOR_CHARS)


def text_key(handle: str) -> str:
    """Name the place where the whole text with this handle is kept."""
    return TEXT_PREFIX + handle


class TextStore:
    """The texts of one conversation in a store; safe to share between threads.

    In a conversation with a name a handle is short, and looked up before it is given away: it never
    names two texts. Without one it has 128 bits, for then anybody with the store may ask.
    """

    def __init__(self, store: Store, conversation: str | None = None) -> None:
        self._store = scoped(store, conversation)
        self._sizes = () if conversation is None else (HANDLE_CHARS, 12)

    def handle_of(self, text: str) -> str:
        """Return the handle under which *text* is kept, or will be: one that no other text has."""
        anchor, entry = anchor_of_text(text), _entry(text)
        handles = [anchor[:size] for size in self._sizes]
        known = self._store.get(map(text_key, handles)) if handles else {}
        free = (handle for handle in handles if known.get(text_key(handle), entry) == entry)
        return next(free, anchor)

    def keep(self, text: str) -> str:
        """Put *text* away and return its handle; `StoreError` if another text has come first."""
        handle, entry = self.handle_of(text), _entry(text)
        key = text_key(handle)
        self._store.put({key: entry})
        if len(handle) < ANCHOR_CHARS and self._store.get([key]).get(key) != entry:
            raise StoreError(f"another text has taken the handle {show_handle(handle)} meanwhile")
        return handle


def _entry(text: str) -> dict[str, Any]:
    return {"role": "tool", "content": text}


def show_short(short: str, text: str, words: str, text_store: TextStore | None) -> str:
    """Return the *short* form of *text* with a note on what is missing; JSON stays JSON.

    That is *words* on how much is left out, and where there is a store the handle of the whole.
    """
    mark = note(words, "" if text_store is None else text_store.handle_of(text))
    return annotate_json(short, mark) if mark and is_json(short) else annotate(short, mark)


def respelled(text: str, count: TokenCounter, text_store: TextStore | None) -> str | None:
    """Return *text* in fewer tokens without loss, with its handle; `None` if there is no way."""
    recoded = reencode(text, count)
    return None if recoded is None else show_short(recoded.text, text, "", text_store)


def excerpt(text: str, most: int, count: TokenCounter, text_store: TextStore | None) -> str | None:
    """Return the pieces of *text* that are worth most in about *most* tokens, with its handle."""
    from refold.fold.one_text import fold_text

    pieces = fold_text(text, most, count)
    words = shortened_from(count(text), "tokens")
    return None if pieces is None else show_short(pieces, text, words, text_store)


class ShortResult(NamedTuple):
    """A result in fewer tokens; its note has the handle of the whole."""

    text: str
    tokens_before: int
    tokens_after: int


def shorten_result(
    text: str, text_store: TextStore, *, profile: str, max_tokens: int, is_file: bool = False
) -> ShortResult | None:
    """Return the short form of *text*, whose whole is in the store then; `None` if it stays.

    With the profile `lossless` nothing is left out. With `standard` a result that would still take
    more than *max_tokens* becomes an excerpt, unless that would omit a line that reports an error.

    The text of a file (*is_file*) may be edited next, which requires its exact words. So it stays
    as it is unless a program wrote it, and it never becomes an excerpt.
    """
    check_choice("profile", profile, ("lossless", "standard"))
    check_whole("max_tokens", max_tokens, least=1)
    if is_file:
        from refold.fold.kinds import PROGRAM_KINDS, kind_of

        if kind_of(text) not in PROGRAM_KINDS:
            return None
    before = estimate_tokens(text)
    recoded = reencode(text, estimate_tokens)
    short, words = text if recoded is None else recoded.text, ""
    if profile == "standard" and not is_file and estimate_tokens(short) > max_tokens:
        from refold.fold.one_text import fold_text

        excerpt = fold_text(text, max_tokens, estimate_tokens)
        if excerpt is not None and _has_errors_of(text, excerpt):
            short, words = excerpt, shortened_from(before, "tokens")
    if short is text:
        return None
    noted = show_short(short, text, words, text_store)
    after = estimate_tokens(noted)
    if after > (1 - _MIN_SAVING) * before:
        return None
    text_store.keep(text)
    return ShortResult(noted, before, after)


def _has_errors_of(text: str, excerpt: str) -> bool:
    """Return whether every line of *text* that reports an error is in *excerpt*, whole."""
    from refold.fold.kinds import grade_lines
    from refold.fold.pieces import Grade

    lines = {line.strip(_AROUND) for line in excerpt.split("\n")}
    starts = [start for start, grade in grade_lines(text) if grade >= Grade.ERROR]
    starts += [line.start() for line in _CRITICAL.finditer(text)]
    ends = (text.find("\n", start) % (len(text) + 1) for start in starts)
    errors = (text[start:end] for start, end in zip(starts, ends, strict=True))
    return all(error.strip(_AROUND) in lines for error in errors)
