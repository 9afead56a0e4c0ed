"""Fitting a conversation into a number of tokens, rung by rung."""

from refold.budget.ladder import fit_budget

__all__ = ["fit_budget"]
