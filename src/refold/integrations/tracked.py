"""One session of an integration: what it has sent, and what is sent next.

A framework's history has the messages as they were given, and the thinking that came of what was
sent: it is bound to that form. A session knows after how many messages it has asked for an answer.
Thinking that answers anything else, such as what another process has sent, is left out.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from typing import Any, Final

from refold.conversation.finder import read_message
from refold.conversation.session import Session
from refold.errors import RefoldError, StoreError, describe
from refold.messages.formats import strip
from refold.messages.formats.objects import Objects
from refold.messages.provider import is_checked
from refold.messages.wire import clone
from refold.notation.marks import GAP

_log: Final = logging.getLogger("refold.integrations")


class TrackedSession(Session[Any]):
    """One session, and the beginnings by which it is recognized; it only ever grows."""

    def __init__(self, *options: Any, **choices: Any) -> None:
        super().__init__(*options, **choices)
        self.names: list[bytes] = []
        self.lock = threading.Lock()
        self.last_sent: list[Any] = []
        """What was sent last."""
        self.sent_for: list[range] = []
        """For each of these, the indices of the given messages that it stands for."""
        self.asked: dict[int, int | None] = {}
        """After how many messages an answer was asked for, and after how many folds; `None` if it
        was asked for in several forms, so that it is not known which of them was answered."""

    @property
    def length_sent(self) -> int:
        """How many of the given messages were sent."""
        return self.sent_for[-1].stop if self.sent_for else 0

    def send(
        self,
        history: list[Any],
        names: list[bytes],
        budget: int | str | None,
        result_tokens: int | None,
    ) -> tuple[list[Any], list[range]]:
        """Return what to send for a *history*, and the places of what it stands for.

        If folding fails, what was sent before is sent again, and what is new as it is.
        """
        length = self.length_sent
        try:
            if not len(self) and self._thinking_in(history):
                self.doubt_thinking()  # it may be bound to another form than the one given
            if len(self) < length:  # an earlier error kept it from learning what was sent
                self.extend(history[len(self) : length])
                self.note_sent()
            self.extend(history[len(self) :])
            view = self.view(budget, result_tokens=result_tokens)
        except RefoldError as error:
            _log.error("new messages are sent unfolded: %s", describe(error))
            fresh = [range(place, place + 1) for place in range(length, len(history))]
            if not length and self._thinking_in(history):  # nothing is known of what was sent
                return [_without_thinking(one, self.options.format) for one in history], fresh
            self.last_sent = [*self.last_sent, *history[length:]]
            self.sent_for = [*self.sent_for, *fresh]
            self.note_sent()
        else:
            pairs = zip(view, self.unchanged, strict=True)
            self.last_sent = [one if place is None else history[place] for one, place in pairs]
            self.sent_for = self.places
        folds = self.report.folds
        is_same = self.asked.get(len(history), folds) == folds
        self.asked[len(history)] = folds if is_same else None
        self.names = names[: max(len(self), self.length_sent)]
        return [*self.last_sent], [*self.sent_for]

    def going_on(
        self, history: Sequence[Any], names: list[bytes], length: int
    ) -> TrackedSession | None:
        """Return who goes on with a *history* whose first *length* messages are known here.

        It is this session, or one that branches off; `None` if one has to begin anew.
        """
        answered = self._thinking_in(history[length:])
        is_sent = self.asked.get(length) == self.report.folds
        if answered and not (answered == [0] and is_sent):
            return None
        if self.names == names[: len(self.names)]:
            return self
        if self.folded_length > length or 2 * length < len(self):
            return None  # little of it would stay
        other = self.fork()
        try:
            other.truncate(length)
        except StoreError:  # what was sent of the beginning cannot be put on record
            return None
        count = sum(places.stop <= length for places in self.sent_for)
        other.lock, other.names = threading.Lock(), self.names[:length]
        other.last_sent, other.sent_for = self.last_sent[:count], self.sent_for[:count]
        other.asked = {place: folds for place, folds in self.asked.items() if place <= length}
        return other

    def _thinking_in(self, messages: Sequence[Any]) -> list[int]:
        """Return for each answer with bound thinking how many of *messages* it answered."""
        options = self.options
        lengths: list[int] = []
        if not is_checked(options.thinking, options.model):
            return lengths
        length = 0
        for place, message in enumerate(messages):
            read = read_message(Objects().read([message])[0], options.format)
            if read is None:
                continue
            reading = read[1]
            if reading.thinking and lengths[-1:] != [length]:
                lengths.append(length)
            if reading.is_turn and reading.role != "assistant":
                length = place + 1
        return lengths


def _without_thinking(message: Any, format_name: str) -> Any:
    """Return a message without thinking; the same object if it has none."""
    objects = Objects()
    wire = objects.read([message])[0]
    read = read_message(wire, format_name)
    if read is None or not read[1].thinking or read[0].is_thinking is None:
        return message
    format_, reading = read
    rest = clone(dict(wire))
    is_empty = not (reading.parts or reading.calls or reading.images or reading.opaque)
    strip(rest, format_.name, GAP if is_empty else "")  # providers reject empty messages
    return objects.write([rest])[0]
