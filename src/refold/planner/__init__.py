"""Spend one budget over a whole conversation, where it counts: see `plan`."""

from refold.planner.plan import plan_profile, plan_shorter

__all__ = ["plan_profile", "plan_shorter"]
