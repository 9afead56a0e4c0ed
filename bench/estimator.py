"""Measure the token estimate against an exact tokenizer, per kind of text.

python bench/estimator.py                           # generated texts that were not fitted to
python bench/estimator.py --data DIR --by kind      # messages of every *.jsonl.gz in DIR, too
"""

from __future__ import annotations

import argparse
import gzip
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


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table."""
    summary, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="directory of *.jsonl.gz conversations")
    parser.add_argument("--encoding", choices=ENCODINGS, default="o200k_base")
    parser.add_argument("--by", choices=("source", "kind"), default="source")
    args = parser.parse_args(argv)
    found = recorded(args.data) if args.data else ()
    named = ((kind_of(text) if args.by == "kind" else source, text) for source, text in found)
    texts = [*generated(), *named]
    print(f"estimate ÷ {args.encoding}, texts of {MIN_TOKENS} tokens and more")
    print(draw(HEADER, measure(texts, ExactCounter(args.encoding))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
