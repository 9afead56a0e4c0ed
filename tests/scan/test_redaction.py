"""Texts without their secrets, whole or in pieces."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from refold.scan.redaction import Vault, hide_in_pieces, hide_secrets
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
    assert not vault.is_mangled(vault.reveal("it <secret-1>"))
    assert vault.is_mangled(vault.reveal("it < secret-1 >"))


def test_hidden_for_good() -> None:
    assert hide_secrets(f"{KEY} and {KEY}.") == "<secret> and <secret>."
    assert hide_secrets("abcdef", lambda _: [(0, 2), (1, 3), (5, 6)]) == "<secret>de<secret>"


def test_a_secret_that_goes_across_pieces() -> None:
    lines = [
        "It was:",
        "-----BEGIN PRIVATE KEY-----",
        "FAKE" * 16,
        "-----END PRIVATE KEY-----",
        "Bye.",
    ]
    assert hide_in_pieces(lines) == ["It was:", "<secret>", "<secret>", "<secret>", "Bye."]


@given(
    st.lists(st.text("ab \n", max_size=6), max_size=6),
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=4),
)
def test_pieces_stay_as_many_and_keep_the_rest(
    pieces: list[str], spans: list[tuple[int, int]]
) -> None:
    hidden = hide_in_pieces(pieces, lambda _: spans)
    assert len(hidden) == len(pieces)
    if not any(start < end for start, end in spans):
        assert hidden == pieces
