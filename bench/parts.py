"""Show where the time of a plain fold goes, part by part.

Runs the parts of `compress` one after the other over a generated conversation and prints the CPU
time of each in microseconds per message: the least of several runs, because whatever else a machine
does only adds to it. The parts from "what is known" on take what the cache holds as known, so
each part is counted once. What is left of the whole is passing things on.

examples:
  python bench/parts.py
  build/compiled/bin/python bench/parts.py --megabytes 5
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from typing import Final

from generate import generate
from refold import compress
from refold.detectors import detect_hard, soft_texts
from refold.engine import Engine
from refold.messages.folds import Plan
from refold.messages.wire import digest
from refold.native import scanner
from refold.options import Options
from refold.plan.quality import measure
from refold.plan.text_cache import TextCache
from refold.scan.entities import NameFinder
from refold.scan.tokens.estimate import estimate_tokens
from table import draw

_RUNS: Final = 7


def main(argv: Sequence[str] | None = None) -> int:
    """Measure the parts and print the table."""
    arguments = _parse(argv)
    messages = generate(arguments.megabytes, seed=arguments.seed)
    engine = Engine(Options(profile="classic"))
    loaded, known = engine.begin(messages).messages, engine.new_text_cache()
    plan = engine.plan(loaded, known, engine.options)[0]
    measure(plan, engine.options, known.tokens, known.finder)
    parts: list[tuple[str, Callable[[], object]]] = [
        ("reading messages", lambda: engine.begin(messages)),
        ("naming those that are folded", lambda: _name(plan)),
        *_text_cache(engine, plan, known),
        (
            "what is known: deciding, making stand-ins",
            lambda: engine.plan(loaded, known, engine.options),
        ),
        ("what is known: writing out", lambda: engine.write(engine.seal(plan))),
        (
            "what is known: measuring",
            lambda: measure(plan, engine.options, known.tokens, known.finder),
        ),
        ("the whole", lambda: compress(messages, profile="classic")),
    ]
    rows = [(name, _least(part, arguments.runs) / len(messages)) for name, part in parts]
    rows.insert(-1, ("the rest", rows[-1][1] - sum(cost for _, cost in rows[:-1])))
    form = "interpreted" if scanner is None else "compiled"
    print(draw([f"part, {form}", "µs per message"], rows))
    return 0


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    summary, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--megabytes", type=float, default=2.0, help="of generated text (2)")
    parser.add_argument("--seed", type=int, default=7, help="for another conversation (7)")
    parser.add_argument("--runs", type=int, default=_RUNS, help=f"of each part ({_RUNS})")
    return parser.parse_args(argv)


def _text_cache(
    engine: Engine, plan: Plan, known: TextCache
) -> list[tuple[str, Callable[[], object]]]:
    """Make the parts that look at texts, each at just those texts that a fold has it look at."""
    folds = [fold for fold in plan if not fold.is_kept]
    before = [part.text for fold in plan for message in fold.sources for part in message.parts]
    after = [text for fold in folds for text in fold.texts_after]
    folded = [part.text for fold in folds for message in fold.sources for part in message.parts]
    counted = list(dict.fromkeys([*before, *after]))
    named = list(dict.fromkeys([*folded, *after]))
    judged, summed, listed = list(known._findings), list(known._summaries), list(known._found)
    return [
        ("counting tokens", lambda: [estimate_tokens(text) for text in counted]),
        ("looking for structure", lambda: [detect_hard(text) for text in judged]),
        ("cutting, scoring and choosing sentences", lambda: _summarize(engine, summed)),
        ("names and identifiers", lambda: _find_names(named)),
        (
            "other findings to list",
            lambda: [soft_texts(t, known.findings(t)) for t in listed],
        ),
    ]


def _name(plan: Plan) -> None:
    for fold in plan:
        for message in () if fold.is_kept else fold.sources:
            digest(message.wire)


def _summarize(engine: Engine, summed: Sequence[tuple[Sequence[str], int]]) -> None:
    text_cache = engine.new_text_cache(keeps_sentences=False)
    for texts, budget in summed:
        text_cache.summary(texts, budget)


def _find_names(texts: Sequence[str]) -> None:
    finder = NameFinder()
    for text in texts:
        finder.find(text)


def _least(part: Callable[[], object], runs: int) -> float:
    """Return the microseconds of CPU time of the fastest run."""
    least = float("inf")
    for _ in range(runs):
        began = time.process_time()
        part()
        least = min(least, time.process_time() - began)
    return least * 1e6


if __name__ == "__main__":
    sys.exit(main())
