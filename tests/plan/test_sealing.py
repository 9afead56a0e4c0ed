"""A plan is sealed once: what shows an anchor, its own or one that it took over, stays as it is."""

from __future__ import annotations

import pytest

from refold.messages.folds import Fold
from refold.messages.formats import load
from refold.messages.handles import anchor_of, handle_of, summary_id_of
from refold.messages.message import Message
from refold.plan.sealing import anchor_tokens, seal_plan
from tests.plan.ladder.promise import characters, words

TAKEN_OVER = "piasdsmvuxsazedygmowzhjxoqgz"


def digest_of(handle: str) -> Fold:
    return Fold(
        sources=(MESSAGE,), texts={0: f"[1 message #{handle}]"}, outcomes=(), is_rolled=True
    )


MESSAGE: Message = load([{"role": "user", "content": "The crane was greased on Monday. " * 9}])[0]
SHORT = handle_of((MESSAGE,))
OWN = anchor_of((MESSAGE,))


@pytest.mark.parametrize("handle", [OWN, OWN + SHORT, TAKEN_OVER + SHORT])
def test_what_is_sealed_already_comes_back_as_it_is(handle: str) -> None:
    fold = digest_of(handle)
    assert seal_plan([fold], is_named=False) == (fold,)


def test_what_is_not_gets_an_anchor_without_a_name_only() -> None:
    fold = digest_of(SHORT)
    assert seal_plan([fold], is_named=True) == (fold,)
    (sealed,) = seal_plan([fold], is_named=False)
    assert sealed.texts == {0: f"[1 message #{OWN}]"}


def test_a_link_that_is_taken_makes_the_handle_longer() -> None:
    taken = digest_of(TAKEN_OVER + SHORT)
    (sealed,) = seal_plan([taken], is_named=False, taken={summary_id_of((MESSAGE,))})
    assert sealed.texts == {0: f"[1 message #{OWN}]"}


def test_an_anchor_costs_something_unless_words_are_counted() -> None:
    assert anchor_tokens(words, is_kept=False) == anchor_tokens(words, is_kept=True) == 0
    first, kept = (anchor_tokens(characters, is_kept=is_kept) for is_kept in (False, True))
    assert len(OWN) - len(SHORT) == first < kept
