"""The input and output of a window strategy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from refold.engine import Engine
from refold.lazy import Lazy
from refold.messages.message import Message
from refold.plan.fold import Plan
from refold.plan.text_cache import TextCache
from refold.plan.untouchable import find_untouchable


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A conversation that does not fit, and what is to be done about it."""

    messages: Sequence[Message]
    engine: Engine
    text_cache: TextCache
    available: int
    """Tokens that it may have."""
    target: int
    """Tokens to aim at, so that the next turns fit too."""
    anchor_room: Lazy[int]
    """What the first stand-in may cost more than it does in a plan."""
    pinned: Mapping[int, str]
    """Index of every message that must stay → reason."""
    max_messages: int
    keep_results: int | None
    """How many of the newest tool results stay whole while that fits; `None` if the engine is to
    decide."""
    is_handover: bool = False
    """Whether summaries of stretches are to be hand-overs."""

    @property
    def stays(self) -> dict[int, str]:
        """Index of every message that must survive word for word → reason."""
        return {**find_untouchable(self.messages, self.engine.options), **self.pinned}

    def cost(self, plan: Plan) -> int:
        """Return the tokens of what *plan* becomes, with room for an anchor if it needs one."""
        has_stand_in = any(not fold.is_kept or fold.sources[0].link for fold in plan)
        room = self.anchor_room.get() if has_stand_in else 0
        return room + sum(map(self.text_cache.tokens.fold, plan))


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitting:
    """A plan, what was dropped or rewritten for it, and the steps that led there."""

    plan: Plan
    dropped: tuple[Message, ...] = ()
    rewritten: Mapping[int, Message] = field(default_factory=dict[int, Message])
    """Index of every message that was written shorter before the plan was made → as it was."""
    steps: tuple[str, ...] = ()


def ends_in_summary(task: Task, fitting: Fitting) -> bool:
    """Tell whether what the model is to answer has become a summary in the model's own words.

    Some providers refuse a request that ends with the assistant, others let it speak on.
    """
    return fitting.plan[-1].is_rolled and task.messages[-1].role != "assistant"
