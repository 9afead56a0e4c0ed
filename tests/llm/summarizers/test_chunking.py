"""`Chunking`: no piece is larger than the window, nothing is lost on the way."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.errors import ConfigError
from refold.llm.summarizers.base import Summarizer, Summary, SummaryRequest, Usage
from refold.llm.summarizers.chunking import Chunking
from refold.scan.tokens.estimate import estimate_tokens
from tests.llm.summarizers.contract import (
    PAID,
    ForeignError,
    Gate,
    SummarizerContract,
    ask,
    run,
    until,
)


class TestChunking(SummarizerContract):
    def wrap(self, inner: Summarizer) -> Summarizer:
        return Chunking(inner, max_chars=10_000, max_tokens=10_000)


class Recorder:
    """Answers with one word for each text and keeps what it was asked."""

    def __init__(self, answer: str = "w") -> None:
        self.requests: list[SummaryRequest] = []
        self._answer = answer

    async def summarize(self, request: SummaryRequest) -> Summary:
        self.requests.append(request)
        await asyncio.sleep(0)
        return Summary(text=self._answer, usage=PAID)

    @property
    def texts(self) -> list[str]:
        return [request.text for request in self.requests]


def pieces(text: str, **limits: Any) -> list[str]:
    recorder = Recorder()
    run(Chunking(recorder, **limits).summarize(ask(text, max_tokens=10**6)))
    return recorder.texts


LINES = st.sampled_from(
    [
        "A sentence. Another one! A third?",
        "",
        "```python",
        "```",
        "    indented = code()",
        "- a list item",
        "x" * 90,
        "漢字。漢字！",
        "e.g. 3.5 and so on, without an end",
        "\t \r",
        "😀 \ud800",
    ]
)
TEXTS = st.text(max_size=200) | st.lists(LINES, max_size=30).map("\n".join)


@given(TEXTS, st.integers(1, 80))
def test_pieces_fit_the_window_in_characters_and_are_the_whole_text(text: str, limit: int) -> None:
    found = pieces(text, max_chars=limit)
    assert all(len(piece) <= limit for piece in found)
    assert "".join("".join(found).split()) == "".join(text.split())


@given(TEXTS, st.integers(6, 40), st.integers(5, 100))
def test_pieces_fit_the_window_in_tokens(text: str, max_tokens: int, max_chars: int) -> None:
    found = pieces(text, max_tokens=max_tokens, max_chars=max_chars)
    assert all(estimate_tokens(piece) <= max_tokens for piece in found)
    assert all(len(piece) <= max_chars for piece in found)
    assert "".join("".join(found).split()) == "".join(text.split())


@given(TEXTS, st.integers(3, 30))
def test_also_if_tokens_do_not_add_up(text: str, limit: int) -> None:
    def count(piece: str) -> int:
        return len(piece) + (3 if " " in piece.strip() else 0) - (2 if len(piece) > 3 else 0)

    assert all(
        count(piece) <= limit for piece in pieces(text, max_tokens=limit, count_tokens=count)
    )


def test_cuts_between_paragraphs_then_between_sentences() -> None:
    text = "One is here. Two is here.\n\nThree is here. Four is here."
    assert pieces(text, max_chars=30) == [
        "One is here. Two is here.\n\n",
        "Three is here. Four is here.",
    ]
    assert pieces(text, max_chars=16) == [
        "One is here. ",
        "Two is here.\n\n",
        "Three is here. ",
        "Four is here.",
    ]


def test_a_fenced_block_that_fits_stays_whole() -> None:
    fence = "```\nfirst()\n\nsecond()\n\nthird()\n```"
    text = f"Some words before. And more.\n\n{fence}\n\nSome words after it. And more."
    found = pieces(text, max_chars=len(fence) + 4)
    assert any(fence in piece for piece in found)
    too_small = pieces(text, max_chars=len(fence) - 1)
    lines = set(fence.split("\n"))
    assert lines <= {line for piece in too_small for line in piece.split("\n")}


def test_a_text_that_fits_is_asked_for_as_it_is() -> None:
    recorder = Recorder()
    request = ask("a b c", must_keep=("b",))
    assert run(Chunking(recorder, max_chars=5).summarize(request)).text == "w"
    assert recorder.requests == [request]


def test_answers_are_joined_in_order_and_paid_for_together() -> None:
    class First:
        async def summarize(self, request: SummaryRequest) -> Summary:
            for _ in range(10 - int(request.text[0])):
                await asyncio.sleep(0)  # the later ones answer earlier
            return Summary(text=request.text[:1], usage=PAID)

    text = "\n\n".join(f"{i} paragraph" for i in range(5))
    answer = run(Chunking(First(), max_chars=14).summarize(ask(text)))
    assert answer.text == "0\n\n1\n\n2\n\n3\n\n4"
    assert answer.usage == sum([PAID] * 5, Usage())


def test_merges_if_asked_to_or_if_the_answers_are_too_long() -> None:
    text = "\n\n".join(f"{i} paragraph of some length" for i in range(4))
    for merge, max_tokens in ((True, 300), (False, 3)):
        recorder = Recorder("some words")
        chunking = Chunking(recorder, max_chars=60, merge=merge)
        answer = run(chunking.summarize(ask(text, max_tokens=max_tokens, must_keep=("3",))))
        assert answer.text == "some words"
        assert recorder.requests[-1] == ask(
            "some words\n\nsome words", max_tokens=max_tokens, must_keep=("3",)
        )
        assert answer.usage == sum([PAID] * 3, Usage())


def test_merging_in_rounds_if_the_answers_do_not_fit_either() -> None:
    recorder = Recorder("some words here")
    text = "\n\n".join(f"{i} " + "paragraph " * 9 for i in range(40))
    answer = run(Chunking(recorder, max_chars=100, merge=True).summarize(ask(text)))
    assert answer.text == "some words here"
    assert all(len(text) <= 100 for text in recorder.texts)


def test_stops_if_asking_does_not_help() -> None:
    class Useless:
        def __init__(self) -> None:
            self.asked = 0

        async def summarize(self, request: SummaryRequest) -> Summary:
            self.asked += 1
            return Summary(text=request.text[:-1], usage=PAID)

    useless = Useless()
    run(Chunking(useless, max_chars=20, merge=True).summarize(ask("word " * 100)))
    assert useless.asked <= 26


@pytest.mark.parametrize("useless", ["", " \n", "x" * 500])
def test_a_piece_without_a_shorter_answer_stands_for_itself(useless: str) -> None:
    text = "First paragraph.\n\nSecond paragraph."
    answer = run(Chunking(Recorder(useless), max_chars=20).summarize(ask(text)))
    assert answer.text == text


def test_facts_go_to_the_pieces_they_occur_in() -> None:
    recorder = Recorder()
    text = "Port 8080 here.\n\nPort 9090 here.\n\nhttps://example.org/a/long/path"
    facts = ("8080", "Port", "9090", "example.org/a/long/path", "nowhere")
    run(Chunking(recorder, max_chars=18).summarize(ask(text, must_keep=facts)))
    kept = {request.text.strip(): request.must_keep for request in recorder.requests}
    assert kept["Port 8080 here."] == ("8080", "Port", "nowhere")
    assert kept["Port 9090 here."] == ("Port", "9090")
    (url,) = [keep for keep in kept.values() if "example.org/a/long/path" in keep]
    assert url == ("example.org/a/long/path",)  # it was cut: it goes where it begins


def test_pieces_share_the_length_of_the_answer() -> None:
    recorder = Recorder()
    text = "\n\n".join("word " * 100 for _ in range(4))
    run(Chunking(recorder, max_chars=600).summarize(ask(text, max_tokens=400)))
    assert len(recorder.requests) == 4
    assert all(90 <= request.max_tokens <= 110 for request in recorder.requests)
    few = Recorder()
    run(Chunking(few, max_chars=20).summarize(ask(text, max_tokens=40)))
    assert {request.max_tokens for request in few.requests} == {32}  # no less


def test_one_failure_cancels_the_others() -> None:
    error = ForeignError("piece 2")
    gate = Gate()

    class Failing:
        async def summarize(self, request: SummaryRequest) -> Summary:
            if request.text.startswith("2"):
                await until(lambda: gate.waiting == 4)
                raise error
            return await gate.summarize(request)

    text = "\n\n".join(f"{i} paragraph" for i in range(5))
    with pytest.raises(ForeignError) as caught:
        run(Chunking(Failing(), max_chars=14).summarize(ask(text)))
    assert caught.value is error
    assert (gate.waiting, gate.cancelled) == (0, 4)


def test_white_space_is_not_asked_about() -> None:
    assert pieces("a" * 10 + " " * 40, max_chars=10) == ["a" * 10]


@pytest.mark.parametrize("wrong", [{}, {"max_chars": 0}, {"max_tokens": -1}])
def test_refuses_what_cannot_work(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"max_chars|max_tokens"):
        Chunking(Recorder(), **wrong)
