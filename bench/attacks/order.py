"""Rounds in any order: folded by this and that, grown and forked between, kept here and there.

Whatever comes out last unfolds to what was said, from the stores and mappings of all rounds merged
in any order. Where one of them is lost, it is said.
"""

from __future__ import annotations

from random import Random
from typing import Any, Final

from attacks.base import Area, Check
from attacks.talks import talk
from refold import MemoryStore, Session, compress, uncompress
from refold.messages.wire import clone
from refold.options import Profile

_TRIES = 6_000
_BUDGETS: Final = (None, 150, 300, 600, 1_200)
_PROFILES: Final[tuple[Profile, ...]] = ("classic", "standard", "lossless")

Wire = dict[str, Any]


class Line:
    """A conversation that is folded again and again, and where what it needs is kept."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.name = random.choice((None, "desk"))
        self.ids = random.random() < 0.5
        self.said: list[Wire] = []
        self.view: list[Wire] = []
        self.kept: list[dict[str, Any]] = []
        self.store = MemoryStore() if random.random() < 0.5 else None
        self.grow()

    def grow(self) -> None:
        """Say more."""
        more = talk(self.random, self.random.randint(3, 8), chars=300)[2 if self.said else 0 :]
        for message in more:
            named = {"id": f"m{self.random.random()}", **message} if self.ids else message
            self.said.append(named)
            self.view.append(clone(named))

    def fork(self) -> Line:
        """Return another line that has begun like this one."""
        other = Line(self.random)
        other.name, other.ids, other.store = self.name, self.ids, self.store
        other.said, other.view, other.kept = clone(self.said), clone(self.view), [*self.kept]
        return other

    def fold(self) -> None:
        """Fold it once more, by one way or another, with the store or without."""
        choices: Any = {
            "store": self.store,
            "conversation": self.name,
            "profile": self.random.choice(_PROFILES),
            "recency_window": self.random.choice((0, 1, 3)),
            "token_budget": self.random.choice(_BUDGETS),
        }
        if self.random.random() < 0.3:
            session: Session[Wire] = Session(**choices)
            session.extend(self.view)
            self.view, kept = clone(session.view()), session.verbatim
        else:
            result = compress(self.view, **choices)
            self.view, kept = result.messages, result.verbatim
        self.kept.append(dict(kept))

    def merged(self) -> dict[str, Any]:
        """Return what all rounds have kept, in any order."""
        merged: dict[str, Any] = {}
        for kept in self.random.sample(self.kept, len(self.kept)):
            merged |= kept
        return merged


def run(scale: float, seed: int) -> Area:
    """Fold, grow and fork; unfold from what is kept, and from a part of it."""
    whole, stored = Check("merged mappings, in any order"), Check("one store for all forks")
    partly = Check("without one of the rounds: exact, or said")
    for number in range(max(5, int(scale * _TRIES))):
        random = Random(f"order/{seed}/{number}")
        lines = [Line(random)]
        for _ in range(random.randint(1, 5)):
            line = random.choice(lines)
            if random.random() < 0.2:
                lines.append(line.fork())
            line.fold()
            if random.random() < 0.6:
                line.grow()
        for line in lines:
            back = uncompress(line.view, line.merged(), conversation=line.name)
            whole.record(back.messages != line.said, f"{number}: {line.view!r}")
            if line.store is not None:
                back = uncompress(line.view, line.store, conversation=line.name)
                stored.record(back.messages != line.said, f"{number}: {line.view!r}")
            if line.kept:
                line.kept.pop(random.randrange(len(line.kept)))
                back = uncompress(line.view, line.merged(), conversation=line.name)
                is_silent = back.messages != line.said and back.complete
                partly.record(is_silent, f"{number}: {line.view!r}")
    return Area("order", [whole, stored, partly])
