"""Spend one budget over a whole conversation, where it counts: see `plan`."""

from refold.planner.one_text import ShortText, is_structured, say_shorter, shorten_text
from refold.planner.plan import ProfilePlanner, plan_profile, plan_shorter

__all__ = [
    "ProfilePlanner",
    "ShortText",
    "is_structured",
    "plan_profile",
    "plan_shorter",
    "say_shorter",
    "shorten_text",
]
