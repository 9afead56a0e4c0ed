"""Stand-ins that could be mistaken for each other: each brings back its own originals.

A million originals in one store, from conversations that read the same once they are folded; many
such reports in one conversation; and pairs whose handles were made to collide.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import partial
from random import Random
from typing import Any

from attacks.base import Area, Check
from attacks.reports import numbered_report, talk
from refold import Compressor, MemoryStore, compress, retrieve_tool, uncompress

_TURNS = 10
_ORIGINALS = 1_000_000
_IN_ONE = 40_000
_TWINS = ((3_847, 4_244), (11_795, 11_903), (5_649, 11_920))
"""Numbers of reports whose handles begin with the same five letters; found by trying."""
_fold = partial(compress, profile="classic", recency_window=0)


class PackedStore:
    """A store of somebody's own: a dict of bytes, so that a million originals fit into memory."""

    def __init__(self) -> None:
        self._values: dict[str, bytes] = {}

    def put(self, entries: Mapping[str, Any]) -> None:
        """Keep every entry; a key that is already there keeps its value."""
        for key, value in entries.items():
            self._values.setdefault(key, json.dumps(value).encode())

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return what is known of *keys*."""
        return {key: json.loads(self._values[key]) for key in keys if key in self._values}

    def __len__(self) -> int:
        return len(self._values)


def run(scale: float, seed: int) -> Area:
    """Fold many, restore all, compare each with what it was."""
    return Area(
        "handles",
        [
            _many_conversations(max(1, int(scale * _ORIGINALS / _TURNS)), seed),
            _one_conversation(max(10, int(scale * _IN_ONE)), seed),
            *_collisions(),
        ],
    )


def _many_conversations(count: int, seed: int) -> Check:
    check = Check("conversations that read the same, in one store")
    store = PackedStore()
    compressor = Compressor(profile="classic", store=store, recency_window=0, dedup=False)
    views = []
    for number in range(count):
        messages = talk(Random(f"{seed}/{number}"), _TURNS)
        views.append(json.dumps(compressor.compress(messages).messages))
    for number, view in enumerate(views):
        messages = talk(Random(f"{seed}/{number}"), _TURNS)
        back = uncompress(json.loads(view), store)
        check.record(back.messages != messages, f"conversation {number}: {back!r}")
    return check


def _one_conversation(count: int, seed: int) -> Check:
    check = Check("reports that read the same, in one conversation")
    store = MemoryStore()
    messages = talk(Random(f"one/{seed}"), count)
    view = _fold(messages, store=store, dedup=False, conversation="one")
    back = uncompress(view.messages, store, conversation="one").messages
    for place, message in enumerate(messages):
        is_wrong = place >= len(back) or back[place] != message
        check.record(is_wrong, f"message {place}")
    return check


def _collisions() -> list[Check]:
    """Fold messages whose short handles are the same, in a conversation that has a name."""
    restored = Check("handles made to collide: restored")
    fetched = Check("handles made to collide: fetched by a model")
    for numbers in _TWINS:
        store = MemoryStore()
        views = []
        for number in numbers:
            messages = [{"role": "user", "content": numbered_report(number)}]
            folded = _fold(messages, store=store, conversation="desk")
            views.append((messages, folded.messages))
        for messages, view in views:
            back = uncompress(view, store, conversation="desk")
            restored.record(back.messages != messages, f"reports {numbers}: {back!r}")
            text = _fetch(view, store)
            fetched.record(text != messages[0]["content"], f"reports {numbers}: {text}")
    return [restored, fetched]


def _fetch(view: list[Any], store: MemoryStore) -> str:
    """Ask for what the first message shows, as a model would."""
    shown = view[0]["content"].rpartition("#")[2].rstrip("]")
    tool = retrieve_tool(store, messages=view, conversation="desk")
    return tool.call({"handle": shown}).partition("\n")[2]
