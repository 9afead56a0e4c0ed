"""What earlier passes made of conversations: reused as long as the beginning is the same.

Who sends the whole history every time gets the same beginning every time, until the end has grown
too long: a provider's cached prefix stays valid. A pass that was prepared in the background waits
here until it is needed.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from refold.model.message import Message
from refold.window.reading import Chains
from refold.window.result import FitResult

_MAX_PASSES: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """One list that was read, and what became of it."""

    given: list[Any]
    """The messages that were read, copied."""
    ids: frozenset[str]
    """Those that they have of their own."""
    shown: tuple[Message, ...]
    """The messages that came out, as a later pass takes them up."""
    firsts: tuple[int, ...]
    """Where in the list that was read stands what each of these stands for, or begins to."""
    total: int
    """Tokens of the messages that were read."""
    turn: int
    """How often the model had spoken."""
    chains: Chains
    """Where the stand-ins of the list that was read end."""
    result: FitResult
    """Ours alone: who hands it out copies the messages."""
    is_stuck: bool = False
    """Whether nothing worthwhile could be saved, so that it is no use to try again soon."""
    factor: float = 1.0
    """What counts were multiplied with at the time: an estimate may have learned since."""
    made_at: tuple[int, ...] = ()
    """The turns at which this conversation was changed, this pass included."""


class Passes:
    """The last passes of one manager; safe to share between threads."""

    def __init__(self) -> None:
        self._passes: list[Pass] = []
        self._lock = threading.Lock()

    def remember(self, done: Pass) -> None:
        """Keep *done*, in the place of an earlier pass over the same conversation."""
        with self._lock:
            others = [p for p in self._passes if done.given[: len(p.given)] != p.given]
            self._passes = [*others, done][-_MAX_PASSES:]

    def forget(self) -> None:
        """Forget everything: the window or the counting has changed."""
        with self._lock:
            self._passes = []

    def find(self, messages: Sequence[Any]) -> Pass | None:
        """Return the latest pass over the beginning of this conversation, if there is one.

        Messages are compared as they are: for a long history that is many times as fast as to
        read them, or to name them by their content.
        """
        for done in reversed(self._passes):
            if list(messages[: len(done.given)]) == done.given:
                return done
        return None

    def made(self, messages: Sequence[Any]) -> Pass | None:
        """Return the pass whose outcome this very conversation is, if there is one."""
        wanted = list(messages)
        return next(
            (done for done in reversed(self._passes) if done.result.messages == wanted), None
        )

    def original(self, key: str) -> Any:
        """Return an original or a link that one of the passes has kept."""
        for done in reversed(self._passes):
            if key in done.result.verbatim:
                return done.result.verbatim[key]
        return None
