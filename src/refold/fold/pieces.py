"""What a fold works on: the texts of a conversation, and the pieces that are shown or left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum, IntFlag, StrEnum

from refold.messages.message import Message


class Voice(IntFlag):
    """Who said something; a set of them, of an item."""

    USER = 1
    ASSISTANT = 2
    TOOL = 4
    CALL = 8
    """The assistant, in the arguments of a call."""


class Place(IntEnum):
    """Where a message stands in the view."""

    WHOLE = 0
    EXCERPT = 1
    """In its place, its results as excerpts."""
    DIGEST = 2
    """In the digest of a stretch of messages."""


class Kind(StrEnum):
    """What a text is, which decides how it is cut."""

    PROSE = "prose"
    LINES = "lines"
    RECORDS = "records"
    """JSON, written as one line per row, record or value."""
    CALL = "call"
    DIGEST = "digest"
    """A digest of an earlier fold, whose lines say themselves who spoke."""


class Grade(IntEnum):
    """What a piece is, beyond the words in it."""

    EMPTY = -1
    """Brackets, rules, blank lines with their numbers: never shown for their own sake."""
    PLAIN = 0
    NOISE = 1
    """Progress, passed tests, frames of libraries, what a harness says of itself."""
    REPEAT = 2
    """An error that was reported before."""
    SIGNATURE = 3
    """The line that names a function, a class or a section."""
    HEAD = 4
    """The tool and the short arguments of a call."""
    ACT = 5
    """The same of a call that changes something."""
    ERROR = 6
    GRAVE = 7
    """An exception, what a test expected, the outcome of a run."""
    FAILED = 8
    """Which test failed."""


@dataclass(slots=True)
class Text:
    """A text of a message, as it will be shown: JSON as lines, no envelope, no mark."""

    message: int
    """The index of its message."""
    part: int
    """The number of the text in it; of a call, the number of the call."""
    voice: Voice
    text: str
    tokens: int
    kind: Kind
    label: str = ""
    """Of a call or a result: the tool and one short value."""
    call: int = -1
    """Of a result: the number of the text of its call."""
    is_typed: bool = False
    """Whether a person typed it."""
    changes: bool = False
    """Of a call: whether it may have changed something."""
    is_plan: bool = False
    """Of a call: whether it writes down what is to be done."""
    outcome: str = ""
    """Of a call: how it failed, in a word."""
    is_stale: bool = False
    """Of a read: whether the file was read again or written since. Of a call: whether what it wrote
    stands in a file by now."""
    is_respelled: bool = False
    is_part: bool = False
    """Whether it was an excerpt already, of which the mark is left out here."""
    heads: tuple[int, ...] = ()
    """Of records: for each line, the line that heads it, or -1."""
    is_file: bool = False
    """Whether it is what a read returned: an agent that edits needs the file's own spelling."""
    saves: int = 0
    """Of data: the tokens that its message saves by showing it as records."""
    place: Place = Place.DIGEST

    @property
    def is_call(self) -> bool:
        """Whether it is a call of a tool."""
        return self.voice is Voice.CALL


@dataclass(slots=True)
class Piece:
    """A row, record, line, sentence or run of short lines: shown as a whole, or not at all."""

    text: int
    """The number of its text."""
    start: int
    end: int
    cost: float
    """Tokens, with the sign of a gap."""
    grade: Grade = Grade.PLAIN
    head: int = -1
    """The piece that names what this one belongs to: the header of a row, the head of a call."""
    items: tuple[int, ...] = field(default=())
    """The words and values in it, as rows of the index."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A conversation as it was read: nothing of it depends on a budget."""

    messages: Sequence[Message]
    texts: Sequence[Text]
    pieces: Sequence[Piece]
    whole: Sequence[int]
    """What each message costs as it is."""
    shape: Sequence[float]
    """What it costs in its place, its results as a line each."""
    fixed: int
    """What system prompts cost."""
    bare: int
    """What a digest costs that shows nothing."""
    is_talk: bool
    names: Sequence[str]
    """The words and values, by their rows in the index."""
    shapes: Sequence[int]


@dataclass(frozen=True, slots=True)
class Room:
    """How much a view may cost."""

    target: int
    limit: int
    """What must stay may take so much."""
    full: int
    """Without system prompts."""
    share: float
    """The share of everything but system prompts that can be shown."""
