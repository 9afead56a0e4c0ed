"""Compare the exact counters with tiktoken's own encodings on every message of a data directory.

    TIKTOKEN_CACHE_DIR=DIR python bench/exact.py DATA_DIR

tiktoken downloads its vocabularies, so this needs the network once, or a directory that has them.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import tiktoken

from refold.scan.tokens.exact import ENCODINGS, ExactCounter


def texts(directory: Path) -> Iterator[str]:
    """Yield every content and every tool argument of every record."""
    for path in sorted(directory.glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                record = json.loads(line)
                yield record.get("text") or ""
                for message in record.get("messages") or ():
                    yield message.get("content") or ""
                    for call in message.get("tool_calls") or ():
                        yield call["function"]["arguments"]


def main() -> int:
    """Print how many texts agree; return 1 if any does not."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="directory of *.jsonl.gz")
    args = parser.parse_args()
    everything = [text for text in texts(args.data) if text]
    differing = 0
    for name in ENCODINGS:
        ours, theirs = ExactCounter(name), tiktoken.get_encoding(name)
        wrong = sum(ours(text) != len(theirs.encode_ordinary(text)) for text in everything)
        print(f"{name}: {len(everything):,} texts, {wrong:,} counted differently")
        differing += wrong
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
