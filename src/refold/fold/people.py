"""Tell what a person typed from what a program wrote into the user's messages."""

from __future__ import annotations

from typing import Final

from refold.lazy import regex
from refold.messages.formats.base import is_note

_NOTE: Final = regex(
    r"\s*(?:<(?:system|command|local-command|environment|user_instructions|user-prompt|bash-|ide_"
    r"|task-not)|Caveat: |\[Request interrupted|This session is being continued|# AGENTS"
    r"|Please always provide EXACTLY ONE)"
)
_OUTPUT: Final = regex(
    r"\s*(?:<(?:returncode|output|error|tool_)|OBSERVATION:|Observation:|\[File: |Found \d+ match"
    r"|\(Open file|Exit code|\[\w+ for .*\] Result:)|(?s:.*)\n(?:bash-)?\$\s*\Z"
)
_SIGNS: Final = ".,!?;:()'\"`*-"
_SHORT: Final = 12
_LONG: Final = 300
"""Words of what is typed in any form, and of what nobody types for one turn."""
_PLAIN_SHARE: Final = 0.55
_NUMBER_SHARE: Final = 0.25
"""Of the words of prose, so many are letters only, and no more have digits."""
_WILL: Final = regex(
    r"(?i)\b(?:don['’]?t|do not|never|only|must|not want|without|instead|rather|should|stop|no,"
    r"|always|please|need|want|wrong|actually)\b|\?|不|别|要|请|ない|てください"
)
_FORBIDS: Final = regex(
    r"(?i)\b(?:don['’]?t|do not|never|must not|mustn['’]?t|should not|shouldn['’]?t|not want"
    r"|without|instead of|rather than|avoid|stop|no longer|not? (?:touch|change|use|add|need)"
    r"|leave .{1,40} alone|only)\b|不要|别|禁止|ないで"
)
_VALUE: Final = regex(r"[@#\d]")


def is_insert(text: str) -> bool:
    """Tell whether a program wrote *text* in the user's place: a command, a reminder."""
    return is_note(text) or _NOTE.match(text) is not None


def is_output(text: str) -> bool:
    """Tell whether *text* is what a tool returned, which an agent sends in the user's role."""
    return _OUTPUT.match(text) is not None


def is_typed(text: str) -> bool:
    """Tell whether a person typed *text*: prose of some length, or a line."""
    if is_insert(text) or not text.strip():
        return False
    words = text.split()
    if len(words) <= _SHORT and "\n" not in text.strip():
        return not text.lstrip().startswith(("<", "/", "[", "{"))
    return len(words) < _LONG and is_prose(text)


def is_prose(text: str) -> bool:
    """Tell whether *text* is mostly plain words, and no data."""
    words = text.split()
    if not words or text.lstrip().startswith(("{", "[")):
        return False
    numbers = sum(1 for word in words if any(map(str.isdigit, word)))
    return _plain(words) >= _PLAIN_SHARE * len(words) and numbers <= _NUMBER_SHARE * len(words)


def _plain(words: list[str]) -> int:
    return sum(1 for word in words if _is_word(word.strip(_SIGNS)))


def _is_word(word: str) -> bool:
    """Tell whether it is letters only; outside ASCII, marks and signs may stand among them."""
    return word.isalpha() or (not word.isascii() and any(map(str.isalpha, word)))


def wills(text: str, start: int, end: int) -> bool:
    """Tell whether a person asks or forbids something there."""
    return _WILL.search(text, start, end) is not None


def forbids(text: str, start: int, end: int) -> bool:
    """Tell whether a person says there what must not be done."""
    return _FORBIDS.search(text, start, end) is not None


def names_value(text: str, start: int, end: int) -> bool:
    """Tell whether there is a number, an id or an address."""
    return _VALUE.search(text, start, end) is not None
