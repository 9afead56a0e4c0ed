"""Learn what a word or value is worth from real agent runs.

A run is cut at several places. Every item said before a cut is an example: used later or not.
A logistic model over the traits of `refold.planner.worth` is fitted to all sources, and, to see
whether it holds elsewhere, to all but one source, for each of them.

    python bench/learn_weights.py                 # writes src/refold/planner/weights.json
    python bench/learn_weights.py --folds DIR     # also DIR/<source>.json, fitted without it

Needs the fidelity kit and its data in ../shared, and numpy, scipy and scikit-learn.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from fidelity_kit import Kit, load_kit
from refold.formats import load
from refold.planner.field import read_texts, survey_field
from refold.planner.items import Shape, find_items
from refold.planner.worth import GRADES, grade_first, grade_items, grade_last
from refold.tokens.base import CountedTexts
from refold.tokens.estimate import estimate_tokens

ROOT: Final = Path(__file__).parent.parent
TARGET: Final = ROOT / "src" / "refold" / "planner" / "weights.json"
CUTS: Final = (0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.93)
MIN_TOKENS: Final = 800
PER_SOURCE: Final = 12
UNUSED_SHARE: Final = 0.15
"""Of the many items that nobody came back to, this share is enough; they weigh more instead."""
STRENGTH: Final = 0.3


@dataclass(slots=True)
class Examples:
    """One row per item: the column of each of its grades, whether it was used, and its source."""

    rows: list[list[int]] = field(default_factory=list)
    used: list[int] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)


def offsets() -> dict[str, int]:
    """Return the first column of each trait."""
    found: dict[str, int] = {}
    column = 0
    for trait, grades in GRADES.items():
        found[trait] = column
        column += grades
    return found


def examples_of(
    before: Sequence[Mapping[str, Any]], values: set[str], words: set[str]
) -> Iterator[tuple[list[int], bool]]:
    """Yield the columns of every item said before a cut, and whether it was used after it."""
    messages = load(before)
    texts = read_texts(messages, CountedTexts(estimate_tokens, estimate_tokens), {})
    field_ = survey_field(texts, frozenset({"system"}), talk=False)
    survey, turns, known = field_.survey, field_.turns, field_.known
    used = {item for value in values for item in _items_in(value, survey.number)}
    last, first = grade_last(turns), grade_first(turns)
    own = grade_items(survey, turns)
    start = offsets()
    for item, row in survey.number.items():
        if item in known:
            continue
        columns = [start[t] + grades[survey.last[row]] for t, grades in last.items()]
        columns += [start[t] + grades[survey.first[row]] for t, grades in first.items()]
        columns += [start[t] + grades[row] for t, grades in own.items()]
        is_word = survey.shape[row] >= Shape.WORD
        yield columns, item in used or (is_word and item.lower() in words)


def _items_in(value: str, known: Mapping[str, int]) -> Iterator[str]:
    if value in known:
        yield value
        return
    yield from (item for item in find_items(value) if item in known and not item.isalpha())


def collect(kit: Kit) -> Examples:
    """Cut all runs, and list the examples."""
    chance = random.Random(1)
    found = Examples()
    for record in kit.runs(PER_SOURCE):
        messages = record["messages"]
        for cut in kit.cuts(messages, CUTS, MIN_TOKENS):
            values, words = kit.used_after(messages, cut)
            for columns, is_used in examples_of(messages[:cut], values, words):
                if is_used or chance.random() < UNUSED_SHARE:
                    found.rows.append(columns)
                    found.used.append(int(is_used))
                    found.weights.append(1.0 if is_used else 1 / UNUSED_SHARE)
                    found.sources.append(record["source"])
    return found


def fit(found: Examples, left_out: str | None) -> tuple[dict[str, list[float]], float | None]:
    """Fit the points without one source; return them and how well they rank that source (AUC)."""
    import numpy as np
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    indptr = np.cumsum([0, *map(len, found.rows)])
    data = np.ones(indptr[-1])
    matrix = csr_matrix(
        (data, np.concatenate(found.rows), indptr), shape=(len(found.rows), sum(GRADES.values()))
    )
    used, weights = np.array(found.used), np.array(found.weights)
    inside = np.array([source != left_out for source in found.sources])
    model = LogisticRegression(C=STRENGTH, max_iter=400, solver="liblinear")
    model.fit(matrix[inside], used[inside], sample_weight=weights[inside])
    points = {"bias": [round(float(model.intercept_[0]), 3)]}
    for trait, start in offsets().items():
        own = model.coef_[0][start : start + GRADES[trait]]
        points[trait] = [round(float(point), 3) for point in own]
    outside = ~inside
    if not outside.any() or len(set(used[outside])) < 2:
        return points, None
    scores = model.decision_function(matrix[outside])
    return points, float(roc_auc_score(used[outside], scores, sample_weight=weights[outside]))


def write(points: Mapping[str, Sequence[float]], path: Path) -> None:
    """Write the points as JSON, one trait a line."""
    lines = ",\n".join(f"  {json.dumps(t)}: {json.dumps(list(p))}" for t, p in points.items())
    path.write_text(f'{{"points": {{\n{lines}\n}}}}\n', "utf-8")


def main() -> int:
    """Learn, show how well it holds on sources left out, and write the points."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--folds", type=Path, help="also write the points without each source here")
    arguments = parser.parse_args()
    kit = load_kit()
    if kit is None:
        return 0
    found = collect(kit)
    print(f"{len(found.used):,} examples, {sum(found.used):,} of them used later")
    for source in sorted(set(found.sources)) if arguments.folds else ():
        points, auc = fit(found, source)
        arguments.folds.mkdir(parents=True, exist_ok=True)
        write(points, arguments.folds / f"{source.replace('/', '_')}.json")
        print(f"  without {source:40s} AUC there {auc or float('nan'):.3f}")
    points, _ = fit(found, None)
    write(points, TARGET)
    print(f"wrote {TARGET.relative_to(ROOT)}: {TARGET.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
