"""Cut a text down to its beginning and its end, and say how much is left out."""

from __future__ import annotations

from typing import Final

from refold.notation.gaps import gap, size_of
from refold.notation.notes import note, shortened_from
from refold.text.truncate import cut

_HEAD_SHARE: Final = 2 / 3
_GAP_BYTES: Final = 48
"""What the mark between beginning and end takes at most, with its line breaks."""
_CLUSTER: Final = 128
"""More characters than what a reader sees as one can have."""


def size(text: str) -> int:
    """Return the length of *text* in bytes of UTF-8."""
    return len(text.encode("utf-8", "surrogatepass"))


def head_and_tail(text: str, max_bytes: int, handle: str = "") -> str:
    """Keep the beginning and the end: whole lines, unless they are very long."""
    said = f"[{note(shortened_from(size(text), 'bytes'), handle)}]"
    room = max_bytes - size(said) - _GAP_BYTES
    head = _head(text, int(room * _HEAD_SHARE))
    tail = _tail(text[len(head) :], room - size(head))
    left = size_of(text, len(head), len(text) - len(tail), least_lines=1, least_chars=0)
    return f"{head.rstrip(chr(10))}\n{gap(left)}\n{tail.rstrip(chr(10))}\n{said}"


def _head(text: str, room: int) -> str:
    """Return the beginning of *text* in at most *room* bytes."""
    data = text[:room].encode("utf-8", "surrogatepass")
    end = min(room, len(data))
    while end < len(data) and data[end] & 0xC0 == 0x80:
        end -= 1
    raw = data[:end].decode("utf-8", "surrogatepass")
    border = raw.rfind("\n") + 1
    return raw[:border] if border * 2 >= len(raw) else cut(text, len(raw))


def _tail(text: str, room: int) -> str:
    """Return the end of *text* in at most *room* bytes."""
    data = text[-room:].encode("utf-8", "surrogatepass")
    start = max(len(data) - room, 0)
    while start < len(data) and data[start] & 0xC0 == 0x80:
        start += 1
    raw = data[start:].decode("utf-8", "surrogatepass")
    border = raw.find("\n") + 1
    if border and border * 2 <= len(raw):
        return raw[border:]
    window = text[-len(raw) - _CLUSTER :]
    place = len(window) - len(raw)
    while place < len(window) and len(cut(window, place)) < place:
        place += 1
    return window[place:]


def clip(text: str, chars: int) -> str:
    """Keep about *chars* characters of *text*, from both ends, if that is shorter."""
    head, tail = cut(text, chars - chars // 3), text[max(len(text) - chars // 3, 0) :]
    left = size_of(text, len(head), len(text) - len(tail), least_lines=2, least_chars=0)
    short = f"{head}{gap(left)}{tail}"
    return short if len(text) > chars and len(short) < len(text) else text
