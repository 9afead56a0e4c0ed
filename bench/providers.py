"""Check that what providers accept they still accept once it is folded, and that it comes back.

Conversations are generated in the shape of each provider, and those of DATA_DIR, if it is given,
are written in all of these shapes; what was recorded in one of them is taken as it is, too.
Whatever the provider's own request types and rules accept is folded by every profile, without and
with a budget; the result must be accepted as well, carry no thinking behind a change, and restore
to what was given. Returns 1 if one does not.

The types of a provider are checked where its SDK is installed; the first line says which are. All
four are in the environment of `make test-integrations-heavy`.

examples:
  python bench/providers.py --examples 10000 --workers 16
  build/frameworks-heavy/bin/python bench/providers.py ../shared/data --examples 0
"""

from __future__ import annotations

import argparse
import copy
import multiprocessing
import random
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from hypothesis import HealthCheck, Phase, given, seed, settings

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.conversations import anthropic, clean_texts, openai_chat
from tests.messages.formats import generated, providers

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
SDKS: Final = {
    "openai": "openai",
    "anthropic": "anthropic",
    "google-genai": "google.genai",
    "botocore": "botocore",
}
"""Whose request types take part, and how they are imported."""
ORIGINS: Final = ("generated", "recorded", "as recorded")
PROFILES: Final = ("standard", "lossless", "classic")
BUDGETS: Final = (None, 0.5, 0.15)
"""Shares of the tokens that a conversation has."""
CHUNK: Final = 100
"""So many conversations are generated from one seed, by one process."""


@dataclass(slots=True)
class Tally:
    """What became of the conversations of one shape."""

    conversations: int = 0
    refused: int = 0
    """Not accepted as they were, so not folded."""
    folds: int = 0
    faults: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Add the figures of another."""
        self.conversations += other.conversations
        self.refused += other.refused
        self.folds += other.folds
        self.faults += other.faults


def main(argv: Sequence[str] | None = None) -> int:
    """Fold everything, print the table, and return 1 if anything was refused or lost."""
    arguments = _parser().parse_args(argv)
    print(_say_types(), flush=True)
    tallies = {(origin, name): Tally() for origin in ORIGINS for name in CHECKS}
    jobs = _jobs(arguments)
    with multiprocessing.Pool(arguments.workers) as pool:
        for done, (origin, name, tally) in enumerate(pool.imap_unordered(_work, jobs), 1):
            tallies[origin, name].add(tally)
            _say_progress(done, len(jobs), tallies)
    rows = [
        (origin, name, tally.conversations, tally.refused, tally.folds, len(tally.faults))
        for (origin, name), tally in tallies.items()
        if tally.conversations
    ]
    print(draw(("origin", "shape", "conversations", "refused as given", "folds", "faults"), rows))
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


def _say_types() -> str:
    """Say whose request types take part."""
    there = [f"{name} {version(name)}" for name in SDKS if providers.has(SDKS[name])]
    missing = [name for name in SDKS if not providers.has(SDKS[name])]
    return f"types of {', '.join(there) or 'nobody'}; not installed: {', '.join(missing) or 'none'}"


def _say_progress(done: int, jobs: int, tallies: dict[tuple[str, str], Tally]) -> None:
    if done % max(1, jobs // 20) == 0:
        folds = sum(tally.folds for tally in tallies.values())
        faults = sum(len(tally.faults) for tally in tallies.values())
        so_far = f"{done:,} of {jobs:,} jobs: {folds:,} folds, {faults} faults"
        print(so_far, file=sys.stderr, flush=True)


Job = tuple[str, str, int | Messages]
"""The origin, the shape, and a seed to generate from or a conversation to write in that shape."""


def _jobs(arguments: argparse.Namespace) -> list[Job]:
    """Return all there is to do; the longest conversations come first, so that nobody waits."""
    starts = range(0, arguments.examples, CHUNK)
    generating: list[Job] = [("generated", name, start) for start in starts for name in CHECKS]
    files = sorted(arguments.data_dir.glob("*.jsonl.gz")) if arguments.data_dir else ()
    recorded: list[Job] = []
    for record in read_records(files, arguments.cap):
        form = record.source.rpartition("(")[2].removesuffix(")")
        if record.is_output or form == record.source:
            recorded += [("recorded", name, record.messages) for name in CHECKS]
        elif form in CHECKS:
            recorded.append(("as recorded", form, record.messages))
    return generating + sorted(recorded, key=lambda job: len(str(job[2])), reverse=True)


def _work(job: Job) -> tuple[str, str, Tally]:
    origin, name, given_ = job
    if isinstance(given_, int):
        return origin, name, _check_generated(name, given_)
    tally = Tally()
    messages = given_ if origin == "as recorded" else SHAPES[name](given_)
    if not providers.is_valid(CHECKS[name], messages):
        messages = messages[:-1]  # many a recording ends with a call that nobody answered
    if messages and providers.is_valid(CHECKS[name], messages):
        _check(name, messages, tally, random.Random(0), every=True)
    else:
        tally.conversations += 1
        tally.refused += 1
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
    tokens = compress(messages, profile="lossless").tokens_before
    ways = [(profile, share) for profile in PROFILES for share in BUDGETS]
    for profile, share in ways if every else [dice.choice(ways)]:
        tally.folds += 1
        try:
            budget = None if share is None else max(1, int(share * tokens))
            _check_fold(name, messages, profile, budget)
        except Exception as error:  # noqa: BLE001 (whatever the vendors' types raise is a fault)
            what = str(error).partition("\n")[0][:80]
            tally.faults.append(f"{name} {profile} {share}: {type(error).__name__} {what}")


def _check_fold(name: str, messages: Any, profile: Any, budget: int | None) -> None:
    before = copy.deepcopy(messages)
    result = compress(messages, profile=profile, token_budget=budget)
    CHECKS[name](result.messages)
    providers.check_bound(messages, result.messages)
    restored = uncompress(result.messages, result.verbatim)
    assert restored.messages == before, "not restored"
    assert restored.missing_ids == [], "originals missing"
    assert messages == before, "the caller's messages changed"


if __name__ == "__main__":
    sys.exit(main())
