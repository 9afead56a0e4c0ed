"""Random agent runs, and the few things that every fold of one must keep."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hypothesis import strategies as st

from refold import Result, compress
from refold.messages.folds import Outcome, Plan
from refold.messages.formats import load
from refold.messages.message import Message
from refold.messages.token_count import CountedTexts
from refold.messages.untouchable import find_untouchable
from refold.notation.marks import AMOUNT
from refold.options import Options
from tests.conversation.histories import histories
from tests.conversations import (
    Conversation,
    Wire,
    calls_and_results,
    clean_texts,
    conversations,
    texts_of,
)
from tests.plan.ladder.promise import characters, sources_by_place, tokens_of, words

Draw = Callable[[st.SearchStrategy[Any]], Any]

COUNTERS: tuple[dict[str, Any], ...] = (
    {},
    {"model": "gpt-4o"},
    {"counter": words},
    {"counter": characters},
)
shares = st.sampled_from((0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.99))


def counted() -> CountedTexts:
    """Return a counter of words as the planner wants it."""
    return CountedTexts(words, words)


def read(wires: Sequence[Wire]) -> tuple[Message, ...]:
    """Read a conversation as the engine does."""
    return load(list(wires))


def call(number: int, name: str, arguments: Any, output: str | None, said: str = "") -> list[Wire]:
    """Call one tool and answer it, unless *output* is `None`."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    made = {"id": f"c{number}", "type": "function", "function": function}
    wires: list[Wire] = [{"role": "assistant", "content": said or None, "tool_calls": [made]}]
    if output is not None:
        wires.append({"role": "tool", "tool_call_id": f"c{number}", "content": output})
    return wires


def anthropic_call(
    number: int, name: str, arguments: Any, output: str, **result: Any
) -> list[Wire]:
    """Call one tool and answer it, in Anthropic's shape."""
    use = {"type": "tool_use", "id": f"t{number}", "name": name, "input": arguments}
    answer = {"type": "tool_result", "tool_use_id": f"t{number}", "content": output, **result}
    return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [answer]}]


def source_code(seed: int, lines: int = 40) -> str:
    """Write a file that no other seed writes."""
    return "\n".join(
        f"def step_{seed}_{n}(queue_{n}):\n    return queue_{n}.pull({seed * 1000 + n})"
        for n in range(lines // 2)
    )


def check_log(passed: int, failing: str) -> str:
    """Write the output of a test run in which one test among many fails."""
    before = [f"tests/test_{n % 40}.py::test_case_{n} PASSED" for n in range(passed // 2)]
    after = [f"tests/test_{n % 40}.py::test_case_{n} PASSED" for n in range(passed // 2, passed)]
    return "\n".join([*before, f"{failing} FAILED", *after])


@st.composite
def agent_runs(draw: Draw) -> Conversation:
    """A task and tool calls: reads, writes that fail or not, reads again, calls in parallel."""
    run: Conversation = []
    if draw(st.booleans()):
        run.append({"role": "system", "content": "You fix bugs. Be brief."})
    run.append({"role": "user", "content": f"Fix the queue. {draw(clean_texts())}"})
    files = {f"src/mod{n}.py": source_code(n) for n in range(3)}
    for turn in range(draw(st.integers(1, 9))):
        path = draw(st.sampled_from(sorted(files)))
        match draw(st.integers(0, 6)):
            case 0:
                files[path] += f"\nLIMIT_{turn} = {turn * 7}"
                run += call(turn, "write_file", {"path": path}, f"wrote {path}")
            case 1:
                run += call(turn, "write_file", {"path": path}, "error: permission denied")
            case 2:
                run += call(turn, "run_tests", {}, check_log(60, f"tests/test_q.py::test_{turn}"))
            case 3:
                run += _parallel(turn, [draw(clean_texts()) for _ in range(3)])
            case 4:
                run.append({"role": "user", "content": draw(clean_texts())})
            case _:
                run += call(turn, "read_file", {"path": path}, files[path], "Let me look.")
    if draw(st.integers(0, 3)) == 0:
        run += call(99, "run_tests", {}, None)
    return run


def _parallel(turn: int, outputs: Sequence[str]) -> Iterator[Wire]:
    function = {"name": "grep", "arguments": '{"q": "queue"}'}
    ids = [f"p{turn}_{n}" for n in range(len(outputs))]
    calls = [{"id": id_, "type": "function", "function": function} for id_ in ids]
    yield {"role": "assistant", "content": None, "tool_calls": calls}
    for id_, output in zip(reversed(ids), outputs, strict=True):
        yield {"role": "tool", "tool_call_id": id_, "content": output}


def runs() -> st.SearchStrategy[Conversation]:
    """Conversations of every kind that there is."""
    return st.one_of(agent_runs(), agent_runs(), histories(), conversations()).filter(bool)


def squeeze(messages: Conversation, share: float, **chosen: Any) -> Result:
    """Fold *messages* for an agent to a share of their tokens."""
    counting = {key: chosen[key] for key in ("model", "counter") if key in chosen}
    budget = int(share * tokens_of(messages, **counting))
    return compress(messages, **{"profile": "standard", "token_budget": budget, **chosen})


def untouchable(messages: Conversation, **chosen: Any) -> dict[int, str]:
    """Return what no budget may touch, and why."""
    return find_untouchable(read(messages), Options(**chosen))


_HEAD = re.compile(
    rf"\[(?:\d+% shown|part|shortened|{AMOUNT} (?:earlier )?messages?[^\n\]]*?)"
    rf"(?:, {AMOUNT} errors? left out)?(?:; fetch the whole text with)? #\w+\]\n?"
)


def is_cut(text: str) -> bool:
    """Tell whether *text* is an excerpt or a digest."""
    return _HEAD.match(text) is not None


_PASSED = re.compile(rf"(?m)^… {AMOUNT} passed …$")
_COUNTED = re.compile(rf"… {AMOUNT} (?:lines|words|characters) …")
_TIMES = re.compile(rf" ×{AMOUNT}$")


def shown_lines(text: str) -> list[str]:
    """Return the lines of an excerpt or digest without its head and its gap marks."""
    body = _PASSED.sub("", _HEAD.sub("", text, count=1))
    lines = [
        _TIMES.sub("", line.removesuffix("…").rstrip(" "))
        for line in body.split("\n")
        if not _COUNTED.fullmatch(line)
    ]
    return [line for line in lines if line.strip()]


def assert_pairs(before: Conversation, after: Conversation) -> None:
    """No result without its call before it; no answered call without its results; same order."""
    wanted = calls_and_results(before)
    shown = calls_and_results(after)
    rest = iter(wanted)
    assert all(any(one == pair for one in rest) for pair in shown), "calls are out of order"
    for side in ("call", "result"):
        other = "result" if side == "call" else "call"
        for kind, id_ in shown:
            if kind == side and (other, id_) in wanted:
                assert (other, id_) in shown, f"{id_} has lost its {other}"


def cut_texts(result: Result) -> Iterator[tuple[str, Conversation]]:
    """Yield every excerpt and digest with the messages that it stands for."""
    for message, sources in sources_by_place(result):
        for text in texts_of(message):
            if is_cut(text) and [message] != sources:
                yield text, sources


def what_happens(plan: Plan) -> list[object]:
    """Return what tells two plans for the same conversation apart."""
    return [(fold.is_rolled, fold.texts, list(map(_fates, fold.outcomes))) for fold in plan]


def _fates(row: Sequence[Outcome]) -> list[object]:
    return [(o.action, o.reason, o.input_chars, o.output_chars, o.shown) for o in row]
