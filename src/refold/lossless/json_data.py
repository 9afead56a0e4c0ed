"""JSON documents: the same data without most quotes, commas and repeated names."""

from __future__ import annotations

import re
from typing import Final

from refold.lossless.base import Codec
from refold.lossless.json_plain import read_plain, write_plain
from refold.lossless.json_table import ROWS
from refold.lossless.json_tree import (
    find_documents,
    minify,
    replace_documents,
    scan_documents,
)

_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
_SIGNS: Final = ("\n{", "\n[")


def _sees(text: str) -> bool:
    return text.startswith(("{", "[")) or any(sign in text for sign in _SIGNS)


def _encode(text: str) -> str | None:
    documents = find_documents(text) if ROWS not in text else []
    if not documents:
        return None
    encoded = replace_documents(text, documents, write_plain)
    # Half a character that stood as an escape must not get into the text itself.
    if "\\u" in text and _SURROGATE.search(encoded) and not _SURROGATE.search(text):
        return None
    return encoded


def _decode(text: str) -> str:
    return replace_documents(text, list(scan_documents(text, read_plain)), minify)


def _normal(text: str) -> str:
    """Return *text* with its JSON documents minified: numbers and order as they were."""
    return replace_documents(text, find_documents(text), minify) if _sees(text) else text


CODEC: Final = Codec(name="json_data", sees=_sees, encode=_encode, decode=_decode, normal=_normal)
