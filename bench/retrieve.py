"""How often the words of a question bring back its answer: one call of `retrieve`, without a model.

The kit makes questions with exact answers about recorded runs, one before each cut; the originals
before the cut are searched with the words of the question. Found means that the answer stands in
what comes back, within so many tokens. Constants were chosen on the sources of TUNED_ON; what is
promised is the figure on all others. Needs the kit and its data in ../shared, numpy and tiktoken.

examples:
  python bench/retrieve.py
  python bench/retrieve.py --kit ../shared/qa --data ../shared/data --missed 10
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Final

from refold.tools.search import search
from table import draw

SHARED: Final = Path(__file__).parents[2] / "shared"
PROMISED: Final = {500: 0.75, 1_500: 0.92}
"""Share of the answers that come back, by the tokens of what comes back."""
TUNED_ON: Final = (
    "tau-bench/gpt-4.1-retail",
    "tau-bench/gemini-2.0-flash-retail",
    "mini-swe-agent/gemini-3-pro",
    "claude-code/claude-code-viewer",
)


def load_kit(folder: Path) -> Any:
    """Return the module that makes the questions."""
    spec = spec_from_file_location("qa", folder / "qa.py")
    assert spec is not None
    assert spec.loader is not None
    kit = module_from_spec(spec)
    spec.loader.exec_module(kit)
    return kit


def main() -> int:
    """Print the shares; return 1 if one on the sources left out is below what is promised."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kit", type=Path, default=SHARED / "qa")
    parser.add_argument("--data", type=Path, default=SHARED / "data")
    parser.add_argument("--missed", type=int, default=0, help="how many missed ones to print")
    arguments = parser.parse_args()
    if not (arguments.kit / "qa.py").exists() or not arguments.data.exists():
        print(f"SKIPPED: no kit in {arguments.kit}, or no recorded runs in {arguments.data}")
        return 0
    kit = load_kit(arguments.kit)
    questions = kit.make_questions(str(arguments.data))
    runs = {(run["source"], run["id"]): run for run in kit.load(str(arguments.data))}
    found: defaultdict[tuple[str, int], list[bool]] = defaultdict(list)
    missed = []
    for question in questions:
        source = question["src"]
        messages = runs[source, question["id"]]["messages"][: question["cut"]]
        for size in PROMISED:
            answer = search(messages, question["q"], max_tokens=size)
            is_found = kit.has(question, answer) and kit.e.ntok(answer) <= size
            part = "tuned on" if source in TUNED_ON else "left out"
            for name in (part, "all", f"  {question['kind']}"):
                found[name, size].append(is_found)
            if not is_found and size == max(PROMISED):
                missed.append(f"{source}: {question['q']} → {question['a']}"[:200])
    rows = [
        [name, len(found[name, 500]), *(_mean(found[name, size]) for size in PROMISED)]
        for name in sorted({name for name, _ in found})
    ]
    print(draw(["sources", "questions", *(f"in {size} tokens" for size in PROMISED)], rows))
    print("\n".join(missed[: arguments.missed]), file=sys.stderr)
    shares = {
        size: sum(found["left out", size]) / len(found["left out", size]) for size in PROMISED
    }
    return 0 if all(shares[size] >= least for size, least in PROMISED.items()) else 1


def _mean(values: list[bool]) -> str:
    return f"{sum(values) / len(values):.3f}"


if __name__ == "__main__":
    sys.exit(main())
