"""Fences that no text can write, and answers without them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from refold.llm.prompt_fence import encodable, fences, make_mark, strip_fences

TEXTS = st.text(st.sampled_from("ab <>0123456789abcdef\n\ud800é"), max_size=40) | st.text()


class Foreseeing(str):
    """A text that holds the first marks that are made for it."""

    __slots__ = ("left",)
    left: int

    def __new__(cls, text: str, left: int) -> Foreseeing:
        made = super().__new__(cls, text)
        made.left = left
        return made

    def __contains__(self, word: object) -> bool:
        self.left -= 1
        return self.left >= 0


def test_a_text_that_holds_its_own_mark_gets_another() -> None:
    marks = [make_mark(Foreseeing("a", held)) for held in range(3)]
    assert marks[0] == make_mark("a")
    assert len(set(marks)) == 3


def test_another_text_has_another_mark() -> None:
    assert make_mark("a") != make_mark("b")
    assert make_mark("a", "b") != make_mark("ab")


@given(TEXTS)
def test_what_is_sent_can_be_encoded(text: str) -> None:
    assert encodable(text).encode().decode() == encodable(text)
    assert len(encodable(text)) == len(text)


@given(TEXTS)
def test_fences_are_taken_out_of_an_answer(text: str) -> None:
    mark = make_mark(encodable(text))
    opening, closing = fences("data", mark)
    assert strip_fences(f"{opening}\n{text}\n{closing}", mark) == text.strip()
    assert strip_fences(text, mark) == text.strip()
