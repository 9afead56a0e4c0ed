"""Count what becomes of careful and of bad answers of a model.

The lists are `tests/llm/answers`: texts, careful summaries of them, and answers with one thing
wrong. An answer is used as written, or with one line of what it lacks, or not at all. What is wrong
with a bad one stays wrong if it is used; a negation that it lost stands beside it.

examples:
  python bench/answers.py
  python bench/answers.py --verbose
  python bench/answers.py --lists fresh_c
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from table import draw, share

sys.path.append(str(Path(__file__).parents[1]))

from tests.llm.answers import HOSTILE, Answer, Use, read_answers, use_of

_USES: tuple[Use, ...] = ("as written", "with values", "with a sentence", "refused")
_FIGURES = re.compile(r"[0-9]+")
_VALUES = ("number", "date", "unit swap", "case", "number word")


def main(argv: Sequence[str] | None = None) -> int:
    """Print what becomes of each class; return 1 if a hostile answer is used."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--verbose", action="store_true", help="name what is judged wrongly")
    parser.add_argument("--lists", default="", help="only files whose name begins so")
    arguments = parser.parse_args(argv)
    answers = [a for a in read_answers() if a.name.startswith(arguments.lists)]
    uses: dict[str, Counter[Use]] = {}
    values = Counter[bool]()
    accepted = Counter[bool]()
    for answer in answers:
        use = use_of(answer)
        uses.setdefault(answer.kind or "careful", Counter())[use] += 1
        if answer.kind in _VALUES:
            is_new = _has_new_figure(answer)
            values[is_new] += 1
            accepted[is_new] += use != "refused"
        if arguments.verbose and (use == "refused") == (not answer.kind):
            print(f"{answer.kind or 'careful'}: {answer.name} ({use})")
    rows = [[kind, *(used[use] for use in _USES)] for kind, used in sorted(uses.items())]
    print(draw(["class", *_USES], rows))
    hostile = sum((uses.get(kind, Counter()) for kind in HOSTILE), Counter[Use]())
    used = hostile.total() - hostile["refused"]
    print(f"hostile answers used: {used} of {hostile.total()}")
    for is_new, what in ((True, "in figures that the source lacks"), (False, "in other words")):
        many, total = accepted[is_new], values[is_new]
        print(f"wrong values {what}, used: {many} of {total} ({share(many, total)})")
    careful = uses.get("careful", Counter())
    whole = careful.total() - careful["refused"]
    print(f"careful summaries used: {whole} of {careful.total()} ({share(whole, careful.total())})")
    print(f"  without any line beside them: {careful['as written']}")
    others = [kind for kind in uses if kind not in ("careful", "language", *HOSTILE, *_VALUES)]
    turned = sum((uses[kind] for kind in others), Counter[Use]())
    stay = turned["as written"] + turned["with values"]
    print(f"turned relations used: {stay} of {turned.total()} ({share(stay, turned.total())})")
    print(f"  with the source's sentence beside them: {turned['with a sentence']}")
    return int(used > 0)


def _has_new_figure(answer: Answer) -> bool:
    """Tell whether an answer has figures in a row that its source lacks."""
    return not set(_FIGURES.findall(answer.text)) <= set(_FIGURES.findall(answer.source))


if __name__ == "__main__":
    sys.exit(main())
