"""Who said what, when, and how often."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from refold.plan.item_index import ItemIndex, Voice
from refold.scan.items import Shape, find_items, shape_of

_ITEMS = ("src/a.py", "harbour", "#W42", "the", "ok", "数据", "user_id")
_turns = st.lists(
    st.tuples(
        st.sampled_from((Voice.USER, Voice.ASSISTANT, Voice.TOOL, Voice.CALL)),
        st.lists(st.sampled_from(_ITEMS), max_size=12),
    ),
    max_size=12,
)


def add_text(index: ItemIndex, turn: int, voice: Voice, text: str) -> tuple[int, tuple[int, ...]]:
    """Add a text in one piece to *index*."""
    (count,), (rows,) = index.add_text(turn, voice, text, [len(text)])
    return count, rows


@given(_turns)
def test_the_columns_say_what_was_heard(turns: list[tuple[Voice, list[str]]]) -> None:
    index = ItemIndex()
    for number, (voice, items) in enumerate(turns):
        add_text(index, number, voice, " ".join(items))
    stats = index.stats()
    meaningful = {item for _, items in turns for item in items if shape_of(item) is not Shape.NONE}
    assert stats.number.keys() == meaningful
    for item, row in stats.number.items():
        said_in = [number for number, (_, items) in enumerate(turns) if item in items]
        assert stats.shape[row] == shape_of(item)
        assert stats.first[row] == said_in[0]
        assert stats.last[row] == said_in[-1]
        assert stats.turns[row] == len(said_in)
        assert stats.times[row] == sum(Counter(items)[item] for _, items in turns)
        voices = Voice(0)
        for number in said_in:
            voices |= turns[number][0]
        assert stats.voices[row] == voices


def test_one_turn_may_be_heard_in_several_texts() -> None:
    index = ItemIndex()
    add_text(index, 0, Voice.ASSISTANT, "harbour")
    add_text(index, 0, Voice.CALL, "harbour src/a.py")
    stats = index.stats()
    row = stats.number["harbour"]
    assert stats.turns[row] == 1
    assert stats.times[row] == 2
    assert stats.voices[row] == Voice.ASSISTANT | Voice.CALL


@given(st.lists(st.text(st.sampled_from("aB1_#$@~./+-é数かハ \n,:(\"'"), min_size=1, max_size=90)))
def test_hearing_finds_the_items_of_a_text(texts: list[str]) -> None:
    index = ItemIndex()
    found = [add_text(index, n, Voice.USER, text) for n, text in enumerate(texts)]
    stats = index.stats()
    for text, (count, rows) in zip(texts, found, strict=True):
        items = find_items(text)
        assert count == len(items)
        assert set(rows) == {stats.number[item] for item in items if item in stats.number}
        assert all(item in stats.number or shape_of(item) is Shape.NONE for item in items)
    assert all(shape_of(item) == stats.shape[row] for item, row in stats.number.items())
    assert sorted(stats.number.values()) == list(range(len(stats.shape)))


def test_each_piece_has_its_own_items() -> None:
    text = "harbour src/a.py the harbour — 数据库 #W42"
    index = ItemIndex()
    counts, shown = index.add_text(0, Voice.USER, text, [17, 20, 28, len(text)])
    number = index.stats().number
    wanted = [["harbour", "src/a.py"], [], ["harbour"], ["数据", "据库", "#W42"]]
    assert [set(rows) for rows in shown] == [{number[i] for i in items} for items in wanted]
    assert counts == [2, 1, 1, 3]


_pieces = st.lists(
    st.one_of(
        st.text(
            st.sampled_from("aBcXY019_#$@~./+-é数かハ \n\t,:(\"'\x00\x1c\x85\u2028"), max_size=30
        ),
        st.text(st.sampled_from("abcdefgABCDEFG019_./@+-# "), min_size=100, max_size=140),
        st.sampled_from(
            ("the", "The", "IBM", "getURL", "Ab1C", "A1B", "v1.2", "...a.b", "-x-", "数据")
        ),
        st.text(max_size=12),
    )
)
