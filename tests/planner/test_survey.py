"""Who said what, when, and how often."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from refold.planner.items import Shape, find_items, part_words, shape_of
from refold.planner.survey import VOID, Survey, Voice

_ITEMS = ("src/a.py", "harbour", "#W42", "the", "ok", "数据", "user_id")
_turns = st.lists(
    st.tuples(
        st.sampled_from((Voice.USER, Voice.ASSISTANT, Voice.TOOL, Voice.CALL)),
        st.lists(st.sampled_from(_ITEMS), max_size=12),
    ),
    max_size=12,
)


@given(_turns)
def test_the_columns_say_what_was_heard(turns: list[tuple[Voice, list[str]]]) -> None:
    survey = Survey()
    for number, (voice, items) in enumerate(turns):
        rows = survey.read(" ".join(items))
        survey.hear(number, voice, rows)
        assert rows == [survey.number.get(item, VOID) for item in items]
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


def test_one_turn_may_be_heard_in_several_pieces() -> None:
    survey = Survey()
    survey.hear(0, Voice.ASSISTANT, survey.read("harbour"))
    survey.hear(0, Voice.CALL, survey.read("harbour src/a.py"))
    row = survey.number["harbour"]
    assert survey.turns[row] == 1
    assert survey.times[row] == 2
    assert survey.voices[row] == Voice.ASSISTANT | Voice.CALL


def test_the_share_of_values_counts_every_time() -> None:
    survey = Survey()
    assert survey.value_share() == 0.0
    survey.hear(0, Voice.USER, survey.read("harbour harbour harbour src/a.py the"))
    assert survey.value_share() == 0.25


@given(st.lists(st.text(st.sampled_from("aB1_#$@~./+-é数かハ \n,:(\"'"), max_size=90)))
def test_reading_finds_the_items_of_a_text_in_order(texts: list[str]) -> None:
    survey = Survey()
    for text in texts:
        wanted = find_items(text)
        assert survey.read(part_words(text)) == [survey.number.get(item, VOID) for item in wanted]
    assert all(shape_of(item) == survey.shape[row] for item, row in survey.number.items())
    assert sorted(survey.number.values()) == list(range(len(survey.shape)))
