"""What of a text is still there once it is folded."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from refold.lazy import Lazy
from refold.plan.fold import Piece
from refold.report.changes import NOTATION, Pair, Span, mark_after, mark_before, pair_lines
from refold.report.story import Row
from refold.result import TraceEntry

TEXTS = st.text(st.sampled_from("ab .…!\n\t{"), max_size=60)


def row(before: str, after: str, action: str = "compressed", pieces: tuple[Piece, ...] = ()) -> Row:
    entry = TraceEntry(
        message_id="m",
        message_index=0,
        part=0,
        action=action,
        reason="r",
        input_chars=len(before),
        output_chars=len(after),
        account=Lazy.known(pieces),
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
    assert mark_after(both)[0] == Span("[shortened #kdbfq]", False, NOTATION)
    assert mark_after(both)[-1].text.endswith("The worker died at noon.")
    assert mark_after(both)[-1].is_kept


def test_gaps_are_told_from_words_of_the_original() -> None:
    both = row("one line here\ntwo lines here\nthree lines", "one line here\n… 2 lines …\n")
    assert mark_after(both) == [
        Span("one line here\n", True),
        Span("… 2 lines …\n", False, NOTATION),
    ]


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


HITS = "src/queue.py:1:import os\nsrc/queue.py:2:import sys\nsrc/mail.py:7:import os\n"
SHORTER = (
    Piece("src/queue.py:1:import os\n", True, "heading", 6, 0, 1, 1),
    Piece(":2:import sys\n", False, "worth_less", 4, 0, 2, 2),
    Piece("src/mail.py:7:import os\n", True, "value:src/mail.py", 6, 0, 3, 3),
)


def test_lines_are_marked_in_the_original_also_if_they_were_said_shorter_first() -> None:
    spans = mark_before(row(HITS, "src/queue.py:1:import os …", "excerpted", SHORTER))
    assert [(span.text, span.is_kept) for span in spans] == [
        ("src/queue.py:1:import os\n", True),
        ("src/queue.py:2:import sys\n", False),
        ("src/mail.py:7:import os\n", True),
    ]
    assert spans[2].reason == "mentions src/mail.py"


def test_words_of_the_shorter_form_are_words_of_the_original() -> None:
    kept = mark_after(row(HITS, "[9% shown #kdbfq]\n:2:import sys", "excerpted", SHORTER))
    assert [span for span in kept if span.is_kept] == [Span(":2:import sys", True)]


def test_what_was_cut_is_shown_where_its_lines_are_others() -> None:
    spans = mark_before(row('[{"a": 1}, {"a": 2}]', "rows of a:", "excerpted", SHORTER))
    assert "".join(span.text for span in spans) == "".join(piece.text for piece in SHORTER)
