"""One conversation in a worker: a session, and which of its messages is which of the client's.

The session may have more messages than the client: exchanges about originals, of which the client
knows nothing. And its view may have fewer, once the beginning was folded anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final, NamedTuple

from refold.conversation.session import Session
from refold.notation.marks import is_lossless_mark
from refold.server.proxy.apis.base import Api, Round, Wire
from refold.server.proxy.ledger import Past
from refold.server.proxy.request import with_marks
from refold.tools.shapes import find_texts

FULL_SHARE: Final = 0.8
"""The share of a budget at which the beginning is folded anew. Above, the results of the next turn,
up to a tenth of the budget each, would be cut to what room there is; below, the cache is lost more
often."""
_MIN_GAIN: Final = 0.1
"""If folding anew left more than that, it is tried again only after this share of a budget."""


class Look(NamedTuple):
    """A conversation before and after."""

    before: list[Any]
    """What came. What was folded anew before a restart is there in the form in which it is sent."""
    after: list[Any]
    places: list[range]
    """For each message of *after*, which of *before* it stands for."""
    format: str
    model: str


@dataclass(slots=True)
class Conversation:
    """The state of one conversation, which only grows."""

    name: str
    model: str
    session: Session
    length: int = 0
    """How many messages of the client are in the session."""
    origins: list[int | None] = field(default_factory=list[int | None])
    """For each message that there was, the client's that it is; `None` if it is none of them."""
    base: tuple[int, int] = (0, 0)
    """The view begins with so many messages that stand for so many: those folded anew."""
    rounds: dict[int, Sequence[Round]] = field(default_factory=dict[int, Sequence[Round]])
    """Exchanges about originals, by the client's last message before them."""
    is_offered: bool = False
    """Whether the retrieval tool is offered."""
    is_off: bool = False
    """Whether the provider has refused a folded request."""
    saved_earlier: int = 0
    """Tokens saved before this session started."""
    tokens_known: int = 0
    """Tokens of all messages so far, unfolded."""
    sent: tuple[list[Any], int] = field(default_factory=lambda: ([], 0))
    """What was sent last, and of how many messages of the client."""
    landed: int = 0
    """Tokens that were left when the beginning was last folded anew."""
    given: Sequence[Any] = ()
    """The client's messages as they came last; only where they may be shown."""
    beside: tuple[list[Any], int] = field(default_factory=lambda: ([], 0))
    """System prompt and tools as they were last, and their tokens."""

    @property
    def saved(self) -> int:
        """Tokens saved by the last view."""
        report = self.session.report
        return self.saved_earlier + report.tokens_unfolded - report.tokens

    def is_full(self, budget: int) -> bool:
        """Return whether to fold anew: the budget is nearly spent, and it may help."""
        most = max(FULL_SHARE * budget, self.landed + _MIN_GAIN * budget)
        return self.session.report.tokens > most

    def replay(self, api: Api, past: Past, messages: Sequence[Any]) -> None:
        """Begin with what was sent of *messages*, in the form in which it was."""
        self.is_off, self.rounds = past.is_off, dict(past.rounds)
        start = past.folded_at + 1
        if start:
            wires = past.folded["wires"]
            self.session.extend(wires)
            self.base = len(wires), start
            self.origins = [None] * start
            self.saved_earlier = past.folded["saved"]
        forms = list(messages)
        known = start
        for at, form in past.sent.items():
            if at >= start:
                forms[at], known = form["wire"], max(known, at + 1)
                self.saved_earlier += form["saved"]
        self.length = start
        self.extend(api, forms[:known])
        self.length = known

    def extend(self, api: Api, messages: Sequence[Any]) -> None:
        """Append the new *messages*, with the retrieval rounds among them."""
        breaks = [at + 1 for at in sorted(self.rounds) if self.length < at + 1 < len(messages)]
        for first, last in pairwise((self.length, *breaks, len(messages))):
            part = messages[first:last]
            rounds = self.rounds.get(first - 1)
            expanded = api.insert(part, rounds) if part and rounds else list(part)
            places = {id(message): first + n for n, message in enumerate(part)}
            self.origins += [places.get(id(message)) for message in expanded]
            self.session.extend(expanded)

    def origin_of(self, place: int) -> int | None:
        """Return which of the client's messages stands at a *place* of the view, if one does."""
        shown, stood_for = self.base
        if place >= shown:
            return self.origins[place - shown + stood_for]
        if len(self.session) != len(self.origins):
            return None  # the session was begun with what had been folded
        at = self.session.unchanged[place]
        return None if at is None else self.origins[at]

    def look(self, api: Api) -> Look:
        """Return what came and what was sent, for people to see."""
        shown, stood_for = self.base
        is_begun_anew = len(self.session) != len(self.origins)
        origins = [*[None] * shown, *self.origins[stood_for:]] if is_begun_anew else self.origins
        before = [
            message if origin is None or origin >= len(self.given) else self.given[origin]
            for message, origin in zip(self.session.messages, origins, strict=True)
        ]
        session = self.session
        return Look(before, session.wires, session.places, format=api.format, model=self.model)

    def write(
        self, view: Sequence[Any], messages: Sequence[Any], given: Sequence[Any]
    ) -> list[Any]:
        """Return the *view* with the client's own objects where they are sent as they came.

        *messages* are those of the client without marks of the cache, *given* have them.
        """
        written: list[Any] = []
        for place, message in enumerate(view):
            origin = self.origin_of(place)
            if origin is None:
                written.append(message)
            elif messages[origin] == message:
                written.append(given[origin])
            else:
                is_marked = messages[origin] is not given[origin]
                written.append(with_marks(message, given[origin]) if is_marked else message)
        return written

    def new_forms(self, view: Sequence[Any], messages: Sequence[Any]) -> dict[int, Wire]:
        """Return the messages that the *view* shows for the first time, where they are changed."""
        forms: dict[int, Wire] = {}
        for place in range(len(view) - 1, self.base[0] - 1, -1):
            origin = self.origin_of(place)
            if origin is not None and origin < self.length:
                break
            if origin is not None and view[place] != messages[origin]:
                forms[origin] = view[place]
        return forms


def is_cut(given: Wire, form: Wire) -> bool:
    """Return whether the *form* of a message leaves something out, or only says it shorter."""
    known = {text.text for text in find_texts([given])}
    changed = [text.text for text in find_texts([form]) if text.text not in known]
    return not all(map(is_lossless_mark, changed))
