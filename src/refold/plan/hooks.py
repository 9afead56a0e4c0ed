"""Hooks of the caller: a scorer of sentences, and a classifier of which words to keep.

If one fails or returns nonsense, that is counted and refold's own rules are used instead. Neither
sees a secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from refold.messages.token_count import CountedTexts
from refold.options import ScorerMode, SentenceScorer
from refold.scan.sentence_score import mix_scores

Score = int | float

_BEFORE: Final = re.compile(r"(?<!\s)\s++([.,;:!?\])}])")
_AFTER: Final = re.compile(r"([(\[{])\s++")
_GAPS: Final = re.compile(r"\s{2,}+")
_SURE: Final = 0.5
"""A word is removed only if the classifier is at least this confident."""


@dataclass(frozen=True, slots=True)
class TokenVerdict:
    """One word of a text: whether to keep it, and with what confidence."""

    token: str
    keep: bool
    confidence: float = 1.0


ClassifyTokens = Callable[[str], Iterable[TokenVerdict | Mapping[str, Any]]]
"""Splits a text into words and judges each; verdicts may be mappings with the same keys."""


def join_kept(text: str, verdicts: Iterable[TokenVerdict | Mapping[str, Any]]) -> str:
    """Join the words of *text* that stay: those to keep, and those whose removal is uncertain.

    The verdicts may skip words, but not add any or change their order: that raises `ValueError`.
    """
    kept: list[str] = []
    place = 0
    for given in verdicts:
        verdict = TokenVerdict(**given) if isinstance(given, Mapping) else given
        place = text.index(verdict.token, place) + len(verdict.token)
        if verdict.keep or verdict.confidence < _SURE:
            kept.append(verdict.token)
    joined = _AFTER.sub(r"\1", _BEFORE.sub(r"\1", " ".join(kept)))
    return _GAPS.sub(" ", joined).strip()


class Hooks:
    """The hooks that a caller may give: a sentence scorer and a token classifier."""

    def __init__(
        self,
        *,
        score_sentences: SentenceScorer | None = None,
        score_mode: ScorerMode = "augment",
        classify_tokens: ClassifyTokens | None = None,
    ) -> None:
        self._score_sentences = score_sentences
        self._score_mode: ScorerMode = score_mode
        self._classify_tokens = classify_tokens
        self.failures = 0
        """How often a hook failed or returned nonsense."""

    @property
    def scores(self) -> bool:
        """Whether there is a scorer, which may be expensive."""
        return self._score_sentences is not None

    @property
    def keeps_tokens(self) -> bool:
        """Whether there is a token classifier."""
        return self._classify_tokens is not None

    def rescore(self, texts: list[str], own: Sequence[Score]) -> Sequence[Score]:
        """Combine our *own* scores of the sentences of one text with the caller's, if any."""
        if self._score_sentences is None or not texts:
            return own
        from refold.scan.redaction import hide_in_pieces  # only needed with a hook

        try:
            given = self._score_sentences(hide_in_pieces(texts))
            scores = mix_scores(own, list(given), self._score_mode)
        except Exception:  # noqa: BLE001 - the scorer is the caller's own
            scores = None
        if scores is None:
            self.failures += 1
            return own
        return scores

    def kept_tokens(self, text: str, tokens: CountedTexts) -> str | None:
        """Return the words of *text* that the token classifier keeps; `None` without one."""
        if self._classify_tokens is None:
            return None
        from refold.scan.redaction import Vault  # only needed with a hook

        vault = Vault([text])  # the classifier may be a remote model
        hidden = vault.hide(text)
        try:
            kept = vault.reveal(join_kept(hidden, self._classify_tokens(hidden)))
        except Exception:  # noqa: BLE001 - the classifier is the caller's own
            kept = ""
        if vault.is_mangled(kept):
            kept = ""
        if kept and len(kept) < len(text) and _is_true(text, kept, tokens):
            return kept
        self.failures += 1
        return None


def _is_true(text: str, kept: str, tokens: CountedTexts) -> bool:
    """Tell whether what is left of *text* invents no number and drops no negation."""
    from refold.llm.gates import (  # only needed with a hook
        Source,
        negations_kept,
        nothing_invented,
    )

    source = Source(text, tokens)
    gates = (nothing_invented.GATE, negations_kept.GATE)
    return all(gate.check(source, kept) is None for gate in gates)
