"""Handles are made longer where they must be, and nothing else of a plan changes."""

from __future__ import annotations

from refold.messages.folds import Fold
from refold.messages.formats import load
from refold.messages.handles import (
    behind_of,
    grow,
    handle_of,
    seal_plan,
    visible_handle,
)
from refold.messages.message import Message
from refold.messages.token_count import CountedTexts
from refold.notation.marks import ANCHOR_CHARS, MOST_CHARS
from refold.options import Options
from refold.planner import Planner
from tests.plan.ladder.promise import characters, words

MESSAGES = load(
    [{"role": "user", "content": f"{n}. The crane was greased on Monday. " * 9} for n in range(8)]
)
MESSAGE: Message = MESSAGES[0]
SHORT = handle_of((MESSAGE,))
LONG = handle_of((MESSAGE,), ANCHOR_CHARS)


def digest_of(message: Message, handle: str = "") -> Fold:
    shown = handle or handle_of((message,))
    return Fold(sources=(message,), texts={0: f"[1 message #{shown}]"}, is_rolled=True)


def test_what_has_enough_letters_comes_back_as_it_is() -> None:
    fold = digest_of(MESSAGE, LONG)
    assert seal_plan([fold], lacking=ANCHOR_CHARS) == (fold,)


def test_one_handle_without_a_name_is_long() -> None:
    fold = digest_of(MESSAGE)
    assert seal_plan([fold]) == (fold,)
    (sealed,) = seal_plan([fold], lacking=ANCHOR_CHARS)
    assert sealed.texts == {0: f"[1 message #{LONG}]"}


def test_only_the_first_is_long() -> None:
    for length in (1, 2, 8):
        plan = [digest_of(message) for message in MESSAGES[:length]]
        sealed = seal_plan(plan, lacking=ANCHOR_CHARS)
        assert [len(visible_handle(fold)) for fold in sealed] == [28, *[5] * (length - 1)]
        assert seal_plan(sealed, lacking=ANCHOR_CHARS) == sealed


def test_a_message_too_short_for_the_long_one_is_left_and_the_next_shows_it() -> None:
    short, long = load(
        [{"role": "user", "content": c} for c in ("The crane was greased.", "x" * 90)]
    )
    plan, tokens = [digest_of(short), digest_of(long)], CountedTexts(characters, characters)
    first, second = seal_plan(plan, lacking=ANCHOR_CHARS, tokens=tokens)
    assert first.is_kept
    assert len(visible_handle(second)) == ANCHOR_CHARS


def test_a_handle_that_is_taken_grows_until_it_cannot() -> None:
    fold, sizes, lengths = digest_of(MESSAGE), dict[str, int](), list[int]()
    while grow(sizes, behind_of((MESSAGE,)).fold):
        (sealed,) = seal_plan([fold], sizes)
        lengths.append(len(visible_handle(sealed)))
        assert visible_handle(sealed).startswith(SHORT)
    assert lengths == [*range(9, MOST_CHARS, 4), MOST_CHARS]


def test_a_long_handle_costs_something_unless_words_are_counted_or_there_is_a_name() -> None:
    for counter, name, extra in (
        (words, None, 0),
        (characters, None, len(LONG) - len(SHORT)),
        (characters, "desk", 0),
    ):
        assert Planner(Options(), counter, name).anchor_room(MESSAGES) == extra
