"""Conversations that grow: a turn costs what it did, whatever came before it.

Work is counted in calls of Python functions, which no other process disturbs; `bench/loop.py` has
the seconds.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

from attacks.base import Area, Check
from attacks.talks import Messages, talk
from refold import ContextWindowManager, MemoryStore, Session, StoreError, uncompress

_BUDGET = 2_000
_MOST_GROWTH = 1.5
"""How much more a turn may cost on average after all turns than after a third of them. Where every
turn looks at all before it, that is 3. Without a budget folds come ever more rarely and are ever
larger, so it is 1 only give or take a fold: 0.8 to 1.3 for lengths of 360 to 4,800."""
_MOST_STORE = 1.7


def run(scale: float, seed: int) -> Area:
    """Let every kind of growing conversation grow."""
    rng = random.Random(seed)
    length = max(360, int(6_000 * scale))
    work = Check("a turn costs what it did")
    room = Check("a store has at most 1.7 times the conversation")
    exact = Check("it unfolds exactly")
    for name, make in _PATHS.items():
        _grow(name, make(), talk(rng, length, chars=1_000), work, room, exact)
    bombs = Check("a few records do not unfold to a million messages")
    for _ in range(max(5, int(100 * scale))):
        _unfold_bomb(bombs, rng)
    return Area("growth", [work, room, exact, bombs])


Turn = Callable[[Messages, dict[str, Any]], Messages]
"""Takes all messages so far and the last one of them; returns what to send."""


class _Weighed(MemoryStore):
    """A store that knows how much was put into it."""

    def __init__(self) -> None:
        super().__init__()
        self.chars = 0

    def put(self, entries: Mapping[str, Any]) -> None:
        """Keep every entry, and weigh those that are new."""
        known = self.get(entries)
        self.chars += sum(
            len(json.dumps({key: value})) for key, value in entries.items() if key not in known
        )
        super().put(entries)


class _Path:
    """A way to go through a conversation, and the store that it writes to."""

    def __init__(self, turn: Callable[[MemoryStore], Turn], *, is_budgeted: bool = True) -> None:
        self.store = _Weighed()
        self.turn = turn(self.store)
        self.is_budgeted = is_budgeted


def _session(**choices: Any) -> Callable[[MemoryStore], Turn]:
    def begin(store: MemoryStore) -> Turn:
        session = Session(store=store, **choices)

        def turn(_: Messages, message: dict[str, Any]) -> Messages:
            session.append(message)
            return session.view()

        return turn

    return begin


def _window(**choices: Any) -> Callable[[MemoryStore], Turn]:
    def begin(store: MemoryStore) -> Turn:
        manager = ContextWindowManager(
            context_limit=_BUDGET, reserve_output_tokens=0, store=store, **choices
        )
        return lambda told, _: manager.fit(told).messages

    return begin


def _chained(**choices: Any) -> Callable[[MemoryStore], Turn]:
    """Go on from what was sent, as many agents do."""

    def begin(store: MemoryStore) -> Turn:
        manager = ContextWindowManager(
            context_limit=_BUDGET, reserve_output_tokens=0, store=store, **choices
        )
        sent: Messages = []

        def turn(_: Messages, message: dict[str, Any]) -> Messages:
            sent[:] = manager.fit([*sent, message]).messages
            return list(sent)

        return turn

    return begin


_PATHS: dict[str, Callable[[], _Path]] = {
    "session classic": lambda: _Path(_session(token_budget=_BUDGET, profile="classic")),
    "session standard": lambda: _Path(_session(token_budget=_BUDGET, profile="standard")),
    "session without a budget": lambda: _Path(_session(), is_budgeted=False),
    "window fold": lambda: _Path(_window(strategy="fold")),
    "window summarize": lambda: _Path(_window(strategy="summarize")),
    "window chained": lambda: _Path(_chained(strategy="fold")),
}


def _grow(
    name: str, path: _Path, messages: Messages, work: Check, room: Check, exact: Check
) -> None:
    third = len(messages) // 3
    told: Messages = []
    spent: list[int] = []
    view: Messages = []
    for start in range(0, 3 * third, third):
        spent.append(_count_calls(path.turn, messages[start : start + third], told, view))
    growth = sum(spent) / (3 * spent[0])
    work.record(growth > _MOST_GROWTH, f"{name}: {spent} calls in each third of the turns")
    exact.record(uncompress(view, path.store).messages != told, name)
    share = path.store.chars / len(json.dumps(told))
    if path.is_budgeted:
        room.record(share > _MOST_STORE, f"{name}: {share:.2f} times the conversation")


def _count_calls(turn: Turn, messages: Messages, told: Messages, view: Messages) -> int:
    """Go on with *messages*; return how many functions were called for that."""
    calls = 0

    def count(_: FrameType, event: str, __: object) -> None:
        nonlocal calls
        calls += event == "call"

    for message in messages:
        told.append(message)
        sys.setprofile(count)
        try:
            view[:] = turn(told, message)
        finally:
            sys.setprofile(None)
    return calls


def _unfold_bomb(check: Check, rng: random.Random) -> None:
    """Let a few records name each other many times over."""
    depth, width = rng.randint(2, 12), rng.randint(2, 40)
    while width**depth < 200_000:
        depth += 1
    verbatim: dict[str, Any] = {"m0": {"role": "user", "content": "boom"}}
    for level in range(1, depth + 1):
        fold = {"ids": [f"m{level - 1}"] * width, "summary_id": f"s{level}", "version": 0}
        verbatim[f"m{level}"] = {
            "role": "user",
            "content": "[summary: boom]",
            "metadata": {"_cce_original": fold},
        }
    try:
        found = len(uncompress([verbatim[f"m{depth}"]], verbatim).messages)
    except StoreError as error:
        check.record("max_messages" not in str(error), f"unclear: {error}")
    else:
        check.record(found > 10_000, f"{found} messages of {depth} records")
