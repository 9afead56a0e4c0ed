"""Every exception refold raises, and how to read those of others.

RefoldError
├── ConfigError      an option that can never work
├── MessageError     input that is not a conversation; `place` says where
│   └── FormatError  a file or list of no known shape
├── StoreError       originals that cannot be written or read
│   ├── TooManyMessagesError  records that unfold to more than they can mean
│   ├── NestingError  a value too deep for a store in a file
│   └── RecordError  a record of a batch that cannot be unfolded
├── BudgetError      a token budget that cannot be kept (only with `strict=True`)
├── AnswerError      a model that answered, but not with a summary
│   └── ToolCallError  it called a tool instead
├── SpendingError    the money or the calls allowed for models, used up
├── CircuitOpenError  a model that failed too often, and is left alone for a while
├── BatchError       a batch that cannot continue
├── JobError         what went wrong in a worker of the proxy
├── WorkerLostError  a worker of the proxy that ended before it had answered
└── OutputError      a result that a command cannot write
"""

from __future__ import annotations

from typing import Any, Final

_LONGEST_LINE: Final = 200
"""What of a foreign error goes into a report: some quote a whole request."""


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


class NestingError(StoreError):
    """A value is nested too deeply for a store in a file."""


class RecordError(StoreError):
    """A record cannot be unfolded: its originals are missing, or something was changed."""


class BudgetError(RefoldError):
    """The conversation cannot be made to fit its token budget."""


class AnswerError(RefoldError):
    """A model answered, but not with a whole summary; asking it the same again will not help.

    `usage` says what the useless answer has cost, if that is known: a
    `refold.llm.summarizers.Usage`.
    """

    def __init__(self, problem: str, usage: Any = None) -> None:
        self.usage = usage
        super().__init__(problem)


class ToolCallError(AnswerError):
    """A model called a tool instead of writing a summary."""


class SpendingError(RefoldError):
    """The money or the calls allowed for summaries are used up.

    `spent` says how much it was: a `refold.llm.summarizers.Usage`.
    """

    def __init__(self, problem: str, spent: Any) -> None:
        self.spent = spent
        super().__init__(problem)


class CircuitOpenError(RefoldError):
    """The summarizer failed too often in a row and is left alone for `wait_seconds` more."""

    def __init__(self, problem: str, wait_seconds: float) -> None:
        self.wait_seconds = wait_seconds
        super().__init__(problem)


class OutputError(RefoldError):
    """A command cannot write its result."""


class BatchError(RefoldError):
    """A batch cannot continue; finished parts stay, and the same command resumes it."""


class JobError(RefoldError):
    """What went wrong in a worker, in words without content."""


class WorkerLostError(RefoldError):
    """The worker ended before it had answered."""


def describe(error: BaseException) -> str:
    """Name an error on one line, without the texts that it may quote at length."""
    try:
        line = " ".join(str(error).split())
    except Exception:  # noqa: BLE001 - not even its own words can be trusted
        line = ""
    return f"{type(error).__name__}: {line[:_LONGEST_LINE]}" if line else type(error).__name__


def attribute_of(error: object, name: str) -> Any:
    """Return the attribute *name* of a foreign error, or of a part of it; `None` if that fails."""
    try:
        return getattr(error, name, None)
    except Exception:  # noqa: BLE001 - a property of a foreign class; it must not hide the error
        return None
