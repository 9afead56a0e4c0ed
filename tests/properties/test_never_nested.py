"""A view that is folded again, without ids and without a store: no stand-in stands in another.

Nothing tells then that a text is a view but its own words. They protect nothing, but whoever folds
it again knows its marks, and shows one in their place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refold import CompressionManager, compress, uncompress
from refold.conversation import ContextWindowManager
from tests.conversations import Conversation, prose, spelled
from tests.plan.runs import check_log, source_code

MARK = re.compile(
    r"\[[^\[\]\n|]*#[a-z]{8,36}\]|\[summary|\[truncated|\[shortened|\d messages, shortened"
)
thorough = settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.large_base_example],
)


class Turn(NamedTuple):
    """Somebody speaks, or a tool is called."""

    role: str
    text: str
    path: str = ""
    written: str = ""

    @property
    def given(self) -> dict[str, str]:
        """What the tool is called with."""
        return {"path": self.path, **({"text": self.written} if self.written else {})}


@st.composite
def turns(draw: Any) -> list[Turn]:
    """Draw a task, long talk, and calls with long results."""
    drawn = [Turn("user", draw(prose(1, 3)))]
    for number in range(draw(st.integers(4, 9))):
        match draw(st.integers(0, 5)):
            case 0:
                drawn.append(Turn("user", draw(prose(3, 9))))
            case 1:
                drawn.append(Turn("assistant", draw(prose(6, 20))))
            case 2:
                log = check_log(120, f"tests/test_q.py::test_{number}")
                drawn.append(Turn("tool", log, f"log{number}.txt"))
            case 3:
                rows = [{"id": n, "name": f"row {n}", "ok": n % 3 == 0} for n in range(60)]
                drawn.append(Turn("tool", json.dumps(rows, indent=2), f"rows{number}.json"))
            case 4:
                written = source_code(number, draw(st.integers(20, 90)))
                drawn.append(Turn("tool", "written", f"src/w{number}.py", written))
            case _:
                drawn.append(Turn("tool", source_code(draw(st.integers(0, 2)), 60), "src/a.py"))
    return [*drawn, Turn("user", "And what now?")]


def openai(drawn: list[Turn]) -> Conversation:
    """Spell turns as chat completions have them."""
    view: Conversation = []
    for number, turn in enumerate(drawn):
        if turn.role != "tool":
            view.append({"role": turn.role, "content": turn.text})
            continue
        function = {"name": "read_file", "arguments": json.dumps(turn.given)}
        calls = [{"id": f"c{number}", "type": "function", "function": function}]
        view.append({"role": "assistant", "content": None, "tool_calls": calls})
        view.append({"role": "tool", "tool_call_id": f"c{number}", "content": turn.text})
    return view


def anthropic(drawn: list[Turn]) -> Conversation:
    """Spell turns as messages of Anthropic's have them."""
    view: Conversation = []
    for number, turn in enumerate(drawn):
        if turn.role != "tool":
            view.append({"role": turn.role, "content": [{"type": "text", "text": turn.text}]})
            continue
        use = {"type": "tool_use", "id": f"c{number}", "name": "read_file"}
        view.append({"role": "assistant", "content": [{**use, "input": turn.given}]})
        result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": turn.text}
        view.append({"role": "user", "content": [result]})
    return view


def responses(drawn: list[Turn]) -> Conversation:
    """Spell turns as items of the Responses API."""
    view: Conversation = []
    for number, turn in enumerate(drawn):
        if turn.role != "tool":
            kind = "output_text" if turn.role == "assistant" else "input_text"
            said = [{"type": kind, "text": turn.text}]
            view.append({"type": "message", "role": turn.role, "content": said})
            continue
        call = {"call_id": f"c{number}", "name": "read_file"}
        arguments = json.dumps(turn.given)
        view.append({"type": "function_call", **call, "arguments": arguments})
        output = {"call_id": f"c{number}", "output": turn.text}
        view.append({"type": "function_call_output", **output})
    return view


def bare(view: Conversation) -> Conversation:
    """Take from messages what tells where they come from, besides their own words."""
    return [{k: v for k, v in m.items() if k not in ("id", "metadata")} for m in view]


def strings(value: object) -> Iterator[str]:
    """Yield every string in a message."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from strings(inner)


def assert_no_nesting(view: Conversation) -> None:
    """No text has more than one mark, wherever it stands."""
    for text in (text for message in view for text in strings(message)):
        marks = MARK.findall(text)
        assert len(marks) <= 1, text


@pytest.mark.parametrize("spell", [openai, anthropic, responses])
@pytest.mark.parametrize("profile", ["standard", "lossless", "classic"])
@thorough
@given(drawn=turns(), share=st.sampled_from((0.7, 0.4, 0.2)))
def test_three_rounds_under_shrinking_budgets(
    profile: Any, spell: Callable[[list[Turn]], Conversation], drawn: list[Turn], share: float
) -> None:
    view = spell(drawn)
    for _ in range(3):
        before = compress(view, token_budget=10**9, profile=profile).tokens_before
        result = compress(view, token_budget=int(share * before), profile=profile, recency_window=0)
        assert_no_nesting(result.messages)
        restored = uncompress(result.messages, result.verbatim)
        assert spelled(restored.messages) == spelled(view)
        view = bare(result.messages)


@thorough
@given(drawn=turns())
def test_managers_on_views_of_managers(drawn: list[Turn]) -> None:
    view = openai(drawn)
    for limit in (2_000, 1_000, 500):
        manager = CompressionManager(compress_tool_results_limit=1)
        messages = [dict(message) for message in view]
        manager.compress(messages)
        shown = bare(manager.view(messages))
        assert_no_nesting(shown)
        window = ContextWindowManager(context_limit=limit, reserve_output_tokens=0)
        view = bare(window.fit(shown).messages)
        assert_no_nesting(view)
