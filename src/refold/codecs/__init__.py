"""Lossless respelling in fewer tokens: one codec per file, one ordered table.

Nothing is left out, so nothing needs to be fetched: a language model reads the new text as it is.
A codec that can decode proves itself on the very text it is used for, by decoding what it wrote; a
text that merely looks like an encoded one is left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from refold.checks import check_rows
from refold.codecs import log_templates, numbered, records, search_hits, terminal
from refold.errors import FormatError

_MIN_SHARE: Final = 0.03
_MIN_TOKENS: Final = 8
"""What a new form must save: less does not justify an unfamiliar notation."""
_MIN_CHARS: Final = 40
"""A shorter text has hardly `_MIN_TOKENS` to save: it is not tried."""


def _sees_any(_text: str) -> bool:
    return True


class Codec(NamedTuple):
    """One way to write the same data in fewer tokens."""

    name: str
    encode: Callable[[str], str | None]
    """Returns `None` if there is nothing to do."""
    decode: Callable[[str], str] | None = None
    """Undoes `encode` exactly, or raises `FormatError`; `None` if only the data is kept, not its
    layout."""
    sees: Callable[[str], bool] = _sees_any
    """A cheap first test."""
    for_files: bool = True
    """Whether it may be used on the contents of a file that may be edited next."""

    def apply(self, text: str) -> str | None:
        """Return the shorter form of *text*; `None` if there is none, or if it does not decode."""
        new = self.encode(text) if self.sees(text) else None
        if new is None or new == text or self.decode is None:
            return None if new == text else new
        try:
            return new if self.decode(new) == text else None
        except FormatError:
            return None


CODECS: Final[tuple[Codec, ...]] = (
    Codec(name="terminal", encode=terminal.encode, for_files=False),
    Codec(name="envelope", encode=records.open_envelope),
    Codec(name="json_data", encode=records.encode, for_files=False),
    Codec(name="numbered", encode=numbered.encode, decode=numbered.decode),
    Codec(
        name="log_templates",
        encode=log_templates.encode,
        decode=log_templates.decode,
    ),
    Codec(
        name="search_hits", encode=search_hits.encode, decode=search_hits.decode, for_files=False
    ),
)
"""In the order in which they are applied, each to the result of the one before."""


class Reencoded(NamedTuple):
    """A text in fewer tokens, and the codecs that made it, in the order they were applied."""

    text: str
    by: tuple[str, ...]


class CodecTable:
    """Codecs in their order, and what they made of each text: it stays in view for many turns.

    All callers must count tokens in the same way.
    """

    def __init__(self, rows: Sequence[Codec] = CODECS) -> None:
        self.rows: Final = tuple(rows)
        self.not_for_files: Final = frozenset(codec.name for codec in rows if not codec.for_files)
        self._known: dict[tuple[str, frozenset[str]], Reencoded | None] = {}

    def reencode(
        self, text: str, count: Callable[[str], int], *, without: frozenset[str] = frozenset()
    ) -> Reencoded | None:
        """Re-encode *text* in fewer tokens, as *count* counts them; `None` if too little is saved.

        *without* some codecs, by their names.
        """
        if len(text) < _MIN_CHARS:
            return None
        key = text, without
        if key not in self._known:
            self._known[key] = self._reencode(text, count, without)
        return self._known[key]

    def _reencode(
        self, text: str, count: Callable[[str], int], without: frozenset[str]
    ) -> Reencoded | None:
        before = tokens = 0
        now, by = text, list[str]()
        for codec in self.rows:
            if codec.name in without:
                continue
            new = codec.apply(now)
            if new is None:
                continue
            before = before or count(text)
            tokens = tokens or before
            cost = count(new)
            if cost < tokens:
                now, tokens = new, cost
                by.append(codec.name)
        if before - tokens < max(_MIN_TOKENS, _MIN_SHARE * before):
            return None
        return Reencoded(now, tuple(by))

    def forget(self) -> None:
        """Forget everything, because the token counter has changed."""
        self._known.clear()


def reencode(text: str, count: Callable[[str], int]) -> Reencoded | None:
    """Re-encode *text* by refold's own codecs; `None` if too little is saved."""
    return CodecTable().reencode(text, count)


def check_codecs(codecs: Sequence[Codec] | None) -> tuple[Codec, ...]:
    """Return the codecs that a caller chose, or refold's own.

    Raises `ConfigError` for what is not a codec, and for two of them with the same name.
    """
    if codecs is None:
        return CODECS
    check_rows("codecs", codecs, Codec)
    return tuple(codecs)
