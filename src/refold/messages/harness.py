"""What the program around a model writes in the user's place: commands, reminders, outputs."""

from __future__ import annotations

import re
from typing import Final

from refold.notation.recognize import is_digest

_NOTE: Final = re.compile(
    r"\s*+(?:<(?:system-reminder|local-command|command-(?:name|message|args)|bash-(?:input|stdout"
    r"|stderr)|user-prompt-submit-hook|environment_context|user_instructions|turn_aborted|env\b)"
    r"|Caveat: The messages below|\[Request interrupted|/[a-z][\w-]{1,30}\s*+\Z"
    r"|/(?:clear|compact|exit|model|cost|help|undo|diff|add|drop|tokens|reset|config|login|init)\b"
    r"[^\n]{0,80}\Z"
    r"|This session is being continued from)"
)
"""How the notes begin that coding agents and chat programs put into the user's mouth."""
_COMMAND_ARGUMENTS: Final = re.compile(r"<command-args>\s*+[^\s<]")
"""What a person gave a command of their own is theirs."""


def is_note(text: str) -> bool:
    """Tell whether a program wrote *text* in the user's place: a command, a reminder, an output.

    We do, too, where a digest has to begin a conversation.
    """
    is_told = _NOTE.match(text) is not None and _COMMAND_ARGUMENTS.search(text) is None
    return is_told or is_digest(text)
