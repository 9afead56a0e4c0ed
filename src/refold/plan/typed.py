"""Tell what a person typed from what was pasted or inserted by a program."""

from __future__ import annotations

import re
from typing import Final

from refold.kinds import kind_of
from refold.messages.formats.base import is_note
from refold.messages.message import Message
from refold.scan.patterns import HAN, KANA

MAX_TYPED_WORDS: Final = 150
"""A longer text was hardly typed for this turn; as prose, the rules summarize it."""
PROSE_KINDS: Final = frozenset({"prose", "page"})
"""The kinds of texts that are prose."""
_SHORT_CHARS: Final = 160
"""One line of no more characters counts as typed whatever it looks like: a path, a command, `x:
3`."""
_PLAIN_WORD: Final = re.compile(
    r"(?<!\S)[\"'(*_`“‘«¿¡]*+[^\W\d_]++(?:['’-][^\W\d_]++)*+[.,;:!?…)*_`\"'”’»]*+(?!\S)"
)
_PLAIN_SHARE: Final = 0.45
_NUMBER_SHARE: Final = 0.25
"""More of the words that people type are plain, and fewer have digits, than in listings, logs and
status lines of programs (tuned on recorded runs in which both come in the user's role)."""
_NUMBER: Final = re.compile(r"(?<!\S)[^\s\d]*+\d")
"""The beginning of a word, up to a digit."""
_UNSPACED: Final = re.compile(rf"[{KANA}{HAN}\u0e00-\u0eff]")
"""Scripts without spaces between words."""


def is_typed(message: Message) -> bool:
    """Tell whether *message* holds a text that a person typed for this turn."""
    if message.role != "user" or message.is_tool_result or not message.is_turn:
        return False
    return any(is_typed_text(part.text) for part in message.parts)


def reads_like_words(message: Message) -> bool:
    """Tell whether the longest text of *message* is prose, of any length, rather than data."""
    longest = max((part.text for part in message.parts), key=len, default="")
    return kind_of(longest) in PROSE_KINDS


def is_typed_text(text: str, kind: str | None = None) -> bool:
    """Tell whether a user's text was typed: prose of no more than about 150 words.

    Its *kind* is computed if it is not given.
    """
    stripped = text.strip()
    if not stripped or is_note(text):
        return False
    if len(text) <= _SHORT_CHARS:
        return "\n" not in stripped or is_in_words(text)
    if kind is not None and kind not in PROSE_KINDS:
        return False
    return len(text.split()) <= MAX_TYPED_WORDS and (kind or kind_of(text)) in PROSE_KINDS


def is_in_words(text: str) -> bool:
    """Tell whether *text* is mostly plain words, rather than names, numbers and symbols.

    >>> is_in_words("Rename it, please."), is_in_words("Tokens: 3,046 sent, 627 received.")
    (True, False)
    """
    words = text.split()
    plain, numbers = len(_PLAIN_WORD.findall(text)), len(_NUMBER.findall(text))
    if not text.isascii():
        unspaced = filter(_UNSPACED.search, words)
        plain += sum(1 for word in unspaced if not _PLAIN_WORD.match(word))
    return plain > _PLAIN_SHARE * len(words) and numbers <= _NUMBER_SHARE * len(words)
