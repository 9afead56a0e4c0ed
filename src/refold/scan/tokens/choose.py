"""Which counter fits a model."""

from __future__ import annotations

import re
from typing import Final

from refold.lazy import regex
from refold.scan.tokens.counter import TokenCounter
from refold.scan.tokens.estimate import estimate_tokens
from refold.scan.tokens.exact import ExactCounter

_FAMILIES: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (regex(r"gpt-(?:4o|4\.\d|5|[6-9])|chatgpt-4o|gpt-oss|o[1-9](?:$|-)|codex"), "o200k_base"),
    (
        regex(r"gpt-(?:4|3\.5)|gpt-35|text-embedding-(?:3|ada-002)|(?:davinci|babbage)-002"),
        "cl100k_base",
    ),
)


def encoding_for(model: str) -> str | None:
    """Return the public vocabulary that *model* uses; `None` if its tokenizer is not public.

    Understands `provider:model`, `provider/model`, `openai.model`, `ft:model:organisation` and date
    suffixes.
    """
    name = model.strip().lower().rsplit("/", 1)[-1].removeprefix("openai.")
    # In a fine-tuned model's name only the second piece is a model; the rest belongs to its owner.
    pieces = name.split(":")[1:2] if name.startswith("ft:") else name.split(":")
    for pattern, encoding in _FAMILIES:
        if any(pattern.match(piece) for piece in pieces):
            return encoding
    return None


def counter_for(model: str | None) -> TokenCounter:
    """Return the exact counter for *model*, or the estimate where there is none."""
    encoding = encoding_for(model) if model else None
    return ExactCounter(encoding) if encoding else estimate_tokens


def is_estimate(counter: TokenCounter) -> bool:
    """Tell whether *counter* only estimates."""
    return counter is estimate_tokens or isinstance(counter, CalibratedCounter)


def factor_of(counter: TokenCounter | None) -> float:
    """Return what *counter* has learned to multiply its counts with; 1 if it does not learn."""
    return counter.factor if isinstance(counter, CalibratedCounter) else 1.0


class CalibratedCounter:
    """An estimate that learns from the usage a provider reports.

    The factor is the reported over the estimated total, over everything observed: a running ratio
    needs no tuning and settles after a few calls.
    """

    def __init__(self, counter: TokenCounter = estimate_tokens) -> None:
        self._counter = counter
        self._estimated = 0
        self._reported = 0

    @property
    def factor(self) -> float:
        """What the plain count is multiplied with."""
        return self._reported / self._estimated if self._estimated else 1.0

    def observe(self, *, estimated: int, reported: int) -> None:
        """Learn that what the plain counter took for *estimated* tokens cost *reported*."""
        if estimated > 0 and reported > 0:
            self._estimated += estimated
            self._reported += reported

    def __call__(self, text: str) -> int:
        """Return the calibrated estimate, rounded up."""
        return -int(-self._counter(text) * self.factor // 1)
