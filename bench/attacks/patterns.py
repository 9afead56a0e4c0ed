"""Time that grows faster than a text, and texts in our own notation that nobody can fold.

Every pattern of the package is tried on inputs derived from itself. Conversations are made of what
refold itself writes, cut anywhere, and folded again and again.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Any, Final

from attacks.base import Area, Check
from derived import Tried, try_patterns
from notations import make_conversation
from refold import Session, compress, uncompress
from refold.conversation import ContextWindowManager

_CONVERSATIONS: Final = 2_000
_PROFILES: Final = ("classic", "standard", "lossless")
_BUDGETS: Final = (None, 20, 120, 600)
_ROUNDS: Final = 3


def run(scale: float, seed: int) -> Area:
    """Try patterns and views of views."""
    return Area(
        "patterns",
        [
            _grown("a pattern takes linear time", try_patterns(scale, seed)),
            *fold_views(max(1, int(scale * _CONVERSATIONS)), seed),
        ],
    )


def _grown(name: str, tries: Iterable[Tried]) -> Check:
    check = Check(name)
    for tried in tries:
        check.record(tried.is_slow, str(tried))
    return check


def fold_views(count: int, seed: int) -> Iterator[Check]:
    """Fold views of views; whatever a text says, nothing raises and all comes back."""
    chance = random.Random(seed)
    raised = Check("nothing raises, whatever a text says")
    lost = Check("a view of a view comes back as it was")
    for _ in range(count):
        messages = make_conversation(chance)
        profile, budget = chance.choice(_PROFILES), chance.choice(_BUDGETS)
        try:
            is_back = _comes_back(messages, profile, budget)
        except Exception as error:  # noqa: BLE001 - any error is what is looked for
            raised.record(True, f"{type(error).__name__} {error} with {profile}, {budget}")
            continue
        raised.record(False)
        lost.record(not is_back, f"{profile}, {budget}: {messages}"[:300])
    yield from (raised, lost)


def _comes_back(view: list[dict[str, Any]], profile: Any, budget: int | None) -> bool:
    for _ in range(_ROUNDS):
        result = compress(view, profile=profile, token_budget=budget, recency_window=0)
        if uncompress(result.messages, result.verbatim).messages != view:
            return False
        session = Session(profile=profile)
        session.extend(view)
        if uncompress(session.view(budget), session.verbatim).messages != view:
            return False
        ContextWindowManager(context_limit=200, reserve_output_tokens=0).fit(view)
        view = result.messages
    return True
