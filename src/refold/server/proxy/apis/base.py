"""What the proxy needs to know of an API: where messages, tools and usage are, how it streams."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
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
    """Prompt tokens neither read from the cache nor written to it."""
    cache_read: int = 0
    cache_written: int = 0
    output: int = 0
    written_for_hour: int = 0
    """Of those written to the cache, the ones that stay there for an hour, which costs more."""

    @property
    def prompt(self) -> int:
        """All tokens of the prompt."""
        return self.uncached + self.cache_read + self.cache_written


class RetrievalCall(NamedTuple):
    """A call of the retrieval tool, which the proxy answers itself."""

    id: str
    arguments: Mapping[str, Any] | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One answer of the model, split at its first retrieval call."""

    visible: Sequence[Any] = ()
    """What the client gets of it: blocks, items, parts, or one text."""
    calls: Sequence[RetrievalCall] = ()
    is_mixed: bool = False
    """Whether tools of the client were called before: then it is the client's turn."""
    wires: Sequence[Wire] = ()
    """The answer up to and including the calls, as messages to send back."""


class Round(NamedTuple):
    """One round of retrieval, hidden from the client."""

    visible: int
    """How much of the client's turn came before it: blocks, items, parts or characters."""
    wires: Sequence[Wire]
    """The calls and their results, as messages."""


class Api(ABC):
    """One API of a provider; stateless, one object each in `APIS`.

    An answer is a list of pieces, with calls among them: blocks, items or parts. An API where it is
    anything else, such as one text with calls beside it, overrides what deals with them.
    """

    name: ClassVar[str]
    provider: ClassVar[Provider]
    format: ClassVar[str]
    """The name of refold's format for its messages."""
    path: ClassVar[re.Pattern[str]]
    """Found in the paths of requests that are of this API, and have messages."""
    counting: ClassVar[tuple[str, ...]] = ()
    """How the paths of requests end that only count tokens."""
    key: ClassVar[str]
    """The key of the messages in a request."""
    previous: ClassVar[str] = ""
    """The key of the id of a stored answer that a request continues, if there are any."""
    beside: ClassVar[tuple[str, ...]]
    """The keys of all else in a request that is part of the prompt."""
    style: ClassVar[Style] = "openai"
    answer_role: ClassVar[str] = "assistant"
    """The role of the model's messages."""
    pieces: ClassVar[str] = "content"
    """The key of a message's content."""
    pieces_type: ClassVar[type[list[Any]] | type[str]] = list
    """The type of that content: a list of pieces, or one text."""
    wraps_results: ClassVar[bool] = False
    """Whether the results of all calls go into one user message."""
    answer_key: ClassVar[str] = ""
    """The key of the pieces in an answer that comes in one."""
    index: ClassVar[str] = ""
    """The key of a piece's number in the events of a stream, if they have one."""
    opens_piece: ClassVar[tuple[str, str]] = ("", "")
    """The type of the event that a piece begins with, and its key of that piece."""
    opens_answer: ClassVar[tuple[str, ...]] = ()
    """The types of the events that an answer begins with."""

    # --- requests -------------------------------------------------------------------------------

    def model_of(self, body: Wire, path: str) -> str | None:
        """Return the name of the model in a request."""
        del path
        model = body.get("model")
        return model if isinstance(model, str) else None

    def is_counting(self, path: str) -> bool:
        """Return whether a request only counts tokens."""
        return path.endswith(self.counting)

    def has_tools(self, body: Wire) -> bool:
        """Return whether the client offers tools, so that the retrieval tool can join them."""
        return bool(body.get("tools"))

    def offer_retrieval(self, body: Wire) -> Wire:
        """Return the request with the retrieval tool after all others."""
        schema = retrieve_tool({}, name=TOOL_NAME, style=self.style).schema
        return {**body, "tools": [*body["tools"], schema]}

    # --- answers --------------------------------------------------------------------------------

    @abstractmethod
    def read_usage(self, data: Wire, known: Usage) -> Usage:
        """Return *known* usage updated by what an answer, or one event of it, reports."""

    @abstractmethod
    def read_stream(self, events: Sequence[Wire]) -> Turn:
        """Read a whole streamed answer."""

    @abstractmethod
    def tool_called(self, piece: Wire) -> str | None:
        """Return the name of the tool that a piece calls; `None` if it is not a call."""

    @abstractmethod
    def read_call(self, piece: Wire) -> RetrievalCall:
        """Read a call of the retrieval tool."""

    @abstractmethod
    def result(self, call: RetrievalCall, text: str) -> Wire:
        """Return the result of a call: a message, or a piece of one."""

    def response_id(self, data: Wire) -> str:
        """Return the id in an event of an answer, if clients may refer to the answer by it."""
        del data
        return ""

    def is_retrieval(self, piece: object) -> bool:
        """Return whether a piece is a call of the retrieval tool."""
        return isinstance(piece, dict) and self.tool_called(piece) == TOOL_NAME

    def starts_retrieval(self, data: Wire) -> bool:
        """Return whether a call of the retrieval tool begins with this event."""
        kind, key = self.opens_piece
        return data.get("type") == kind and self.is_retrieval(data.get(key))

    def read_answer(self, answer: Wire) -> Turn:
        """Read an answer that came in one piece."""
        return self.split_turn(answer.get(self.answer_key))

    def split_turn(self, pieces: object) -> Turn:
        """Split the pieces of an answer at its first retrieval call."""
        if not isinstance(pieces, list):
            return Turn()
        ours = [piece for piece in pieces if self.is_retrieval(piece)]
        if not ours:
            return Turn(visible=pieces)
        visible = pieces[: pieces.index(ours[0])]
        return Turn(
            visible=visible,
            calls=[self.read_call(piece) for piece in ours],
            is_mixed=any(self.tool_called(piece) is not None for piece in visible),
            wires=self.as_messages([*visible, *ours]),
        )

    def as_messages(self, pieces: list[Wire]) -> list[Wire]:
        """Return an answer of these *pieces* as messages."""
        return [{"role": self.answer_role, self.pieces: pieces}]

    def results(self, turn: Turn, texts: Sequence[str]) -> list[Wire]:
        """Return the messages that continue from *turn*: itself, and the results of its calls."""
        results = [self.result(*pair) for pair in zip(turn.calls, texts, strict=True)]
        wrapped = [{"role": "user", self.pieces: results}] if self.wraps_results else results
        return [*turn.wires, *wrapped]

    # --- several rounds as one answer -----------------------------------------------------------

    def join(self, visible: Sequence[Any], answer: Wire) -> Wire:
        """Return a whole answer without retrieval calls, after what was *visible* before."""
        pieces = [*visible, *self.kept(answer.get(self.answer_key))]
        return {**answer, self.answer_key: pieces}

    def kept(self, pieces: object) -> list[Wire]:
        """Return the *pieces* of an answer that are not retrieval calls."""
        pieces = pieces if isinstance(pieces, list) else []
        return [piece for piece in pieces if not self.is_retrieval(piece)]

    def shift(self, event: Wire, visible: Sequence[Any], name: str) -> Wire | None:
        """Return an event of a later round as if all were one answer; `None` to leave it out.

        *visible* is what the client has of earlier rounds, *name* the id that it knows. Pieces are
        counted on from there where they have numbers; an answer begins only once.
        """
        del name
        if event.get("type") in self.opens_answer:
            return None
        if self.index in event:
            return {**event, self.index: event[self.index] + len(visible)}
        return event

    def without_retrievals(self, events: Sequence[Wire]) -> list[Wire]:
        """Return the *events* of an answer that do not belong to retrieval calls.

        The gaps in the numbers of pieces are closed.
        """
        kept: list[Wire] = []
        dropped: set[int] = set()
        for event in events:
            number = event.get(self.index, -1)
            if self.starts_retrieval(event):
                dropped.add(number)
            if number in dropped:
                continue
            gap = sum(other < number for other in dropped)
            kept.append({**event, self.index: number - gap} if gap else event)
        return kept

    def insert(self, messages: Sequence[Wire], rounds: Sequence[Round]) -> list[Wire]:
        """Return the client's *messages* since a request, with the *rounds* of its answer inserted.

        The first one is the answer; it is split where retrieval interrupted it.
        """
        if not messages or messages[0].get("role") != self.answer_role:
            return list(messages)
        answer = messages[0]
        inserted = [wire for _, wires in rounds for wire in wires]
        start = sum(visible for visible, _ in rounds)
        pieces = answer.get(self.pieces)
        if not isinstance(pieces, self.pieces_type) or len(pieces) < start:
            return [*inserted, *messages]
        has_rest = pieces[start:] or self.pieces_type is str  # which may have calls beside it
        rest = [{**answer, self.pieces: pieces[start:]}] if has_rest else []
        return [*inserted, *rest, *messages[1:]]


def read_openai_usage(usage: object, known: Usage, prompt: str, output: str) -> Usage:
    """Read a `usage` whose *prompt* includes cached tokens, which are listed in its details."""
    if not isinstance(usage, dict):
        return known
    details = usage.get(f"{prompt}_details")
    details = details if isinstance(details, dict) else {}
    read = count_of(details.get("cached_tokens"))
    written = count_of(details.get("cache_write_tokens"))
    return Usage(
        uncached=max(0, count_of(usage.get(prompt)) - read - written),
        cache_read=read,
        cache_written=written,
        output=count_of(usage.get(output)),
    )


def count_of(value: object) -> int:
    """Return a count that a provider reports; 0 if it is not a positive integer."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
