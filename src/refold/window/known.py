"""What of a history that grows was there before, found out without a copy of it."""

from __future__ import annotations

import threading
from typing import Any

from refold.formats.objects import Objects
from refold.window.reading import Wires


def may_begin_with(messages: list[Any], known: list[Any]) -> bool:
    """Tell, from both ends, whether *messages* may begin with the very objects in *known*."""
    if not known or len(messages) < len(known):
        return False
    return messages[0] is known[0] and messages[len(known) - 1] is known[-1]


def begins_with(messages: list[Any], known: list[Any]) -> bool:
    """Tell whether *messages* begin with *known*, which only one thread may use at a time.

    Lists of one length are compared pointer by pointer, thousands in the time of one message. To
    cut out the beginning would count a reference to each, which takes ten times as long.
    """
    size = len(known)
    known += messages[size:]
    try:
        return known == messages
    finally:
        del known[size:]


class Known:
    """The last history of a manager, if there was no object in it; safe to share between threads.

    What was there at the last call is not looked at again.
    """

    def __init__(self) -> None:
        self._plain: list[Any] = []
        self._lock = threading.Lock()

    def read(self, messages: Wires) -> tuple[Wires, Objects]:
        """Return *messages* as data, with the objects among them."""
        if type(messages) is not list:
            objects = Objects()
            return objects.read(messages), objects
        with self._lock:
            return self._read(messages)

    def _read(self, messages: list[Any]) -> tuple[Wires, Objects]:
        known, objects = self._plain, Objects()
        if may_begin_with(messages, known) and begins_with(messages, known):
            fresh = messages[len(known) :]
            if objects.read(fresh) is fresh:
                known += fresh
                return messages, objects
            objects = Objects()
        wires = objects.read(messages)
        self._plain = list(messages) if wires is messages else []
        return wires, objects
