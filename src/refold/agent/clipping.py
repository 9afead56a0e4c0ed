"""Cut a text down to its beginning and its end, and say how much is left out."""

from __future__ import annotations

from typing import Final

from refold.text.truncate import cut

_HEAD_SHARE: Final = 2 / 3
_CLUSTER: Final = 128
"""More characters than what a reader sees as one can have."""


def size(text: str) -> int:
    """Return the length of *text* in bytes of UTF-8."""
    return len(text.encode("utf-8", "surrogatepass"))


def head_and_tail(text: str, max_bytes: int, handle: str = "") -> str:
    """Keep the beginning and the end: whole lines, unless they are very long."""
    room = max_bytes - size(_left_out(text, handle)) - 2
    head = _head(text, int(room * _HEAD_SHARE))
    tail = _tail(text[len(head) :], room - size(head))
    mark = _left_out(text[len(head) : len(text) - len(tail)], handle)
    return f"{head}{'' if head.endswith(chr(10)) else chr(10)}{mark}\n{tail}"


def _left_out(text: str, handle: str) -> str:
    whole = f"; whole result: #{handle}" if handle else ""
    return f"[… {text.count(chr(10))} lines, {size(text)} bytes left out{whole} …]"


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
    short = f"{head}… {len(text) - len(head) - len(tail)} chars left out …{tail}"
    return short if len(text) > chars and len(short) < len(text) else text
