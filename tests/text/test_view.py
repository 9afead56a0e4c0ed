"""The forms of a text fit each other, character by character."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from refold.text.scan import plain_bytes
from refold.text.view import Notes, TextView
from tests.conversations import texts

anything = st.one_of(
    texts(), st.text(), st.text(st.sampled_from("aKk\u212a\u0130\u0131\u017féÉ\n"))
)


@given(anything)
def test_every_form_has_the_same_places(text: str) -> None:
    view = TextView(text)
    assert len(view.lower) == len(view.plain) == len(view.plain_lower) == len(view.outline)
    assert len(text) == len(view.lower)
    assert "\n".join(view.lines) == text


@given(anything)
def test_lower_bytes_are_those_of_the_lower_text(text: str) -> None:
    view = TextView(text)
    assert view.plain_lower == plain_bytes(view.lower)


def test_notes_are_shared_by_those_who_are_given_them() -> None:
    notes = Notes()
    first = TextView("one", notes)
    first.notes.seen = frozenset((b"one",))
    assert TextView("one", notes).notes.seen == frozenset((b"one",))
    assert TextView("one").notes.seen is None
