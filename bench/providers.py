"""Check that what providers accept they still accept once it is folded, and that it comes back.

Conversations are generated in the shape of each provider, and those of DATA_DIR, if it is given,
are written in all of these shapes. Whatever the provider's own request types and rules accept is
folded by every profile, without and with a budget; the result must be accepted as well, carry no
thinking behind a change, and restore to what was given. Returns 1 if one does not.

The types of a provider are checked where its SDK is installed: openai, anthropic, google-genai,
botocore.

examples:
  python bench/providers.py --examples 10000 --workers 16
  python bench/providers.py ../shared/data --cap 3 --examples 0
"""

from __future__ import annotations

import argparse
import copy
import multiprocessing
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from hypothesis import HealthCheck, Phase, given, seed, settings

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.conversations import anthropic, clean_texts, openai_chat
from tests.formats import generated, providers

from provider_shapes import SHAPES
from records import Messages, read_records
from refold import compress, uncompress
from table import draw

WORDS: Final = clean_texts().filter(str.strip)
GENERATED: Final[dict[str, Any]] = {
    "openai-chat": openai_chat(WORDS),
    "openai-responses": generated.responses(),
    "anthropic": anthropic(WORDS),
    "gemini": generated.gemini(),
    "bedrock": generated.bedrock(),
}
CHECKS: Final[dict[str, Callable[[Any], None]]] = {
    "openai-chat": providers.check_openai_chat,
    "openai-responses": providers.check_responses,
    "anthropic": providers.check_anthropic,
    "gemini": providers.check_gemini,
    "bedrock": providers.check_bedrock,
}
PROFILES: Final = ("standard", "lossless", "classic")
BUDGETS: Final = (None, 0.5, 0.15)
"""Shares of the tokens that a conversation has."""
CHUNK: Final = 100
"""So many conversations are generated from one seed, by one process."""


@dataclass(slots=True)
class Tally:
    """What became of the conversations of one shape."""

    conversations: int = 0
    folds: int = 0
    faults: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Add the figures of another."""
        self.conversations += other.conversations
        self.folds += other.folds
        self.faults += other.faults


def main(argv: Sequence[str] | None = None) -> int:
    """Fold everything, print the table, and return 1 if anything was refused or lost."""
    arguments = _parser().parse_args(argv)
    tallies = {(origin, name): Tally() for origin in ("generated", "recorded") for name in CHECKS}
    with multiprocessing.Pool(arguments.workers) as pool:
        for origin, name, tally in pool.imap_unordered(_work, _jobs(arguments)):
            tallies[origin, name].add(tally)
    rows = [
        (origin, name, tally.conversations, tally.folds, len(tally.faults))
        for (origin, name), tally in tallies.items()
        if tally.conversations
    ]
    print(draw(("origin", "shape", "conversations", "folds", "faults"), rows))
    faults = [fault for tally in tallies.values() for fault in tally.faults]
    for fault, times in Counter(faults).most_common(20):
        print(f"{times} × {fault}")
    return 1 if faults else 0


def _parser() -> argparse.ArgumentParser:
    summary, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data_dir", type=Path, nargs="?", metavar="DATA_DIR")
    parser.add_argument("--cap", type=int, default=None, help="records of each file at most (all)")
    parser.add_argument("--examples", type=int, default=200, help="generated, of each shape (200)")
    parser.add_argument("--workers", type=int, default=2, help="processes at work (2)")
    return parser


Job = tuple[str, str, int | Messages]
"""The origin, the shape, and a seed to generate from or a conversation to write in that shape."""


def _jobs(arguments: argparse.Namespace) -> Iterator[Job]:
    for start in range(0, arguments.examples, CHUNK):
        yield from (("generated", name, start) for name in CHECKS)
    files = sorted(arguments.data_dir.glob("*.jsonl.gz")) if arguments.data_dir else ()
    for record in read_records(files, arguments.cap):
        if record.is_output or not record.source.endswith(")"):  # not in a form of its own
            yield from (("recorded", name, record.messages) for name in CHECKS)


def _work(job: Job) -> tuple[str, str, Tally]:
    origin, name, given_ = job
    if isinstance(given_, int):
        return origin, name, _check_generated(name, given_)
    tally = Tally()
    messages = SHAPES[name](given_)
    if messages and providers.is_valid(CHECKS[name], messages):
        _check(name, messages, tally, random.Random(0), every=True)
    return origin, name, tally


def _check_generated(name: str, start: int) -> Tally:
    tally = Tally()
    dice = random.Random(start)

    @seed(start)
    @settings(
        max_examples=CHUNK,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(GENERATED[name].filter(lambda messages: providers.is_valid(CHECKS[name], messages)))
    def check(messages: Any) -> None:
        _check(name, messages, tally, dice, every=False)

    check()
    return tally


def _check(name: str, messages: Any, tally: Tally, dice: random.Random, *, every: bool) -> None:
    """Fold *messages* by *every* profile and budget, or by one that the *dice* choose."""
    tally.conversations += 1
    ways = [(profile, share) for profile in PROFILES for share in BUDGETS]
    for profile, share in ways if every else [dice.choice(ways)]:
        tally.folds += 1
        try:
            _check_fold(name, messages, profile, share)
        except Exception as error:  # noqa: BLE001 (whatever the vendors' types raise is a fault)
            what = str(error).partition("\n")[0][:80]
            tally.faults.append(f"{name} {profile} {share}: {type(error).__name__} {what}")


def _check_fold(name: str, messages: Any, profile: Any, share: float | None) -> None:
    before = copy.deepcopy(messages)
    budget = None
    if share is not None:
        budget = max(1, int(share * compress(messages, profile="lossless").tokens_before))
    result = compress(messages, profile=profile, token_budget=budget)
    CHECKS[name](result.messages)
    providers.check_bound(messages, result.messages)
    restored = uncompress(result.messages, result.verbatim)
    assert restored.messages == before, "not restored"
    assert restored.missing_ids == [], "originals missing"
    assert messages == before, "the caller's messages changed"


if __name__ == "__main__":
    sys.exit(main())
