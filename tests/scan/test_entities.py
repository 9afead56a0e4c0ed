"""The names a text speaks of."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refold.scan.entities import (
    entity_cap,
    extract_entities,
    find_names,
    missing_from,
)
from tests.conversations import texts
from tests.scan.named_texts import named_texts, names_by_pattern


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Pavel met Ines Roy at noon", ["Pavel", "Ines Roy"]),
        ("The Pier opened", []),
        (
            "getTide and TideBox in tide_box use npm for 3 days",
            ["TideBox", "getTide", "tide_box", "npm", "3 days"],
        ),
        ("calm sea, no wind", []),
        ("", []),
    ],
)
def test_recorded_examples(text: str, expected: list[str]) -> None:
    assert extract_entities(text, 20) == expected


@pytest.mark.parametrize(
    ("text", "entity"),
    [
        ("wir trafen uns in Kraków gestern", "Kraków"),
        ("wir kaufen bei Ångström ein", "Ångström"),
        ("ele mora em São Paulo agora", "São Paulo"),
        ("мы встретили Ирину вчера", "Ирину"),
        ("it grew by 12.5% again", "12.5%"),
        ("it took 250 ms in all", "250 ms"),
        ("about 1,200 users came", "1,200 users"),
        ("open src/http/header.py now", "src/http/header.py"),
        ("see ./a/b.ts or ../c/d.json", "../c/d.json"),
        ("see https://example.com/a?b=1, please", "https://example.com/a?b=1"),
        ("upgrade to v2.1.3 today", "v2.1.3"),
        ("set MAX_RETRIES to nine", "MAX_RETRIES"),
        ("the RetryPolicy class", "RetryPolicy"),
        ("他读了《红楼梦》以后", "红楼梦"),
        ("会议推迟了30分钟左右", "30分钟"),
        ("the kml and the xml files", "kml"),
    ],
)
def test_kinds_of_names(text: str, entity: str) -> None:
    assert entity in extract_entities(text, 20)


def test_a_word_that_begins_a_sentence_is_not_a_name() -> None:
    assert extract_entities("However, it rained. Then we left. Because of that, no.", 20) == []


def test_each_name_once() -> None:
    assert extract_entities("Pavel saw Pavel and Pavel", 20) == ["Pavel"]


@pytest.mark.parametrize(
    ("length", "cap"), [(0, 3), (600, 3), (700, 4), (2_000, 10), (3_000, 15), (90_000, 15)]
)
def test_how_many_are_named(length: int, cap: int) -> None:
    assert entity_cap(length) == cap


def test_the_cap_holds() -> None:
    text = " ".join(f"item_{n}" for n in range(40))
    assert len(extract_entities(text, 5)) == 5
    assert extract_entities(text, 0) == []


@settings(max_examples=100)
@given(texts())
def test_every_name_stands_in_the_text(text: str) -> None:
    for entity in find_names(text):
        assert entity in text
        assert entity == entity.strip()


def test_abbreviations_keep_their_case() -> None:
    assert extract_entities("The HTTP server of the SSH box runs Nginx over tls.", 9) == [
        "Nginx",
        "HTTP",
        "SSH",
        "tls",
    ]


@settings(max_examples=100)
@given(st.lists(named_texts(), max_size=3))
def test_names_are_those_of_each_pattern(several: list[str]) -> None:
    for text in several:
        assert list(find_names(text)) == names_by_pattern(text)


@settings(max_examples=100)
@given(named_texts(), named_texts(), st.integers(0, 9), st.integers(0, 5))
def test_what_a_text_does_not_hold(text: str, other: str, longest: int, most: int) -> None:
    names = (*find_names(text), *text.split(), "", text[1:3], other[1:3])
    lost = [name for name in names if len(name) <= longest and name not in other]
    assert missing_from(other, names, longest, most) == lost[:most]
    assert missing_from(text, find_names(text), longest, 99) == [
        name for name in find_names(text) if len(name) <= longest and name not in text
    ]
