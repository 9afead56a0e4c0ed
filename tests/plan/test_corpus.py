"""The texts that compete, and what their pieces say."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from refold.plan.calls import spell_call
from refold.plan.corpus import (
    CALLS,
    find_candidates,
    index_texts,
    open_texts,
    read_texts,
    shown_in,
    voice_of,
)
from refold.plan.item_index import Voice
from refold.plan.layout import Layout, Place
from tests.conversations import Conversation
from tests.plan.runs import anthropic_call, call, counted, read, runs, source_code

quick = settings(max_examples=15)

RUN: Conversation = [
    {"role": "system", "content": "Mind the Harbour rules."},
    {"role": "user", "content": "Fix the harbour queue."},
    *call(1, "read_file", {"path": "src/a.py"}, source_code(1), "Let me look."),
    {"role": "assistant", "content": ""},
]


@quick
@given(runs())
def test_every_text_that_a_model_sees_is_listed_once(messages: Conversation) -> None:
    loaded = read(messages)
    texts = read_texts(loaded, counted(), {})
    wanted = [
        ((message.index, number), said)
        for message in loaded
        if message.is_turn
        for number, said in (
            *((n, shown_in(part.text).body) for n, part in enumerate(message.parts)),
            (CALLS, "\n".join(spell_call(call) for call in message.calls)),
        )
        if said
    ]
    assert [(text.key, text.text.replace(" (failed)", "")) for text in texts] == wanted


def test_a_call_says_that_it_failed() -> None:
    messages = [
        *call(1, "open", {"path": "a"}, "Error: no such file"),
        *call(2, "open", {"path": "b"}, "berths and tides"),
    ]
    said = [text.text for text in read_texts(read(messages), counted(), {}) if text.part == CALLS]
    assert said == ["open path=a (failed)", "open path=b"]


def test_the_call_of_a_result_tells_what_kind_it_is() -> None:
    hits = "".join(f"src/a.c:{n}:5: open(till_{n})\n" for n in range(1, 60, 7))
    for command, kind in (("rg --column open", "search_hits"), ("make", "build_output")):
        messages = [*RUN, *call(2, "bash", {"command": command}, hits)]
        assert read_texts(read(messages), counted(), {})[-1].kind == kind


def test_what_was_said_shorter_takes_the_place_of_the_text() -> None:
    texts = read_texts(read(RUN), counted(), {(3, 0): "short"})
    shown = {text.key: text.text for text in texts}
    assert shown[3, 0] == "short"
    assert shown[1, 0] == "Fix the harbour queue."
    assert (4, 0) not in shown


@quick
@given(runs(), st.booleans())
def test_the_cuts_tile_every_text_that_is_not_preserved(messages: Conversation, talk: bool) -> None:
    texts = read_texts(read(messages), counted(), {})
    found = index_texts(texts, ("system", "developer"), talk=talk)
    for text, pieces in zip(texts, found.cuts.of, strict=True):
        ends = found.cuts.ends[pieces.start : pieces.stop]
        if text.message.role in ("system", "developer"):
            assert ends == []
        else:
            assert ends[-1] == len(text.text)
            assert ends == sorted(set(ends))
    of, ends, grades, credits_, rows = found.cuts
    assert len(ends) == len(grades) == len(credits_) == len(rows) == sum(map(len, of))
    speakers = {text.message.index for text in texts if text.message.role not in ("system",)}
    assert len(found.turns) <= len(speakers)
    assert {row for rows in found.cuts.rows for row in rows} == set(range(len(found.stats.shape)))


def test_the_preserved_roles_are_known_but_not_surveyed() -> None:
    found = index_texts(read_texts(read(RUN), counted(), {}), ("system",), talk=False)
    assert {"Mind", "Harbour", "rules"} <= found.known
    assert "rules" not in found.stats.number
    assert len(found.turns) == 3


def test_in_talk_capitals_say_little() -> None:
    found = index_texts(read_texts(read(RUN[:2]), counted(), {}), ("system",), talk=True)
    assert "harbour" in found.known
    assert "harbour" in found.stats.number
    assert "Fix" not in found.stats.number


def test_everybody_has_a_voice() -> None:
    loaded = read([*RUN, *anthropic_call(2, "ls", {}, "a.py")[1:]])
    voices = [voice_of(message) for message in loaded[1:]]
    assert voices == [Voice.USER, Voice.ASSISTANT, Voice.TOOL, Voice.ASSISTANT, Voice.TOOL]
    found = index_texts(read_texts(loaded, counted(), {}), ("system",), talk=False)
    row = found.stats.number["src/a.py"]
    assert found.stats.voices[row] == Voice.CALL


def test_who_competes_depends_on_the_place() -> None:
    texts = read_texts(read(RUN[:4]), counted(), {})
    places = [Place.WHOLE, Place.DIGEST, Place.EXCERPT, Place.EXCERPT]
    opened = open_texts(texts, Layout(places, {0: "preserved_role"}), frozenset())
    assert {text.key for text in opened if text.is_open} == {(1, 0), (3, 0)}
    places = [Place.WHOLE, Place.WHOLE, Place.DIGEST, Place.DIGEST]
    opened = open_texts(texts, Layout(places, {}), frozenset())
    assert {text.key for text in opened if text.is_open} == {(2, 0), (2, CALLS), (3, 0)}


def test_the_users_last_words_do_not_compete() -> None:
    texts = read_texts(read(RUN[:4]), counted(), {})
    layout = Layout([Place.EXCERPT] * 4, {}, frozenset({(3, 0)}))
    assert not any(text.is_open for text in open_texts(texts, layout, ()) if text.key == (3, 0))


def test_what_is_superseded_is_worth_less() -> None:
    texts = read_texts(read(RUN[:4]), counted(), {})
    layout = Layout([Place.EXCERPT] * 4, {})
    cuts = index_texts(texts, ("system",), talk=False).cuts
    fresh, outdated = (
        find_candidates(open_texts(texts, layout, superseded), cuts).factor
        for superseded in ((), {(3, 0)})
    )
    assert sum(outdated) < sum(fresh)


@quick
@given(runs())
def test_candidates_are_the_cuts_of_the_open_texts(messages: Conversation) -> None:
    texts = read_texts(read(messages), counted(), {})
    found = index_texts(texts, ("system",), talk=False)
    layout = Layout([Place.DIGEST] * len(messages), {})
    opened = open_texts(texts, layout, frozenset())
    candidates = find_candidates(opened, found.cuts)
    assert list(candidates.end) == found.cuts.ends
    for pieces in filter(None, found.cuts.of):
        ends = found.cuts.ends[pieces.start : pieces.stop]
        assert list(candidates.start[pieces.start : pieces.stop]) == [0, *ends[:-1]]
    assert candidates.rows == found.cuts.rows
    assert all(cost >= 1.0 for cost in candidates.cost)
    assert all(0.0 < credit <= 1.0 for credit in candidates.credit)


def test_a_value_among_others_keeps_more_of_its_worth() -> None:
    lone, amid = "src/a.py", "the path src/a.py was read by Maria on a quiet Monday"
    messages = [{"role": "user", "content": text} for text in (lone, amid)]
    found = index_texts(read_texts(read(messages), counted(), {}), (), talk=False)
    of_lone, of_amid = found.cuts.credits
    assert of_lone < of_amid == 1.0
