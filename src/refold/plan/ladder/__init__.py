"""Fitting a conversation into a number of tokens, rung by rung."""

from refold.plan.ladder.ladder import fit_budget

__all__ = ["fit_budget"]
