"""Measure summaries without a model on `bench/gold`: which sentences are kept, and what is named.

Each text gets the room that its gold sentences take, and a tenth more.

examples:
  python bench/summaries.py
  python bench/summaries.py --orders 20 --seed 7
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from gold_texts import GoldText, read_gold
from refold import compress
from refold.classic.sentences import JOINT, TokenPoints, read, summarize
from refold.classic.texts import View
from refold.scan.tokens.estimate import estimate_tokens
from table import draw

_SPARE: Final = 1.1
"""Room for a summary, by what the gold sentences take."""

_ANSWER_TOKENS: Final = 200

Summarize = Callable[[str, Sequence[str]], str]
"""Summarizes a text in the room that some of its sentences take."""


def by_rules(text: str, gold: Sequence[str]) -> str:
    """Summarize by the rules."""
    room = sum(len(said) + len(JOINT) for said in gold)
    return summarize([read(View(text), TokenPoints())], int(_SPARE * room))


@dataclass(slots=True)
class Tally:
    """How many sentences were kept."""

    acts: int = 0
    acts_kept: int = 0
    gold: int = 0
    shown: int = 0
    hits: int = 0

    def add(self, text: GoldText, summary: str) -> None:
        """Count one summary."""
        shown = {said for said in text.sentences if said in summary}
        self.acts += len(text.acts)
        self.acts_kept += len(shown & text.acts)
        self.gold += len(text.gold)
        self.shown += len(shown)
        self.hits += len(shown & text.gold)

    @property
    def share_of_acts(self) -> float:
        """The share of acts that were kept."""
        return self.acts_kept / self.acts

    @property
    def f1(self) -> float:
        """Precision and recall of gold sentences in one figure."""
        return 2 * self.hits / (self.shown + self.gold)


def measure(
    texts: Sequence[GoldText], summarize: Summarize, *, orders: int, seed: int
) -> dict[str, Tally]:
    """Summarize each text as it is and in random orders; tally by language and by part."""
    rng = random.Random(seed)
    tallies: dict[str, Tally] = {}
    for text in texts:
        part = "held out" if text.is_held_out else "tuned on"
        for number in range(orders + 1):
            sentences = list(text.sentences)
            if number:
                rng.shuffle(sentences)
            summary = summarize(text.join(sentences), sorted(text.gold))
            for group in (text.language, part, "all"):
                tallies.setdefault(group, Tally()).add(text, summary)
    return tallies


def measure_savings(texts: Sequence[GoldText]) -> dict[str, float]:
    """Return the share of tokens that a fold saves by language, of answers of equal tokens."""
    saved: dict[str, float] = {}
    for language in sorted({text.language for text in texts}):
        talk = [{"role": "user", "content": "Go on."}]
        answer: list[str] = []
        for text in texts:
            if text.language == language:
                answer.append(text.text)
                joined = "\n\n".join(answer)
                if estimate_tokens(joined) >= _ANSWER_TOKENS:
                    talk.append({"role": "assistant", "content": joined})
                    talk.append({"role": "user", "content": "Go on."})
                    answer = []
        result = compress(talk, recency_window=1)
        saved[language] = 1 - result.tokens_after / result.tokens_before
    return saved


def main(argv: Sequence[str] | None = None) -> int:
    """Print acts kept and F1 of gold sentences ."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--orders", type=int, default=5, help="random orders of each text")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args(argv)
    texts = read_gold()
    print(f"{len(texts)} texts, {sum(len(text.sentences) for text in texts)} sentences")
    results = measure(texts, by_rules, orders=arguments.orders, seed=arguments.seed)
    groups = [*sorted({text.language for text in texts}), "tuned on", "held out", "all"]
    rows = [
        [
            group,
            f"{results[group].share_of_acts:.1%}",
            f"{results[group].f1:.3f}",
        ]
        for group in groups
    ]
    head = ["acts kept", "gold F1"]
    print(draw(["texts", *head], rows))
    saved = [[language, f"{part:.1%}"] for language, part in measure_savings(texts).items()]
    print("\n" + draw([f"answers of about {_ANSWER_TOKENS} tokens", "saved"], saved))
    return 0


if __name__ == "__main__":
    sys.exit(main())
