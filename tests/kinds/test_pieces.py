"""Pieces tile every text, are cut where it hurts least, and never inside a word or a string."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pieces import pieces_of

from refold.kinds import KINDS, kind_of
from refold.kinds.base import LONG

NAMES = [kind.name for kind in KINDS]

# What kinds look for, so that generated texts come near their patterns.
FRAGMENTS = st.sampled_from(
    (
        *("\n", "\n\n", " ", "    ", "\t", "\r\n", "a", "word " * 50, "x" * 230, "。", ". ", "…"),
        *("{", "}", "[", "]", '"', '"a": ', "null", ",", ", ", "\\", '\\"', "'", '{"output": "'),
        *("error: x", "Error: ", "Traceback (most recent call last):", "  File ", "    at f (a:1)"),
        *("exit code 1", "=== FAILURES ===", "____ t ____", "E   x", "FAILED a::b", " ... ok"),
        *("diff --git a b", "@@ -1 +1 @@", "+++ b", "-x", "+y", "a.py:3:", "3:", "3-", "--", "\\n"),
        *("def f():", "     1→", "# ", "| a ", "|---|", "<div>", "</", "goroutine 1 [running]:"),
        *(
            "[ERROR] ",
            "WARN ",
            "İ",
            "\u0301",
            "\u200d",
            "\ud83d",
            "\ude00",
            "👩",
            "中文",
            "\x1b[31m",
        ),
        *("<system-reminder>", "</system-reminder>", "<returncode>0</returncode>\n<output>\n"),
    )
)
TEXTS = st.one_of(st.text(), st.lists(FRAGMENTS, max_size=40).map("".join))


@given(TEXTS, st.sampled_from(NAMES))
def test_pieces_tile_the_text(text: str, kind: str) -> None:
    pieces = pieces_of(text, kind)
    assert "".join(text[piece.start : piece.end] for piece in pieces) == text
    assert all(piece.start < piece.end for piece in pieces)


@given(TEXTS, st.sampled_from([name for name in NAMES if name != "json_records"]))
def test_pieces_are_long_only_where_a_word_is(text: str, kind: str) -> None:
    for piece in pieces_of(text, kind):
        if piece.end - piece.start > LONG + 1:
            assert not re.search(r"\s", text[piece.start + LONG // 2 + 1 : piece.end - 2])


@given(TEXTS, st.sampled_from(NAMES))
def test_no_piece_ends_inside_a_word(text: str, kind: str) -> None:
    for piece in pieces_of(text, kind)[:-1]:
        around = text[piece.end - 1 : piece.end + 1]
        assert not around.isascii() or not around.isalnum()


@given(
    st.recursive(
        st.one_of(st.text(), st.integers(), st.text(min_size=150).map("A sentence. ".join)),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=9), inner),
    ),
    st.sampled_from([None, 1]),
)
def test_no_piece_of_json_ends_inside_a_string(value: object, indent: int | None) -> None:
    text = json.dumps([value], indent=indent)
    inside = {
        place
        for found in re.finditer(r'"(?:[^"\\]|\\.)*"', text)
        for place in range(found.start() + 1, found.end())
    }
    assert inside.isdisjoint(piece.end for piece in pieces_of(text, "json_records"))


@given(TEXTS, st.text(max_size=10), st.text(max_size=30))
def test_every_text_has_a_kind(text: str, tool: str, arguments: str) -> None:
    assert kind_of(text, tool, arguments) in NAMES


@given(TEXTS, st.sampled_from(NAMES))
def test_the_same_text_gives_the_same_pieces(text: str, kind: str) -> None:
    assert pieces_of(text, kind) == pieces_of(text, kind)


@pytest.mark.parametrize("kind", NAMES)
def test_nothing_has_no_pieces(kind: str) -> None:
    assert pieces_of("", kind) == []


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize(
    "unit", ["a", "\n", "{", "[", "}", '"', '\\"', ".", " ", "=", "1:", "a/", "error ", "E   x\n"]
)
def test_a_large_text_of_one_thing_is_cut_in_one_pass(kind: str, unit: str) -> None:
    text = unit * (60_000 // len(unit))
    pieces = pieces_of(text, kind)
    assert pieces[-1].end == len(text)
    assert kind_of(text) in NAMES


def test_short_lines_share_a_piece() -> None:
    text = "".join(f"word {n}\n" for n in range(100))
    sizes = [piece.end - piece.start for piece in pieces_of(text, "prose")]
    assert max(sizes) <= 80
    assert sum(sizes) / len(sizes) > 40


def test_minified_json_is_cut_between_records() -> None:
    record = {"id": "8812", "name": "green tea", "price": 400, "tags": ["leaf", "loose", "organic"]}
    text = json.dumps([record] * 30, separators=(",", ":"))
    pieces = pieces_of(text, kind_of(text))
    records = [text[p.start : p.end] for p in pieces if p.label == "record"]
    assert len(records) >= 29
    assert all(json.loads(r.rstrip(",]")) == record for r in records[:-1] if r.startswith("{"))


def test_a_large_record_is_cut_between_members() -> None:
    text = json.dumps({f"key_{n}": "some value that is not short " * 2 for n in range(30)})
    pieces = pieces_of(text, "json_records")
    assert len(pieces) == 30
    assert all(text[p.start : p.end].lstrip("{").startswith('"key_') for p in pieces)


def test_empty_members_count_less() -> None:
    text = json.dumps({"name": "x" * 230, "returned_items": None, "cancelled_items": []})
    assert pieces_of(text, "json_records")[-1].weight < 0.5


def test_a_long_line_is_cut_after_sentences() -> None:
    sentence = "The tea was warm, and the night was long and quiet. "
    text = sentence * 40
    for piece in pieces_of(text, "prose"):
        assert text[piece.start : piece.end].endswith(". ")


@pytest.mark.parametrize("sentence", ["今天我们讨论了预算的问题。", "予算について話し合いました。"])
def test_sentences_without_spaces_are_cut(sentence: str) -> None:
    text = sentence * 30
    for piece in pieces_of(text, "prose"):
        assert text[piece.start : piece.end].endswith("。")


@pytest.mark.parametrize("unit", ["e\u0301", "👩\u200d🔬", "\ud83d\ude00", "🇩🇪", "👍🏽"])
def test_a_cut_does_not_part_what_is_one_letter(unit: str) -> None:
    text = unit * 400
    ends = {piece.end for piece in pieces_of(text, "prose")}
    assert all(end % len(unit) == 0 for end in ends)


def test_output_wrapped_in_json_is_seen_as_what_it_is() -> None:
    lines = [
        f"src/cart.py:{n}:    total_{n} = add(total, price_of_item_{n})" for n in range(1, 90, 7)
    ]
    text = json.dumps({"output": "\n".join(lines) + "\n", "metadata": {"exit_code": 0}})
    assert kind_of(text) == "search_hits"
    pieces = pieces_of(text, "search_hits")
    hits = [text[p.start : p.end] for p in pieces if p.label == "hit"]
    assert len(hits) >= len(lines) - 1
    assert all(hit.endswith("\\n") for hit in hits)


def test_a_bad_exit_of_wrapped_output_is_a_must() -> None:
    text = json.dumps({"output": "one\ntwo\nthree\n", "metadata": {"exit_code": 2}})
    pieces = pieces_of(text, kind_of(text))
    assert any("exit_code" in text[p.start : p.end] for p in pieces if p.must)


@pytest.mark.parametrize(
    ("tool", "arguments", "kind"),
    [
        ("Grep", '{"pattern": "total"}', "search_hits"),
        ("bash", '{"command": "ls src"}', "listing"),
        ("bash", '{"command": "cat src/cart.py"}', "file_read"),
        ("", "", "prose"),
    ],
)
def test_the_call_is_a_hint_where_the_text_leaves_doubt(
    tool: str, arguments: str, kind: str
) -> None:
    texts = {
        "search_hits": "src/cart.py:total = 0\nsrc/tax.py:total = 1\n",
        "listing": "cart.py\ntax.py\nnotes\n",
        "file_read": "rates = load()\nshow rates\nstop now\nand again\nfor good\n",
        "prose": "cart.py\ntax.py\nnotes\n",
    }
    assert kind_of(texts[kind], tool, arguments) == kind


@pytest.mark.parametrize("kind", NAMES)
def test_a_long_word_is_one_piece(kind: str) -> None:
    text = f"before {'x9' * 300} after"
    shown = [text[piece.start : piece.end] for piece in pieces_of(text, kind)]
    assert any("x9" * 300 in piece for piece in shown)


def test_a_long_row_is_cut_between_its_cells() -> None:
    cells = [f"{'Los Angeles ' * 3}{n}" for n in range(40)]
    names = [f"name{n}" for n in range(40)]
    text = "\n".join(("|".join(names), *["|".join(cells)] * 4))
    for piece in pieces_of(text, "table"):
        assert text[piece.start : piece.end].split("|")[0].strip() in {*cells, *names}


def test_a_row_of_a_table_in_prose_is_never_cut() -> None:
    rows = [f"| **{n}. Change it** | It works. So does the rest. | yes |\n" for n in range(40)]
    text = "We tried all of these. Here is the table.\n\n" + "".join(rows) + "\nThat is all. Good."
    pieces = [text[piece.start : piece.end] for piece in pieces_of(text, "prose")]
    assert "".join(pieces) == text
    assert all(any(row in piece for piece in pieces) for row in rows)
