"""What of a text is still there once it is folded."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from refold.report.changes import Pair, Span, mark_after, mark_before, pair_lines
from refold.report.story import Row
from refold.trace import TraceEntry

TEXTS = st.text(st.sampled_from("ab .…!\n\t{"), max_size=60)


def row(before: str, after: str, action: str = "compressed") -> Row:
    entry = TraceEntry(
        message_id="m",
        message_index=0,
        part=0,
        action=action,
        reason="r",
        input_chars=len(before),
        output_chars=len(after),
    )
    return Row(
        index=0,
        part=0,
        id="m",
        role="user",
        action=action,
        reason="r",
        before=before,
        after=after,
        chars_before=len(before),
        chars_after=len(after),
        is_turn=True,
        entry=entry,
    )


@given(TEXTS, TEXTS)
def test_spans_tile_both_texts(before: str, after: str) -> None:
    both = row(before, after)
    assert "".join(span.text for span in mark_before(both)) == before
    assert "".join(span.text for span in mark_after(both)) == after


@given(TEXTS, TEXTS)
def test_pairs_have_every_line_of_both_in_order(before: str, after: str) -> None:
    pairs = list(pair_lines(before, after))
    assert [pair.before for pair in pairs if pair.before is not None] == before.splitlines()
    assert [pair.after for pair in pairs if pair.after is not None] == after.splitlines()
    assert (None, None) not in pairs


def test_sentences_that_a_summary_keeps_are_kept() -> None:
    both = row(
        "The queue is full. Nobody reads it. The worker died at noon.",
        "[shortened #kdbfq]\nThe queue is full. ... The worker died at noon.",
    )
    assert mark_before(both) == [
        Span("The queue is full. ", True),
        Span("Nobody reads it. ", False),
        Span("The worker died at noon.", True),
    ]
    assert [span.is_kept for span in mark_after(both)] == [False, True]


def test_of_a_paragraph_only_the_sentences_that_go_are_gone() -> None:
    first = "The handler is short, and the order of its steps is telling enough."
    pairs = list(pair_lines(f"{first} The mail leaves before the commit.", first))
    assert pairs == [Pair(first, first), Pair("The mail leaves before the commit.", None)]


def test_lines_around_what_was_cut_stand_beside_each_other() -> None:
    before = "def read(path):\n    one = 1\n    two = 2\n    return one + two"
    after = "[50% shown #kdbfq]\ndef read(path):\n… 2 lines …\n    return one + two"
    assert list(pair_lines(before, after)) == [
        Pair(None, "[50% shown #kdbfq]"),
        Pair("def read(path):", "def read(path):"),
        Pair("    one = 1", "… 2 lines …"),
        Pair("    two = 2", None),
        Pair("    return one + two", "    return one + two"),
    ]


def test_a_bracket_far_away_is_no_match() -> None:
    text = "alpha = load()\nbeta = load()\ngamma = load()\n}\ndelta = load()"
    pairs = list(pair_lines(text, "}\nalpha = load()"))
    assert Pair("alpha = load()", "alpha = load()") in pairs


def test_nothing_is_dropped_from_data_in_another_form() -> None:
    assert mark_before(row('[{"a": 1}]', "rows of a:\n1", "recoded")) == [Span('[{"a": 1}]', True)]
