"""The names a text speaks of."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from refold.classic.names import entity_cap
from tests.classic import compress, extract_entities
from tests.conversations import texts


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
    for entity in extract_entities(text, 99):
        assert entity in text
        assert entity == entity.strip()


def test_abbreviations_keep_their_case() -> None:
    assert extract_entities("The HTTP server of the SSH box runs Nginx over tls.", 9) == [
        "Nginx",
        "HTTP",
        "SSH",
        "tls",
    ]


PASSWORD = "hunTer2Hunter2"
FILLER = "The gauge behind the long wall was read again, and Maria Lopez saw no change at all. "


def listed(text: str) -> str:
    messages = [{"role": "user", "content": text}, {"role": "assistant", "content": "Noted."}]
    shown = compress(messages, recency_window=0).messages[0]["content"]
    return str(shown.partition("entities: ")[2])


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"Maria Lopez set the password to {PASSWORD} in loadConfig.", PASSWORD),
        ("mongodb://ann:QPiHNtb3iwPh4wc@db.example.org/x", "QPiHNtb3iwPh4wc"),
        ("See https://example.org/reset?token=FAKE0fake1FAKE2fake3 first.", "FAKE0fake1FAKE2fake3"),
        ("salasana='correctHorse'", "correctHorse"),
        ("we keep d41d8cd98f00b204e9800998ecf8427e there", "d41d8cd98f00b204e9800998ecf8427e"),
        ("rootPassword=helmFake99", "helmFake99"),
    ],
)
def test_no_secret_is_listed_beside_a_summary(text: str, secret: str) -> None:
    entities = listed(f"{FILLER * 4}\n{text}\n{FILLER * 4}")
    assert "Maria Lopez" in entities
    assert secret not in entities


def test_an_address_that_the_summary_shows_is_not_listed_again() -> None:
    address = "https://example.org/a/b.html"
    text = f"You must always read {address} first. " + FILLER * 8
    assert address not in listed(text)
