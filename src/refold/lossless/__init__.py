"""The same data in fewer tokens: one codec per file, one ordered table.

Nothing is left out, so nothing needs to be fetched: a language model reads the re-encoded text as
it is. Each codec proves itself on the very text it is used for, by decoding what it wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from refold.errors import FormatError
from refold.lossless import (
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
from refold.lossless.base import Codec

__all__ = ["AS_A_WHOLE", "CODECS", "IN_PARTS", "Codec", "Reencoded", "decode", "normal", "reencode"]

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

IN_PARTS: Final = tuple(codec for codec in CODECS if codec.reads_in_parts)
"""Those for a text of which only parts will be shown."""
AS_A_WHOLE: Final = tuple(codec for codec in CODECS if not codec.reads_in_parts)
"""The others: lines mean nothing without the ones that they refer to."""

_BY_NAME: Final = {codec.name: codec for codec in CODECS}

_MIN_SHARE: Final = 0.03
_MIN_TOKENS: Final = 8
"""What a new form must save of the tokens: below that it is not worth being unfamiliar."""
_MIN_CHARS: Final = 40


@dataclass(frozen=True, slots=True)
class Reencoded:
    """A text in fewer tokens, and the codecs that made it, in the order they were applied."""

    text: str
    by: tuple[str, ...]


def reencode(
    text: str, count: Callable[[str], int], codecs: Sequence[Codec] = CODECS
) -> Reencoded | None:
    """Say *text* in fewer tokens as *count* counts them; `None` if nothing is won.

    The result is only given if it saves enough and decodes to `normal(text)`. If it does not, some
    codec took its own text for an encoded one; then each has to prove itself alone.
    """
    if len(text) < _MIN_CHARS:
        return None
    result = _apply(text, count, codecs, _changed)
    if result is None or _decodes_to(result, normal(text)):
        return result
    result = _apply(text, count, codecs, _proven)
    return result if result and _decodes_to(result, normal(text)) else None


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


def _changed(codec: Codec, text: str) -> str | None:
    """Return what *codec* makes of *text*; `None` if it changes nothing."""
    new = codec.encode(text) if codec.sees(text) else None
    return new if new != text else None


def _proven(codec: Codec, text: str) -> str | None:
    """Return what *codec* makes of *text* if that decodes to the same data."""
    new = _changed(codec, text)
    if new is None:
        return None
    try:
        return new if codec.decode(new) == codec.normal(text) else None
    except FormatError:
        return None


def _decodes_to(result: Reencoded, data: str) -> bool:
    try:
        return decode(result) == data
    except FormatError:
        return False


def decode(encoded: Reencoded) -> str:
    """Give the text back that was re-encoded, in its normal form.

    Raises `FormatError` for a text that `reencode` did not write.
    """
    text = encoded.text
    for name in reversed(encoded.by):
        if name not in _BY_NAME:
            raise FormatError(f"no codec is called {name!r}; known are {', '.join(_BY_NAME)}")
        text = _BY_NAME[name].decode(text)
    for codec in CODECS:
        if codec.name not in encoded.by:  # the others gave their normal form already
            text = codec.normal(text)
    return text


def normal(text: str) -> str:
    """Return the form in which two texts with the same data are equal.

    Terminal noise and blanks at line ends are gone, JSON documents are minified with their numbers
    and keys as they were. Every other codec gives its text back to the letter.
    """
    for codec in CODECS:
        text = codec.normal(text)
    return text
