"""One turn of a conversation, read once from the caller's data and never changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from refold.messages.part import Call, Media, Part
from refold.messages.provenance import Provenance, read_provenance
from refold.messages.wire import CLASS_KEY, Wire
from refold.messages.wire import digest as digest_of
from refold.notation.recognize import has_tag

_OPEN_FORMATS: Final = frozenset({"plain", "openai-chat", "anthropic"})
"""Shapes of messages that may be the caller's own; others are items of a provider's."""
_TOOLS: Final = frozenset({"tool", "function"})
"""In whose role tools answer."""


def has_envelope(wire: Wire, format: str) -> bool:
    """Tell whether a message may get a key more.

    It may if its `id` says that it is the caller's own. Providers that have ids of their own, or
    none, refuse unknown keys; so does whatever has a `type` or is an object. Without an id, there
    would be nothing in it that a copy of it has not, too.
    """
    is_open = "type" not in wire and CLASS_KEY not in wire
    return "id" in wire and is_open and format in _OPEN_FORMATS


class Message:
    """One turn, read-only; `wire` is the caller's own data and all that we do not understand.

    A plain class, because one is made for every message: a frozen dataclass takes twice as long to
    fill.
    """

    __slots__ = (
        "_digest",
        "_id",
        "binds_next",
        "calls",
        "format",
        "has_envelope",
        "images",
        "index",
        "is_fixed",
        "is_tool_result",
        "is_turn",
        "link",
        "lone_id",
        "media",
        "opaque",
        "parts",
        "provenance",
        "role",
        "thinking",
        "wire",
    )

    def __init__(
        self,
        *,
        index: int,
        id: str | None,
        role: str,
        wire: Wire,
        digest: str | None = None,
        format: str = "plain",
        parts: tuple[Part, ...] = (),
        opaque: tuple[str, ...] = (),
        thinking: tuple[str, ...] = (),
        images: int = 0,
        media: tuple[Media, ...] = (),
        calls: tuple[Call, ...] = (),
        provenance: Provenance | None = None,
        link: str = "",
        binds_next: bool = False,
        is_fixed: bool = False,
        is_turn: bool = True,
    ) -> None:
        self.index: Final = index
        self._id = id
        self.role: Final = role
        self.wire: Final = wire
        self._digest = digest
        self.format: Final = format
        """Name of the shape it was read in."""
        self.parts: Final = parts
        self.opaque: Final = opaque
        """Texts that cost tokens but are never replaced: names, refusals, documents."""
        self.thinking: Final = thinking
        """What a model thought: it costs tokens, too, but providers refuse to see it repeated
        outside of its own block. It stays as it is or goes as a whole."""
        self.images: Final = images
        """How many pictures it carries; they cost tokens by rule."""
        self.media: Final = media
        """Those of them, and what else is no text, that a line may take the place of."""
        self.calls: Final = calls
        """The tool calls that this message makes; of some, long arguments may be cut."""
        self.provenance = provenance
        """The originals that it stands for, if it stands for any."""
        self.link: Final = link
        """The key of its provenance, if it reads like a stand-in and does not carry any."""
        self.has_envelope: Final = has_envelope(wire, format)
        """Whether provenance can travel in the caller's data."""
        self.binds_next: Final = binds_next
        """Whether providers refuse it without the message after it: reasoning before a call."""
        self.is_fixed: Final = is_fixed
        """Whether it must stay where it is, as it is: a compaction of the provider's own."""
        self.is_turn: Final = is_turn
        """False for records of a session file that no model ever sees: they only travel along."""
        self.is_tool_result: Final = role in _TOOLS or any(part.call_id for part in parts)
        """Whether it answers a tool call, by role or by content."""
        self.lone_id: str | None = None
        """The id of a stand-in for this message alone, once derived."""

    def changed(
        self,
        *,
        index: int | None = None,
        id: str | None = None,
        wire: Wire | None = None,
        provenance: Provenance | None = None,
        link: str | None = None,
    ) -> Message:
        """Return the same message with something else in its place; what is `None` stays."""
        changed = Message(
            index=self.index if index is None else index,
            id=self.id if id is None else id,
            role=self.role,
            wire=self.wire if wire is None else wire,
            digest=self.digest,
            format=self.format,
            parts=self.parts,
            opaque=self.opaque,
            thinking=self.thinking,
            images=self.images,
            media=self.media,
            calls=self.calls,
            provenance=self.provenance if provenance is None else provenance,
            link=self.link if link is None else link,
            binds_next=self.binds_next,
            is_fixed=self.is_fixed,
            is_turn=self.is_turn,
        )
        if id is None and wire is None and provenance is None:
            changed.lone_id = self.lone_id  # what it is derived from is the same
        return changed

    def unproven(self) -> Message:
        """Return the same message as one that stands for nothing, whatever it says."""
        bare = self.changed()
        bare.provenance = bare.lone_id = None
        return bare

    @property
    def digest(self) -> str:
        """Names `wire` by its content; derived when first asked for, because few ask."""
        if self._digest is None:
            self._digest = digest_of(self.wire)
        return self._digest

    @property
    def id(self) -> str:
        """The caller's id, or else one made of index and content."""
        if self._id is None:
            self._id = f"m{self.index}-{self.digest[:8]}"
        return self._id

    @property
    def chars(self) -> int:
        """Length of all replaceable text."""
        return sum(len(part.text) for part in self.parts)

    def texts(self) -> Iterator[str]:
        """Yield all texts that it costs tokens for."""
        yield from (part.text for part in self.parts)
        yield from self.opaque
        yield from (call.text for call in self.calls)

    def is_result(self, part: Part) -> bool:
        """Tell whether *part*, one of its texts, is what a tool returned."""
        return bool(part.call_id) or self.role in _TOOLS

    @property
    def is_stand_in(self) -> bool:
        """Whether it stands for originals and reads like that: neither alone makes a stand-in."""
        return self.provenance is not None and any(has_tag(part.text) for part in self.parts)

    @property
    def claims_provenance(self) -> bool:
        """Whether it says that it stands for originals, be that true or not."""
        return self.provenance is not None or read_provenance(self.wire) is not None

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


_MERGEABLE_KEYS = frozenset({"role", "content", "id", "index", "metadata", "name"})
_TEXT_KEYS = {"type", "text"}
