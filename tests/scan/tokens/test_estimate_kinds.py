"""The estimate on generated texts that its weights were not fitted to."""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

import pytest

from refold.scan.tokens.estimate import SAFETY_FACTOR, estimate_tokens
from refold.scan.tokens.exact import ExactCounter

sys.path.append(str(Path(__file__).parents[3] / "bench"))

from estimator_templates import LANGUAGES
from estimator_texts import KINDS, NOISE, generated

BENCH = Path(__file__).parents[3] / "bench"
SAID = {
    **dict.fromkeys(("Markdown pages", "Python source", "TypeScript source"), 0.03),
    **dict.fromkeys(("compact JSON", "pretty JSON", "log lines", "CSV"), 0.03),
    **dict.fromkeys(("base64", "hex", "numbers", "one letter"), 0.03),
    "YAML": 0.06,
    "white space": 0.2,
    **dict.fromkeys(LANGUAGES, 0.12),
    "Thai": 0.18,
}
"""How far the sum over a kind is off, at most."""
BEYOND_THE_MARGIN = {"Arabic", "Spanish", "white space"}


@pytest.fixture(scope="module")
def sums() -> dict[str, tuple[int, int]]:
    """The estimated and the exact tokens of each kind."""
    count = ExactCounter("o200k_base")
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for kind, text in generated():
        found[kind].append((estimate_tokens(text), count(text)))
    return {
        kind: (sum(guess for guess, _ in pairs), sum(exact for _, exact in pairs))
        for kind, pairs in found.items()
    }


@pytest.mark.parametrize("kind", SAID)
def test_a_kind_is_off_by_no_more_than_is_said(kind: str, sums: dict[str, tuple[int, int]]) -> None:
    guess, exact = sums[kind]
    assert abs(guess - exact) <= SAID[kind] * exact
    assert guess * SAFETY_FACTOR >= exact or kind in BEYOND_THE_MARGIN


def test_every_kind_has_an_error(sums: dict[str, tuple[int, int]]) -> None:
    assert set(sums) == set(SAID) == {*KINDS, *NOISE, *LANGUAGES}


def test_the_texts_are_the_same_every_time() -> None:
    assert list(generated()) == list(generated())
