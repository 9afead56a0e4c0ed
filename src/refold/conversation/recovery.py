"""Send a conversation, and retry in a shorter form if the provider finds it too long."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from refold.conversation.overflow import parse_overflow
from refold.conversation.state import Wires
from refold.conversation.window import ContextWindowManager
from refold.errors import BudgetError

T = TypeVar("T")


def send_fitting(
    manager: ContextWindowManager, messages: Wires, send: Callable[[list[Any]], T]
) -> T:
    """Return what *send* returns for the fitted messages.

    If the provider refuses them as too long, what it says is learned and they are sent once more;
    a second refusal is a `BudgetError`. Every other error is passed on.
    """
    fitted = manager.fit(messages)
    try:
        return send(fitted.messages)
    except Exception as error:
        shorter = manager.recover(fitted.messages, error)
        if shorter is None:
            raise
    try:
        return send(shorter.messages)
    except Exception as error:
        given_up = _given_up(error)
        if given_up is None:
            raise
        raise given_up from error


async def asend_fitting(
    manager: ContextWindowManager,
    messages: Wires,
    send: Callable[[list[Any]], Awaitable[T]],
) -> T:
    """Do what `send_fitting` does with an async *send*."""
    fitted = await manager.afit(messages)
    try:
        return await send(fitted.messages)
    except Exception as error:
        shorter = await manager.arecover(fitted.messages, error)
        if shorter is None:
            raise
    try:
        return await send(shorter.messages)
    except Exception as error:
        given_up = _given_up(error)
        if given_up is None:
            raise
        raise given_up from error


def _given_up(error: Exception) -> BudgetError | None:
    """Name a second overflow for what it is; `None` for any other error."""
    overflow = parse_overflow(error)
    if overflow is None:
        return None
    return BudgetError(f"refused as too long a second time, after shortening: {overflow.message}")
