"""The estimate on generated texts that its weights were not fitted to, and how it is fitted."""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from refold.scan.tokens.estimate import SAFETY_FACTOR, SCRIPTS, UNIT, estimate_tokens
from refold.scan.tokens.exact import ExactCounter
from tests.conversations import texts
from tests.patience import FOR_EVER

sys.path.append(str(Path(__file__).parents[3] / "bench"))

from estimator_templates import CODE, LANGUAGES, LOG_LINES, PAGES, SENTENCES, SETTINGS
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
    for kind, text in generated("test"):
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


def test_what_is_tested_was_not_fitted() -> None:
    for parts in (SENTENCES, LOG_LINES, PAGES, SETTINGS, *CODE.values()):
        assert not set(parts["fit"]) & set(parts["test"])
    assert all(language["fit"] != language["test"] for language in LANGUAGES.values())
    fitted = {text for kind, text in generated("fit") if kind not in NOISE}
    assert not fitted & {text for _, text in generated("test")}


def test_the_texts_are_the_same_every_time() -> None:
    assert list(generated("fit")) == list(generated("fit"))


@settings(max_examples=100)
@given(st.one_of(texts(), st.text("aB7 \n\t._-(é中я🚀", min_size=1, max_size=80)).filter(bool))
def test_what_is_fitted_is_what_is_estimated(text: str) -> None:
    pytest.importorskip("scipy")
    from estimator_fit import features, shipped

    scripts = text.encode("utf-16-le", "surrogatepass")[1::2].translate(SCRIPTS)
    assume(max(SCRIPTS) not in scripts)  # scripts without a weight of their own are not fitted
    units = sum(n * weight for n, weight in zip(features(text), shipped(), strict=True))
    assert max(1, (units + UNIT // 2) // UNIT) == estimate_tokens(text)


def test_without_recordings_fitting_is_skipped_aloud(tmp_path: Path) -> None:
    command = [sys.executable, str(BENCH / "estimator.py"), "--fit", "--data", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=FOR_EVER, check=False)
    assert done.returncode == 0
    assert done.stderr.startswith("SKIPPED: fitting needs ")
    assert not done.stdout
