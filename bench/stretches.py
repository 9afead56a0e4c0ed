"""Under a budget, compare digests by the rules with those of a scripted model that knows the gold.

Conversations are made of the texts in `bench/gold`. The model writes the gold sentences of the
oldest stretch, under a heading for each kind of text, as far as there is room.

examples:
  python bench/stretches.py
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any, Final

from gold_texts import GoldText, read_gold
from refold import Result, compress
from refold.llm.summarizers import Summary, SummaryRequest
from refold.scan.tokens.estimate import estimate_tokens
from table import draw

_TEXTS: Final = 20
_SHARES: Final = (0.2, 0.3, 0.45)
_FILL: Final = 0.9
"""How much of its room the model fills: our count of its tokens is an estimate."""


class GoldModel:
    """Writes the gold sentences of a stretch, a list under a heading per topic."""

    def __init__(self, texts: Sequence[GoldText]) -> None:
        self._texts = texts

    async def summarize(self, request: SummaryRequest) -> Summary:
        """Answer with as many of them as there is room for."""
        return Summary(text="\n".join(self._lines(request)))

    def _lines(self, request: SummaryRequest) -> Iterator[str]:
        left = _FILL * request.max_tokens
        for kind in dict.fromkeys(text.kind for text in self._texts):
            heading = f"## {kind}"
            for text in self._texts:
                for said in text.sentences if text.kind == kind else ():
                    line = f"{heading}\n- {said}" if heading else f"- {said}"
                    cost = estimate_tokens(line) + 1
                    if said in text.gold and said in request.text and cost <= left:
                        left -= cost
                        heading = ""
                        yield line


def make_talk(texts: Sequence[GoldText]) -> list[dict[str, Any]]:
    """Let an assistant say each of *texts* in turn."""
    talk: list[dict[str, Any]] = [{"role": "user", "content": "Keep notes on what I tell you."}]
    for text in texts:
        talk.append({"role": "assistant", "content": text.text})
        talk.append({"role": "user", "content": "Go on, please."})
    return talk


def count_gold(result: Result, texts: Sequence[GoldText]) -> int:
    """Count the gold sentences that can be read in *result*."""
    view = "\n".join(str(message["content"]) for message in result.messages)
    return sum(said in view for text in texts for said in text.gold)


def main() -> int:
    """Print gold sentences and tokens at some budgets, by the rules and by the model."""
    english = [text for text in read_gold() if text.language == "english"]
    groups = [english[n : n + _TEXTS] for n in range(0, len(english) - _TEXTS, _TEXTS)]
    rows: list[list[object]] = []
    for share in _SHARES:
        kept, spent = [0, 0], [0, 0]
        for texts in groups:
            talk = make_talk(texts)
            whole = compress(talk, recency_window=len(talk)).tokens_before
            for number, model in enumerate((None, GoldModel(texts))):
                result = compress(talk, token_budget=int(share * whole), summarizer=model)
                kept[number] += count_gold(result, texts)
                spent[number] += result.tokens_after
        gold = sum(len(text.gold) for texts in groups for text in texts)
        rows.append([f"{share:.0%}", gold, kept[0], kept[1], spent[0], spent[1]])
    head = ["budget", "gold sentences", "by the rules", "by the model", "tokens, rules", "model"]
    print(draw(head, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
