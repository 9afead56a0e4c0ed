"""Measure the token estimate against an exact tokenizer, per kind of text; fit its weights anew.

    python bench/estimator.py                           # generated texts that were not fitted to
    python bench/estimator.py --data DIR --by kind      # messages of every *.jsonl.gz in DIR, too
    python bench/estimator.py --fit                     # fit to both, and compare with the package

Fitting needs numpy, scipy and the recorded conversations in ../shared/data (or --data); without
them it is skipped. It takes the part of the generated texts that is for fitting, prints the error
on each source when the fit has not seen it, and fails if the package has other weights.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import random
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean, quantiles
from typing import Final

from estimator_texts import generated
from refold import classify
from refold.scan.structure import is_json
from refold.scan.tokens.estimate import estimate_tokens
from refold.scan.tokens.exact import ENCODINGS, ExactCounter
from table import draw

MIN_TOKENS: Final = 20
PER_SOURCE: Final = 700
MAX_CHARS: Final = 20_000
DATA: Final = Path(__file__).parents[2] / "shared" / "data"
HEADER: Final = ("kind", "texts", "5 %", "median", "95 %", "error", "total")

Texts = list[tuple[str, str]]


def recorded(directory: Path) -> Iterator[tuple[str, str]]:
    """Yield texts of real conversations, at most a few hundred of each source."""
    for path in sorted(directory.glob("*.jsonl.gz")):
        texts: list[str] = []
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                record = json.loads(line)
                for message in record.get("messages") or ():
                    texts.append(message.get("content") or "")
                    calls = message.get("tool_calls") or ()
                    texts.extend(call["function"]["arguments"] for call in calls)
                texts.append(record.get("text") or "")
        random.Random(1).shuffle(texts)
        for text in texts[:PER_SOURCE]:
            yield path.name.removesuffix(".jsonl.gz"), text[:MAX_CHARS]


def kind_of(text: str) -> str:
    """Tell roughly what kind of text something is."""
    if is_json(text):
        return "recorded JSON"
    wide = sum("\u3040" <= char <= "\u9fff" for char in text[:2000])
    if wide > 0.2 * len(text[:2000]):
        return "recorded Chinese, Japanese"
    reasons = classify(text).reasons
    if {"indented_code", "code_fence", "high_special_char_ratio"} & set(reasons):
        return "recorded code and output"
    return "recorded English and other prose"


def measure(texts: Texts, count: ExactCounter) -> Iterator[tuple[object, ...]]:
    """Yield a row of the table for each kind: estimate over exact count, its spread and error."""
    pairs: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for kind, text in texts:
        exact = count(text)
        if exact >= MIN_TOKENS:
            pairs[kind].append((estimate_tokens(text), exact))
    pairs["ALL"] = [pair for found in pairs.values() for pair in found]
    for kind, found in pairs.items():
        ratios = [guess / exact for guess, exact in found]
        cuts = quantiles(ratios, n=20) if len(ratios) > 1 else ratios * 19
        error = mean(abs(ratio - 1) for ratio in ratios)
        total = sum(guess for guess, _ in found) / sum(exact for _, exact in found) - 1
        row = (len(found), cuts[0], cuts[9], cuts[18], f"{error:.1%}", f"{total:+.1%}")
        yield kind, *row


def fit(directory: Path) -> int:
    """Fit the weights anew, show how they do on what they have not seen, compare the package."""
    needed = [name for name in ("numpy", "scipy") if importlib.util.find_spec(name) is None]
    if needed or not any(directory.glob("*.jsonl.gz")):
        lacking = " and ".join(needed) or f"recorded conversations in {directory}"
        print(f"SKIPPED: fitting needs {lacking}", file=sys.stderr)
        return 0
    from estimator_fit import Fit, shipped, spell

    texts = [*recorded(directory), *generated("fit")]
    count = ExactCounter("o200k_base")
    fitting = Fit(texts, [count(text) for _, text in texts])
    header = ("kind", "texts", "error", "left out", "total")
    print(draw(header, fitting.cross_validate(fitting.left_out_kinds())))
    weights = fitting.weights()
    print(f"\n{spell(weights)}\n")
    same = weights == shipped()
    print("the package has these weights" if same else "THE PACKAGE HAS OTHER WEIGHTS")
    return 0 if same else 1


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table."""
    summary, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="directory of *.jsonl.gz conversations")
    parser.add_argument("--encoding", choices=ENCODINGS, default="o200k_base")
    parser.add_argument("--by", choices=("source", "kind"), default="source")
    parser.add_argument("--fit", action="store_true", help="fit the weights instead")
    args = parser.parse_args(argv)
    if args.fit:
        return fit(args.data or DATA)
    found = recorded(args.data) if args.data else ()
    named = ((kind_of(text) if args.by == "kind" else source, text) for source, text in found)
    texts = [*generated("test"), *named]
    print(f"estimate ÷ {args.encoding}, texts of {MIN_TOKENS} tokens and more")
    print(draw(HEADER, measure(texts, ExactCounter(args.encoding))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
