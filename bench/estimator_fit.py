"""Fit the weights of the token estimate: nonnegative least squares of the relative error.

A pair of classes that hardly occurs could get any weight, so all are drawn, lightly, to what a
coarser division (letters, capitals, digits, signs) says. The result is rounded to whole units one
weight after the other, each time with the others as they are. Nothing is random: the same texts
give the same weights. Those of long white space are set by hand, see `SET_BY_HAND`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from scipy.optimize import nnls  # type: ignore[import-untyped, import-not-found, unused-ignore]

from estimator_texts import KINDS
from refold.scan.tokens import estimate
from refold.scan.tokens.estimate import pair_codes

Matrix = Any
MIN_TOKENS: Final = 20
"""A shorter text weighs as if it had so many: a token more or less is nothing to it."""
STRENGTH: Final = 0.01
"""How strongly a weight is drawn to the one of the coarser division."""
COARSE_STRENGTH: Final = 0.001
COARSE: Final = str.maketrans("crV.-()", "vvCpppp")
SET_BY_HAND: Final = {"ss": 1, "nn": 8, "tt": 8, "sn": 40}
"""128 spaces, 16 line feeds or 16 tabs in a row are one token; lines of spaces are a few."""
MAX_WEIGHT: Final = 255
ROUNDS: Final = 100
FULL_SHARE: Final = 400
"""Of a kind with so many texts each has the importance 1; with fewer, more, but 3 at most."""
IMPORTANCE: Final = {
    "base64": 3.0,
    "hex": 2.0,
    "numbers": 1.5,
    **dict.fromkeys(KINDS, 1.5),
}
"""Kinds that the recorded conversations hardly hold."""

_NAMES: Final = estimate.CLASS_NAMES[1:]
PAIRS: Final = [before + after for before in _NAMES for after in _NAMES]
_CODES: Final = [16 * a + b for a in range(1, 1 + len(_NAMES)) for b in range(1, 1 + len(_NAMES))]
_SCRIPT_NUMBERS: Final = bytes(
    next(
        (n for n, (a, b, _) in enumerate(estimate.SCRIPT_WEIGHTS, start=1) if a <= byte <= b),
        0,
    )
    for byte in range(256)
)
_SIZE: Final = len(PAIRS) + len(estimate.SCRIPT_WEIGHTS)


def features(text: str) -> list[int]:
    """Count what the estimate weighs: pairs of classes, then units of each script."""
    data = text.encode("utf-8", "surrogatepass")
    pairs = Counter(pair_codes(data.translate(estimate.CLASSES), estimate.FIRST)[: len(data)])
    units = Counter(text.encode("utf-16-le", "surrogatepass")[1::2].translate(_SCRIPT_NUMBERS))
    scripts = range(1, 1 + len(estimate.SCRIPT_WEIGHTS))
    return [*(pairs[code] for code in _CODES), *(units[number] for number in scripts)]


def shipped() -> list[int]:
    """Return the weights of the package in the order of the features."""
    scripts = [weight for _, _, weight in estimate.SCRIPT_WEIGHTS]
    return [*(estimate.PAIRS[code] for code in _CODES), *scripts]


class Fit:
    """Texts as rows of features, what each of them costs and how much it matters."""

    def __init__(self, texts: Sequence[tuple[str, str]], counts: Sequence[int]) -> None:
        self.kinds = np.array([kind for kind, _ in texts])
        self.rows = np.array([features(text) for _, text in texts], float)
        self.counts = np.array(counts, float)
        sizes = Counter(kind for kind, _ in texts)
        shares = {kind: min(3.0, (FULL_SHARE / size) ** 0.5) for kind, size in sizes.items()}
        self._importance = np.array([shares[k] * IMPORTANCE.get(k, 1.0) for k, _ in texts])
        self._set = np.zeros(_SIZE)
        for pair, weight in SET_BY_HAND.items():
            self._set[PAIRS.index(pair)] = weight / estimate.UNIT

    def weights(self, left_out: str | None = None) -> list[int]:
        """Fit to all texts but those of the kind *left_out*."""
        used = self.kinds != left_out
        scale = self._importance[used] / np.maximum(self.counts[used], MIN_TOKENS)
        rows = self.rows[used] * scale[:, None]
        wanted = self.counts[used] * scale - rows @ self._set
        rows[:, self._set > 0] = 0
        groups = coarse_groups()
        coarse = rows @ groups
        drawn_to = groups @ _solve(*_normal(coarse, wanted, COARSE_STRENGTH))
        gram, target = _normal(rows, wanted, STRENGTH)
        target += STRENGTH * drawn_to
        fitted = _round(_solve(gram, target), gram, target)
        return [round(float(unit)) for unit in (fitted + self._set) * estimate.UNIT]

    def errors(self, weights: Sequence[int], kind: str) -> tuple[int, float, float]:
        """Return how many texts of a kind count, their mean error, and that of their sum."""
        chosen = (self.kinds == kind) & (self.counts >= MIN_TOKENS)
        guesses = self.rows[chosen] @ np.array(weights) / estimate.UNIT
        exact = self.counts[chosen]
        single = np.abs(guesses / exact - 1).mean()
        return len(exact), float(single), float(guesses.sum() / exact.sum() - 1)

    def cross_validate(self, kinds: Sequence[str]) -> Iterator[tuple[str, int, str, str, str]]:
        """Yield for each kind its texts, their error in the fit, and with the kind left out."""
        inside = self.weights()
        for kind in kinds:
            count, error, _ = self.errors(inside, kind)
            _, unseen, total = self.errors(self.weights(left_out=kind), kind)
            yield kind, count, f"{error:.1%}", f"{unseen:.1%}", f"{total:+.1%}"

    def left_out_kinds(self) -> list[str]:
        """Return the kinds that others can stand in for: sources, and what agents read."""
        found = dict.fromkeys(str(kind) for kind in self.kinds)
        return [kind for kind in found if kind in KINDS or "." in kind]


def coarse_groups() -> Matrix:
    """Return which feature belongs to which group of the coarser division, as ones and zeros."""
    numbers: dict[str, int] = {}
    names = [pair.translate(COARSE) for pair in PAIRS]
    names += [f"script {n}" for n in range(len(estimate.SCRIPT_WEIGHTS))]
    columns = [numbers.setdefault(name, len(numbers)) for name in names]
    groups = np.zeros((_SIZE, len(numbers)))
    groups[range(_SIZE), columns] = 1
    return groups


def _normal(rows: Matrix, wanted: Matrix, strength: float) -> tuple[Matrix, Matrix]:
    """Return the normal equations, a little regularised."""
    return rows.T @ rows + strength * np.eye(rows.shape[1]), rows.T @ wanted


def _solve(gram: Matrix, target: Matrix) -> Matrix:
    """Solve normal equations with weights from 0 to the largest that fits a byte."""
    root = np.linalg.cholesky(gram)
    solution, _ = nnls(root.T, np.linalg.solve(root, target), maxiter=50_000)
    return np.minimum(solution, MAX_WEIGHT / estimate.UNIT)


def _round(weights: Matrix, gram: Matrix, target: Matrix) -> Matrix:
    """Round to whole units; each weight makes up for the rounding of those before it."""
    weights = np.round(weights * estimate.UNIT) / estimate.UNIT
    for _ in range(ROUNDS):
        before = weights.copy()
        for j in range(len(weights)):
            best = weights[j] + (target[j] - gram[j] @ weights) / gram[j, j]
            weights[j] = np.clip(round(best * estimate.UNIT), 0, MAX_WEIGHT) / estimate.UNIT
        if (weights == before).all():
            break
    return weights


def spell(weights: Sequence[int]) -> str:
    """Write the weights as they stand in `refold.scan.tokens.estimate`."""
    width = len(_NAMES)
    lines = [
        f"{name} " + " ".join(f"{unit:3d}" for unit in weights[n * width : (n + 1) * width])
        for n, name in enumerate(_NAMES)
    ]
    for (first, last, _), unit in zip(estimate.SCRIPT_WEIGHTS, weights[width**2 :], strict=True):
        lines.append(f"    (0x{first:02X}, 0x{last:02X}, {unit}),")
    return "\n".join(lines)
