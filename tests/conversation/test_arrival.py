"""Append-only folding: what was sent stays, so that no thinking is ever bound to something else."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from refold import MemoryStore, Session, uncompress
from tests.conversations import Conversation

BOUND = "claude-fable-5.2"


def log_of(lines: int, seed: int) -> str:
    said = (
        f"10:{n // 60:02}:{n % 60:02} INFO worker {n * seed % 7} took {n} ms" for n in range(lines)
    )
    return "\n".join([*said, f"ERROR request {seed} failed"])


def thinking_agent(sizes: list[int]) -> Conversation:
    messages: Conversation = [{"role": "user", "content": "Why do requests fail?"}]
    for n, lines in enumerate(sizes):
        blocks = [
            {"type": "thinking", "thinking": f"I look at {n}.", "signature": "c2ln"},
            {"type": "tool_use", "id": f"t{n}", "name": "read", "input": {"n": n}},
        ]
        result = {"type": "tool_result", "tool_use_id": f"t{n}", "content": log_of(lines, n)}
        messages.append({"role": "assistant", "content": blocks})
        messages.append({"role": "user", "content": [result]})
    return messages


def thoughts(message: dict[str, Any]) -> list[str]:
    content = message["content"]
    blocks = content if isinstance(content, list) else []
    return [block["thinking"] for block in blocks if block["type"] == "thinking"]


class Provider:
    """Checks thinking as the newest Claude models do: against all that came before it."""

    def __init__(self) -> None:
        self._bound: dict[str, Conversation] = {}

    def answer(self, view: Conversation, message: dict[str, Any]) -> None:
        """Take a request, and think what stands in the *message* that is its answer."""
        for place, sent in enumerate(view):
            for thought in thoughts(sent):
                assert self._bound[thought] == view[:place], "bound to a different conversation"
        for thought in thoughts(message):
            self._bound[thought] = list(view)


def talk(session: Session, messages: Conversation, provider: Provider) -> Conversation:
    """Have the conversation once more, with what the session shows of it; return the last view."""
    view: Conversation = []
    for message in messages:
        if message["role"] == "assistant":
            view = session.view()
            provider.answer(view, message)
        session.append(message)
    view = session.view()
    provider.answer(view, {"role": "assistant", "content": "Done."})
    return view


sizes = st.lists(st.integers(0, 120), min_size=1, max_size=12)
budgets = st.sampled_from([None, 800, 2_000, 6_000])


@given(sizes, budgets, st.sampled_from(["auto", "strip"]), st.integers(0, 12))
def test_no_view_is_refused(
    sizes: list[int], budget: int | None, way: Any, stopped_after: int
) -> None:
    messages = thinking_agent(sizes)
    provider, store = Provider(), MemoryStore()
    choices: dict[str, Any] = {"token_budget": budget, "thinking": way, "model": BOUND}
    cut = min(1 + 2 * stopped_after, len(messages))
    before = Session(store=store, conversation="c", **choices)
    talk(before, messages[:cut], provider) if cut else None
    session = Session(store=store, conversation="c", **choices)
    session.extend(messages[:cut])
    view = talk(session, messages[cut:], provider)
    assert uncompress(view, store, conversation="c").messages == messages


def test_a_result_is_shortened_before_it_is_first_sent() -> None:
    messages = thinking_agent([100])
    session = Session()
    session.extend(messages)
    sent = session.view()[-1]["content"][0]["content"]
    assert len(sent) < len(messages[-1]["content"][0]["content"])
    assert "ERROR request 0 failed" in sent
