"""Compare the time for a budget of half the tokens with the time for a plain compression.

The conversation is generated, always the same: prose, code, JSON, logs and tool calls, at least as
many megabytes as asked for. Plain and budget runs alternate; the medians are compared. The ladder
may take three times as long as the pipeline it is built on, then this returns 1.

examples:
  python bench/budget.py
  python bench/budget.py --megabytes 1 --runs 3
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

from refold import compress
from table import draw

Messages = list[dict[str, Any]]

MAX_RATIO: Final = 3.0
_WORDS: Final = (
    "harbour ledger window kettle garden engine river signal ticket corner letter market bridge "
    "lantern meadow pocket station morning repair planted answered carried quiet narrow hollow "
    "early later seldom behind across without because although toward between"
).split()
_NAMES: Final = ("parseHeader", "user_sessions", "RetryPolicy", "flush_queue", "OrderBook")

_fold = partial(compress, profile="classic")


def generate(megabytes: float, seed: int = 7) -> Messages:
    """Make a conversation of at least that many megabytes of text."""
    dice = random.Random(seed)
    messages: Messages = [
        {"role": "system", "content": "You repair software. Answer briefly and never guess."},
        {"role": "user", "content": "Find out why the nightly export drops rows, and fix it."},
    ]
    size, turn = 0, 0
    while size < megabytes * 1e6:
        for message in _turn(dice, turn):
            messages.append(message)
            size += len(message["content"] or "")
        turn += 1
    messages.append({"role": "user", "content": "Which of the two fixes did we keep in the end?"})
    return messages


def _turn(dice: random.Random, number: int) -> Iterator[dict[str, Any]]:
    match number % 5:
        case 0:
            yield {"role": "user", "content": _prose(dice, 4)}
            yield {"role": "assistant", "content": _prose(dice, 12)}
        case 1:
            yield from _call(number, "read_file", _code(dice, 60))
        case 2:
            yield from _call(number, "query", _records(dice, 40))
        case 3:
            yield from _call(number, "run_tests", _log(dice, 80))
        case _:
            code = f"```python\n{_code(dice, 15)}\n```"
            yield {
                "role": "assistant",
                "content": f"{_prose(dice, 5)}\n\n{code}\n\n{_prose(dice, 3)}",
            }


def _call(number: int, name: str, output: str) -> Iterator[dict[str, Any]]:
    arguments = json.dumps({"path": f"src/export/step_{number}.py", "limit": number})
    call = {
        "id": f"call_{number}",
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }
    yield {"role": "assistant", "content": None, "tool_calls": [call]}
    yield {"role": "tool", "tool_call_id": f"call_{number}", "content": output}


def _prose(dice: random.Random, sentences: int) -> str:
    said = []
    for _ in range(sentences):
        words = [dice.choice(_WORDS) for _ in range(dice.randint(7, 18))]
        if dice.random() < 0.3:
            words.insert(3, dice.choice(_NAMES))
        if dice.random() < 0.2:
            words.append(f"in {dice.randint(2, 900)} ms")
        said.append(" ".join(words).capitalize() + ".")
    return " ".join(said)


def _code(dice: random.Random, lines: int) -> str:
    return "\n".join(
        f"    {dice.choice(_WORDS)}_{n} = {dice.choice(_NAMES)}({dice.randint(0, 99)}, key={n!r})"
        for n in range(lines)
    )


def _records(dice: random.Random, rows: int) -> str:
    return json.dumps(
        [
            {"id": dice.randint(1, 10**6), "name": dice.choice(_WORDS), "ok": dice.random() < 0.5}
            for _ in range(rows)
        ]
    )


def _log(dice: random.Random, lines: int) -> str:
    return "\n".join(
        f"2026-03-14 10:{n % 60:02}:{dice.randint(0, 59):02} "
        f"{dice.choice(('INFO', 'INFO', 'INFO', 'WARN', 'ERROR'))} "
        f"worker-{dice.randint(1, 8)} {dice.choice(_WORDS)} {dice.choice(_WORDS)} took "
        f"{dice.randint(1, 4000)} ms"
        for n in range(lines)
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Time both, print a table, and return 1 if the budget takes too long."""
    arguments = _parse(argv)
    messages = generate(arguments.megabytes)
    total = _fold(messages, recency_window=len(messages)).tokens_before
    plain: list[float] = []
    fitted: list[float] = []
    result = _fold(messages, token_budget=total // 2)  # the first run also imports and warms
    for _ in range(arguments.runs):
        plain.append(_seconds(messages))
        fitted.append(_seconds(messages, token_budget=total // 2))
    ratio = statistics.median(fitted) / statistics.median(plain)
    chars = sum(len(message["content"] or "") for message in messages)
    rows = [
        [name, min(times), statistics.median(times), max(times), chars / 1e6 / min(times)]
        for name, times in (("plain", plain), ("half the tokens", fitted))
    ]
    print(draw(["run", "least s", "median s", "most s", "MB/s"], rows))
    assert result.budget is not None
    print(
        f"\n{len(messages):,} messages, {chars / 1e6:.1f} MB, {total:,} tokens; "
        f"{result.budget.explain()}\nbudget ÷ plain = {ratio:.2f} (at most {MAX_RATIO})"
    )
    return int(ratio > MAX_RATIO or not result.budget.fits)


def _seconds(messages: Messages, **options: Any) -> float:
    began = time.perf_counter()
    _fold(messages, **options)
    return time.perf_counter() - began


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    summary, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--megabytes", type=float, default=5.0, help="size of the input (5)")
    parser.add_argument("--runs", type=int, default=5, help="runs of each kind (5)")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
