"""Learn what a word or value is worth from real agent runs.

A run is cut at several places. Every item said before a cut is an example: used later or not.
Logistic models over the features of `refold.fold.rate`, one for values and one for words,
are fitted to all sources, and, to see whether they hold elsewhere, to all but one source, for each
of them.

    python bench/learn_weights.py                 # writes src/refold/fold/weights.json
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
from refold.fold.cut import cut as cut_texts
from refold.fold.rate import BUCKETS, MEMBERS, VALUES, WORDS, Index, bucket_item, bucket_turns
from refold.fold.texts import SYSTEM, read
from refold.messages.formats import load
from refold.messages.token_count import CountedTexts
from refold.scan.items import find_items
from refold.scan.tokens.estimate import estimate_tokens

ROOT: Final = Path(__file__).parent.parent
TARGET: Final = ROOT / "src" / "refold" / "fold" / "weights.json"
CUTS: Final = (0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.93)
MIN_TOKENS: Final = 800
PER_SOURCE: Final = 12
UNUSED_SHARE: Final = 0.15
"""Of the many items that nobody came back to, this share is enough; they weigh more instead."""
STRENGTH: Final = 0.3
BALANCE: Final = 0.5
"""Long runs use more items later than short ones: each example weighs so many roots less."""

Fitted = tuple[dict[str, list[float]], float | None]
"""The weights of a class, and how well they rank a source that was left out (AUC)."""


@dataclass(slots=True)
class Examples:
    """One row per item: the column of each of its buckets, whether it was used, and its source."""

    rows: list[list[int]] = field(default_factory=list)
    used: list[int] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)


def offsets(class_: str) -> dict[str, int]:
    """Return the first column of each feature of a class."""
    found: dict[str, int] = {}
    column = 0
    for feature, buckets in BUCKETS[class_].items():
        found[feature] = column
        column += buckets
    return found


def examples_of(
    before: Sequence[Mapping[str, Any]], used_after: Mapping[str, set[str]]
) -> Iterator[tuple[str, list[int], bool]]:
    """Yield class and columns of every item said before a cut, and whether it was used later."""
    messages, tokens = load(before), CountedTexts(estimate_tokens, estimate_tokens)
    texts = read(messages, tokens)
    index = Index()
    index.add(texts, cut_texts(texts))
    number, words = index.row, used_after[WORDS]
    used = {
        VALUES: {number[i] for v in used_after[VALUES] for i in _items_in(v, number)},
        WORDS: {row for item, row in number.items() if item.lower() in words},
    }
    system = [part.text for m in messages if m.role in SYSTEM for part in m.parts]
    known = {row for text in system for row in index.rows_in(text)}
    turns = bucket_turns(texts)
    for class_, shapes in MEMBERS.items():
        start = offsets(class_)
        for name, row in number.items():
            if row in known or index.shape[row] not in shapes:
                continue
            columns = [start[t] + buckets[index.last[row]] for t, buckets in turns.last.items()]
            columns += [start[t] + buckets[index.first[row]] for t, buckets in turns.first.items()]
            own = bucket_item(index, row, name, class_, turns)
            columns += [start[t] + bucket for t, bucket in own.items()]
            yield class_, columns, row in used[class_]


def _items_in(value: str, known: Mapping[str, int]) -> Iterator[str]:
    if value in known:
        yield value
        return
    for item in find_items(value):
        if item in known and (not item.isalpha() or item[0].isupper()):
            yield item


def collect(kit: Kit) -> dict[str, Examples]:
    """Cut all runs, and list the examples of each class."""
    chance = random.Random(1)
    found = {class_: Examples() for class_ in BUCKETS}
    for record in kit.runs(PER_SOURCE):
        messages = record["messages"]
        for cut in kit.cuts(messages, CUTS, MIN_TOKENS):
            values, words = kit.used_after(messages, cut)
            used = {VALUES: values, WORDS: words}
            for class_, columns, is_used in examples_of(messages[:cut], used):
                if is_used or chance.random() < UNUSED_SHARE:
                    examples = found[class_]
                    examples.rows.append(columns)
                    examples.used.append(int(is_used))
                    weight = max(3, len(used[class_])) ** -BALANCE
                    examples.weights.append(weight if is_used else weight / UNUSED_SHARE)
                    examples.sources.append(record["source"])
    return found


def fit(class_: str, found: Examples, left_out: str | None) -> Fitted:
    """Fit the weights of a class without one source."""
    import numpy as np
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    indptr = np.cumsum([0, *map(len, found.rows)])
    matrix = csr_matrix(
        (np.ones(indptr[-1]), np.concatenate(found.rows), indptr),
        shape=(len(found.rows), sum(BUCKETS[class_].values())),
    )
    used, weights = np.array(found.used), np.array(found.weights)
    weights *= len(weights) / weights.sum()
    inside = np.array([source != left_out for source in found.sources])
    model = LogisticRegression(C=STRENGTH, max_iter=400, solver="liblinear")
    model.fit(matrix[inside], used[inside], sample_weight=weights[inside])
    learned = {"bias": [round(float(model.intercept_[0]), 3)]}
    for feature, start in offsets(class_).items():
        own = model.coef_[0][start : start + BUCKETS[class_][feature]]
        learned[feature] = [round(float(point), 3) for point in own]
    outside = ~inside
    if not outside.any() or len(set(used[outside])) < 2:
        return learned, None
    scores = model.decision_function(matrix[outside])
    return learned, float(roc_auc_score(used[outside], scores, sample_weight=weights[outside]))


def write(weights: Mapping[str, Mapping[str, Sequence[float]]], path: Path) -> None:
    """Write the weights as JSON, one feature a line."""
    classes = []
    for class_, own in weights.items():
        lines = ",\n".join(f"  {json.dumps(t)}: {json.dumps(list(p))}" for t, p in own.items())
        classes.append(f"{json.dumps(class_)}: {{\n{lines}\n}}")
    path.write_text('{"weights": {\n' + ",\n".join(classes) + "\n}}\n", "utf-8")


def main() -> int:
    """Learn, show how well it holds on sources left out, and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "--folds", type=Path, help="also write the weights without each source here"
    )
    arguments = parser.parse_args()
    kit = load_kit()
    if kit is None:
        return 0
    found = collect(kit)
    for class_, examples in found.items():
        count, used = len(examples.used), sum(examples.used)
        print(f"{class_}: {count:,} examples, {used:,} of them used later")
    sources = sorted({source for examples in found.values() for source in examples.sources})
    for source in sources if arguments.folds else ():
        fitted = {class_: fit(class_, examples, source) for class_, examples in found.items()}
        arguments.folds.mkdir(parents=True, exist_ok=True)
        path = arguments.folds / f"{source.replace('/', '_')}.json"
        write({class_: weights for class_, (weights, _) in fitted.items()}, path)
        ranks = "  ".join(
            f"{class_} {auc or float('nan'):.3f}" for class_, (_, auc) in fitted.items()
        )
        print(f"  without {source:40s} AUC there: {ranks}")
    write({class_: fit(class_, examples, None)[0] for class_, examples in found.items()}, TARGET)
    print(f"wrote {TARGET.relative_to(ROOT)}: {TARGET.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
