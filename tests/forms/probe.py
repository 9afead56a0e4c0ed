"""Says all that the package says of many texts, one line of JSON each; run once with each form.

The texts are generated from a seed, so every run sees the same ones: conversations, inputs made to
be slow, and noise of letters that mean something somewhere.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

from generate import generate, generate_messages
from golden import digest_all
from hostile import HOSTILE
from refold import classify, compress, uncompress
from refold.native import scanner
from refold.plan.shorten.prose import Units, make_units
from refold.scan.entities import extract_entities
from refold.scan.facts import extract_facts
from refold.scan.sentences import find_sentences
from refold.scan.structure import split_fences
from refold.scan.tokens.estimate import estimate_tokens

_NOISE = (
    *"aAzZ09_-./:@#$%&*+=~^|\\'\"`<>()[]{}!?,; \t\n\r",
    *("é", "ß", "İ", "Σ", "ж", "漢", "かな", "한", "م", "\u0301", "\u200d", "🙂", "\ud800"),
    *(
        "```",
        "http://",
        "Error:",
        "def ",
        "SELECT ",
        "not ",
        "v1.2",
        "42 ms",
        "fooBar",
        "a_b",
        "\n\n",
    ),
    *(
        "The harbour ",
        "however, ",
        "e.g. ",
        "Dr. Roy ",
        "10%",
        "src/a.py:3: ",
        "2026-01-02",
        "Foo Bar ",
    ),
)
_OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"fuzzy_dedup": True, "recency_window": 0},
    {"importance_scoring": True, "contradiction_detection": True, "embed_summary_id": True},
    {"observation_threshold": 0, "compression_depth": "aggressive"},
    {"token_budget": 3_000},
)


def _noise(count: int) -> Iterator[str]:
    dice = random.Random(11)
    for _ in range(count):
        yield "".join(dice.choices(_NOISE, k=dice.randint(0, 120)))


def _conversations() -> Iterator[list[dict[str, Any]]]:
    for seed in range(3):
        yield generate(0.08, seed)
    for hostile in HOSTILE:
        yield hostile.make(2)
    yield [{"role": ("user", "assistant")[n % 2], "content": t} for n, t in enumerate(_noise(60))]


def _of_text(text: str) -> dict[str, Any]:
    return {
        "class": asdict(classify(text)),
        "entities": extract_entities(text, 1_000),
        "facts": asdict(extract_facts(text)),
        "fences": [[s.start, s.end, s.is_code] for s in split_fences(text)],
        "sentences": [[s.start, s.end, s.paragraph] for s in find_sentences(text)],
        "tokens": estimate_tokens(text),
        "units": _columns(make_units(text)),
    }


def _columns(units: Units) -> list[list[Any]]:
    return [units.texts, list(units.scores), list(units.paragraphs)]


def _of_conversation(messages: list[dict[str, Any]], options: dict[str, Any]) -> dict[str, Any]:
    result = compress(messages, trace=True, profile="classic", **options)
    assert uncompress(result.messages, result.verbatim).messages == messages
    return {
        "messages": result.messages,
        "verbatim": result.verbatim,
        "compression": result.compression.to_dict(),
        "budget": None if result.budget is None else asdict(result.budget),
    }


def main() -> None:
    """Print the form on the first line, then what it says."""
    print("interpreted" if scanner is None else "compiled")
    conversations = list(_conversations())
    texts = [m["content"] for messages in conversations for m in messages if m["content"]]
    for text in dict.fromkeys([*texts, *_noise(600)]):
        print(json.dumps(_of_text(text)))
    for messages in conversations:
        for options in _OPTIONS:
            print(json.dumps(_of_conversation(messages, options)))
    for seed in range(4):
        print(json.dumps(digest_all(("talk", generate_messages(40, seed)))))


if __name__ == "__main__":
    main()
