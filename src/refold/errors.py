"""Every exception refold raises, and how to read those of others.

RefoldError
├── ConfigError      an option that can never work
├── MessageError     input that is not a conversation; `place` says where
│   └── FormatError  a file or list whose shape nobody here can read
├── StoreError       originals that cannot be written or read
│   └── TooManyMessagesError  records that unfold to more than they can mean
└── BudgetError      a token budget that cannot be kept (only with `strict=True`)
"""

from __future__ import annotations

from typing import Any, Final

_LONGEST_LINE: Final = 200


class RefoldError(Exception):
    """The root: catch this to catch everything refold raises on purpose."""


class ConfigError(RefoldError, ValueError):
    """An option is unknown, of the wrong type, or can never work."""


class MessageError(RefoldError, ValueError):
    """The input is not a conversation; `place` names the spot, e.g. `messages[3].content[1]`."""

    def __init__(self, problem: str, place: str = "") -> None:
        self.place = place
        super().__init__(f"{place}: {problem}" if place else problem)


class FormatError(MessageError):
    """A file or a list has a shape that no known format reads."""


class StoreError(RefoldError):
    """A store cannot be opened, written or read."""


class TooManyMessagesError(StoreError):
    """More messages would come out of records than these can mean, or than the caller allows."""


class BudgetError(RefoldError):
    """The conversation cannot be made to fit its token budget."""


def describe(error: BaseException) -> str:
    """Name an error on one line, without the texts that it may quote at length."""
    try:
        line = " ".join(str(error).split())
    except Exception:  # noqa: BLE001 - not even its own words can be trusted
        line = ""
    return f"{type(error).__name__}: {line[:_LONGEST_LINE]}" if line else type(error).__name__


def attribute_of(error: object, name: str) -> Any:
    """Return what somebody's error, or a part of it, has under *name*; `None` if that fails."""
    try:
        return getattr(error, name, None)
    except Exception:  # noqa: BLE001 - a property of a foreign class; it must not hide the error
        return None
