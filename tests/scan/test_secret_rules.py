"""Rules for places of secrets: what a match begins with, and which signs a text has."""

from __future__ import annotations

import pytest

from refold.scan.secret_commands import COMMANDS
from refold.scan.secret_places import PLACES
from refold.scan.secret_rules import Rule, any_value, no_variable
from tests.scan.secret_cases import read_cases

RULES = (*PLACES, *COMMANDS)
TEXTS = [case.text for case in read_cases("secrets.md")]


@pytest.mark.parametrize("rule", RULES, ids=[rule.signs[0] for rule in RULES])
def test_nothing_is_missed_where_no_sign_is(rule: Rule) -> None:
    for text in TEXTS:
        lower = text.lower()
        found = {span for match in rule.pattern.finditer(text) for span in rule.read(match)}
        seen = {sign for sign in rule.signs if sign in lower}
        assert set(rule.find(text, lower, seen) if seen else ()) == found


def test_a_pattern_is_tried_where_it_can_begin() -> None:
    rule = Rule("key |pin ", r"(?i)(?:key|pin) (\w++)", any_value)
    text = "Pin ab, key pin cd, keyed ef"
    spans = rule.find(text, text.lower(), {"key ", "pin "})
    assert [text[start:end] for start, end in spans] == ["Pin ab", "key pin"]


def test_a_line_is_tried_once() -> None:
    rule = Rule("", r"(?m)^> (?P<value>[^\n]*+)$", signs="key|pin", line=True)
    text = "> a key, a pin\nno > key\n> pin\n> nothing"
    spans = rule.find(text, text, {"key", "pin"})
    assert [text[start:end] for start, end in spans] == ["a key, a pin", "pin"]


def test_what_is_filled_in_later_is_no_secret() -> None:
    rule = Rule("key=", r"key=(?P<value>\S++)", no_variable)
    text = "key=${KEY} key=abc key=<key>"
    assert [text[start:end] for start, end in rule.find(text, text, {"key="})] == ["abc"]
