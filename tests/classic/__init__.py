"""The public face with the rules of the profile `classic`: for tests that are about those."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import refold
from refold.classic.names import iter_names
from refold.classic.sentences import read, split
from refold.classic.texts import View

# Tests hand over whatever there is, also what a type checker would refuse.
Options: Callable[..., refold.Options] = partial(refold.Options, profile="classic")
compress: Callable[..., refold.Result[Any]] = partial(refold.compress, profile="classic")
acompress: Callable[..., Coroutine[Any, Any, refold.Result[Any]]] = partial(
    refold.acompress, profile="classic"
)


def _by_rules(options: object, choices: dict[str, Any]) -> dict[str, Any]:
    """Return *choices* with the profile, unless *options* say which."""
    return choices if options is not None else {"profile": "classic", **choices}


class Compressor(refold.Compressor):
    """A compressor that goes by the rules, unless its options say otherwise."""

    def __init__(self, options: refold.Options | None = None, **choices: Any) -> None:
        super().__init__(options, **_by_rules(options, choices))


class Session(refold.Session):
    """A session that goes by the rules, unless its options say otherwise."""

    def __init__(self, options: refold.Options | None = None, **choices: Any) -> None:
        super().__init__(options, **_by_rules(options, choices))


def split_sentences(text: str) -> list[str]:
    return [sentence for _, sentence in split(text)]


def best_sentence_score(text: str) -> int:
    return max(read(View(text)).scores, default=0)


def extract_entities(text: str, cap: int) -> list[str]:
    return list(dict.fromkeys(iter_names(View(text))))[:cap]
