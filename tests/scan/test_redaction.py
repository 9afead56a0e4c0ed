"""Texts without their secrets, whole or in pieces."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from refold.scan.redaction import Vault, hide_secrets
from refold.scan.secrets import find_secrets
from tests.scan.secret_cases import read_cases

KEY = "sk-" + "FAKE0fake1" * 4


def test_hidden_and_revealed() -> None:
    for case in read_cases("secrets.md"):
        found = find_secrets(case.text)
        vault = Vault([case.text])
        hidden = vault.hide(case.text)
        assert vault.reveal(hidden) == case.text
        for start, end in found:
            assert end - start < 6 or case.text[start:end] not in hidden


def test_a_placeholder_in_pieces_is_seen() -> None:
    vault = Vault([f"it is {KEY}"])
    assert vault.hide(f"it is {KEY}") == "it is <secret-1>"
    assert vault.reveal("it <secret-1>") == f"it {KEY}"
    assert vault.reveal("it < secret-1 >") == "it < secret-1 >"


def test_hidden_for_good() -> None:
    assert hide_secrets(f"{KEY} and {KEY}.") == "<secret> and <secret>."
    assert hide_secrets("abcdef", lambda _: [(0, 2), (1, 3), (5, 6)]) == "<secret>de<secret>"


@given(
    st.text("ab \n", max_size=30),
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=4),
)
def test_what_is_no_secret_stays(text: str, spans: list[tuple[int, int]]) -> None:
    secret = {place for start, end in spans for place in range(start, end)}
    hidden = hide_secrets(text, lambda _: spans)
    rest = [letter for place, letter in enumerate(text) if place not in secret]
    assert hidden.replace("<secret>", "") == "".join(rest)
