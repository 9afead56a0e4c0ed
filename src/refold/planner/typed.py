"""What a person typed: neither a note of the program around the model nor something pasted."""

from __future__ import annotations

import re
from typing import Final

from refold.kinds import kind_of
from refold.model.message import Message

MAX_TYPED_WORDS: Final = 150
"""What is longer was hardly typed for this turn; its prose goes by the rules (contract §0)."""
_TALK_KINDS: Final = frozenset({"prose", "page"})
_SHORT_CHARS: Final = 160
"""So little is typed whatever it looks like: a path, a command, `x: 3`."""
_NOTE: Final = re.compile(
    r"\s*+(?:<(?:system-reminder|local-command|command-(?:name|message|args)|bash-(?:input|stdout"
    r"|stderr)|user-prompt-submit-hook|environment_context|user_instructions|turn_aborted|env\b)"
    r"|Caveat: The messages below|\[Request interrupted|/(?:clear|compact|exit|model|cost|help"
    r"|undo|diff|add|drop|tokens|reset)\b[^\n]{0,80}\Z|This session is being continued from)"
)
"""How the notes begin that coding agents and chat programs put into the user's mouth."""


def is_note(text: str) -> bool:
    """Tell whether a program wrote *text* in the user's place: a command, a reminder, an output."""
    if _NOTE.match(text):
        return True
    stripped = text.strip()
    return stripped.startswith("<") and stripped.endswith(">") and "</" in stripped[-80:]


def is_typed(message: Message) -> bool:
    """Tell whether a person typed *message* for this turn: short prose of the user's."""
    if message.role != "user" or message.is_tool_result or not message.is_turn:
        return False
    return any(is_typed_text(part.text) for part in message.parts)


def reads_like_words(message: Message) -> bool:
    """Tell whether *message* is mostly words, of any length, rather than data."""
    longest = max((part.text for part in message.parts), key=len, default="")
    return kind_of(longest) in _TALK_KINDS


def is_typed_text(text: str) -> bool:
    """Tell whether a text of the user's was typed: prose of no more than about 150 words."""
    if not text.strip() or is_note(text):
        return False
    if len(text) <= _SHORT_CHARS:
        return True
    return len(text.split()) <= MAX_TYPED_WORDS and kind_of(text) in _TALK_KINDS
