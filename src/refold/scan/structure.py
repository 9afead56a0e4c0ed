"""JSON, and lines compared with those of another text."""

from __future__ import annotations

import json
from collections import Counter


def is_json(text: str) -> bool:
    """Tell whether *text* is one valid JSON object or array."""
    body = text.strip()
    if not body or body[0] not in "{[" or body[-1] not in "}]":
        return False
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True


def normal_lines(text: str) -> list[str]:
    """Return the non-blank lines of *text*, trimmed and in lower case."""
    return [line for raw in text.split("\n") if (line := raw.strip().lower())]


def bag_of(lines: list[str]) -> Counter[str]:
    """Count how often each line occurs."""
    return Counter(lines)


def jaccard(a: Counter[str], b: Counter[str]) -> float:
    """Return the share of common lines: Σ min ÷ Σ max of their counts, 1 for two empty bags."""
    if len(a) > len(b):
        a, b = b, a
    common = sum(min(count, b[line]) for line, count in a.items())
    total = a.total() + b.total() - common
    return common / total if total else 1.0


def lines_missing_from(text: str, other: str) -> list[str]:
    """Return the lines of *text* that *other* does not have verbatim, in order."""
    known = Counter(other.split("\n"))
    missing = []
    for line in text.split("\n"):
        if known[line] > 0:
            known[line] -= 1
        elif line.strip():
            missing.append(line)
    return missing
