"""Keys for the stand-ins of a view: hashes of their place among the others, to foil forgeries."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any, Final

from refold.messages.provenance import (
    LINK_PREFIX,
    find_anchors,
    hash_texts,
    looks_folded,
    read_provenance,
    stand_in_digest,
)

_NEIGHBOURS: Final = 3
"""How many stand-ins before another one count for its key. All of them would be safe as well, but
then a summary that grows in front of a long view would give everything behind it another key, at
every fold. With these, who pastes four stand-ins of their own history in a row, after it has been
folded once more, is given the fourth of them as what it was. Tuned on `bench/attacks/growth.py`: a
store then has less than twice a conversation of messages of 1 kB."""
_SPOKEN: Final = (
    ("role", "assistant", "content"),
    ("role", "assistant", "blocks"),
    ("type", "ai", "content"),
    ("kind", "response", "parts"),
)
"""How the shapes whose thinking may be left out say that a model speaks, and where its blocks are:
those of providers and LangChain, LlamaIndex and pydantic-ai."""


class Chain:
    """Gives a key to each stand-in of a view that does not carry its provenance.

    A key is a hash of the conversation's name, of the last few messages before the stand-in that
    read like one, of the stand-in itself, and of how often all that was there before. So the same
    words in another conversation, or typed later in the same one, have another key, and nobody has
    put anything there. Other messages are not in it: they may come and go.

    A conversation without a name is identified by the anchors in its stand-ins, up to each of them.
    """

    __slots__ = ("_anchor", "_before", "_is_named", "_scope", "_shown", "_times")

    def __init__(self, conversation: str | None = None) -> None:
        self._is_named = conversation is not None
        self._scope = b"" if conversation is None else hash_texts(b"conversation", conversation)
        self._shown: Container[str] = ()
        self._anchor = ""
        self._before: tuple[str, ...] = ()
        self._times: tuple[dict[bytes, int], ...] = ()
        """How often the same has followed the same: what is counted later stands further back.

        No dictionary ever changes, so that a copy of the chain costs nothing; of two neighbours,
        the first is the larger one, so that there are few."""

    @property
    def is_anchored(self) -> bool:
        """Whether it has an unguessable part so far."""
        return bool(self._scope)

    def copy(self) -> Chain:
        """Return an independent copy."""
        fresh = Chain()
        fresh._is_named, fresh._scope = self._is_named, self._scope
        fresh._anchor, fresh._before = self._anchor, self._before
        fresh._shown, fresh._times = self._shown, self._times
        return fresh

    def behind(self, shown: Container[str]) -> Chain:
        """Return a chain that goes on from here and gives none of the keys in *shown*.

        They belong to views of the messages before this one: it may be a copy from such a view.
        """
        fresh = self.copy()
        fresh._shown = shown
        return fresh

    def add(self, wire: Mapping[str, Any], name: str) -> str:
        """Add the next message that looks folded, with *name* for its digest; return its key."""
        if not self._is_named:
            for anchor in find_anchors(wire):
                if anchor != self._anchor:
                    self._scope, self._anchor = hash_texts(self._scope, anchor), anchor
        key = hash_texts(self._scope, *self._before, name)
        self._before = (*self._before, name)[-_NEIGHBOURS:]
        return self._counted(key)

    def key_of(self, wire: Mapping[str, Any]) -> str:
        """Return the key of the next message of a view: none if it does not look like ours.

        One that carries its provenance needs none, but counts for those after it: else a copy that
        is pasted behind it would have the key of what it has taken the place of.
        """
        if not looks_folded(wire):
            return ""
        name = stand_in_digest(wire)
        if read_provenance(wire) is None:
            return self.add(wire, name)
        self._before = (*self._before, name)[-_NEIGHBOURS:]
        return ""

    def link_of(self, wire: Mapping[str, Any]) -> str:
        """Return the key of the next message of a view, be it one without its thinking.

        Such a message shows nothing of ours. It is known by what it says and by the stand-ins
        before it, without which no thinking is ever left out.
        """
        key = self.key_of(wire)
        if key or not self.is_anchored or not _may_be_stripped(wire):
            return key
        return self._counted(
            hash_texts(self._scope, *self._before, "stripped", stand_in_digest(wire))
        )

    def _counted(self, name: bytes) -> str:
        """Return the key of what is called *name*, and has followed the same so often before."""
        times = next((found[name] for found in reversed(self._times) if name in found), 0)
        while (key := _numbered(name, times)) in self._shown:
            times += 1
        latest = {name: times + 1}
        rest = self._times
        while rest and len(rest[-1]) <= len(latest):
            latest = {**rest[-1], **latest}
            rest = rest[:-1]
        self._times = (*rest, latest)
        return key


def _numbered(name: bytes, times: int) -> str:
    """Return the key of what is called *name*, and was there so often before."""
    return LINK_PREFIX + (hash_texts(name, str(times)) if times else name).hex()


def _may_be_stripped(wire: Mapping[str, Any]) -> bool:
    """Tell whether *wire* may have been a message with thinking: it has none, but has blocks."""
    is_spoken = any(
        wire.get(key) == value and isinstance(wire.get(blocks), list)
        for key, value, blocks in _SPOKEN
    )
    return is_spoken and read_provenance(wire) is None
