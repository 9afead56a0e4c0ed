"""Count wrong answers of a model that are used, and careful ones that are not.

The lists are `tests/gates/answers`: texts, careful summaries of them, and answers with one thing
wrong. An answer is used as it is, or repaired, or because it keeps more than the rules' summary.

examples:
  python bench/answers.py
  python bench/answers.py --verbose
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from table import draw, share

sys.path.append(str(Path(__file__).parents[1]))

from tests.gates.answers import Answer, read_answers

from refold.gates import Source, check, choose_answer
from refold.strategies.extract import read_extract, summarize_extracts, token_budget
from refold.tokens.estimate import estimate_tokens


def is_used(answer: Answer) -> bool:
    """Tell whether an answer that a model gives twice is used, whole or repaired."""
    source = Source(answer.source, estimate_tokens)
    refusals = check(source, answer.text)
    room = token_budget(source.tokens)
    rules = summarize_extracts([read_extract(answer.source)], room)
    return choose_answer(source, [(answer.text, refusals)], rules) is not None


def main(argv: Sequence[str] | None = None) -> int:
    """Print false accepts and false refusals by class; return 1 if there are too many."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--verbose", action="store_true", help="name each of them")
    verbose = parser.parse_args(argv).verbose
    tried: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for answer in read_answers():
        kind = answer.kind or "careful"
        tried[kind] += 1
        if is_used(answer) != (not answer.kind):
            wrong[kind] += 1
            if verbose:
                print(f"{kind}: {answer.name}")
    bad = tried.total() - tried["careful"]
    accepted = wrong.total() - wrong["careful"]
    rows = [[kind, number, wrong[kind]] for kind, number in sorted(tried.items())]
    print(draw(["class", "answers", "judged wrongly"], rows))
    print(f"false accepts: {accepted} of {bad} ({share(accepted, bad)})")
    refused = share(wrong["careful"], tried["careful"])
    print(f"careful summaries refused: {wrong['careful']} of {tried['careful']} ({refused})")
    return int(accepted > 0.02 * bad or wrong["careful"] > 0.1 * tried["careful"])


if __name__ == "__main__":
    sys.exit(main())
