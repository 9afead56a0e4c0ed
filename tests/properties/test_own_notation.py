"""Texts that say what refold writes itself, cut anywhere: folded, and folded again, nothing raises.

A view of one conversation may be a part of the next one, whole or in pieces, and anybody may type
a line that reads like a tag, a gap or the head of rows.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from refold import CompressionManager, uncompress
from refold.codecs import CODECS
from refold.conversation import ContextWindowManager
from tests.classic import Session, compress
from tests.codecs.test_codecs import cases
from tests.conversations import Conversation, prose, spelled
from tests.notation import examples
from tests.plan.runs import call

BODY = "The billing service keeps its own copy of the rates for 30 days."
TAGS = (
    *examples.plain_marks(BODY, "kdbfqamt"),
    *examples.tool_notes(BODY, "kdbfqamt"),
    *examples.classic_tags(BODY, "kdbfqamt"),
    "[the earlier read of this file, changed]",
    "secret-1 <secret-1>",
)
GAPS = (*examples.gap_marks(), "41 …", "three hundred …")
HEADS = (
    "rows of status|took:",
    "rows of status|took, the rest as above:",
    "rows of ",
    "rows of the table were lost",
    "JSON lines ",
    "failed|12",
    "]",
    "[again ×3 at 10:00:01]",
    "[12 lines as above]",
    "[A| ×12 from 10:00:00 to 10:00:09: the lamp at <> was checked]",
)
ENCODED = tuple(new for codec in CODECS for _, _, new in cases(codec.name) if new is not None)
PROFILES = ("classic", "standard", "lossless")
BUDGETS = (None, 20, 120, 600)
thorough = settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.large_base_example],
)


@st.composite
def notations(draw: Any) -> str:
    """Write a text of our own notations, each of them cut anywhere."""
    written: list[str] = []
    for _ in range(draw(st.integers(1, 8))):
        whole = draw(st.one_of(*map(st.sampled_from, (TAGS, GAPS, HEADS, ENCODED)), prose(1, 3)))
        start = draw(st.integers(0, len(whole)))
        end = draw(st.integers(start, len(whole)))
        written += (
            (whole, whole[:end], whole[start:])[draw(st.integers(0, 2))],
            draw(st.sampled_from(("\n", "\n", "\n", "\n\n", " ", "", "\r\n"))),
        )
    times: int = draw(st.sampled_from((1, 1, 5)))
    return "".join(written) * times


@st.composite
def conversations(draw: Any) -> Conversation:
    """Let everybody speak in our own notations: a user, a model and a tool."""
    messages: Conversation = [{"role": "user", "content": draw(notations())}]
    for number in range(draw(st.integers(1, 4))):
        text = draw(notations())
        if draw(st.booleans()):
            messages += call(number, "read_file", {"path": "a.py", "note": text[:80]}, text)
        else:
            messages.append({"role": ("assistant", "user")[number % 2], "content": text})
    return [*messages, {"role": "user", "content": "And what now?"}]


ROWS = "It was said in the report that\nrows of the table were lost on the way\n" * 9


@pytest.mark.parametrize("profile", PROFILES)
@thorough
@given(messages=conversations(), budget=st.sampled_from(BUDGETS))
@example(messages=[{"role": "tool", "content": ROWS}, {"role": "user", "content": "?"}], budget=20)
def test_views_of_views_are_folded_and_come_back(
    profile: Any, messages: Conversation, budget: int | None
) -> None:
    view = messages
    for window in (2, 0, 0):
        result = compress(view, profile=profile, token_budget=budget, recency_window=window)
        restored = uncompress(result.messages, result.verbatim)
        assert spelled(restored.messages) == spelled(view)
        view = result.messages


@pytest.mark.parametrize("profile", PROFILES)
@thorough
@given(messages=conversations(), budget=st.sampled_from(BUDGETS))
def test_a_session_goes_on_with_the_view_of_another(
    profile: Any, messages: Conversation, budget: int | None
) -> None:
    view = messages
    for _ in range(2):
        session = Session(profile=profile, recency_window=0)
        for message in view:
            session.append(message)
            session.view(budget)
        shown = session.view(budget)
        assert spelled(uncompress(shown, session.verbatim).messages) == spelled(view)
        view = shown


@thorough
@given(messages=conversations(), limit=st.sampled_from((60, 200, 700)))
def test_managers_take_views_as_they_come(messages: Conversation, limit: int) -> None:
    window = ContextWindowManager(context_limit=limit, reserve_output_tokens=0)
    fitted = window.fit(messages).messages
    managed = CompressionManager().view(fitted)
    assert window.fit(managed).messages


def test_code_under_a_head_of_ours_is_no_stand_in_without_a_word_that_tells_so() -> None:
    text = "[1 message, shortened #dtuvkdsqrynofihhukuaoovzxwlc]\nuser: " + "~~~\na\n" * 37 + "\n"
    messages = [*call(0, "read_file", {"path": "a.py"}, text), {"role": "user", "content": "So?"}]
    result = compress(messages, profile="classic", recency_window=0)
    back = uncompress(result.messages, result.verbatim)
    assert spelled(back.messages) == spelled(messages)
