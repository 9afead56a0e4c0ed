"""Marks: plain words in brackets that say what stands in for what, and a handle to fetch the whole.

    [part #kdbfq]                                above the pieces that are shown of a text
    [24 messages, shortened #kdbfq]              above those of a stretch of messages
    [reformatted #kdbfq]                         above the same data in fewer tokens
    [same as the result of read_file a.py above #kdbfq]
    import os … [shortened, sent whole #kdbfq]   after how a long argument of a call begins
    … [shortened from 1,100 tokens; whole text: #kdbfq]   after the result of a tool

A message has one mark: every one costs about ten tokens of what could be shown instead.
"""

from __future__ import annotations

from typing import Final

from refold.lazy import regex

AMOUNT: Final = r"[0-9]{1,9}+"
"""A pattern for an amount: a figure."""
HANDLE_CHARS: Final = 5
"""Letters of a handle that a model sees: unique in its view, and looked up within its conversation.
Links have 128 bits whatever the handle is; with eight letters a model foresaw .012 to .017 less of
the next turns, for the room that they took."""
ANCHOR_CHARS: Final = 28
"""The fewest letters that make 128 bits."""
MOST_CHARS: Final = 36
"""Letters of the longest handle that is recognized."""
NAMED: Final = "Also named: "
SENT_WHOLE: Final = "shortened, sent whole"
_ENDS: Final = str.maketrans({"[": "(", "]": ")", "\n": " ", "#": " "})
"""What would end a mark, or begin a handle."""
_MAX_NAME: Final = 100
"""Calls longer than this are not repeated to name what they returned."""


def count_things(count: int, noun: str) -> str:
    """Spell a number with its noun, given in the singular: `1 line`, `37 lines`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


GAP: Final = "…"
"""A bit is left out here, or more than a bit on either side of how much."""
BETWEEN: Final = f" {GAP} "
"""Between two pieces of a line."""
NEXT_LINE: Final = f"\n{GAP} "
"""Before a piece that begins a line."""
_CHARS_A_WORD: Final = 20
"""Where words are longer than this, there are hardly any blanks, and characters are counted."""
_LINE: Final = regex(rf"(?:{GAP} {AMOUNT} (?:line|word|character)s? )?+[{GAP} ]*+")


def gap(size: str) -> str:
    """Mark that something of this size is left out."""
    return f"{GAP} {size} {GAP}"


def size_of(text: str, start: int, end: int, *, least_lines: int, least_chars: int) -> str:
    """Spell how many lines or words `text[start:end]` has; "" if these are few."""
    lines = text.count("\n", start, end)
    if lines >= least_lines:
        return count_things(lines, "line")
    chars = end - start
    if chars < least_chars:
        return ""
    words = len(text[start:end].split())
    if _CHARS_A_WORD * words >= chars:
        return count_things(words, "word")
    return count_things(chars, "character")


def more(count: int, noun: str) -> str:
    """Mark that a list or object has more items that are left out: `… 12 more items`."""
    return f"{GAP} {count} more {noun}{'' if count == 1 else 's'}"


def is_gap(line: str) -> bool:
    """Return whether a line says only that something is left out."""
    return GAP in line and _LINE.fullmatch(line) is not None


def without_gaps(text: str) -> str:
    """Return *text* without the gaps that have a line of their own."""
    if GAP not in text:
        return text
    return "\n".join(line for line in text.split("\n") if not _LINE.fullmatch(line) or not line)


def show_handle(handle: str) -> str:
    """Spell a handle as it is shown."""
    return f"#{handle}"


def ends_in(text: str, handle: str) -> bool:
    """Return whether a mark or tag in *text* shows exactly this handle."""
    return f"#{handle}]" in text


_HANDLE_ROOM: Final = 40
"""Where the mark ends after the longest handle."""


def find_handle(text: str, short: str) -> str:
    """Return the handle in *text* that begins with a *short* one; "" if there is none."""
    start = text.find(f"#{short}")
    while start >= 0:
        end = text.find("]", start, start + _HANDLE_ROOM)
        if end > 0 and text[start + 1 : end].isalpha():
            return text[start + 1 : end]
        start = text.find(f"#{short}", start + 1)
    return ""


def put_handle(text: str, old: str, handle: str) -> str:
    """Show *handle* in a text of a stand-in, in the place of the *old* one, if it has any."""
    if old:
        return text.replace(f"#{old}]", f"#{handle}]", 1)
    return f"{text.removesuffix(']')} | #{handle}]"


def mark(words: str, handle: str = "") -> str:
    """Put *words* into a mark."""
    return f"[{words} #{handle}]" if handle else f"[{words}]"


def head(words: str, handle: str, body: str) -> str:
    """Put a mark above *body*; nothing may end in a line break, which some providers refuse."""
    return f"{mark(words, handle)}\n{body}" if body else mark(words, handle)


def excerpt(body: str, handle: str = "") -> str:
    """Mark what is shown of a text: `[part #kdbfq]`, or `[shortened #kdbfq]` if nothing is."""
    return head("part" if body else "shortened", handle, body)


def digest(body: str, messages: int, handle: str = "") -> str:
    """Mark what is shown of a stretch of messages, or only say how many: `[24 messages #kdbfq]`."""
    count = count_things(messages, "message")
    return head(f"{count}, shortened" if body else count, handle, body)


def argument(text: str, handle: str = "") -> str:
    """Spell how a long argument of a call begins; the mark stands after it, and says what was.

    A model continues as it began: of a mark in front, it would make the beginning of its next call.
    """
    return f"{text} {GAP} {mark(SENT_WHOLE, handle)}"


def reformatted(body: str, handle: str = "") -> str:
    """Mark *body* as the same data in fewer tokens."""
    return head("reformatted", handle, body)


def same_result(call: str, handle: str = "") -> str:
    """Refer to what an earlier call returned: by the call, which a model can see, never by half."""
    is_name = call and len(call) <= _MAX_NAME and call == _plain(call)
    return mark(f"same as the {f'result of {call}' if is_name else 'copy'} above", handle)


_LOSSLESS_MARKS: Final = (reformatted("").removesuffix("]"), same_result("").partition("copy")[0])


def is_lossless_mark(text: str) -> bool:
    """Return whether the stand-in *text* leaves nothing out: it is reformatted or a reference."""
    return any(mark in text for mark in _LOSSLESS_MARKS)


def media(kind: str, what: str, handle: str = "") -> str:
    """Mark an image, a recording or a file that is left out."""
    return mark(f"{kind} left out: {_plain(what)}", handle)


def _plain(words: str) -> str:
    """Take out of foreign words what would end a mark."""
    return words.translate(_ENDS)


_HANDLE: Final = "…"
"""Stands for a handle where none is meant: models copy an example that could be one."""
_PART, _DIGEST = excerpt(GAP, _HANDLE).split("\n")[0], digest(GAP, 24, _HANDLE).split("\n")[0]
_LEGEND: Final = (
    f"Older parts are shortened: {_PART} stands above what is shown of a text, {_DIGEST} of a "
    "stretch, where user: and assistant: name speakers and → leads to what a call "
    f"returned. {reformatted('', _HANDLE)} is complete, {same_result('', _HANDLE)} repeats; "
    f"{excerpt('', _HANDLE)} and {digest('', 24, _HANDLE)} show nothing. {GAP} is a gap. "
    f"{mark(SENT_WHOLE, _HANDLE)} ends an argument the tool received in full; "
    "repeat it in full. Ask for what is missing in words or by the letters after #. "
    "Never write marks."
)


def legend() -> str:
    """Return the few sentences that explain the marks to a model, for a system prompt.

    The description of `retrieve_tool` has them, too.
    """
    return _LEGEND
