"""Train the dictionary that stores pack originals with, on texts that refold has itself.

What goes into a dictionary goes out with every copy of refold: so no recorded conversation does.
Run once; records name no dictionary, so a new one would need a new name (see `stores/codec.py`).

examples:
  python bench/store_dictionary.py src/refold/stores/dictionary-1.zdict
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import zstandard

ROOT: Final = Path(__file__).resolve().parent.parent
TEXTS: Final = ("docs/*.md", "README.md", "CONTRIBUTING.md", "tests/*/fixtures/*")
SIZE: Final = 32 * 1024
"""Twice as much packs recorded originals no better."""
_SAMPLE: Final = 2_000


def samples() -> Iterator[bytes]:
    """Yield messages, whole and in pieces: those of the demo, and texts as results of a tool."""
    for line in (ROOT / "src/refold/cli/demo_session.jsonl").read_bytes().splitlines():
        yield from _cut(line)
    for pattern in TEXTS:
        for path in sorted(ROOT.glob(pattern)):
            message = {"role": "tool", "content": path.read_text("utf-8")}
            yield from _cut(json.dumps(message, ensure_ascii=False).encode())


def _cut(data: bytes) -> Iterator[bytes]:
    yield from (data[start : start + _SAMPLE] for start in range(0, len(data), _SAMPLE))


def main() -> None:
    """Write the dictionary."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("target", type=Path)
    trained = zstandard.train_dictionary(SIZE, list(samples()))
    parser.parse_args().target.write_bytes(trained.as_bytes())


if __name__ == "__main__":
    main()
