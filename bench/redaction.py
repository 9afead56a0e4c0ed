"""How many secrets of the fixtures get through, and how many recorded messages are taken for one.

A fixture has texts with their secrets in double brackets; the table was not tuned on the one that
is held out. Recorded conversations are read from ../shared/data (or --data); every message in which
anything is hidden counts as a false alarm, so the figure is an upper bound.

examples:
  python bench/redaction.py
  python bench/redaction.py --show 20
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from refold.scan.secrets import find_secrets
from table import draw

ROOT: Final = Path(__file__).parents[1]
DATA: Final = ROOT.parent / "shared" / "data"
FIXTURES: Final = ROOT / "tests" / "scan" / "fixtures"
MAX_LEAKED: Final = 0.04
MAX_FALSE: Final = 0.005
_MARKS: Final = re.compile("([\u27e6\u27e7])")


def read_fixture(path: Path) -> Iterator[tuple[str, str, list[tuple[int, int]]]]:
    """Yield the label, the text, and where its secrets are, of each case."""
    for block in path.read_text(encoding="utf-8").split("=== ")[1:]:
        label, _, marked = block.partition("\n")
        text, spans, start = "", [], 0
        for piece in _MARKS.split(marked.removesuffix("\n")):
            if piece == "\u27e6":
                start = len(text)
            elif piece == "\u27e7":
                secret = text[start:].rstrip("!?.")  # which may as well end the sentence
                spans.append((start, start + len(secret)))
            else:
                text += piece
        yield label, text, spans


def count_leaks(path: Path) -> tuple[int, list[str]]:
    """Return how many secrets a fixture has, and the labels of those that are not found whole."""
    total, leaked = 0, []
    for label, text, secrets in read_fixture(path):
        found = find_secrets(text)
        for start, end in secrets:
            total += 1
            if not any(a <= start and end <= b for a, b in found):
                leaked.append(label)
    return total, leaked


def texts_of(message: dict[str, Any]) -> Iterator[str]:
    """Yield what a message says: its content and the arguments of its calls."""
    content = message.get("content")
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        yield from (part["text"] for part in content if isinstance(part.get("text"), str))
    for call in message.get("tool_calls") or ():
        yield str(call.get("function", {}).get("arguments", ""))


def recorded(folder: Path) -> Iterator[list[str]]:
    """Yield the texts of each recorded message."""
    for path in sorted(folder.glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                record = json.loads(line)
                for message in record.get("messages") or ():
                    yield list(texts_of(message))
                if isinstance(record.get("text"), str):
                    yield [record["text"]]


def main() -> int:
    """Print the figures; return 1 if one is beyond what is promised."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--show", type=int, default=0, help="how many false alarms to print")
    arguments = parser.parse_args()
    rows, is_kept = [], True
    for path in sorted(FIXTURES.glob("*secrets.md")):
        total, leaked = count_leaks(path)
        rows.append([path.stem, "secrets not found", total, len(leaked), f"{MAX_LEAKED:.1%}"])
        is_kept &= len(leaked) <= MAX_LEAKED * total
    total = alarms = 0
    for texts in recorded(arguments.data):
        total += 1
        found = [text[a:b] for text in texts for a, b in find_secrets(text)]
        alarms += bool(found)
        if found and alarms <= arguments.show:
            print(f"{found[0]!r:.100}", file=sys.stderr)
    if total:
        rows.append(["recorded messages", "false alarms", total, alarms, f"{MAX_FALSE:.1%}"])
        is_kept &= alarms <= MAX_FALSE * total
    print(draw(["texts", "what", "tried", "broken", "allowed"], rows))
    if not total:
        print(f"SKIPPED: no recorded conversations in {arguments.data}; no false alarms counted")
    return 0 if is_kept else 1


if __name__ == "__main__":
    sys.exit(main())
