"""Compare refold with simple ways to shorten a conversation: no model, no key, no data, a minute.

An agent has read logs, records, reports and code, all generated here by seed, and is asked for one
number from them. First table: each run is cut to a share of its tokens. Does the view still show
the number beside what it belongs to, if that is asked before the view is made (`asked now`), if it
is asked only after it (`asked later`), and then with one call of refold's retrieval tool, of 500
tokens (`looked up`)? Second table: a long run is sent turn by turn, and the bill is added up, with
a cache that reads at a tenth of the price of input and writes at 1.25 times of it.
To compare a way of your own, add it to WAYS.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any, Final

sys.path.append(str(Path(__file__).parents[1]))

from asked_cases import KINDS, NOBODY, USER, Case, make_case
from refold import Session, compress, retrieve_tool, uncompress
from refold.result import Result
from refold.scan.tokens.choose import counter_for
from table import draw

Messages = list[dict[str, Any]]
View = tuple[Messages, "Result[dict[str, Any]] | None"]
Way = Callable[[Messages, int], View]

MODEL: Final = "gpt-4o"
READ, WRITE = 0.1, 1.25  # what a token costs that the cache has, or that is written to it
_LIMIT: Final = 24_000
"""In the long run: what the simple ways stay within; above it they cut down to half of it."""
_count = cache(counter_for(MODEL))


def refold_standard(messages: Messages, budget: int) -> View:
    """Fold with the default profile."""
    result = compress(messages, token_budget=budget, model=MODEL)
    return result.messages, result


def rules_summaries(messages: Messages, budget: int) -> View:
    """Summarize with the rules of the profile `classic`, and forget the originals."""
    folded = compress(messages, token_budget=budget, model=MODEL, profile="classic")
    return folded.messages, None


def keep_last(messages: Messages, budget: int) -> View:
    """Keep the system prompt and as many of the newest turns as fit, calls with their results."""
    head, rest = messages[:1], messages[1:]
    starts = [n for n, message in enumerate(rest) if message["role"] != "tool"]
    for start in starts:
        view = [*head, *rest[start:]]
        if tokens_of(view) <= budget:
            return view, None
    return [*head, *rest[starts[-1] :]], None


def clear_results(messages: Messages, budget: int) -> View:
    """Replace the oldest tool results by a word until the rest fits."""
    view = list(messages)
    results = [n for n, message in enumerate(view) if message["role"] == "tool"]
    left = tokens_of(view)
    for n in results:
        if left <= budget:
            break
        cleared = {**view[n], "content": "[cleared]"}
        left += tokens_of([cleared]) - tokens_of([view[n]])
        view[n] = cleared
    return view, None


WAYS: Final[dict[str, Way]] = {
    "refold": refold_standard,
    "keep the last messages": keep_last,
    "clear old results": clear_results,
    "summaries by rules": rules_summaries,
}


def tokens_of(messages: Sequence[dict[str, Any]]) -> int:
    """Count texts and calls as the model would, and four tokens of framing a message."""
    total = 0
    for message in messages:
        calls = [call["function"] for call in message.get("tool_calls") or ()]
        texts = [message.get("content") or "", *(v for call in calls for v in call.values())]
        total += 4 + sum(map(_count, texts))
    return total


def look_up(case: Case, result: Result[dict[str, Any]]) -> bool:
    """Ask refold's retrieval tool once for what nobody had asked for when the view was made."""
    subject = case.entry.id if case.by == "id" else case.entry.thing
    tool = retrieve_tool(result, max_tokens=500)
    return case.entry.number in tool.call({"query": f"What number was written down for {subject}?"})


def make_pair(kind: str, number: int, seed: int) -> tuple[Case, Case]:
    """Make a run of three parts, with a question about one of them and with none."""
    now = make_case(kind, USER, number, seed)
    fillers = (make_case(other, USER, 100 + number, seed) for other in KINDS if other != kind)
    cases = [case for case in fillers if now.entry.id not in str(case.messages)][:2]
    cases.insert(number % 3, now)
    parts = [case.messages[2 : -case.ending] for case in cases]
    middle = join(parts)
    first, second = (
        replace(case, messages=[*case.messages[:2], *middle, *case.messages[-case.ending :]])
        for case in (now, make_case(kind, NOBODY, number, seed))
    )
    return first, second


def join(parts: Sequence[Messages]) -> Messages:
    """Put *parts* one after the other; each has its own call ids."""
    joined: Messages = []
    for number, part in enumerate(parts):
        for message in part:
            fresh = dict(message)
            if "tool_call_id" in message:
                fresh["tool_call_id"] = f"{number}_{message['tool_call_id']}"
            if message.get("tool_calls"):
                calls = message["tool_calls"]
                fresh["tool_calls"] = [{**call, "id": f"{number}_{call['id']}"} for call in calls]
            joined.append(fresh)
    return joined


def compare(shares: Sequence[int], runs: int, seed: int) -> Iterator[list[object]]:
    """Yield a row for each share and way."""
    pairs = [make_pair(kind, number, seed) for kind in KINDS for number in range(runs)]
    sizes = [tokens_of(now.messages) for now, _ in pairs]
    for share in shares:
        for name, way in WAYS.items():
            sent = asked_now = asked_later = found = tasks = restored = 0
            for (now, later), size in zip(pairs, sizes, strict=True):
                view, result = way(now.messages, size * share // 100)
                unasked, other = way(later.messages, size * share // 100)
                sent += tokens_of(view)
                asked_now += now.is_kept(view)
                asked_later += later.is_kept(unasked)
                tasks += now.messages[1] in view
                if result is not None and other is not None:
                    found += later.is_kept(unasked) or look_up(later, other)
                    restored += uncompress(result).messages == now.messages
            counts = [_percent(n, len(pairs)) for n in (tasks, asked_now, asked_later)]
            has_originals = result is not None
            counts += [_percent(n, len(pairs)) if has_originals else "–" for n in (found, restored)]
            yield [f"{share} %", name, _percent(sent, sum(sizes)), *counts]


def long_run(parts: int, seed: int) -> Messages:
    """Join generated runs, each with its question and the answer, to a long one."""
    cases = [make_case(KINDS[number % 4], USER, number, seed) for number in range(parts)]
    answered = [
        [*case.messages[2:], {"role": "assistant", "content": f"It is {case.entry.number}."}]
        for case in cases
    ]
    return [*cases[0].messages[:2], *join(answered)]


def send(messages: Messages, view_of: Callable[[Messages], Messages]) -> tuple[float, int]:
    """Send *messages* turn by turn; return the bill in tokens of input, and the largest request."""
    bill, largest, before = 0.0, 0, Messages()
    for end, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        view = view_of(messages[:end])
        pairs = zip(before, view, strict=False)
        same = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
        cached, fresh = tokens_of(view[:same]), tokens_of(view[same:])
        bill += READ * cached + WRITE * fresh
        largest = max(largest, cached + fresh)
        before = view
    return bill, largest


def through_session(budget: int | str | None) -> Callable[[Messages], Messages]:
    """Return what gives a new session what is new, and takes its view."""
    model = "claude-sonnet-4-5"  # whose cache reads and writes at these prices
    session: Session[dict[str, Any]] = Session(model=model, token_budget=budget)

    def view_of(messages: Messages) -> Messages:
        session.extend(messages[len(session.messages) :])
        return list(session.view())

    return view_of


def stepwise(way: Way) -> Callable[[Messages], Messages]:
    """Return what sends all until the limit, and then has *way* cut down to half of it."""
    seen, view = 0, Messages()

    def view_of(messages: Messages) -> Messages:
        nonlocal seen, view
        view = [*view, *messages[seen:]]
        seen = len(messages)
        if tokens_of(view) > _LIMIT:
            view, _ = way(messages, _LIMIT // 2)
        return view

    return view_of


def add_up(parts: int, seed: int) -> Iterator[list[object]]:
    """Yield what sending the long run costs, a row for each way."""
    messages = long_run(parts, seed)
    ways: dict[str, Callable[[Messages], Messages]] = {
        "send everything": lambda sent: sent,
        "refold, Session()": through_session(None),
        'refold, Session(token_budget="auto")': through_session("auto"),
        f"refold, Session(token_budget={_LIMIT:_})": through_session(_LIMIT),
        "refold, compress() anew each turn": lambda sent: refold_standard(sent, _LIMIT)[0],
        "keep the last messages": stepwise(keep_last),
        "clear old results": stepwise(clear_results),
    }
    whole = 0.0
    for name, view_of in ways.items():
        bill, largest = send(messages, view_of)
        whole = whole or bill
        yield [name, f"{100 * bill / whole:.0f} %", largest]


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shares", default="30,15", metavar="A,B", help="per cent (30,15)")
    parser.add_argument("--runs", type=int, default=6, help="of each kind of source (6)")
    parser.add_argument("--parts", type=int, default=16, help="of the long run (16)")
    parser.add_argument("--seed", type=int, default=101, help="other runs (101)")
    chosen = parser.parse_args(arguments)
    shares = [int(share) for share in chosen.shares.split(",")]
    header = ["budget", "way", "sent", "task", "asked now", "asked later", "looked up", "restored"]
    print(draw(header, compare(shares, chosen.runs, chosen.seed)))
    print()
    print(draw(["turn by turn", "bill", "largest request"], add_up(chosen.parts, chosen.seed)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
