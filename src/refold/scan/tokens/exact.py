"""Exact token counts, offline: the public vocabularies ship with the package."""

from __future__ import annotations

import lzma
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Final

from refold.scan.truncate import encodable
from refold.shipped import read_shipped

if TYPE_CHECKING:
    import tiktoken

_CONTRACTION: Final = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_PATTERNS: Final = {
    "cl100k_base": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
        r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    ),
    "o200k_base": "|".join(
        (
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
            rf"{_CONTRACTION}?",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
            rf"{_CONTRACTION}?",
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        )
    ),
}
ENCODINGS: Final = tuple(_PATTERNS)


class ExactCounter:
    """Counts with the very tokenizer of the model; special tokens in a text count as plain text."""

    def __init__(self, encoding: str) -> None:
        self.encoding = encoding
        self._encoding = _load(encoding)

    def __call__(self, text: str) -> int:
        """Return the number of tokens of *text*."""
        try:
            return len(self._encoding.encode_ordinary(text))
        except UnicodeEncodeError:  # a lone surrogate: providers see a replacement character
            return len(self._encoding.encode_ordinary(encodable(text)))

    def __repr__(self) -> str:
        return f"ExactCounter({self.encoding!r})"


@lru_cache(maxsize=len(ENCODINGS))
def _load(name: str) -> tiktoken.Encoding:
    """Build the encoding from our own copy of its vocabulary; immutable, so one is enough."""
    import tiktoken  # heavy, so imported only for exact counts

    return tiktoken.Encoding(
        name, pat_str=_PATTERNS[name], mergeable_ranks=_read_ranks(name), special_tokens={}
    )


def _read_ranks(name: str) -> dict[bytes, int]:
    """Read a vocabulary: the lengths of all tokens in order of rank, then the tokens themselves."""
    packed = read_shipped("refold.scan.tokens", f"vocab/{name}.xz")
    data = lzma.decompress(packed)
    count = _SIZES[name]
    edges = accumulate(data[:count], initial=count)
    return {data[start:end]: rank for rank, (start, end) in enumerate(pairwise(edges))}


_SIZES: Final = {"cl100k_base": 100_256, "o200k_base": 199_998}
