"""The profile `classic`: shorten by rules; under a budget, climb a ladder of shorter forms."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from refold.notation.spelling import CLASSIC
from refold.plan.by_rules import plan_by_rules
from refold.plan.ladder import climb, roll_up_oldest
from refold.plan.profiles import Preset
from refold.plan.shorten import POINTS

PRESET: Final = Preset(
    shorten=plan_by_rules,
    fit=climb,
    spelling=CLASSIC,
    summary_rules=POINTS,
    refers_ahead=True,
)

ROLL_UP: Final = replace(PRESET, fit=roll_up_oldest)
"""Shortens no message by itself: the oldest stretch becomes one summary."""
