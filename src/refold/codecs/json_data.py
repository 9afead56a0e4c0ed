"""JSON documents: the same data without most quotes, commas and repeated names.

Like records on lines of their own become rows below the first, as those of a list do:

    JSON lines [{level=info job="letters to the harbour" took:12}
    rows of job|took, the rest as above:
    parcels to the station|7
    ]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from refold.codecs.base import Codec
from refold.codecs.json_plain import (
    ROWS,
    SHORT_LINES,
    is_long,
    is_text,
    read_plain,
    write_plain,
    write_rows,
)
from refold.codecs.json_tree import (
    LINES,
    Document,
    Json,
    find_documents,
    minify,
    replace_documents,
    scan_documents,
)
from refold.rows import Needs

_NEEDS: Final = Needs(re.compile(r"\n[{\[]"))
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
# From a quote that no backslash is before: what one try passes over, no other one does.
_LONG_STRING: Final = re.compile(rf'(?<!\\)"(?:[^"\\\n]|\\.){{{SHORT_LINES},}}+"')


class _Lines(list[Json]):
    """Records that stand on lines of their own."""

    __slots__ = ()


def _encode(text: str) -> str | None:
    documents = find_documents(text) if ROWS not in text else []
    return _respell(text, list(_joined(documents)), _write) if documents else None


def open_texts(text: str) -> str | None:
    """Encode *text* so that long texts in its documents stand as they are, line by line.

    A part of the result then begins and ends between lines or sentences, never inside a quoted
    text. Returns `None` if there are no such texts, or if the result does not decode.
    """
    documents = find_documents(text) if may_open(text) and ROWS not in text else []
    if not any(map(_holds_long_text, documents)):
        return None
    opened = _respell(text, documents, _write_opened)
    normal = replace_documents(text, documents, minify)
    return opened if opened and _decode(opened) == normal else None


def may_open(text: str) -> bool:
    """Return, after a cheap test, whether there may be a long text in a document."""
    if not _NEEDS(text):
        return False
    if max(map(len, text.replace('\\"', "  ").split('"'))) < SHORT_LINES:
        return False  # many times as fast as the pattern
    return _LONG_STRING.search(text) is not None


def _holds_long_text(document: Document) -> bool:
    nodes: list[Json] = [document.value]
    while nodes:
        node = nodes.pop()
        if isinstance(node, dict):
            nodes += node.values()
        elif isinstance(node, list):
            nodes += node
        elif is_text(node) and is_long(node):
            return True
    return False


def _respell(text: str, documents: list[Document], write: Callable[[Json], str]) -> str | None:
    encoded = replace_documents(text, documents, write)
    # Half a character that stood as an escape must not get into the text itself.
    if "\\u" in text and _SURROGATE.search(encoded) and not _SURROGATE.search(text):
        return None
    return encoded


def _joined(documents: list[Document]) -> Iterator[Document]:
    """Join records on lines below each other that can be written as rows."""
    place = 0
    while place < len(documents):
        end = place + 1
        while end < len(documents) and documents[end].start == documents[end - 1].end + 1:
            end += 1
        run = documents[place:end]
        records = _Lines(document.value for document in run)
        if write_rows(records) is None:
            yield from run
        else:
            yield Document(run[0].start, run[-1].end, records)
        place = end


def _write_opened(value: Json) -> str:
    return write_plain(value, opens=True)


def _write(value: Json) -> str:
    return f"{LINES}{write_plain(value)}" if isinstance(value, _Lines) else write_plain(value)


def _decode(text: str) -> str:
    return replace_documents(text, list(scan_documents(text, _read)), _minified)


def _read(text: str, place: int) -> tuple[Json, int]:
    if not text.startswith(LINES, place):
        return read_plain(text, place)
    value, end = read_plain(text, place + len(LINES))
    return _Lines(value) if isinstance(value, list) else value, end


def _minified(value: Json) -> str:
    return "\n".join(map(minify, value)) if isinstance(value, _Lines) else minify(value)


def _normal(text: str) -> str:
    """Return *text* with its JSON documents minified: numbers and order as they were."""
    return replace_documents(text, find_documents(text), minify)


CODEC: Final = Codec(
    name="json_data",
    encode=_encode,
    decode=_decode,
    normal=_normal,
    needs=_NEEDS,
    on_one_line=True,
)
