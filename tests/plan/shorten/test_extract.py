"""Summaries by acts: what is asked, decided, forbidden, limited or explained stays."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refold.plan.shorten.extract import (
    cut_passage,
    read_extract,
    summarize_extracts,
    token_budget,
)
from refold.scan.acts import act_worth
from refold.scan.passages import closers
from refold.scan.tokens.estimate import estimate_tokens
from tests.conversations import texts

sys.path.append(str(Path(__file__).parents[3] / "bench"))

from gold_texts import read_gold
from summaries import RULES, measure, measure_savings

PLAIN = (
    "The harbour is calm in the morning and the boats are painted blue.",
    "A path leads along the water to the old mill on the hill.",
    "Children like the small bridge and the ducks below it.",
    "The baker opens early and the bread smells wonderful.",
    "In summer the square is full of chairs and of people who talk.",
    "The clock on the tower is a little slow, as everybody knows.",
    "An old dog sleeps in front of the post office.",
    "The library has a room with a view over the roofs.",
    "Some of the houses have gardens with apple trees.",
)
ACTS = (
    "No, do not deploy the billing change on Friday.",
    "I would not grant the new account access to the ledger.",
    "Yes, the customer agreed to the longer term.",
    "Please move the flight to the morning if it stays under $1000.",
    "The cause is a stale lock that nobody removed.",
    "We decided to keep the old schema.",
)


def summarize(text: str, budget: int) -> str:
    return summarize_extracts([read_extract(text)], budget)


@pytest.mark.parametrize("act", ACTS)
def test_an_act_survives_any_order(act: str) -> None:
    rng = random.Random(act)
    for _ in range(30):
        sentences = [act, *PLAIN]
        rng.shuffle(sentences)
        assert act in summarize(" ".join(sentences), 50)


@pytest.mark.parametrize(
    ("act", "filler"),
    [
        ("Send the form by Friday.", "Thanks for your message and your patience."),
        ("Le bail ne sera pas prolongé.", "Merci beaucoup pour votre message."),
        ("Der Antrag wurde abgelehnt.", "Guten Tag und danke für die Nachricht."),
        ("No se puede abrir la cuenta.", "Hola y gracias por escribir."),
        ("不要合并这个分支。", "谢谢大家今天的参与。"),
        ("このブランチをマージしないでください。", "いつもありがとうございます。"),
    ],
)
def test_acts_are_worth_more_than_openers(act: str, filler: str) -> None:
    assert act_worth(act) > 0 > act_worth(filler)


def test_a_dependent_sentence_brings_the_one_before_or_stays_out() -> None:
    text = f"{PLAIN[0]} The import ran at night. It failed because of that. {PLAIN[1]}"
    assert "The import ran at night. It failed because of that." in summarize(text, 20)
    assert "It failed" not in summarize(text, 9)


def test_a_list_keeps_its_first_items_and_says_how_many_more() -> None:
    options = "".join(f"- option {name} by the sea\n" for name in "ABCDEFGH")
    short = summarize(f"{PLAIN[0]}\n\nHere are the options:\n{options}\n{PLAIN[1]}", 40)
    assert short.startswith("Here are the options:\n- option A by the sea\n- option B by the sea\n")
    assert short.splitlines()[-1].endswith("more items")


def test_a_heading_never_stands_alone() -> None:
    text = f"In `x.py`:\n{' '.join(PLAIN)}\n\nWe must rename getData in the parser."
    for budget in range(5, 60, 5):
        assert not summarize(text, budget).endswith("In `x.py`:")


def test_markup_alone_is_no_summary() -> None:
    text = "<pr_description>\nThe parser fails on empty input.\n</pr_description>"
    assert summarize(text, 12) == "The parser fails on empty input."


def test_lines_that_differ_in_figures_are_not_all_of_a_summary() -> None:
    lines = "\n".join(f"10:00:{n:02} request {n} served in {n} ms" for n in range(80))
    assert "The disk is full" in summarize(f"{lines}\nThe disk is full, writing failed.", 50)


def test_what_is_cut_is_closed() -> None:
    short = cut_passage('He said "' + "we go on and on " * 30 + '"', 20)
    assert short.endswith('..."')
    assert not closers(short)


def test_every_text_of_several_has_a_say() -> None:
    extracts = [read_extract(text) for text in (PLAIN[0], ACTS[0], PLAIN[3])]
    short = summarize_extracts(extracts, 10)
    assert all(text in short for text in (PLAIN[0], ACTS[0], PLAIN[3]))


@pytest.mark.parametrize(("tokens", "gentle"), [(0, 50), (250, 75), (500, 150), (12_500, 263)])
def test_the_room_for_a_summary(tokens: int, gentle: int) -> None:
    assert token_budget(tokens) == gentle
    assert token_budget(tokens, "aggressive") <= token_budget(tokens, "moderate") <= gentle


@settings(max_examples=100)
@given(texts(), st.integers(10, 200))
def test_a_summary_keeps_to_its_room_and_its_words(text: str, budget: int) -> None:
    short = summarize(text, budget)
    joints = short.count(" ... ") + short.count("… ")
    assert estimate_tokens(short) <= 1.2 * budget + 4 * joints + 8
    assert set(short) <= set(text) | set(' .…\n 0123456789moreites"`”)]」»）*')


def test_gold_sentences_and_acts_are_kept() -> None:
    gold = read_gold()
    assert len(gold) >= 300
    new, old = (measure(gold, RULES[name], orders=2, seed=3) for name in ("acts", "points"))
    for part in ("all", "held out"):
        assert new[part].share_of_acts >= 0.95
        assert new[part].f1 >= max(0.75, old[part].f1 + 0.15)


def test_every_language_saves_as_much() -> None:
    saved = measure_savings(read_gold())
    assert min(saved.values()) >= 0.8 * saved["english"]
    assert max(saved.values()) <= 1.2 * saved["english"]
