"""Lossless re-encoding in fewer tokens: one codec per file, one ordered table.

Nothing is left out, so nothing needs to be fetched: a language model reads the re-encoded text as
it is. Each codec proves itself on the very text it is used for, by decoding what it wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from refold.codecs import (
    json_data,
    log_templates,
    numbered,
    repeats,
    search_hits,
    terminal,
)
from refold.codecs.base import Codec, same
from refold.errors import FormatError
from refold.rows import Table, frame

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
    log_templates.CODEC,
    search_hits.CODEC,
)
"""In the order in which they are applied, each to the result of the one before."""

_MIN_SHARE: Final = 0.03
_MIN_TOKENS: Final = 8
"""What a new form must save: less does not justify an unfamiliar notation."""
_MIN_CHARS: Final = 40
"""A shorter text has hardly `_MIN_TOKENS` to save: it is not tried."""


@dataclass(frozen=True, slots=True)
class Reencoded:
    """A text in fewer tokens, and the codecs that made it, in the order they were applied."""

    text: str
    by: tuple[str, ...]


class CodecTable(Table[Codec]):
    """Codecs in the order in which they are applied, and how texts are re-encoded with them."""

    row_type: ClassVar[type] = Codec
    plural: ClassVar[str] = "codecs"

    def __init__(self, rows: Sequence[Codec]) -> None:
        super().__init__(rows)
        self.in_parts: Final = tuple(codec for codec in rows if codec.reads_in_parts)
        """Codecs for a text of which only parts will be shown."""
        self.as_a_whole: Final = tuple(codec for codec in rows if not codec.reads_in_parts)
        """The others: lines mean nothing without the ones that they refer to."""
        self._normalizing: Final = [codec for codec in rows if codec.normal is not same]

    def reencode(
        self, text: str, count: Callable[[str], int], codecs: Sequence[Codec] | None = None
    ) -> Reencoded | None:
        """Re-encode *text* in fewer tokens, as *count* counts them; `None` if too little is saved.

        By some *codecs* of the table only, if they are given. The result is only given if it saves
        enough and decodes to `normal(text)`. If it does not, some codec took its own text for an
        encoded one; then each has to prove itself alone.
        """
        if len(text) < _MIN_CHARS:
            return None
        used = self.rows if codecs is None else codecs
        result = self._apply(text, count, used)
        if result is None or self._is_proven(result, text):
            return result
        result = self._apply(text, count, used, each_proves_itself=True)
        return result if result and self._is_proven(result, text) else None

    def _apply(
        self,
        text: str,
        count: Callable[[str], int],
        codecs: Sequence[Codec],
        *,
        each_proves_itself: bool = False,
    ) -> Reencoded | None:
        """Apply every codec whose new form costs less; `None` if all save too little together."""
        before: int | None = None
        now, tokens = text, 0
        framed, line_breaks = frame(text), text.count("\n")
        by: list[str] = []
        for codec in codecs:
            if not (line_breaks or codec.on_one_line):
                continue
            if not codec.needs.are_met(framed, line_breaks):
                continue
            new = self._encode(codec, now)
            if new is None or (each_proves_itself and not _proves_itself(codec, new, now)):
                continue
            if before is None:
                before = tokens = count(text)
            cost = count(new)
            if cost < tokens:
                now, tokens = new, cost
                framed, line_breaks = frame(now), now.count("\n")
                by.append(codec.name)
        if before is None or before - tokens < max(_MIN_TOKENS, _MIN_SHARE * before):
            return None
        return Reencoded(now, tuple(by))

    def decode(self, encoded: Reencoded) -> str:
        """Return the text that was re-encoded, in its normal form.

        Raises `FormatError` for a text that `reencode` did not write.
        """
        text = encoded.text
        for name in reversed(encoded.by):
            if name not in self.by_name:
                known = ", ".join(self.by_name)
                raise FormatError(f"no codec is called {name!r}; known are {known}")
            text = self.by_name[name].decode(text)
        return self.normal(text, done=encoded.by)

    def normal(self, text: str, *, done: Container[str] = ()) -> str:
        """Return the form in which two texts with the same data are equal.

        Terminal noise and blanks at line ends are gone, JSON documents are minified with their
        numbers and keys as they were. Every other codec gives its text back to the letter. What the
        codecs named in *done* wrote is normal already.
        """
        for codec in self._normalizing:
            if codec.name not in done and codec.needs(text):
                text = codec.normal(text)
        return text

    def _encode(self, codec: Codec, text: str) -> str | None:
        """Return what *codec* makes of a *text* with all that it needs; `None` for no change."""
        new = codec.encode(text) if codec.sees(text) else None
        return new if new != text else None

    def _is_proven(self, result: Reencoded, text: str) -> bool:
        """Return whether *result* decodes to the data of *text*."""
        try:
            return self.decode(result) == self.normal(text)
        except FormatError:
            return False


def _proves_itself(codec: Codec, new: str, text: str) -> bool:
    """Return whether *codec* alone decodes what it made of *text* to the same data."""
    try:
        return codec.decode(new) == codec.normal(text)
    except FormatError:
        return False


TABLE: Final = CodecTable(CODECS)
reencode: Final = TABLE.reencode
decode: Final = TABLE.decode
normal: Final = TABLE.normal
table_of: Final = TABLE.choose


class CachedCodecTable(CodecTable):
    """A table that caches its results; all callers must count tokens in the same way.

    What a tool returned stays in view for many turns, and each of them would try again.
    """

    def __init__(self, table: CodecTable) -> None:
        super().__init__(table.rows)
        self._names: Final = _names_of(self.in_parts), _names_of(self.rows)
        self._results: dict[tuple[str, tuple[str, ...]], Reencoded | None] = {}
        self._encoded: dict[tuple[str, str], str | None] = {}
        """Results of single codecs: a text is encoded with some codecs first, then with all."""
        self._proven: dict[tuple[str, Reencoded], bool] = {}

    def reencode(
        self, text: str, count: Callable[[str], int], codecs: Sequence[Codec] | None = None
    ) -> Reencoded | None:
        """Re-encode *text*, or return what came of it before."""
        if codecs is None or codecs is self.in_parts:
            names = self._names[codecs is None]
        else:
            names = _names_of(codecs)
        key = text, names
        if key not in self._results:
            self._results[key] = super().reencode(text, count, codecs)
        return self._results[key]

    def _is_proven(self, result: Reencoded, text: str) -> bool:
        key = text, result
        if key not in self._proven:
            self._proven[key] = super()._is_proven(result, text)
        return self._proven[key]

    def _encode(self, codec: Codec, text: str) -> str | None:
        key = text, codec.name
        if key not in self._encoded:
            self._encoded[key] = super()._encode(codec, text)
        return self._encoded[key]

    def forget(self) -> None:
        """Forget everything, because the token counter has changed."""
        self._results.clear()
        self.forget_steps()

    def keep_only(self, texts: Container[str]) -> None:
        """Forget what was made of all other texts."""
        self.forget_steps()
        self._results = {key: made for key, made in self._results.items() if key[0] in texts}

    def forget_steps(self) -> None:
        """Forget what lies between a text and its result: only one plan asks for it twice."""
        self._encoded.clear()
        self._proven.clear()


def _names_of(codecs: Sequence[Codec]) -> tuple[str, ...]:
    return tuple([codec.name for codec in codecs])
