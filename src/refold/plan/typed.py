"""What a person typed: neither a note of the program around the model nor something pasted."""

from __future__ import annotations

import re
from typing import Final

from refold.kinds import kind_of
from refold.messages.formats.base import is_note
from refold.messages.message import Message
from refold.scan.patterns import HAN, KANA

MAX_TYPED_WORDS: Final = 150
"""What is longer was hardly typed for this turn; its prose goes by the rules (contract §0)."""
PROSE_KINDS: Final = frozenset({"prose", "page"})
"""Kinds of texts that are said, not shown."""
_SHORT_CHARS: Final = 160
"""One line of no more than this is typed whatever it looks like: a path, a command, `x: 3`."""
_PLAIN_WORD: Final = re.compile(
    r"(?<!\S)[\"'(*_`“‘«¿¡]*+[^\W\d_]++(?:['’-][^\W\d_]++)*+[.,;:!?…)*_`\"'”’»]*+(?!\S)"
)
_PLAIN_SHARE: Final = 0.45
_NUMBER_SHARE: Final = 0.25
"""Of what people type, more words are plain, and fewer have digits, than of listings, logs and what
programs say of files and costs (tried on recorded runs in which both come as the user's)."""
_NUMBER: Final = re.compile(r"(?<!\S)[^\s\d]*+\d")
"""How a word with a digit begins."""
_UNSPACED: Final = re.compile(rf"[{KANA}{HAN}\u0e00-\u0eff]")
"""Scripts that put no blanks between words."""


def is_typed(message: Message) -> bool:
    """Tell whether a person typed *message* for this turn: short prose of the user's."""
    if message.role != "user" or message.is_tool_result or not message.is_turn:
        return False
    return any(is_typed_text(part.text) for part in message.parts)


def reads_like_words(message: Message) -> bool:
    """Tell whether *message* is mostly words, of any length, rather than data."""
    longest = max((part.text for part in message.parts), key=len, default="")
    return kind_of(longest) in PROSE_KINDS


def is_typed_text(text: str, kind: str | None = None) -> bool:
    """Tell whether a text of the user's was typed: prose of no more than about 150 words.

    Its *kind* is asked for if it is not given.
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
    """Tell whether *text* says it in plain words, rather than in names, numbers and signs.

    >>> is_in_words("Rename it, please."), is_in_words("Tokens: 3,046 sent, 627 received.")
    (True, False)
    """
    words = text.split()
    plain, numbers = len(_PLAIN_WORD.findall(text)), len(_NUMBER.findall(text))
    if not text.isascii():
        unspaced = filter(_UNSPACED.search, words)
        plain += sum(1 for word in unspaced if not _PLAIN_WORD.match(word))
    return plain > _PLAIN_SHARE * len(words) and numbers <= _NUMBER_SHARE * len(words)
