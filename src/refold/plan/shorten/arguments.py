"""Clip the long strings among the arguments of a call to their beginning; JSON stays JSON.

What a call writes into a file may be longer than the rest of a view. A reader has to know which
tool was called and about what, and a provider has to accept the call: the same keys, and values of
the same types. So only the contents of long strings are cut.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

from refold.messages.message import Call, Message
from refold.messages.wire import spell
from refold.notation.marks import argument
from refold.scan.structure import is_json
from refold.scan.truncate import cut, cut_words

_MAX_CHARS: Final = 1_200
"""Longer strings are clipped: a command or a short script fits, the text of a file does not. With
400, of which 120 are shown, a model foresees .05 less of values in coding runs at 30 % of the
tokens."""
_SHOWN_CHARS: Final = 400
"""What is shown of a clipped string: some lines, so that the agent knows what it wrote."""
_JSON_STRING: Final = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"(\s*+:)?)?')
"""A JSON string; followed by a colon, a key. Possessive, so that one without an end costs no
more."""
_WORD: Final = re.compile(r"[^\W\u2e80-\U0003ffff]")
_WORD_END: Final = re.compile(r"(?<=\W)[^\W\u2e80-\U0003ffff]+\Z")
"""Letters and digits of scripts with spaces between words."""


def may_clip(message: Message) -> bool:
    """Tell cheaply whether *message* may have a call that can be clipped."""
    return not message.is_fixed and any(map(_is_long, message.calls))


def clip_calls(message: Message, handle: str) -> dict[int, Call]:
    """Return the calls of *message* that have long arguments, clipped, by their numbers.

    The first clipped string of each call shows the *handle*.
    """
    if not may_clip(message):
        return {}
    clipped = ((number, clip_call(call, handle)) for number, call in enumerate(message.calls))
    return {number: call for number, call in clipped if call is not None}


def clip_call(call: Call, handle: str) -> Call | None:
    """Return *call* with its long arguments clipped; `None` if it has none, or may not change."""
    short = _clip(call.given, handle) if _is_long(call) else None
    return None if short is None else call.given_as(short)


def _is_long(call: Call) -> bool:
    return call.path is not None and len(call.spelled) > _MAX_CHARS


def _clip(arguments: object, handle: str) -> object:
    """Return *arguments* with long strings clipped; `None` if there are none, or it is no JSON."""
    if isinstance(arguments, str):
        short = _clip_json(arguments, handle) if is_json(arguments) else arguments
        return short if short != arguments else None
    if not isinstance(arguments, Mapping):
        return None
    text = spell(arguments)
    try:
        if json.loads(text) != arguments:  # holds values that JSON cannot represent
            return None
        short = _clip_json(text, handle)
        return json.loads(short) if short != text else None
    except (ValueError, RecursionError):
        return None


def _clip_json(text: str, handle: str) -> str:
    """Clip the long strings of a JSON text; everything else stays as it is written."""
    left = [handle]

    def clip(found: re.Match[str]) -> str:
        spelled = found[0]
        if found[1] or len(spelled) <= _MAX_CHARS:
            return spelled
        value = json.loads(spelled, strict=False)
        said = argument(_begin(value), left[0] if left else "")
        short = json.dumps(said, ensure_ascii=spelled.isascii() and "\\u" in spelled)
        if len(short) >= len(spelled):
            return spelled
        left.clear()
        return short

    return _JSON_STRING.sub(clip, text)


def _begin(text: str) -> str:
    """Return the beginning of a long *text*: its first lines, or the first words of a long line."""
    short = cut(text, _SHOWN_CHARS)
    lines, _, _ = short.rpartition("\n")
    if lines.strip():
        return lines.rstrip()
    words = cut_words(text, _SHOWN_CHARS)
    # A path or URL is cut after a name in it, a long word where it must be.
    return _WORD_END.sub("", words) if _WORD.match(text, len(words)) else words
