"""Whatever is being done when it is interrupted has happened, or it has not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "bench"))

from attacks.interrupts import interrupt
from refold import ContextWindowManager, uncompress
from tests.classic import Session
from tests.conversation.test_session import talk
from tests.plan.ladder.promise import words


@pytest.mark.campaign
@pytest.mark.parametrize("ids", [True, False])
def test_an_append_that_is_interrupted_anywhere(ids: bool) -> None:
    messages = talk(4) if ids else [{**m, "id": None} for m in talk(4)]
    messages = [{k: v for k, v in m.items() if v is not None} for m in messages]
    late, other = messages[-1], {"role": "user", "content": "Something else."}
    at = 1
    while True:
        session = Session(counter=words, token_budget=200)
        session.extend(messages[:-1])
        session.view()
        if not interrupt(lambda session=session: session.append(late), at):  # type: ignore[misc]
            break
        told = session.messages
        assert told in (messages[:-1], messages)
        rest = [other] if late in told else [other, late]
        session.extend(rest)
        assert session.messages == [*told, *rest]
        assert uncompress(session.view(), session.verbatim).messages == [*told, *rest]
        at += 1
    assert at > 20


@pytest.mark.campaign
def test_a_view_that_is_interrupted_anywhere() -> None:
    messages = talk(24)
    at = 1
    while True:
        session = Session(counter=words, token_budget=500)
        for message in messages[:-1]:
            session.append(message)
            session.view()
        session.append(messages[-1])
        if not interrupt(lambda session=session: session.view(500), at):  # type: ignore[misc]
            break
        assert session.messages == messages
        view = session.view()
        assert session.report.tokens <= 500
        assert uncompress(view, session.verbatim).messages == messages
        at += 997
    assert at > 997


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("length", "limit", "step"),
    [(98, 2_000, 60_013), (97, 2_000, 30_011), (20, 10_000, 499)],
    ids=["folded", "reused", "as it is"],
)
def test_a_fit_that_is_interrupted_anywhere(length: int, limit: int, step: int) -> None:
    messages = talk(100)[: length + 2]
    at = 1
    while True:
        manager = ContextWindowManager(
            context_limit=limit, reserve_output_tokens=0, counter=words, low_water=0.6
        )
        for end in range(length - 6, length):
            manager.fit(messages[:end])
        late = messages[:length]
        if not interrupt(lambda manager=manager, late=late: manager.fit(late), at):  # type: ignore[misc]
            break
        for told in (late, messages):
            fitted = manager.fit(told)
            assert fitted.fits
            assert uncompress(fitted.messages, fitted.verbatim).messages == told
        at += step
    assert at > 2 * step
