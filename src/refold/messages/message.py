"""Messages as values: one turn of a conversation, and the texts, calls and media in it.

Each is read once from the caller's data and never changed. They are dataclasses that are not
frozen, because many are made for every message, and a frozen one takes twice as long to fill.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from refold.lazy import regex
from refold.messages.failure import is_failure
from refold.messages.wire import CLASS_KEY, Path, Wire, digest_unordered, spell
from refold.messages.wire import digest as digest_of
from refold.notation.recognize import has_tag

if TYPE_CHECKING:
    from refold.messages.manifest import Behind, Wording

MediaKind = Literal["image", "audio", "video", "file"]

DERIVED_ID: Final = regex(r"m[0-9]+-([0-9a-f]{8})")
"""The id of a message that has none: its index, which changes as others fold, and its content."""
_OPEN_FORMATS: Final = frozenset({"plain", "openai-chat", "anthropic"})
"""Shapes of messages that may be the caller's own; others are items of a provider's."""
_TOOLS: Final = frozenset({"tool", "function"})
"""In whose role tools answer."""
_MERGEABLE_KEYS: Final = frozenset({"role", "content", "id", "index", "metadata", "name"})
_TEXT_KEYS: Final = {"type", "text"}


@dataclass(slots=True, eq=False)
class ToolResult:
    """The answer to one call; all texts of it share this value."""

    call_id: Final[str | None]
    """The call that it answers, if it says so."""
    holder: Final[Mapping[str, Any]]
    """The block or message that holds it."""
    path: Final[Path] = ()
    """Where that stands; `()` if the whole message is the result."""
    tool: Final[str] = ""
    """The name of the tool, if the result itself has it."""

    @property
    def has_failed(self) -> bool:
        """Whether it says by its fields that the tool failed; a text may say so as well."""
        bodies = (self.holder.get(name) for name in ("content", "output", "response"))
        return is_failure(self.holder) or any(map(is_failure, bodies))


@dataclass(slots=True, eq=False)
class Part:
    """A piece of text inside a message that may be replaced by a shorter one."""

    path: Final[Path]
    text: Final[str]
    result: Final[ToolResult | None] = None
    """What it is a text of, if a tool returned it."""

    @property
    def call_id(self) -> str | None:
        """The tool call that this text answers, if it is a tool result and says so."""
        return None if self.result is None else self.result.call_id


@dataclass(slots=True, eq=False)
class Media:
    """A picture, recording or file that a line of text may take the place of."""

    kind: Final[MediaKind]
    path: Final[Path]
    block: Final[Mapping[str, Any]]


@dataclass(slots=True, eq=False)
class Call:
    """One call that a message makes."""

    id: Final[str]
    """What its answer names; unique among the calls that are open at the same time."""
    name: Final[str]
    raw_arguments: Final[object] = ""
    """The arguments as the message has them: a text, mostly JSON, or data."""
    path: Final[Path | None] = None
    """Where the arguments stand, if they may be written shorter there."""
    spelled: str = field(init=False)
    """The arguments as text, the way a provider counts them."""
    text: str = field(init=False)
    """What the call costs: its name and its arguments."""
    _parsed: object = field(init=False, default=None, repr=False)

    def __post_init__(self) -> None:
        raw = self.raw_arguments
        self.spelled = raw if isinstance(raw, str) else spell(raw)
        self.text = f"{self.name} {self.spelled}"

    @property
    def arguments(self) -> Mapping[str, Any] | None:
        """The arguments by name, read when first asked for; `None` if they have no names."""
        if self._parsed is None:
            self._parsed = self._read()
        return self._parsed if isinstance(self._parsed, Mapping) else None

    @property
    def canonical_arguments(self) -> str:
        """The arguments spelled one way, whatever the order of keys and the blanks."""
        # What is read for this is not kept: of most calls, nobody asks for the arguments.
        read = self._read()
        return digest_unordered(read) if isinstance(read, Mapping) else self.spelled.strip()

    def _read(self) -> object:
        raw = self.raw_arguments
        return read_json(raw) if isinstance(raw, str) else raw


def read_json(text: str) -> object:
    """Return what *text* says as JSON, or *text* itself."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


@dataclass(slots=True, eq=False, kw_only=True, repr=False)
class Message:
    """One turn; `wire` is the caller's own data and all that we do not understand.

    A format fills in what was said, and a `Loader` where it stands; then nobody changes it.
    """

    role: str
    caller_id: str | None = None
    """The id that it came with; once it was asked for, else the one that is derived."""
    index: int = 0
    wire: Wire = field(default_factory=dict)
    known_digest: str | None = None
    """The digest, once it was asked for."""
    format: str = "plain"
    """Name of the shape it was read in."""
    parts: list[Part] = field(default_factory=list)
    opaque: list[str] = field(default_factory=list)
    """Texts that cost tokens but are never replaced: names, refusals, documents."""
    thinking: list[str] = field(default_factory=list)
    """What a model thought: it costs tokens, too, but providers refuse to see it repeated
    outside of its own block. It stays as it is or goes as a whole."""
    images: int = 0
    """How many pictures it carries; they cost tokens by rule."""
    media: list[Media] = field(default_factory=list)
    """Those of them, and what else is not text, that a line may take the place of."""
    calls: list[Call] = field(default_factory=list)
    """The tool calls that this message makes; of some, long arguments may be cut."""
    stands_for: Behind | None = None
    """The originals that it stands for, if it stands for any."""
    binds_next: bool = False
    """Whether providers refuse it without the message after it: reasoning before a call."""
    is_fixed: bool = False
    """Whether it must stay where it is, as it is: a compaction of the provider's own."""
    is_turn: bool = True
    """False for records of a session file that no model ever sees: they only travel along."""
    depth: int = 0
    """How many steps of every path lead to the turn, in a record of a session file."""
    lone: Behind | None = None
    """What a stand-in for this message alone stands for, once derived."""
    wording: Wording | None = None
    """What it says, by which it is recognized, once derived: see `refold.messages.manifest`."""

    def changed(
        self,
        *,
        index: int | None = None,
        id: str | None = None,
        wire: Wire | None = None,
        stands_for: Behind | None = None,
    ) -> Message:
        """Return the same message elsewhere; what is `None` stays. *wire* is a copy of its data."""
        return replace(
            self,
            index=self.index if index is None else index,
            caller_id=self.id if id is None else id,
            wire=self.wire if wire is None else wire,
            known_digest=self.digest,
            stands_for=self.stands_for if stands_for is None else stands_for,
            lone=self.lone if id is None else None,
        )

    @property
    def is_tool_result(self) -> bool:
        """Whether it answers a tool call, by role or by content."""
        return self.role in _TOOLS or any(part.call_id for part in self.parts)

    @property
    def digest(self) -> str:
        """Names `wire` by its content; derived when first asked for, because few ask."""
        if self.known_digest is None:
            self.known_digest = digest_of(self.wire)
        return self.known_digest

    @property
    def id(self) -> str:
        """The caller's id, or else one made of index and content."""
        if self.caller_id is None:
            self.caller_id = f"m{self.index}-{self.digest[:8]}"
        return self.caller_id

    @property
    def chars(self) -> int:
        """Length of all replaceable text."""
        return sum(len(part.text) for part in self.parts)

    def is_result(self, part: Part) -> bool:
        """Tell whether *part*, one of its texts, is what a tool returned."""
        return bool(part.call_id) or self.role in _TOOLS

    @property
    def is_stand_in(self) -> bool:
        """Whether it stands for originals and reads like that: neither alone makes a stand-in."""
        return self.stands_for is not None and any(has_tag(part.text) for part in self.parts)

    @property
    def sole_part(self) -> Part | None:
        """Its one text, if that is all it says: only such messages can merge with others.

        A message or part with fields of its own keeps them, so it stays alone.
        """
        if len(self.parts) != 1 or self.is_tool_result or self.calls:
            return None
        if not _MERGEABLE_KEYS.issuperset(self.wire):
            return None
        content = self.wire.get("content")
        if isinstance(content, str):
            return self.parts[0]
        is_plain = isinstance(content, list) and len(content) == 1 and set(content[0]) == _TEXT_KEYS
        return self.parts[0] if is_plain else None

    @property
    def has_envelope(self) -> bool:
        """Whether it may get one more key, to note provenance in.

        It may if its `id` says that it is the caller's own. Providers that have ids of their own,
        or none, refuse unknown keys; so does whatever has a `type` or is an object.
        """
        is_open = "type" not in self.wire and CLASS_KEY not in self.wire
        return "id" in self.wire and is_open and self.format in _OPEN_FORMATS
