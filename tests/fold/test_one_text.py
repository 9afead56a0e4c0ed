"""One text in fewer tokens: whole pieces of it are shown."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.fold.one_text import fold_text
from refold.scan.tokens.estimate import estimate_tokens
from tests.conversations import SENTENCES

LOG = "\n".join(
    f"2026-03-14 10:{n // 60:02}:{n % 60:02} INFO worker-{n % 7} job {1000 + 37 * n} is done"
    for n in range(300)
)
ERROR = "2026-03-14 10:02:31 ERROR worker-3 job 6587 failed: disk /dev/sdb1 is full"
FAILING = LOG.replace(LOG.split("\n")[150], ERROR)
RECORDS = json.dumps([{"id": n, "city": f"City {n * n}", "note": "all is well"} for n in range(90)])
ADDRESSES = "See https://a.test/one and https://b.test/two?x=1 for it. " + " ".join(SENTENCES * 6)


@pytest.mark.parametrize("share", [0.4, 0.2, 0.1])
@pytest.mark.parametrize("text", [LOG, FAILING, RECORDS], ids=["log", "failing", "records"])
def test_an_excerpt_takes_what_it_may_and_not_more(text: str, share: float) -> None:
    most = int(share * estimate_tokens(text))
    short = fold_text(text, most, estimate_tokens)
    assert short is not None
    assert 0.5 * most <= estimate_tokens(short) <= 1.05 * most


def test_what_went_wrong_is_shown() -> None:
    short = fold_text(FAILING, estimate_tokens(FAILING) // 10, estimate_tokens)
    assert short is not None
    assert "ERROR worker-3 job 6587 failed: disk /dev/sdb1 is full" in short


def test_lines_are_whole_and_gaps_are_marked() -> None:
    short = fold_text(FAILING, estimate_tokens(FAILING) // 5, estimate_tokens)
    assert short is not None
    assert "…" in short
    lines = [re.sub(r" ?…$", "", line) for line in short.split("\n")]
    ends = [line.partition("job")[2] for line in FAILING.split("\n")]
    shown = [line for line in lines if not line.startswith("…")]
    assert shown
    assert all(any(line.endswith(end) for end in ends) for line in shown if "job" in line)


@pytest.mark.parametrize("text", [LOG, RECORDS, ADDRESSES])
def test_no_handle_is_shown_that_nobody_can_fetch(text: str) -> None:
    for share in (0.5, 0.1):
        short = fold_text(text, int(share * estimate_tokens(text)), estimate_tokens)
        assert short is not None
        assert not re.search(r"#[a-z]{5,}", short)


def test_of_prose_addresses_stay() -> None:
    short = fold_text(ADDRESSES, estimate_tokens(ADDRESSES) // 4, estimate_tokens)
    assert short is not None
    assert "https://a.test/one" in short
    assert "https://b.test/two?x=1" in short


def test_sentences_are_whole() -> None:
    never = "If the valve is open, do not start the pump, whatever the display says."
    dull = "The crew moved along the quay, as usual, and went on, slowly, with the work. "
    text = dull * 9 + never + " " + dull * 9
    short = fold_text(text, estimate_tokens(text) // 4, estimate_tokens)
    assert short is not None
    assert {line.removeprefix("… ") for line in short.split("\n")} == {never, dull.strip()}


@pytest.mark.parametrize("text", ["", "ok", "A sentence of a few words.", "[]"])
def test_what_is_short_has_no_shorter_form(text: str) -> None:
    assert fold_text(text, 10, estimate_tokens) is None


@given(text=st.text(max_size=400) | st.lists(st.sampled_from(SENTENCES)).map(" ".join))
def test_it_is_never_longer(text: str) -> None:
    short = fold_text(text, estimate_tokens(text) // 3, estimate_tokens)
    assert short is None or estimate_tokens(short) < estimate_tokens(text)
