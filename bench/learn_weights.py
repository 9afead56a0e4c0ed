"""Learn what a word or value is worth from real agent runs.

A run is cut at several places. Every item said before a cut is an example: used later or not.
Logistic models over the traits of `refold.planner.worth`, one for values and one for plain words,
are fitted to all sources, and, to see whether they hold elsewhere, to all but one source, for each
of them.

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
from refold.planner.items import find_items
from refold.planner.worth import (
    GRADES,
    VALUES,
    WORDS,
    grade_first,
    grade_items,
    grade_last,
    rows_of,
)
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
BALANCE: Final = 0.5
"""Long runs use more items later than short ones: each example weighs so many roots less."""

Fitted = tuple[dict[str, list[float]], float | None]
"""The points of a card, and how well they rank a source that was left out (AUC)."""


@dataclass(slots=True)
class Examples:
    """One row per item: the column of each of its grades, whether it was used, and its source."""

    rows: list[list[int]] = field(default_factory=list)
    used: list[int] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)


def offsets(card: str) -> dict[str, int]:
    """Return the first column of each trait of a card."""
    found: dict[str, int] = {}
    column = 0
    for trait, grades in GRADES[card].items():
        found[trait] = column
        column += grades
    return found


def examples_of(
    before: Sequence[Mapping[str, Any]], used_after: Mapping[str, set[str]]
) -> Iterator[tuple[str, list[int], bool]]:
    """Yield the columns of every item said before a cut, by card, and whether it was used later."""
    texts = read_texts(load(before), CountedTexts(estimate_tokens, estimate_tokens), {})
    field_ = survey_field(texts, frozenset({"system"}), talk=False)
    survey, turns, number = field_.survey, field_.turns, field_.survey.number
    words = used_after[WORDS]
    used = {
        VALUES: {number[i] for v in used_after[VALUES] for i in _items_in(v, number)},
        WORDS: {row for item, row in number.items() if item.lower() in words},
    }
    known = {number[item] for item in field_.known & number.keys()}
    last, first = grade_last(turns), grade_first(turns)
    for card, all_rows in rows_of(survey).items():
        rows = [row for row in all_rows if row not in known]
        own, start = grade_items(survey, turns, card, rows), offsets(card)
        for place, row in enumerate(rows):
            columns = [start[t] + grades[survey.last[row]] for t, grades in last.items()]
            columns += [start[t] + grades[survey.first[row]] for t, grades in first.items()]
            columns += [start[t] + grades[place] for t, grades in own.items()]
            yield card, columns, row in used[card]


def _items_in(value: str, known: Mapping[str, int]) -> Iterator[str]:
    if value in known:
        yield value
        return
    for item in find_items(value):
        if item in known and (not item.isalpha() or item[0].isupper()):
            yield item


def collect(kit: Kit) -> dict[str, Examples]:
    """Cut all runs, and list the examples of each card."""
    chance = random.Random(1)
    found = {card: Examples() for card in GRADES}
    for record in kit.runs(PER_SOURCE):
        messages = record["messages"]
        for cut in kit.cuts(messages, CUTS, MIN_TOKENS):
            values, words = kit.used_after(messages, cut)
            used = {VALUES: values, WORDS: words}
            for card, columns, is_used in examples_of(messages[:cut], used):
                if is_used or chance.random() < UNUSED_SHARE:
                    examples = found[card]
                    examples.rows.append(columns)
                    examples.used.append(int(is_used))
                    weight = max(3, len(used[card])) ** -BALANCE
                    examples.weights.append(weight if is_used else weight / UNUSED_SHARE)
                    examples.sources.append(record["source"])
    return found


def fit(card: str, found: Examples, left_out: str | None) -> Fitted:
    """Fit the points of a card without one source."""
    import numpy as np
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    indptr = np.cumsum([0, *map(len, found.rows)])
    matrix = csr_matrix(
        (np.ones(indptr[-1]), np.concatenate(found.rows), indptr),
        shape=(len(found.rows), sum(GRADES[card].values())),
    )
    used, weights = np.array(found.used), np.array(found.weights)
    weights *= len(weights) / weights.sum()
    inside = np.array([source != left_out for source in found.sources])
    model = LogisticRegression(C=STRENGTH, max_iter=400, solver="liblinear")
    model.fit(matrix[inside], used[inside], sample_weight=weights[inside])
    points = {"bias": [round(float(model.intercept_[0]), 3)]}
    for trait, start in offsets(card).items():
        own = model.coef_[0][start : start + GRADES[card][trait]]
        points[trait] = [round(float(point), 3) for point in own]
    outside = ~inside
    if not outside.any() or len(set(used[outside])) < 2:
        return points, None
    scores = model.decision_function(matrix[outside])
    return points, float(roc_auc_score(used[outside], scores, sample_weight=weights[outside]))


def write(points: Mapping[str, Mapping[str, Sequence[float]]], path: Path) -> None:
    """Write the points as JSON, one trait a line."""
    cards = []
    for card, own in points.items():
        lines = ",\n".join(f"  {json.dumps(t)}: {json.dumps(list(p))}" for t, p in own.items())
        cards.append(f"{json.dumps(card)}: {{\n{lines}\n}}")
    path.write_text('{"points": {\n' + ",\n".join(cards) + "\n}}\n", "utf-8")


def main() -> int:
    """Learn, show how well it holds on sources left out, and write the points."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--folds", type=Path, help="also write the points without each source here")
    arguments = parser.parse_args()
    kit = load_kit()
    if kit is None:
        return 0
    found = collect(kit)
    for card, examples in found.items():
        count, used = len(examples.used), sum(examples.used)
        print(f"{card}: {count:,} examples, {used:,} of them used later")
    sources = sorted({source for examples in found.values() for source in examples.sources})
    for source in sources if arguments.folds else ():
        fitted = {card: fit(card, examples, source) for card, examples in found.items()}
        arguments.folds.mkdir(parents=True, exist_ok=True)
        path = arguments.folds / f"{source.replace('/', '_')}.json"
        write({card: points for card, (points, _) in fitted.items()}, path)
        ranks = "  ".join(f"{card} {auc or float('nan'):.3f}" for card, (_, auc) in fitted.items())
        print(f"  without {source:40s} AUC there: {ranks}")
    write({card: fit(card, examples, None)[0] for card, examples in found.items()}, TARGET)
    print(f"wrote {TARGET.relative_to(ROOT)}: {TARGET.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
