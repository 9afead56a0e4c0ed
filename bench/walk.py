"""Follow one call through the sources: the files that it enters, in their order, with their lines.

A fold of a generated run of 17 messages under a budget, and the same run through the window.
What is loaded first is warm before anything is counted. The walk of docs/architecture.md is what
this prints.

examples:
  python bench/walk.py
  python bench/walk.py --functions
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import refold
from generate import generate_messages
from refold import ContextWindowManager, compress
from table import draw

ROOT = Path(refold.__file__).parent
Messages = list[dict[str, Any]]


def main(argv: Sequence[str] | None = None) -> int:
    """Print the files of both walks, and their sums."""
    summary, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--functions", action="store_true", help="name the functions, too")
    arguments = parser.parse_args(argv)
    messages = generate_messages(17)

    def window() -> ContextWindowManager:
        return ContextWindowManager(context_limit=1_000, reserve_output_tokens=0)

    walks: dict[str, Callable[[], object]] = {
        "compress(standard, budget)": lambda: compress(messages, token_budget=1_000),
        "ContextWindowManager.fit": lambda: window().fit(messages),
    }
    for title, call in walks.items():
        call()
        entered = walk(call)
        rows = [
            (place, len((ROOT / place).read_text("utf-8").splitlines()), len(codes))
            for place, codes in entered.items()
        ]
        functions = sum(count for _, _, count in rows)
        print(f"{title}: {len(rows)} files, {functions} functions\n")
        print(draw(("file, as it is entered", "lines", "functions"), rows), end="\n\n")
        if arguments.functions:
            for place, codes in entered.items():
                print(place, *(code.co_qualname for code in codes), sep="\n  ")
    return 0


def walk(call: Callable[[], object]) -> dict[str, list[CodeType]]:
    """Run *call*; return the functions of refold that it enters, by file, in order."""
    entered: dict[str, dict[CodeType, None]] = {}

    def trace(frame: FrameType, event: str, _: object) -> None:
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(str(ROOT)) and "<" not in frame.f_code.co_name:
            place = Path(path).relative_to(ROOT).as_posix()
            entered.setdefault(place, {})[frame.f_code] = None

    sys.setprofile(trace)
    try:
        call()
    finally:
        sys.setprofile(None)
    return {place: list(codes) for place, codes in entered.items()}


if __name__ == "__main__":
    sys.exit(main())
