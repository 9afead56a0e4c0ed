"""A secret is no name: it is not listed beside a summary."""

from __future__ import annotations

import pytest

from refold.scan.entities import iter_entities
from refold.scan.public_names import without_secrets
from tests.classic import compress

PASSWORD = "hunTer2Hunter2"
FILLER = "The gauge behind the long wall was read again, and Maria Lopez saw no change at all. "


def test_other_names_stay() -> None:
    text = f"Maria Lopez set the password to {PASSWORD} in loadConfig."
    names = tuple(iter_entities(text))
    assert PASSWORD in names
    kept = without_secrets(text, names, iter_entities)
    assert set(names) - set(kept) == {PASSWORD}


def test_an_address_with_a_secret_in_it() -> None:
    address = "https://example.org/reset?token=FAKE0fake1FAKE2fake3"
    text = f"Look at {address} and https://example.org/help first."
    names = tuple(iter_entities(text))
    assert address in names
    kept = without_secrets(text, names, iter_entities)
    assert set(names) - set(kept) == {address}


def test_no_secret_beside_a_summary() -> None:
    text = f"{FILLER * 4}\nMaria Lopez set the password to {PASSWORD}.\n{FILLER * 4}"
    messages = [{"role": "user", "content": text}, {"role": "assistant", "content": "Noted."}]
    result = compress(messages, recency_window=0)
    _, listed, entities = result.messages[0]["content"].partition("entities: ")
    assert listed
    assert PASSWORD not in entities


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("mongodb://ann:QPiHNtb3iwPh4wc@db.example.org/x", "QPiHNtb3iwPh4wc"),
        ("salasana='correctHorse'", "correctHorse"),
        ("log in as ann / Adm1nFake99", "Adm1nFake99"),
        ("we keep d41d8cd98f00b204e9800998ecf8427e there", "d41d8cd98f00b204e9800998ecf8427e"),
        ("rootPassword=helmFake99", "helmFake99"),
    ],
)
def test_whatever_announces_it(text: str, secret: str) -> None:
    listed = without_secrets(f"Maria Lopez. {text}", ("Maria Lopez", secret), iter_entities)
    assert listed == ("Maria Lopez",)


def test_a_text_is_searched_once_for_all_who_ask() -> None:
    text = f"Maria Lopez set the password to {PASSWORD} in loadConfig."
    names = tuple(iter_entities(text))
    hidden: dict[str, str] = {}
    first = without_secrets(text, names, iter_entities, hidden)
    assert hidden == {text: text.replace(PASSWORD, "<secret>")}
    assert without_secrets(text, names, iter_entities, {text: text}) == names
    assert without_secrets(text, names, iter_entities, hidden) == first
