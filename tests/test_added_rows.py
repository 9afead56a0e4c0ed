"""Rows that a caller adds to the tables."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any

import pytest

from refold import (
    Compressor,
    ConfigError,
    MemoryStore,
    Session,
    acompress,
    compress,
    uncompress,
)
from refold.classic.rules import RULES, Run, Text, Verdict, kept, summarized
from refold.codecs import CODECS, Codec
from refold.detectors import DETECTORS, Detector, pattern_finder
from tests.conversations import SENTENCES

LONG = " ".join(SENTENCES)
TICKET = Detector(
    reason="ticket", hard=True, find=pattern_finder(re.compile(r"\bberth [A-Z]{2}\b"))
)
TALK = [
    {"role": "user", "content": "What is new?"},
    {"role": "assistant", "content": f"{LONG} The ship lies at berth QX now. {LONG}"},
    {"role": "assistant", "content": f"{LONG} The ship lies at sea now. {LONG}"},
    {"role": "user", "content": "And now?"},
]
MINE = [*DETECTORS, TICKET]


FACES: list[Callable[..., list[Any]]] = [
    lambda **choices: compress(TALK, **choices).messages,
    lambda **choices: Compressor(**choices).compress(TALK).messages,
]


@pytest.mark.parametrize("profile", ["standard", "classic"])
@pytest.mark.parametrize("fold", FACES)
def test_what_a_detector_of_the_callers_sees_stays_word_for_word(fold: Any, profile: Any) -> None:
    plain = fold(profile=profile, recency_window=1)
    assert "".join(m["content"] for m in plain).count(LONG) == 0
    view = fold(profile=profile, recency_window=1, detectors=MINE)
    assert TALK[1] in view
    assert TALK[2] not in view


def test_its_reason_is_told() -> None:
    result = compress(TALK, profile="classic", recency_window=1, trace=True, detectors=MINE)
    assert "ticket" in next(entry.reason for entry in result.decisions if entry.message_index == 1)


def test_refolds_own_can_be_left_out() -> None:
    fenced = {"role": "assistant", "content": f"{LONG}\n    x = 1\n    y = 2\n    z = 3\n{LONG}"}
    talk = [TALK[0], fenced, TALK[3]]
    assert compress(talk, profile="classic", recency_window=1, detectors=[]).messages != talk


def test_a_session_that_is_taken_up_wants_them_again() -> None:
    store = MemoryStore()
    session = Session(detectors=MINE, recency_window=1, store=store)
    session.extend(TALK)
    view = session.view()
    key = session.save(store)
    with pytest.raises(ConfigError, match="pass detectors=… to resume it"):
        Session.resume(key, store)
    again = Session.resume(key, store, detectors=MINE)
    assert again.view() == view
    assert uncompress(view, store).messages == TALK


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ("url", "must be a list of Detector"),
        ([TICKET, 3], "must hold Detector only, got 3"),
        ([TICKET, TICKET], "two with the reason 'ticket'"),
    ],
)
def test_what_is_no_detector_is_refused(wrong: Any, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        Compressor(detectors=wrong)


def test_async_gives_the_same() -> None:
    twin = asyncio.run(acompress(TALK, recency_window=1, detectors=MINE))
    assert twin.messages == compress(TALK, recency_window=1, detectors=MINE).messages


# codecs

KNOTS = "wind from the north at so many knots"
LEVEL = Codec(
    name="knots",
    sees=lambda text: KNOTS in text and "[kn]" not in text,
    encode=lambda text: text.replace(KNOTS, "[kn]"),
    decode=lambda text: text.replace("[kn]", KNOTS),
)
LOST = LEVEL._replace(decode=lambda text: text)
CALL = {"id": "c1", "type": "function", "function": {"name": "read_log", "arguments": "{}"}}
RUN: list[dict[str, Any]] = [
    {"role": "user", "content": "Read the log."},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {
        "role": "tool",
        "tool_call_id": "c1",
        "content": "\n".join(f"{n * 37 % 91} past, {KNOTS}, swell {n * n}" for n in range(30)),
    },
    {"role": "user", "content": "And now?"},
]


@pytest.mark.parametrize("profile", ["standard", "lossless"])
@pytest.mark.parametrize("budget", [None, 500])
def test_a_codec_of_the_callers_says_data_shorter(profile: Any, budget: int | None) -> None:
    choices: dict[str, Any] = {"recency_window": 1, "profile": profile, "token_budget": budget}
    assert "[kn]" not in str(compress(RUN, **choices).messages)
    result = compress(RUN, codecs=[*CODECS, LEVEL], **choices)
    assert result.messages[2]["content"].count("[kn]") == 30
    assert uncompress(result.messages, result.verbatim).messages == RUN


def test_a_codec_that_loses_something_is_not_used() -> None:
    result = compress(RUN, recency_window=1, codecs=[*CODECS, LOST])
    assert "[kn]" not in str(result.messages)


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ("dates", "must be a list of Codec"),
        ([LEVEL, 3], "must hold Codec only, got 3"),
        ([LEVEL, LEVEL], "two with the name 'knots'"),
    ],
)
def test_what_is_no_codec_is_refused(wrong: Any, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        Compressor(codecs=wrong)


@pytest.mark.parametrize("profile", ["standard", "lossless", "classic"])
def test_refolds_own_tables_are_taken_by_every_profile(profile: Any) -> None:
    Compressor(profile=profile, detectors=DETECTORS, codecs=list(CODECS))


# rules


def keep_ships(_: Run, text: Text) -> Verdict | None:
    return kept("ship") if "berth" in text.text else None


def summarize_all(_run: Run, _text: Text) -> Verdict:
    return summarized("all")


@pytest.mark.parametrize("profile", ["standard", "classic"])
@pytest.mark.parametrize("fold", FACES)
def test_a_rule_of_the_callers_decides(fold: Any, profile: Any) -> None:
    view = fold(profile=profile, recency_window=1, rules=[keep_ships, *RULES])
    assert TALK[1] in view
    assert TALK[2] not in view


def test_what_no_rule_decides_stays() -> None:
    assert compress(TALK, profile="classic", rules=[]).messages == TALK
    assert compress(TALK, profile="classic", rules=[keep_ships]).messages == TALK


def test_whatever_a_rule_decides_comes_back() -> None:
    result = compress(TALK, profile="classic", trace=True, rules=[keep_ships, summarize_all])
    assert [entry.reason for entry in result.decisions][1] == "ship"
    assert result.messages != TALK
    assert uncompress(result.messages, result.verbatim).messages == TALK


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [("keep", "must be a list of functions"), ([keep_ships, 3], "ordinary functions only, got 3")],
)
def test_what_is_no_rule_is_refused(wrong: Any, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        Compressor(rules=wrong)


@pytest.mark.parametrize(
    ("profile", "table"),
    [("lossless", {"rules": [keep_ships]})],
)
def test_a_profile_that_does_not_ask_them_says_so(profile: Any, table: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=f"is not used by profile='{profile}'"):
        Compressor(profile=profile, **table)


# packages
