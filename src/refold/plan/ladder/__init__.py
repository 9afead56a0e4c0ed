"""Fitting a conversation into a number of tokens, rung by rung."""

from refold.plan.ladder.ladder import climb, roll_up_oldest

__all__ = ["climb", "roll_up_oldest"]
