"""A fold happens when it has paid, when it is free, or when there is no room; never at a loss."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold import Session
from refold.conversation.economics import SLACK, Account, Budget, Rates, landing_tokens
from tests.plan.ladder.promise import words

_TURNS = st.lists(st.tuples(st.integers(1, 9_000), st.booleans()), min_size=1, max_size=120)


def _replay(turns: list[tuple[int, bool]], rates: Rates) -> tuple[Account, list[str], float]:
    """Send growing conversations; return the account, why it folded, and the worst ratio."""
    account, worst = Account(rates=rates), 0.0
    reasons: list[str] = []
    view = whole = cached = view_cached = 0
    for grown, is_cold in turns:
        view, whole = view + grown, whole + grown
        if is_cold:
            cached = view_cached = 0
        landing = landing_tokens(whole)
        reason = account.due(view, whole, landing, limit=None, cached=cached, is_cold=is_cold)
        if reason:
            reasons.append(reason)
            account.note_folded()
            view, view_cached = landing, 0
        account.note_sent(view=view, view_cached=view_cached, whole=whole, whole_cached=cached)
        cached, view_cached = whole, view
        worst = max(worst, account.spent / account.plain)
    return account, reasons, worst


@given(_TURNS, st.sampled_from([Rates(), Rates(read=0.1), Rates(read=0.5, written=1.0)]))
def test_no_turn_of_any_run_costs_more_than_the_slack(
    turns: list[tuple[int, bool]], rates: Rates
) -> None:
    _, _, worst = _replay(turns, rates)
    assert worst <= SLACK + 1e-9


def test_a_long_run_is_folded_and_costs_less() -> None:
    account, reasons, _ = _replay([(1_500, False)] * 120, Rates(read=0.1))
    assert set(reasons) == {"paid"}
    assert 1 <= len(reasons) <= 12
    assert account.spent < 0.8 * account.plain


def test_a_cold_cache_folds_at_once() -> None:
    _, reasons, _ = _replay([(20_000, False), (20_000, True)], Rates())
    assert reasons == ["cold"]


def test_a_short_run_is_left_alone_even_if_it_is_cold() -> None:
    assert _replay([(400, True)] * 18, Rates())[1] == []


def test_what_does_not_fit_is_folded_whatever_it_costs() -> None:
    account = Account(rates=Rates())
    assert account.due(100, 100, 50, limit=99, cached=0, is_cold=False) == "full"
    assert account.due(99, 99, 50, limit=99, cached=0, is_cold=False) is None


@pytest.mark.parametrize(
    ("model", "read", "written"),
    [("claude-sonnet-4-5", 0.1, 1.25), ("gpt-5", 0.1, 1.0), ("nobody-knows-it", 0.05, 1.25)],
)
def test_rates_are_those_of_the_price_list(model: str, read: float, written: float) -> None:
    rates = Rates.of(model)
    assert (rates.read, rates.written) == pytest.approx((read, written))


def test_a_view_lands_where_its_reader_can_go_on() -> None:
    assert [landing_tokens(n) for n in (5_000, 50_000, 500_000)] == [8_000, 15_000, 24_000]
    assert landing_tokens(100_000, "careful") == 40_000
    assert landing_tokens(100_000, "tight") == 12_000


def test_a_fold_leaves_room_beside_long_instructions() -> None:
    number, auto = Budget.of(20_000), Budget.of("auto")
    assert number.landing(40_000, 1_000, 20_000) == 10_000
    assert number.landing(40_000, 12_000, 20_000) == 14_000
    assert auto.landing(40_000, 2_000, None) == 12_000
    assert auto.landing(40_000, 20_000, None) == 24_000


@given(st.lists(st.tuples(st.integers(0, 9_000), st.booleans()), min_size=4, max_size=40))
def test_no_turn_of_a_session_has_cost_more_than_the_slack(turns: list[tuple[int, bool]]) -> None:
    session = Session(model="claude-sonnet-4-5", token_budget="auto", counter=words, clock=int)
    session.append({"role": "user", "content": "Read the logs and tell me why the crane stands."})
    for number, (size, is_cold) in enumerate(turns):
        function = {"name": "look", "arguments": f'{{"page": {number}}}'}
        call = {"id": f"c{number}", "type": "function", "function": function}
        result = "\n".join(f"bay {number} row {n} crane {n * 7 % 13}" for n in range(size // 6))
        session.append({"role": "assistant", "content": None, "tool_calls": [call]})
        session.append({"role": "tool", "tool_call_id": f"c{number}", "content": result})
        session.view(cold=is_cold)
        spent, saved = session.report.spent_usd, session.report.saved_usd
        assert spent is not None
        assert saved is not None
        assert spent <= SLACK * (spent + saved) + 1e-12
