"""Fold many conversations in many ways, one digest a case, to see whether a change alters bytes.

`record` writes the digests of the sources as they are; `compare` folds everything again and names
the cases that differ. Conversations are generated, and with DATA_DIR recorded ones come on top: 300
and more together. The quick subset is recorded in `tests/recorded.json`, which the tests compare: a
change that is meant to show is recorded there anew, and its commit says why.

examples:
  python bench/golden.py record before.json --data DATA_DIR
  python bench/golden.py compare before.json --data DATA_DIR
  python bench/golden.py record tests/recorded.json --quick  # some of the generated ones
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import islice, product
from pathlib import Path
from typing import Any, Final

from asked_cases import ASKERS, KINDS, make_case
from generate import generate_messages
from gold_texts import read_gold
from provider_shapes import anthropic, bedrock, gemini, responses
from records import Messages, read_records
from refold import RefoldError, Result, Session, compress
from refold.llm.summarizers import Redacting
from refold.scan.tokens.estimate import estimate_tokens
from stretches import make_talk

Fold = Callable[[Messages, int], Iterator[object]]
"""Folds a conversation of so many tokens in one way, and yields whatever a user can see of it."""
Digests = dict[str, str]

GENERATED: Final = 60
RECORDED_CAP: Final = 12
"""Records of each file: 244 conversations in what this was written against, 12 MB."""
QUICK_EVERY: Final = 10
"""Every so many of the long lists of conversations are in the quick subset."""
TALK_TEXTS: Final = 24
"""Of so many short texts a dialogue in one language is made: about 2,000 tokens."""
SHAPED_MESSAGES: Final = 24
"""Enough for calls, results and talk in the shape of every provider."""
_PLACES: Final = 6
"""The order in which floats are added up, and what is lost by it, differs between Pythons."""
VIEWS: Final = 8
"""How often a session is looked at while it grows."""
MODEL_MESSAGES: Final = 12
"""With a model only so many are folded: every gate reads every text and every answer."""
_MAX_SHOWN: Final = 40


def _compress(share: float | None = None, **choices: Any) -> Fold:
    def fold(messages: Messages, tokens: int) -> Iterator[object]:
        budget = None if share is None else int(tokens * share)
        yield from _shown(compress(messages, token_budget=budget, **choices))

    return fold


def _shown(result: Result) -> Iterator[object]:
    yield result.messages
    yield result.verbatim
    yield result.compression.to_dict()
    yield None if result.budget is None else asdict(result.budget)
    yield None if result.model is None else asdict(result.model)


def _session(messages: Messages, tokens: int) -> Iterator[object]:
    session = Session(token_budget=int(tokens * 0.3))
    step = max(1, len(messages) // VIEWS)
    for start in range(0, len(messages), step):
        session.extend(messages[start : start + step])
        yield session.view()
    yield session.verbatim


def _with_model(messages: Messages, tokens: int) -> Iterator[object]:
    few = messages[:MODEL_MESSAGES]
    budget = tokens * len(few) // (4 * max(1, len(messages)))
    yield from _shown(compress(few, token_budget=budget, summarizer=Redacting(_first_half)))


def _first_half(text: str) -> str:
    """Stand for a model: say the first half of the sentences, which some gates accept."""
    sentences = text.split(". ")
    return ". ".join(sentences[: max(1, len(sentences) // 2)])


WAYS: Final[Mapping[str, Fold]] = {
    "standard": _compress(trace=True),
    "standard 30%": _compress(0.3),
    "standard 8%": _compress(0.08, trace=True),
    "standard 30%, same count": _compress(0.3, same_count=True),
    "standard 25%, model": _with_model,
    "lossless": _compress(profile="lossless", trace=True),
    "lossless 60%": _compress(0.6, profile="lossless"),
    "classic": _compress(profile="classic", trace=True),
    "classic 30%": _compress(0.3, profile="classic"),
    "classic 15%, tiered": _compress(0.15, profile="classic", budget_strategy="tiered"),
    "classic, every option": _compress(
        profile="classic",
        recency_window=0,
        fuzzy_dedup=True,
        importance_scoring=True,
        contradiction_detection=True,
        embed_summary_id=True,
        compression_depth="aggressive",
        trace=True,
    ),
    "session 30%": _session,
}
"""The option sets, by the name under which a difference is reported."""


def find_conversations(data: Path | None, *, is_quick: bool) -> Iterator[tuple[str, Messages]]:
    """Yield name and messages of every conversation, always the same ones in the same order."""
    step = QUICK_EVERY if is_quick else 1
    for number in range(0, GENERATED, step):
        yield f"generated {number}", generate_messages(8 + 2 * number, seed=number)
    for number, (kind, asker) in enumerate(product(KINDS, ASKERS)):
        yield f"{kind}, asked by {asker}", make_case(kind, asker, number, seed=1).messages
    for seed, shape in enumerate((anthropic, bedrock, gemini, responses)):
        yield shape.__name__, shape(generate_messages(SHAPED_MESSAGES, seed=100 + seed))
    gold = read_gold()
    for language in dict.fromkeys(text.language for text in gold):
        own = [text for text in gold if text.language == language]
        yield f"talk in {language}", make_talk(own[:TALK_TEXTS])
    if data is not None:
        files = sorted(data.glob("*.jsonl.gz"))
        for number, record in enumerate(read_records(files, RECORDED_CAP)):
            if number % step == 0:
                yield record.place, record.messages


def digest_all(job: tuple[str, Messages]) -> Digests:
    """Fold one conversation in every way; an error is an outcome like any other."""
    name, messages = job
    tokens = estimate_tokens(json.dumps(messages, ensure_ascii=False))
    return {f"{name}: {way}": _digest(fold, messages, tokens) for way, fold in WAYS.items()}


def _digest(fold: Fold, messages: Messages, tokens: int) -> str:
    digest = hashlib.sha256()
    try:
        for value in fold(messages, tokens):
            digest.update(_spell(value).encode())
    except RefoldError as error:
        digest.update(repr(error).encode())
    return digest.hexdigest()[:16]


def _spell(value: object) -> str:
    spelled = json.dumps(value, sort_keys=True, default=repr)
    return json.dumps(json.loads(spelled, parse_float=lambda it: round(float(it), _PLACES)))


def find_differences(before: Digests, now: Digests) -> list[str]:
    """Name the cases that differ, and those that only one side has."""
    return [case for case in {**before, **now} if before.get(case) != now.get(case)]


def main(argv: Sequence[str] | None = None) -> int:
    """Record or compare; return 1 if anything differs."""
    arguments = _parse(argv)
    now: Digests = {}
    jobs = islice(find_conversations(arguments.data, is_quick=arguments.quick), arguments.most)
    with multiprocessing.Pool(arguments.workers) as pool:
        for digests in pool.imap(digest_all, jobs):
            now |= digests
    what = f"{len(now):,} cases of {len(now) // len(WAYS)} conversations"
    if arguments.action == "record":
        arguments.file.write_text(json.dumps(now, indent=0, ensure_ascii=False))
        print(f"recorded {what}")
        return 0
    differing = find_differences(json.loads(arguments.file.read_text()), now)
    print(*differing[:_MAX_SHOWN], sep="\n", end="\n" if differing else "")
    if differing:
        print("\nby way:")
        for way, count in Counter(case.rpartition(": ")[2] for case in differing).most_common():
            print(f"  {count:>5}  {way}")
    print(f"{len(differing):,} differ of {what}")
    return int(bool(differing))


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    summary, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=("record", "compare"))
    parser.add_argument("file", type=Path, metavar="FILE", help="where the digests are kept")
    parser.add_argument("--data", type=Path, metavar="DATA_DIR", help="directory of *.jsonl.gz")
    parser.add_argument("--quick", action="store_true", help="a tenth of the conversations")
    parser.add_argument("--most", type=int, help="conversations at most (all)")
    parser.add_argument("--workers", type=int, default=2, help="processes at work (2)")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
