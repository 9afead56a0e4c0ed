"""What holds of the gates for every source and every answer."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from refold.llm.dialogue import repair
from refold.llm.gates import GATES, Source, check

# Pieces that gates look at, so that generated texts come near what they decide.
PIECES = (
    *("the server ", "restart ", "do not ", "never ", "请", "不要", "重启", "нет ", "Maria Lopez "),
    *(
        "12 ms ",
        "12 ",
        "1,200 ",
        "1200 ",
        "$5 ",
        "300元",
        "3 ",
        "three ",
        "31 ",
        "2031-03-14 ",
        "-5 ",
    ),
    *("evt_5900 ", "evt_5901 ", "ABC-12 ", "9f8e7d6a ", "#12 ", "v1.2.3 ", "fetchData ", "1.2 "),
    *(
        "https://a.io/x ",
        "https://a.io/y ",
        "src/a.py ",
        "a.py ",
        "/etc/x ",
        "a@b.co ",
        "10:31:05 ",
    ),
    *('"quoted words" ', "`code` ", "“x y” ", '"', "'", "[", "]", "(", ")", "; ", ". ", ", ", "\n"),
    *(
        "ValueError: bad\n",
        "failed ",
        "1. ",
        "2) ",
        "14 March 2031 ",
        "I'm sorry, I can't ",
        "{",
        "}",
    ),
    *("İ", "\ud800", "१२ ", "plain words that say little "),
)
TEXTS = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
FILLER = "the plants in the corridor were watered again by the people from the front office "
LONG_TEXTS = st.lists(st.sampled_from((*PIECES, FILLER)), max_size=25).map("".join)
BY_NAME = {gate.name: gate for gate in GATES}

# An oracle that knows nothing of normal forms: the whole numbers in a text, list labels aside.
LABEL = re.compile(r"^[ \t]*(?:[-*>][ \t])?\(?\d{1,3}[.)](?=[ \t])", re.MULTILINE)


def count_words(text: str) -> int:
    return len(text.split())


def numbers(text: str) -> set[int]:
    return {int(digits) for digits in re.findall(r"\d+", text.replace(",", ""))}


def outcome(text: str, answer: str) -> str | None:
    source = Source(text, count_words)
    refusals = check(source, answer)
    return repair(source, answer, refusals) if refusals else answer


@given(TEXTS, TEXTS)
def test_check_takes_everything(text: str, answer: str) -> None:
    source = Source(text, count_words)
    refusals = check(source, answer)
    order = [gate.name for gate in GATES]
    assert [r.gate for r in refusals] == sorted((r.gate for r in refusals), key=order.index)
    for refusal in refusals:
        assert refusal.why
        assert all(fact in text for fact in refusal.missing)


@given(TEXTS)
def test_a_text_has_nothing_against_itself(text: str) -> None:
    source = Source(text, count_words)
    for name in ("nothing_invented", "facts_present", "negations_kept", "same_language"):
        assert BY_NAME[name].check(source, text) is None


@given(LONG_TEXTS, LONG_TEXTS)
def test_what_passes_is_shorter_and_passes_again(text: str, answer: str) -> None:
    used = outcome(text, answer)
    if used is not None:
        source = Source(text, count_words)
        assert check(source, used) == ()
        assert len(used) < len(text)
        assert count_words(used) < count_words(text)
        spelled = {3} if "three" in text or "March" in text else set()
        assert numbers(LABEL.sub("", used)) <= numbers(text) | spelled


VALUES = (
    *("4711", "1,250", "12.5", "evt_5900", "evt_5901", "ABC-12", "ABC-13", "9f8e7d6a", "pay_300x9"),
    *(
        "https://a.io/x",
        "https://a.io/y",
        "src/pay/a.py",
        "src/pay/b.py",
        "/etc/hosts",
        "/etc/passwd",
    ),
    *("a@b.co", "a@c.co", "10.0.0.1", "10:31:05", "v1.2.3", "2031-03-14", "300", "3000", "30"),
)
SAID = st.lists(st.sampled_from((*VALUES, "plain", "words", "und so weiter")), max_size=12)


@given(SAID, SAID, st.booleans())
def test_what_is_used_has_the_values_of_its_source_and_no_others(
    source: list[str], answer: list[str], padded: bool
) -> None:
    text = ", ".join(source) + (". " + FILLER * 4 if padded else "")
    used = outcome(text, ", ".join(answer))
    if used is not None:
        in_answer = {
            value for value in VALUES if re.search(rf"(?<!\S){re.escape(value)}(?![^,;\]\n])", used)
        }
        assert in_answer == set(source) & set(VALUES)


@given(SAID)
def test_an_answer_without_the_values_is_completed(source: list[str]) -> None:
    text = ", ".join(source) + ". " + FILLER * 8
    used = outcome(text, "the plants were watered")
    assert used is not None
    assert all(value in used for value in source if value in VALUES)
