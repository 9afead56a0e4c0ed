"""Who said what, when, and how often."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from refold.planner.items import Shape, find_items, part_words, shape_of
from refold.planner.survey import Listener, Voice

_ITEMS = ("src/a.py", "harbour", "#W42", "the", "ok", "数据", "user_id")
_turns = st.lists(
    st.tuples(
        st.sampled_from((Voice.USER, Voice.ASSISTANT, Voice.TOOL, Voice.CALL)),
        st.lists(st.sampled_from(_ITEMS), max_size=12),
    ),
    max_size=12,
)


def hear(listener: Listener, turn: int, voice: Voice, text: str) -> tuple[int, tuple[int, ...]]:
    """Let *listener* hear a text in one piece."""
    (count,), (rows,) = listener.hear(turn, voice, text, [len(text)])
    return count, rows


@given(_turns)
def test_the_columns_say_what_was_heard(turns: list[tuple[Voice, list[str]]]) -> None:
    listener = Listener()
    for number, (voice, items) in enumerate(turns):
        hear(listener, number, voice, " ".join(items))
    survey = listener.survey()
    meaningful = {item for _, items in turns for item in items if shape_of(item) is not Shape.NONE}
    assert survey.number.keys() == meaningful
    for item, row in survey.number.items():
        said_in = [number for number, (_, items) in enumerate(turns) if item in items]
        assert survey.shape[row] == shape_of(item)
        assert survey.first[row] == said_in[0]
        assert survey.last[row] == said_in[-1]
        assert survey.turns[row] == len(said_in)
        assert survey.times[row] == sum(Counter(items)[item] for _, items in turns)
        voices = Voice(0)
        for number in said_in:
            voices |= turns[number][0]
        assert survey.voices[row] == voices


def test_one_turn_may_be_heard_in_several_texts() -> None:
    listener = Listener()
    hear(listener, 0, Voice.ASSISTANT, "harbour")
    hear(listener, 0, Voice.CALL, "harbour src/a.py")
    survey = listener.survey()
    row = survey.number["harbour"]
    assert survey.turns[row] == 1
    assert survey.times[row] == 2
    assert survey.voices[row] == Voice.ASSISTANT | Voice.CALL


@given(st.lists(st.text(st.sampled_from("aB1_#$@~./+-é数かハ \n,:(\"'"), min_size=1, max_size=90)))
def test_hearing_finds_the_items_of_a_text(texts: list[str]) -> None:
    listener = Listener()
    found = [hear(listener, n, Voice.USER, part_words(text)) for n, text in enumerate(texts)]
    survey = listener.survey()
    for text, (count, rows) in zip(texts, found, strict=True):
        items = find_items(text)
        assert count == len(items)
        assert set(rows) == {survey.number[item] for item in items if item in survey.number}
        assert all(item in survey.number or shape_of(item) is Shape.NONE for item in items)
    assert all(shape_of(item) == survey.shape[row] for item, row in survey.number.items())
    assert sorted(survey.number.values()) == list(range(len(survey.shape)))


def test_each_piece_has_its_own_items() -> None:
    text = "harbour src/a.py the harbour — 数据库 #W42"
    listener = Listener()
    counts, shown = listener.hear(0, Voice.USER, text, [17, 20, 28, len(text)])
    number = listener.survey().number
    wanted = [["harbour", "src/a.py"], [], ["harbour"], ["数据", "据库", "#W42"]]
    assert [set(rows) for rows in shown] == [{number[i] for i in items} for items in wanted]
    assert counts == [2, 1, 1, 3]
