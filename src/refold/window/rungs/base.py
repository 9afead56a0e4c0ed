"""What a rung is: a way to write a message shorter that needs no summary."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from refold.model.message import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """One step of the ladder; works on old messages, one by one."""

    name: str
    rewrite: Callable[[Message, str], dict[str, Any] | None]
    """From a message and the handle to show in it, if any, to what it becomes; `None` if nothing
    in it can be written shorter. May only return marked texts where there is a handle to show."""
