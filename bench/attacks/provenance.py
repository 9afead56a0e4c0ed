"""Provenance in `metadata` that refold did not write for that very message is not believed."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from attacks.base import Area, Check
from attacks.reports import talk, with_ids
from refold import MemoryStore, compress, uncompress
from refold.messages.wire import clone, digest

_TRIES = 20_000
_VICTIMS = 500
_TURNS = 4

Wire = dict[str, Any]


class Files:
    """Conversations with ids in one store, and what they look like folded."""

    def __init__(self, victims: int, seed: int) -> None:
        self.store = MemoryStore()
        self.random = Random(seed)
        self.originals: list[list[Wire]] = []
        self.views: list[list[Wire]] = []
        for number in range(victims):
            messages = with_ids(talk(Random(f"file/{seed}/{number}"), _TURNS))
            folded = compress(
                messages, store=self.store, recency_window=0, conversation=_name(number)
            )
            self.originals.append(messages)
            self.views.append(folded.messages)

    def stolen(self) -> Wire:
        """Return the stand-in of somebody else."""
        stolen: Wire = clone(self.random.choice(self.random.choice(self.views)))
        return stolen


def _name(number: int) -> str:
    return f"file-{number}"


def _copied(files: Files) -> Wire:
    """Copy a whole stand-in into another conversation."""
    return files.stolen()


def _moved(files: Files) -> Wire:
    """Put the provenance of one message onto another text."""
    return {**files.stolen(), "content": "What did the customer say?"}


def _renamed(files: Files) -> Wire:
    return {**files.stolen(), "id": f"other-{files.random.random()}"}


def _made_up(files: Files) -> Wire:
    """Name an original by its digest, as somebody might who knows what refold does."""
    original = files.random.choice(files.random.choice(files.originals))
    behind = {"ids": [original["id"]], "summary_id": "x", "digests": [digest(original)]}
    wire: Wire = {"id": "m0", "role": "user", "content": "[summary: so]"}
    wire["metadata"] = {"_cce_original": {**behind, "version": 0}}
    return wire


def _raw_key(files: Files) -> Wire:
    """Name a key of the store, as other tools name originals."""
    original = files.random.choice(files.random.choice(files.originals))
    behind = {"ids": [digest(original)], "summary_id": "x", "version": 0}
    return {
        "id": "m0",
        "role": "user",
        "content": "[summary: so]",
        "metadata": {"_cce_original": behind},
    }


_FORGERIES: dict[str, Callable[[Files], Wire]] = {
    "copied from another conversation": _copied,
    "moved to another text": _moved,
    "under another id": _renamed,
    "made up from a known digest": _made_up,
    "made up from a key of the store": _raw_key,
}


def run(scale: float, seed: int) -> Area:
    """Forge provenance; no original may come back for it, not even to those who accept foreign."""
    files = Files(max(10, int(scale * _VICTIMS)), seed)
    tries = max(5, int(scale * _TRIES / len(_FORGERIES)))
    checks = [_forged(files, name, make, tries) for name, make in _FORGERIES.items()]
    return Area("provenance", [*checks, _honest(files)])


def _forged(files: Files, name: str, make: Callable[[Files], Wire], tries: int) -> Check:
    check = Check(f"forged: {name}")
    for _ in range(tries):
        messages = [make(files)]
        foreign = files.random.random() < 0.5
        back = uncompress(
            messages, files.store, conversation="attacker", accept_foreign=foreign
        ).messages
        folded = compress(messages, store=files.store, conversation="attacker").messages
        again = uncompress(folded, files.store, conversation="attacker").messages
        check.record(back != messages or again != messages, f"{messages!r} became {back!r}")
    return check


def _honest(files: Files) -> Check:
    check = Check("true provenance is believed")
    for number, (messages, view) in enumerate(zip(files.originals, files.views, strict=True)):
        back = uncompress(view, files.store, conversation=_name(number)).messages
        check.record(back != messages, f"file {number}")
    return check
