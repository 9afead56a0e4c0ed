"""Marks: plain words in brackets that say what stands in for what, and a handle to fetch the whole.

    [12% shown #kdbfq]                           above the pieces that are shown of a text
    [24 messages, shortened #kdbfq]              above those of a stretch of messages
    [reformatted #kdbfq]                         above the same data in fewer tokens
    [same as the result of read_file a.py above #kdbfq]
    import os … [shortened, sent whole #kdbfq]   behind how a long argument of a call begins
    … [shortened from 1,100 tokens; whole text: #kdbfq]   behind the result of a tool

A message has one mark: every one costs about ten tokens of what could be shown instead.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_DIGITS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
AMOUNT: Final = rf"(?:[0-9]{{1,2}}+|(?:{'|'.join(_DIGITS)})(?= hundred))(?: (?:hundred|thousand))*+"
"""A pattern for what `spell_amount` writes."""
_WORDS: Final = {"hundred": 100, "thousand": 1_000}
HANDLE_CHARS: Final = 5
"""Letters of a handle that a model sees: unique in its view, and looked up within its conversation.
Links have 128 bits whatever the handle is; with eight letters a model foresaw .012 to .017 less of
the next turns, for the room that they took."""
ANCHOR_CHARS: Final = 28
"""The fewest letters that make 128 bits."""
_TENTH: Final = 10
"""Percent; a mark that tells no share shows less."""
_LONG_CHARS: Final = 2_000
"""A digest of so many characters, about 500 tokens, says in a whole sentence what it is: that costs
about 15 tokens more than the short form. Handles and wordy marks together cost .01 to .03 of what a
judging model foresees at 15 % of the tokens, so nothing shorter does."""
NAMED: Final = "Also named: "
SENT_WHOLE: Final = "shortened, sent whole"
_ENDS: Final = str.maketrans({"[": "(", "]": ")", "\n": " ", "#": " "})
"""What would end a mark, or begin a handle."""
_MAX_NAME: Final = 100
"""Calls longer than this are not repeated to name what they returned."""


def spell_amount(count: int) -> str:
    """Spell a rounded number: `37`, `two hundred`, `11 hundred`, `30 thousand`.

    A number of three digits could be taken for a value of the conversation.
    """
    if count < 100:
        return str(count)
    if count < 9_950:
        hundreds = (count + 50) // 100
        return f"{_DIGITS[hundreds - 1] if hundreds <= len(_DIGITS) else hundreds} hundred"
    return f"{spell_amount((count + 500) // 1000)} thousand"


def read_amount(said: str) -> int:
    """Return the number that `spell_amount` spelled, as far as it tells."""
    number, *words = said.split()
    amount = _DIGITS.index(number) + 1 if number in _DIGITS else int(number)
    for word in words:
        amount *= _WORDS[word]
    return amount


def count_things(count: int, noun: str) -> str:
    """Spell a rounded number with its noun, given in the singular: `1 line`, `37 lines`."""
    return f"{spell_amount(count)} {noun}" if count == 1 else f"{spell_amount(count)} {noun}s"


GAP: Final = "…"
"""A bit is left out here, or more than a bit on either side of how much."""
_CHARS_A_WORD: Final = 20
"""Where words are longer than this, there are hardly any blanks, and characters are counted."""
_LINE: Final = re.compile(rf"(?:{GAP} {AMOUNT} (?:line|word|character)s? )?+[{GAP} ]*+")


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
    return f"{GAP} {spell_amount(count)} more {noun}{'' if count == 1 else 's'}"


def said_times(count: int) -> str:
    """Mark how often a line that is shown once occurred: ` ×41`."""
    return f" ×{spell_amount(count)}"


def is_gap(line: str) -> bool:
    """Return whether a line says only that something is left out."""
    return GAP in line and _LINE.fullmatch(line) is not None


def without_gaps(text: str) -> str:
    """Return *text* without the gaps that have a line of their own."""
    if GAP not in text:
        return text
    return "\n".join(line for line in text.split("\n") if not _LINE.fullmatch(line) or not line)


class Stretch(NamedTuple):
    """What a digest stands for."""

    messages: int
    typed: int = 0
    """How many of them a user wrote."""
    calls: int = 0
    """How many tools were called in them."""


def show_handle(handle: str) -> str:
    """Spell a handle as it is shown."""
    return f"#{handle}"


def ends_in(text: str, handle: str) -> bool:
    """Return whether a mark or tag in *text* shows exactly this handle."""
    return f"#{handle}]" in text


_AT_THE_END: Final = re.compile(r"#([a-z]+)\]")
"""A handle at the end of a mark or tag."""


def shown_handle(text: str, short: str) -> str:
    """Return the handle in *text* that begins with a *short* one; "" if there is none."""
    handles = _AT_THE_END.findall(text) if f"#{short}" in text else ()
    return next((handle for handle in handles if handle.startswith(short)), "")


def put_handle(text: str, shown: str, handle: str) -> str:
    """Show *handle* in a text of a stand-in, in the place of what is *shown*, if anything is."""
    if shown:
        return text.replace(f"#{shown}]", f"#{handle}]", 1)
    return f"{text.removesuffix(']')} | #{handle}]"


def mark(words: str, handle: str = "") -> str:
    """Put *words* into a mark."""
    return f"[{words} #{handle}]" if handle else f"[{words}]"


def head(words: str, handle: str, body: str) -> str:
    """Put a mark above *body*; nothing may end in a line break, which some providers refuse."""
    return f"{mark(words, handle)}\n{body}" if body else mark(words, handle)


def excerpt(body: str, percent: int, handle: str = "", errors: int = 0) -> str:
    """Spell a text of which only so much is shown: `[12% shown #handle]`.

    Less than a tenth is next to nothing, and told without a figure: `[shortened #handle]`.
    """
    words = f"{percent}% shown" if percent >= _TENTH else "shortened"
    return head(f"{words}{_errors(errors)}", handle, body)


def digest(body: str, stretch: Stretch, handle: str = "", errors: int = 0) -> str:
    """Spell a stretch of messages: a part of it below its mark, or only `[24 messages #handle]`.

    A long one opens with a sentence that says of what it is, and how to get it back.
    """
    messages = count_things(stretch.messages, "message")
    if len(body) < _LONG_CHARS:
        words = f"{messages}, shortened" if body else messages
        return head(f"{words}{_errors(errors)}", handle, body)
    kinds = [f"{spell_amount(stretch.typed)} by the user"] if stretch.typed else []
    kinds += [f"with {count_things(stretch.calls, 'call')}"] if stretch.calls else []
    of = f" ({', '.join(kinds)})" if kinds else ""
    words = f"{messages.replace(' message', ' earlier message')}{of}, shortened{_errors(errors)}"
    return head(f"{words}; fetch the whole text with" if handle else words, handle, body)


def _errors(count: int) -> str:
    """Spell how many errors are left out."""
    return f", {count_things(count, 'error')} left out" if count else ""


def argument(text: str, handle: str = "") -> str:
    """Spell how a long argument of a call begins; the mark stands behind it, and says what was.

    A model goes on as it began: of a mark in front, it would make the beginning of its next call.
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
_LEGEND: Final = (
    f"Parts of this conversation are shortened to save room: {excerpt('', 12, _HANDLE)} or "
    f"{excerpt('', 0, _HANDLE)} stands above the pieces that are shown of one text, "
    f"{digest('…', Stretch(24), _HANDLE).splitlines()[0]} above those of a stretch of messages, "
    f"and {reformatted('', _HANDLE)} above the same data in another form, with nothing left out. "
    f"Between the pieces, {gap('37 lines')} says how much is left out, a bare … stands for a bit, "
    f"and{said_times(41)} behind a line for how often it was said. "
    f"Behind how a long argument of a call begins, {mark(SENT_WHOLE, _HANDLE)} means that it is "
    "only shown shortened here: the tool got all of it, and your next call has to say all, too. "
    "Whatever is left out can be asked for, in plain words or by its handle: the letters after the "
    "# of a mark, which are no value of the conversation. These marks are not yours to write."
)


def legend() -> str:
    """Return the few sentences that explain to a model how shortened views are written.

    They are meant for a system prompt. `retrieve_tool` says the same in its description.
    """
    return _LEGEND
