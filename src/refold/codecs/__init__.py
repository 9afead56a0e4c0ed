"""The same data in fewer tokens: one codec per file, one ordered table.

Nothing is left out, so nothing needs to be fetched: a language model reads the re-encoded text as
it is. Each codec proves itself on the very text it is used for, by decoding what it wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import Final

from refold.checks import check_rows
from refold.codecs import (
    bar_table,
    blocks,
    columns,
    dates,
    diff_header,
    indent,
    json_data,
    listing,
    log_templates,
    numbered,
    paths,
    repeats,
    search_hits,
    terminal,
    tree,
)
from refold.codecs.base import Codec, same
from refold.errors import FormatError

__all__ = [
    "CODECS",
    "TABLE",
    "Codec",
    "CodecTable",
    "Reencoded",
    "decode",
    "normal",
    "reencode",
    "table_of",
]

CODECS: Final[tuple[Codec, ...]] = (
    terminal.CODEC,
    json_data.CODEC,
    numbered.CODEC,
    repeats.CODEC,
    blocks.CODEC,
    log_templates.CODEC,
    dates.CODEC,
    search_hits.CODEC,
    paths.CODEC,
    diff_header.CODEC,
    listing.CODEC,
    tree.CODEC,
    bar_table.CODEC,
    columns.CODEC,
    indent.CODEC,
)
"""In the order in which they are applied; each one sees what the one before made of the text."""

_MIN_SHARE: Final = 0.03
_MIN_TOKENS: Final = 8
"""What a new form must save of the tokens: below that it is not worth being unfamiliar."""
_MIN_CHARS: Final = 40
"""A shorter text has hardly `_MIN_TOKENS` to save: it is not tried."""


@dataclass(frozen=True, slots=True)
class Reencoded:
    """A text in fewer tokens, and the codecs that made it, in the order they were applied."""

    text: str
    by: tuple[str, ...]


class CodecTable:
    """Codecs in the order in which they are applied, and how texts are said with them."""

    def __init__(self, codecs: Sequence[Codec]) -> None:
        self.codecs: Final = tuple(codecs)
        self.in_parts: Final = tuple(codec for codec in codecs if codec.reads_in_parts)
        """Those for a text of which only parts will be shown."""
        self.as_a_whole: Final = tuple(codec for codec in codecs if not codec.reads_in_parts)
        """The others: lines mean nothing without the ones that they refer to."""
        self._by_name: Final = {codec.name: codec for codec in codecs}
        self._normalizing: Final = [codec for codec in codecs if codec.normal is not same]

    def reencode(
        self, text: str, count: Callable[[str], int], codecs: Sequence[Codec] | None = None
    ) -> Reencoded | None:
        """Say *text* in fewer tokens as *count* counts them; `None` if nothing is won.

        By some *codecs* of the table only, if they are given. The result is only given if it saves
        enough and decodes to `normal(text)`. If it does not, some codec took its own text for an
        encoded one; then each has to prove itself alone.
        """
        if len(text) < _MIN_CHARS:
            return None
        used = self.codecs if codecs is None else codecs
        result = _apply(text, count, used, self._changed)
        if result is None or self._says(result, text):
            return result
        result = _apply(text, count, used, self._proven)
        return result if result and self._says(result, text) else None

    def decode(self, encoded: Reencoded) -> str:
        """Give the text back that was re-encoded, in its normal form.

        Raises `FormatError` for a text that `reencode` did not write.
        """
        text = encoded.text
        for name in reversed(encoded.by):
            if name not in self._by_name:
                known = ", ".join(self._by_name)
                raise FormatError(f"no codec is called {name!r}; known are {known}")
            text = self._by_name[name].decode(text)
        for codec in self._normalizing:
            if codec.name not in encoded.by:  # the others gave their normal form already
                text = codec.normal(text)
        return text

    def normal(self, text: str) -> str:
        """Return the form in which two texts with the same data are equal.

        Terminal noise and blanks at line ends are gone, JSON documents are minified with their
        numbers and keys as they were. Every other codec gives its text back to the letter.
        """
        for codec in self._normalizing:
            text = codec.normal(text)
        return text

    def _says(self, result: Reencoded, text: str) -> bool:
        """Tell whether *result* decodes to the data of *text*."""
        try:
            return self.decode(result) == self.normal(text)
        except FormatError:
            return False

    def _changed(self, codec: Codec, text: str) -> str | None:
        """Return what *codec* makes of *text*; `None` if it changes nothing."""
        new = codec.encode(text) if codec.sees(text) else None
        return new if new != text else None

    def _proven(self, codec: Codec, text: str) -> str | None:
        """Return what *codec* makes of *text* if that decodes to the same data."""
        new = self._changed(codec, text)
        if new is None:
            return None
        try:
            return new if codec.decode(new) == codec.normal(text) else None
        except FormatError:
            return None


def _apply(
    text: str,
    count: Callable[[str], int],
    codecs: Sequence[Codec],
    new_form: Callable[[Codec, str], str | None],
) -> Reencoded | None:
    """Apply every codec whose new form costs less; `None` if all together save too little."""
    before: int | None = None
    now, tokens = text, 0
    by: list[str] = []
    has_lines = "\n" in text
    for codec in codecs:
        new = new_form(codec, now) if has_lines or codec.on_one_line else None
        if new is None:
            continue
        if before is None:
            before = tokens = count(text)
        cost = count(new)
        if cost < tokens:
            now, tokens, has_lines = new, cost, "\n" in new
            by.append(codec.name)
    if before is None or before - tokens < max(_MIN_TOKENS, _MIN_SHARE * before):
        return None
    return Reencoded(now, tuple(by))


TABLE: Final = CodecTable(CODECS)
reencode: Final = TABLE.reencode
decode: Final = TABLE.decode
normal: Final = TABLE.normal


def table_of(codecs: Sequence[Codec] | None) -> CodecTable:
    """Return a table of what a caller chose; by default that of refold's own codecs.

    Raises `ConfigError` for what is no codec, and for two of them with the same name.
    """
    if codecs is None:
        return TABLE
    check_rows("codecs", codecs, Codec)
    return TABLE if tuple(codecs) == CODECS else CodecTable(codecs)


class CachedCodecTable(CodecTable):
    """A table that caches its results; all callers must count tokens in the same way.

    What a tool returned stays in view for many turns, and each of them would try again.
    """

    def __init__(self, table: CodecTable) -> None:
        super().__init__(table.codecs)
        self._names: Final = _names_of(self.in_parts), _names_of(self.codecs)
        self._known: dict[tuple[str, tuple[str, ...]], Reencoded | None] = {}
        self._made: dict[tuple[str, str], str | None] = {}
        """What a codec made of a text: with some of the codecs first, then with all of them."""
        self._said: dict[tuple[str, Reencoded], bool] = {}
        """Whether a result says the same as its text."""

    def reencode(
        self, text: str, count: Callable[[str], int], codecs: Sequence[Codec] | None = None
    ) -> Reencoded | None:
        """Say *text* in fewer tokens, as it was said before if it was."""
        if codecs is None or codecs is self.in_parts:
            names = self._names[codecs is None]
        else:
            names = _names_of(codecs)
        key = text, names
        if key not in self._known:
            self._known[key] = super().reencode(text, count, codecs)
        return self._known[key]

    def _says(self, result: Reencoded, text: str) -> bool:
        key = text, result
        if key not in self._said:
            self._said[key] = super()._says(result, text)
        return self._said[key]

    def _changed(self, codec: Codec, text: str) -> str | None:
        if not codec.sees(text):
            return None
        key = text, codec.name
        if key not in self._made:
            new = codec.encode(text)
            self._made[key] = new if new != text else None
        return self._made[key]

    def forget(self) -> None:
        """Forget everything: the counter has learned."""
        self._known.clear()
        self.forget_steps()

    def keep_only(self, texts: Container[str]) -> None:
        """Forget what was made of all other texts."""
        self.forget_steps()
        self._known = {key: made for key, made in self._known.items() if key[0] in texts}

    def forget_steps(self) -> None:
        """Forget what lies between a text and what was made of it: only one plan looks twice."""
        self._made.clear()
        self._said.clear()


def _names_of(codecs: Sequence[Codec]) -> tuple[str, ...]:
    return tuple([codec.name for codec in codecs])
