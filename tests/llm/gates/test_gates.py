"""Every gate accepts and refuses what its fixture says."""

from __future__ import annotations

import pkgutil
import re
from pathlib import Path

import pytest

import refold.llm.gates
from refold.llm.gates import (
    GATES,
    Gate,
    Source,
    check,
)
from refold.llm.gates._values import values_in

FIXTURES = Path(__file__).parent / "fixtures"
BY_NAME = {gate.name: gate for gate in GATES}
# `=== accept: name` or `=== refuse: name`, the source, a line `---`, and the answer.
CASE = re.compile(
    r"^=== (accept|refuse): (.+)\n((?:(?!===|---\n).*\n)+)---\n((?:(?!=== ).*\n)*)", re.MULTILINE
)


def count_words(text: str) -> int:
    return len(text.split())


def cases(name: str) -> list[tuple[bool, str, str, str]]:
    text = (FIXTURES / f"{name}.md").read_text(encoding="utf-8")
    return [
        (found[1] == "accept", found[2], found[3][:-1], found[4][:-1])
        for found in CASE.finditer(text)
    ]


def all_cases() -> list[object]:
    return [
        pytest.param(gate, accepted, source, answer, id=f"{gate.name}-{name}")
        for gate in GATES
        for accepted, name, source, answer in cases(gate.name)
    ]


@pytest.mark.parametrize(("gate", "accepted", "source", "answer"), all_cases())
def test_fixture(gate: Gate, accepted: bool, source: str, answer: str) -> None:
    refusal = gate.check(Source(source, count_words), answer)
    assert (refusal is None) is accepted, refusal
    if refusal is not None:
        assert refusal.gate == gate.name
        assert all(fact in source for fact in refusal.missing)


def test_each_file_has_a_row_and_each_row_a_file() -> None:
    modules = {module.name for module in pkgutil.iter_modules(refold.llm.gates.__path__)}
    files = {name for name in modules if not name.startswith("_") and name != "base"}
    assert files == set(BY_NAME)
    assert len(BY_NAME) == len(GATES)


def test_each_row_has_a_fixture_and_each_fixture_a_row() -> None:
    assert {path.stem for path in FIXTURES.glob("*.md")} == set(BY_NAME)


@pytest.mark.parametrize("name", BY_NAME)
def test_each_fixture_has_cases_of_both_kinds(name: str) -> None:
    text = (FIXTURES / f"{name}.md").read_text(encoding="utf-8")
    found = cases(name)
    assert len(found) == text.count("=== ")
    assert sum(accepted for accepted, *_ in found) >= 6
    assert sum(not accepted for accepted, *_ in found) >= 6


LONG = (
    "The team met in the large room on the third floor to talk about the outage of last week. "
    "It turned out that evt_5900 had been sent twice, at 10:31:05, by the gateway in src/pay/a.ts. "
    "Nobody had seen it before. Please do not restart the gateway by hand, said Maria Lopez then. "
    "The job ended with ValueError: bad amount, and the whole thing did cost $1,200.50 in the end."
)


def test_check_names_all_that_is_wrong_in_the_order_of_the_table() -> None:
    refusals = check(Source(LONG, count_words), "The gateway cost 7 EUR; restart the gateway.")
    assert [refusal.gate for refusal in refusals] == [
        "nothing_invented",
        "supported",
        "facts_present",
        "negations_kept",
    ]
    assert "evt_5900" in refusals[2].missing


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1,200", "1200"),
        ("1.200,50 EUR", "€1,200.50"),
        ("12 ms", "12ms."),
        ("12 milliseconds", "12 ms"),
        ("5 %", "5 percent"),
        ("$5", "5 USD"),
        ("30-day", "30 days"),
        ("9F8E7D6A", "9f8e7d6a"),
        ("550E8400-E29B-41D4-A716-446655440000", "550e8400-e29b-41d4-a716-446655440000"),
        ("HTTPS://A.io/x", "https://a.io/x/"),
        ("v1.2.3", "1.2.3"),
        ("14 March 2031", "March 14, 2031"),
        ("14. März 2031", "2031年3月14日"),
        ("14. März 2031", "14.03.2031"),
        ("1,299.00 元", "1299.00元"),
        ("14 de marzo de 2031", "2031-03-14"),
        ("10:31 PM", "10:31pm"),
        ("./a/b.py", "a/b.py"),
        ("٣٠٠", "300"),
        ("1_000", "1000"),
        ("3rd", "3"),
    ],
)
def test_spellings_of_the_same_value(one: str, other: str) -> None:
    assert values_in(one) & values_in(other)
    source = Source(f"{one} and some more words to make it long", count_words)
    assert BY_NAME["nothing_invented"].check(source, other) is None
    assert BY_NAME["facts_present"].check(source, other) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1200", "1200.50"),
        ("-5", "5"),
        ("12 ms", "12 s"),
        ("3万", "3"),
        ("5 million", "5"),
        ("#1234", "#123"),
        ("/a/b.py", "/a/c.py"),
        ("ABC-123", "ABC-124"),
        ("2031-03-14", "14"),
        ("10:31:05", "31"),
    ],
)
def test_different_values_stay_different(one: str, other: str) -> None:
    source = Source(f"{one} and some more words to make it long", count_words)
    assert BY_NAME["nothing_invented"].check(source, other) is not None
