"""Conversations that are made to be mistaken for each other: their summaries read the same."""

from __future__ import annotations

from random import Random
from typing import Any

from refold.messages.wire import clone_message

_SYLLABLES = "ba be bi bo bu da de di do du ka ke ki ko ku la le li lo lu ma me mi mo mu".split()
_OPENING = "Thanks, the report of the night shift has been read by everybody who was there"
_MIDDLE = "Pump P-17 failed at 06:40 because valve V-3 was stuck, and nobody may restart it"
_CLOSING = "Okay, that is all for now and we will talk about the weather some other time"


def secret_words(random: Random) -> str:
    """Return four words that no other report has, and that no summary keeps."""
    return " ".join("".join(random.choices(_SYLLABLES, k=4)) for _ in range(4))


def report(random: Random) -> str:
    """Write a report; only words that a summary leaves out tell it from the others."""
    return f"{_OPENING}, {secret_words(random)}. {_MIDDLE}. {_CLOSING}, {secret_words(random)}."


def talk(random: Random, turns: int) -> list[dict[str, Any]]:
    """Let two people exchange so many reports."""
    roles = ("user", "assistant")
    return [{"role": roles[n % 2], "content": report(random)} for n in range(turns)]


def with_ids(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give every message the id that the same turn of any other conversation has."""
    return [{"id": f"m{n}", **clone_message(message)} for n, message in enumerate(messages)]


def numbered_report(number: int) -> str:
    """Write the report with this number, which is in its words only."""
    words: list[str] = []
    while number or not words:
        number, digit = divmod(number, len(_SYLLABLES))
        words.append(_SYLLABLES[digit])
    return f"{_OPENING}, {''.join(words)}. {_MIDDLE}. {_CLOSING}."
