"""Conversations that fold, for tests that only care where the originals go."""

from __future__ import annotations

from typing import Any

from refold import compress, uncompress
from refold.stores import Store


def talk(number: int) -> list[dict[str, Any]]:
    """A conversation unlike any other, with a long answer early on."""
    said = [
        f"Sentence {line} of talk {number} tells at some length what was seen that day."
        for line in range(12)
    ]
    return [
        {"role": "user", "content": f"What happened on day {number}?"},
        {"role": "assistant", "content": " ".join(said)},
        *({"role": "user", "content": f"And then, part {part}?"} for part in range(6)),
    ]


def fold(number: int, store: Store) -> list[dict[str, Any]]:
    """Fold a talk under its own name; what comes back must be unfoldable."""
    result = compress(
        talk(number),
        store=store,
        conversation=f"talk-{number}",
        profile="classic",
        recency_window=4,
    )
    assert result.messages != talk(number), "a test that folds nothing tests nothing"
    return list(result.messages)


def unfold(number: int, view: list[dict[str, Any]], store: Store) -> list[Any]:
    """Unfold what `fold` returned."""
    return list(uncompress(view, store, conversation=f"talk-{number}").messages)
