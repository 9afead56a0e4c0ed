"""What the last view of a session cost, and how much of it is in the provider's cache."""

from __future__ import annotations

from dataclasses import dataclass

from refold.result import BudgetReport, ModelReport


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionReport:
    """What the last view cost, and how much of it the provider has already cached."""

    messages: int = 0
    """Messages in the view."""
    tokens: int = 0
    """Tokens of the view."""
    tokens_unfolded: int = 0
    """What they would be without folding."""
    first_changed: int = 0
    """Index in the view of the first message that the view before did not have there."""
    cached_share: float = 0.0
    """Share of the view's tokens before that index."""
    folds: int = 0
    """How often the session has folded so far."""
    budget: BudgetReport | None = None
    """How the budget was kept the last time it had to be."""
    model: ModelReport | None = None
    """What a model was asked so far, and what that has cost; `None` without one."""
