"""Hooks of the caller's: who scores sentences, and who says which words of a text are kept.

What fails or gives nonsense is counted, and our own means are used instead. Neither sees a secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from refold.options import ScorerMode, SentenceScorer
from refold.plan.shorten.prose import Score
from refold.plan.token_count import CountedTexts
from refold.scan.sentence_score import mix_scores

_BEFORE: Final = re.compile(r"(?<!\s)\s++([.,;:!?\])}])")
_AFTER: Final = re.compile(r"([(\[{])\s++")
_GAPS: Final = re.compile(r"\s{2,}+")
_SURE: Final = 0.5
"""A classifier that is less sure that a word can go has not said so."""


@dataclass(frozen=True, slots=True)
class TokenVerdict:
    """One word of a text: whether to keep it, and how sure that is."""

    token: str
    keep: bool
    confidence: float = 1.0


ClassifyTokens = Callable[[str], Iterable[TokenVerdict | Mapping[str, Any]]]
"""Cuts a text into words and judges each; a mapping with the names of a verdict will do."""


def join_kept(text: str, verdicts: Iterable[TokenVerdict | Mapping[str, Any]]) -> str:
    """Join the words of *text* that stay: those to keep, and those whose removal is uncertain.

    Whoever judges the words may leave some out, but add none: they are in the text, in this order.
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
    """What a caller may give: a scorer of sentences, beside our own, and a classifier of words."""

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
        """How often a hook failed or gave nonsense; our own means were used instead."""

    @property
    def scores(self) -> bool:
        """Whether there is a scorer, which may be dear."""
        return self._score_sentences is not None

    @property
    def keeps_tokens(self) -> bool:
        """Whether there is a classifier of words."""
        return self._classify_tokens is not None

    def rescore(self, texts: list[str], own: Sequence[Score]) -> Sequence[Score]:
        """Let the caller's scorer have its say on the sentences of one text."""
        if self._score_sentences is None or not texts:
            return own
        from refold.scan.redaction import hide_in_pieces  # only for who has a hook

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
        """Return the words of *text* that the caller's token classifier keeps, if it has one."""
        if self._classify_tokens is None:
            return None
        from refold.scan.redaction import Vault  # only for who has a hook

        vault = Vault([text])  # whoever classifies may be a model, and far away
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
    """Tell whether what is left of *text* says nothing that it does not: a number or a yes."""
    from refold.llm.gates import (  # only for who has a hook
        Source,
        negations_kept,
        nothing_invented,
    )

    source = Source(text, tokens)
    gates = (nothing_invented.GATE, negations_kept.GATE)
    return all(gate.check(source, kept) is None for gate in gates)
