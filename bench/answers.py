"""Count wrong answers of a model that are used, and careful ones that are not.

The lists are `tests/llm/gates/answers`: texts, careful summaries of them, and answers with one
thing wrong. An answer is used as it is, or with facts appended, or without the sentences that a
gate refuses, or not at all. A wrong one is judged wrongly if what is wrong with it stays, a careful
one if it is not used.

examples:
  python bench/answers.py
  python bench/answers.py --verbose
  python bench/answers.py --lists fresh_c
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from table import draw, share

sys.path.append(str(Path(__file__).parents[1]))

from tests.llm.gates.answers import Use, is_right, read_answers, use_of


def main(argv: Sequence[str] | None = None) -> int:
    """Print false accepts and false refusals by class; return 1 if there are too many."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--verbose", action="store_true", help="name each of them")
    parser.add_argument("--lists", default="", help="only files whose name begins so")
    arguments = parser.parse_args(argv)
    answers = read_answers()
    tried: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    careful: Counter[Use] = Counter()
    for answer in answers:
        if not answer.name.startswith(arguments.lists):
            continue
        kind, use = answer.kind or "careful", use_of(answer, answers)
        tried[kind] += 1
        if not answer.kind:
            careful[use] += 1
        if not is_right(answer, use):
            wrong[kind] += 1
            if arguments.verbose:
                print(f"{kind}: {answer.name} ({use})")
    bad = tried.total() - tried["careful"]
    accepted = wrong.total() - wrong["careful"]
    rows = [[kind, number, wrong[kind]] for kind, number in sorted(tried.items())]
    print(draw(["class", "answers", "judged wrongly"], rows))
    print(f"false accepts: {accepted} of {bad} ({share(accepted, bad)})")
    refused = share(wrong["careful"], tried["careful"])
    print(f"careful summaries not used: {wrong['careful']} of {tried['careful']} ({refused})")
    print("careful summaries: " + ", ".join(f"{use} {n}" for use, n in sorted(careful.items())))
    return int(accepted > 0.02 * bad or wrong["careful"] > 0.1 * tried["careful"])


if __name__ == "__main__":
    sys.exit(main())
