"""The steps of the pipeline; each adds decisions and never takes one back."""

from __future__ import annotations

from typing import Final

from refold.plan.rules.base import RunContext, Stage
from refold.plan.rules.contradiction import supersede
from refold.plan.rules.dedup import dedup, keep_referred
from refold.plan.rules.importance import keep_important
from refold.plan.rules.near_dedup import near_dedup
from refold.plan.rules.protect import protect
from refold.plan.rules.structure import (
    keep_json,
    keep_judged,
    keep_matching,
    keep_structure,
    split_code,
    summarize_rest,
)
from refold.plan.text_cache import TextCache

STAGES: Final[tuple[Stage, ...]] = (
    protect,
    keep_important,
    dedup,
    near_dedup,
    keep_referred,
    supersede,
    split_code,
    keep_structure,
    keep_matching,
    keep_judged,
    keep_json,
    summarize_rest,
)
"""In order of precedence: the first verdict on a segment stands."""

__all__ = ["STAGES", "RunContext", "Stage", "TextCache"]
