"""W8: summaries in the sections of a hand-over, written by a model or picked from the words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refold import uncompress
from refold.errors import ConfigError
from refold.window import ContextWindowManager, FactSheet, FitResult
from refold.window.handover import HANDOVER_PROMPT, SECTIONS, is_handover
from tests.conversations import Conversation, spelled
from tests.plan.ladder.promise import tokens_of
from tests.window.histories import histories, talk, violations, words


def manager(limit: int = 900, **choices: Any) -> ContextWindowManager:
    choices = {
        "strategy": "summarize",
        "summary_format": "handover",
        "counter": words,
        "low_water": 0.8,
        **choices,
    }
    return ContextWindowManager(context_limit=limit, reserve_output_tokens=0, **choices)


def cost(messages: Conversation) -> int:
    return tokens_of(messages, counter=words) if messages else 0


def summary_of(result: FitResult) -> str:
    texts = (str(message["content"]) for message in result.messages)
    return next(text for text in texts if "messages, shortened" in text.partition("\n")[0])


def section(text: str, name: str) -> str:
    """Return the lines below the heading *name*."""
    body = text.partition(f"{name}:\n")[2].splitlines()
    ends = [place for place, line in enumerate(body) if not line.startswith("- ")]
    return "\n".join(body[: ends[0]] if ends else body)


def worked() -> Conversation:
    messages = talk(24)
    messages[3]["content"] = "Please move the ledger. You must never touch pump P-77."
    messages[4]["content"] = (
        "I fixed src/ledger/move.py and all checks passed. We decided to keep SQLite because the "
        "harbour has no server. Still need to tell Maria Lopez. It was a sunny day."
    )
    messages[6]["content"] = "It failed:\nError: no such table: berths\nThe ticket is OPS-4411."
    return messages


def test_w08_without_a_model_the_sections_are_picked_from_what_was_said() -> None:
    messages = worked()
    result = manager().fit(messages)
    assert result.fits
    assert result.summarized
    text = summary_of(result)
    assert is_handover(text)
    assert "src/ledger/move.py" in section(text, "Done")
    assert "decided to keep SQLite" in section(text, "Decisions")
    assert "tell Maria Lopez" in section(text, "Open")
    assert "no such table: berths" in section(text, "Errors")
    assert "src/ledger/move.py" in section(text, "Files")
    assert "OPS-4411" in section(text, "Facts")
    assert "sunny" not in text
    order = [text.index(f"{name}:\n") for name in SECTIONS if f"{name}:\n" in text]
    assert order == sorted(order)
    assert uncompress(result.messages, result.verbatim).messages == messages


def test_w08_no_secret_is_a_fact() -> None:
    messages = worked()
    messages[6]["content"] += " The password is hunTer2Hunter2."
    facts = section(summary_of(manager().fit(messages)), "Facts")
    assert "OPS-4411" in facts
    assert "hunTer2Hunter2" not in facts


def test_w08_no_secret_is_on_the_sheet_of_facts() -> None:
    sheet = FactSheet()
    sheet.add_text('It failed: Error: bad password="hunTer2Hunter2" in ticket OPS-4411.')
    assert "OPS-4411" in sheet.write(400)
    assert "hunTer2Hunter2" not in sheet.write(400)


def test_w08_what_the_user_forbids_is_a_constraint_word_for_word() -> None:
    messages = worked()
    messages[3]["role"] = "user"
    filler = [{"role": "user", "content": f"And then? {'word ' * 40}{n}"} for n in range(8)]
    result = manager(600).fit([*messages, *filler])
    assert "You must never touch pump P-77." in section(summary_of(result), "Constraints")


def test_w08_a_model_is_told_the_sections_and_its_own_are_kept() -> None:
    asked: list[Any] = []
    answer = "Goal:\n- Let us go on sorting these.\nOpen:\n- Go on sorting."

    def llm(messages: Any) -> str:
        asked.append(messages)
        return answer

    plain = [
        {"role": "system", "content": "You are a clerk."},
        *(
            {"role": ("user", "assistant")[n % 2], "content": "Let us go on sorting these. " * 30}
            for n in range(12)
        ),
    ]
    result = manager(1_000, llm=llm).fit(plain)
    assert asked[0][0] == {"role": "system", "content": HANDOVER_PROMPT}
    assert all(f"- {name}: {what}" in HANDOVER_PROMPT for name, what in SECTIONS.items())
    assert result.fits
    assert answer in summary_of(result)


def test_w08_a_model_that_fails_still_leaves_a_handover() -> None:
    def llm(messages: Any) -> str:
        raise RuntimeError("down")

    result = manager(llm=llm).fit(worked())
    assert result.fits
    assert result.model is not None
    assert result.model.failures
    assert is_handover(summary_of(result))


def test_w08_a_summarizer_of_ones_own_has_its_own_words() -> None:
    result = manager(summarizer=lambda text: text[: len(text) // 3]).fit(worked())
    assert not is_handover(summary_of(result))


def test_w08_plain_is_the_default() -> None:
    plain = ContextWindowManager(
        context_limit=900, reserve_output_tokens=0, strategy="summarize", counter=words
    )
    result = plain.fit(worked())
    assert result.summarized
    assert not any(is_handover(str(message["content"])) for message in result.messages)
    with pytest.raises(ConfigError, match="summary_format"):
        manager(summary_format="letter")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Goal:\n- a\nDone:\n- b", True),
        ("## Goal\na\n**Files:**\n- b", True),
        ("Goal:\n- a", False),
        ("Goal:\n- a\nGoal:\n- b", False),
        ("The goal: to be done", False),
        ("", False),
    ],
)
def test_w08_what_a_handover_is(text: str, expected: bool) -> None:
    assert is_handover(text) is expected


@settings(max_examples=10, suppress_health_check=list(HealthCheck))
@given(messages=histories(), limit=st.sampled_from((40, 120, 300, 900)))
def test_w08_a_handover_keeps_every_promise(messages: Conversation, limit: int) -> None:
    result = manager(limit).fit(messages)
    assert list(violations(messages, result, cost)) == []
    if not result.dropped_ids:
        restored = uncompress(result.messages, result.verbatim)
        assert spelled(restored.messages) == spelled(messages)
