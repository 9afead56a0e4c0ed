"""What a summary left out and should name: places and values before names, and never a secret."""

from __future__ import annotations

import pytest

from refold.scan.entities import find_names
from refold.scan.mentions import choose_mentions, find_mentions, without_secrets
from tests.classic import compress

TEXT = (
    "Thank you for waiting. Could Maria Lopez look at https://example.com/a/b?x=1 today? "
    "Hi again. The file src/app/main.py was changed on 14 March for $42.50. Nobody in Oslo saw it."
)


def test_values_come_before_names_and_are_whole() -> None:
    assert find_mentions(TEXT) == (
        "https://example.com/a/b?x=1",
        "src/app/main.py",
        "14 March",
        "$42.50",
        "Maria Lopez",
        "Oslo",
    )


@pytest.mark.parametrize(
    "text",
    [
        "Thank you. Could we go? Hi there. Also this. Please wait.",
        "Summary: all is well. Status: open.",
        "# Next Steps\nall is well",
        "We met Chair and the chair was kind.",
    ],
)
def test_openers_labels_and_headings_are_no_names(text: str) -> None:
    assert find_mentions(text) == ()


def test_the_spelling_is_the_one_of_the_text() -> None:
    assert "JFK-204" in find_mentions("We fly to gate JFK-204 at noon.")


def test_nothing_is_named_that_the_summary_says() -> None:
    found = find_mentions(TEXT)
    assert choose_mentions(found, TEXT, 60) == []
    assert choose_mentions(found, "Maria LOPEZ wrote.", 60) == [
        "https://example.com/a/b?x=1",
        "src/app/main.py",
        "14 March",
    ]


def test_addresses_and_paths_are_named_beyond_the_usual_number() -> None:
    paths = tuple(f"src/mod{n}/file.py" for n in range(30))
    assert choose_mentions((*paths, "Oslo"), "", 60) == list(paths[:15])


def test_a_path_in_code_is_named_whole_whatever_signs_it_has() -> None:
    text = "The page is `src/app/(shop)/[id]/route.ts` and calls `/api/teams/:id?include=stats`."
    assert find_mentions(text)[:2] == (
        "src/app/(shop)/[id]/route.ts",
        "/api/teams/:id?include=stats",
    )


def test_a_small_number_by_itself_and_half_a_word_say_nothing() -> None:
    assert find_mentions("We saw section 58 and the Follow\u2011ups of it, and 4 more.") == ()


PASSWORD = "hunTer2Hunter2"
FILLER = "The gauge behind the long wall was read again, and Maria Lopez saw no change at all. "


def test_other_names_stay() -> None:
    text = f"Maria Lopez set the password to {PASSWORD} in loadConfig."
    names = tuple(find_names(text))
    assert PASSWORD in names
    kept = without_secrets(text, names, find_names)
    assert set(names) - set(kept) == {PASSWORD}


def test_an_address_with_a_secret_in_it() -> None:
    address = "https://example.org/reset?token=FAKE0fake1FAKE2fake3"
    text = f"Look at {address} and https://example.org/help first."
    names = tuple(find_names(text))
    assert address in names
    kept = without_secrets(text, names, find_names)
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
    listed = without_secrets(f"Maria Lopez. {text}", ("Maria Lopez", secret), find_names)
    assert listed == ("Maria Lopez",)


def test_a_text_is_searched_once_for_all_who_ask() -> None:
    text = f"Maria Lopez set the password to {PASSWORD} in loadConfig."
    names = tuple(find_names(text))
    hidden: dict[str, str] = {}
    first = without_secrets(text, names, find_names, hidden)
    assert hidden == {text: text.replace(PASSWORD, "<secret>")}
    assert without_secrets(text, names, find_names, {text: text}) == names
    assert without_secrets(text, names, find_names, hidden) == first
