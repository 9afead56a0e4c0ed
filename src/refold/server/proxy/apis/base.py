"""What the proxy knows of an API: where messages, tools and figures stand, and how it streams."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

from refold.messages.formats import RETRIEVAL_TOOLS
from refold.tools.retrieve import Style, retrieve_tool

Provider = Literal["anthropic", "openai", "gemini"]
Wire = dict[str, Any]
TOOL_NAME = RETRIEVAL_TOOLS[0]


class Usage(NamedTuple):
    """The tokens of one request, as its provider counted them."""

    uncached: int = 0
    """Of the prompt, neither read from the cache nor written to it."""
    cache_read: int = 0
    cache_written: int = 0
    output: int = 0

    @property
    def prompt(self) -> int:
        """All tokens of the prompt."""
        return self.uncached + self.cache_read + self.cache_written


class OwnCall(NamedTuple):
    """A call of the retrieval tool, which the proxy answers."""

    id: str
    arguments: Mapping[str, Any] | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One answer of the model, taken apart."""

    shown: Sequence[Any] = ()
    """What the client gets of it: blocks, items, parts, or one text."""
    calls: Sequence[OwnCall] = ()
    """Calls of the retrieval tool."""
    is_mixed: bool = False
    """Whether tools of the client were called before: then it is the client's turn."""
    wires: Sequence[Wire] = ()
    """The answer up to these calls as messages, to be sent back."""


class Round(NamedTuple):
    """One exchange about originals, of which the client knows nothing."""

    shown: int
    """How much of the client's turn came before it: blocks, items, parts or characters."""
    wires: Sequence[Wire]
    """The calls and their results as messages."""


class Api(ABC):
    """One API of a provider; stateless, one object each in `APIS`."""

    name: ClassVar[str]
    provider: ClassVar[Provider]
    format: ClassVar[str]
    """The name of refold's format for its messages."""
    key: ClassVar[str]
    """Where the messages stand in a request."""
    beside: ClassVar[tuple[str, ...]]
    """What else of a request is part of the prompt."""
    style: ClassVar[Style] = "openai"
    answer_role: ClassVar[str] = "assistant"
    """Whose messages the answers of the model are."""
    pieces: ClassVar[str] = "content"
    """Where a message has what it says."""
    pieces_type: ClassVar[type[list[Any]] | type[str]] = list
    """What that is: a list of blocks or parts, or one text."""
    wraps_results: ClassVar[bool] = False
    """Whether the results of all calls stand in one message of the user."""

    @abstractmethod
    def matches(self, path: str) -> bool:
        """Return whether a request to *path* is one of this API that has messages."""

    def model_of(self, body: Wire, path: str) -> str | None:
        """Return the model that is asked."""
        del path
        model = body.get("model")
        return model if isinstance(model, str) else None

    def is_counting(self, path: str) -> bool:
        """Return whether a request only counts tokens."""
        del path
        return False

    def follows(self, body: Wire) -> str:
        """Return the id of the stored answer that a request continues, if any."""
        del body
        return ""

    def follow(self, body: Wire, name: str) -> Wire:
        """Return the request as one that continues another stored answer."""
        del name
        return body

    def has_tools(self, body: Wire) -> bool:
        """Return whether the model is offered tools, and may choose among them."""
        return bool(body.get("tools"))

    def offer(self, body: Wire) -> Wire:
        """Return the request with the retrieval tool behind all others."""
        schema = retrieve_tool({}, name=TOOL_NAME, style=self.style).schema
        return {**body, "tools": [*body["tools"], schema]}

    @abstractmethod
    def usage_of(self, said: Wire, known: Usage) -> Usage:
        """Return what an answer or an event of one says of tokens, on top of what is *known*."""

    def name_of(self, said: Wire) -> str:
        """Return the name of an answer if an event has it and clients may refer to it."""
        del said
        return ""

    @abstractmethod
    def starts_own_call(self, said: Wire) -> bool:
        """Return whether with this event a call of the retrieval tool begins."""

    @abstractmethod
    def read_stream(self, events: Sequence[Wire]) -> Turn:
        """Read a whole streamed answer."""

    @abstractmethod
    def read_answer(self, answer: Wire) -> Turn:
        """Read an answer that came in one piece."""

    @abstractmethod
    def result(self, call: OwnCall, text: str) -> Wire:
        """Return the result of a call: a message, or a piece of one."""

    def results(self, turn: Turn, texts: Sequence[str]) -> list[Wire]:
        """Return the messages that go on from *turn*: itself, and the results of its calls."""
        results = [self.result(*pair) for pair in zip(turn.calls, texts, strict=True)]
        wrapped = [{"role": "user", self.pieces: results}] if self.wraps_results else results
        return [*turn.wires, *wrapped]

    @abstractmethod
    def join(self, shown: Sequence[Any], answer: Wire) -> Wire:
        """Return an answer in one piece behind what was *shown* before, without calls of ours."""

    def shift(self, event: Wire, shown: Sequence[Any], name: str) -> Wire | None:
        """Return an event of a later round as if the answer were one; `None` to leave it out.

        *shown* is what the client has of the rounds before, *name* the name that it knows. Text and
        parts simply go on.
        """
        del shown, name
        return event

    @abstractmethod
    def without_own(self, events: Sequence[Wire]) -> list[Wire]:
        """Return the *events* of an answer that do not belong to calls of ours."""

    def insert(self, messages: Sequence[Wire], rounds: Sequence[Round]) -> list[Wire]:
        """Return the client's *messages* since a request, with the *rounds* of its answer.

        The first one is the answer; it is split where it was interrupted.
        """
        if not messages or messages[0].get("role") != self.answer_role:
            return list(messages)
        answer = messages[0]
        inserted = [wire for _, wires in rounds for wire in wires]
        start = sum(shown for shown, _ in rounds)
        pieces = answer.get(self.pieces)
        if not isinstance(pieces, self.pieces_type) or len(pieces) < start:
            return [*inserted, *messages]
        has_rest = pieces[start:] or self.pieces_type is str  # which may have calls beside it
        rest = [{**answer, self.pieces: pieces[start:]}] if has_rest else []
        return [*inserted, *rest, *messages[1:]]


class PiecewiseApi(Api):
    """An API whose answers are lists of pieces, calls among them."""

    @abstractmethod
    def called(self, piece: Wire) -> str | None:
        """Return the name of the tool that a piece calls; `None` if it is no call."""

    @abstractmethod
    def own_call(self, piece: Wire) -> OwnCall:
        """Read a call of the retrieval tool."""

    def said(self, pieces: list[Wire]) -> list[Wire]:
        """Return an answer with these *pieces* as messages."""
        return [{"role": self.answer_role, self.pieces: pieces}]

    def is_own(self, piece: object) -> bool:
        """Return whether a piece calls the retrieval tool."""
        return isinstance(piece, dict) and self.called(piece) == TOOL_NAME

    def take_apart(self, pieces: object) -> Turn:
        """Read the pieces of an answer; what is no list has none."""
        if not isinstance(pieces, list):
            return Turn()
        own = [piece for piece in pieces if self.is_own(piece)]
        if not own:
            return Turn(shown=pieces)
        shown = pieces[: pieces.index(own[0])]
        return Turn(
            shown=shown,
            calls=[self.own_call(piece) for piece in own],
            is_mixed=any(self.called(piece) is not None for piece in shown),
            wires=self.said([*shown, *own]),
        )


def usage_of_openai(usage: object, known: Usage, prompt: str, output: str) -> Usage:
    """Read a `usage` whose *prompt* counts everything, and has what was cached in its details."""
    if not isinstance(usage, dict):
        return known
    details = usage.get(f"{prompt}_details")
    details = details if isinstance(details, dict) else {}
    read, written = whole(details.get("cached_tokens")), whole(details.get("cache_write_tokens"))
    return Usage(
        uncached=max(0, whole(usage.get(prompt)) - read - written),
        cache_read=read,
        cache_written=written,
        output=whole(usage.get(output)),
    )


def without_numbers(
    events: Sequence[Wire], number: str, starts_own_call: Callable[[Wire], bool]
) -> list[Wire]:
    """Leave out what has the *number* of a call of ours, and close the gap in the numbers."""
    kept: list[Wire] = []
    own: set[int] = set()
    for event in events:
        index = event.get(number, -1)
        if starts_own_call(event):
            own.add(index)
        if index in own:
            continue
        gap = sum(other < index for other in own)
        kept.append({**event, number: index - gap} if gap else event)
    return kept


def whole(value: object) -> int:
    """Return a count of a provider's; what is none counts nothing."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
