"""All exceptions that refold raises, and helpers to report those of others.

RefoldError
├── ConfigError      an option that is unknown or can never work
├── MessageError     input that is not a conversation; `place` says where
│   └── FormatError  a file or list of no known shape
├── StoreError       originals that cannot be written or read
│   ├── TooManyMessagesError  records that unfold to more messages than allowed
│   ├── NestingError  a value nested too deeply for a store in a file
│   └── RecordError  a record of a batch that cannot be unfolded
├── BudgetError      a token budget that cannot be kept (only with `strict=True`)
├── AnswerError      an answer of a model that is not a summary
│   └── ToolCallError  it called a tool instead
├── BatchError       a batch that cannot continue
├── JobError         a request that the proxy could not fold
└── OutputError      a result that a command cannot write
"""

from __future__ import annotations

from typing import Any, Final

_LONGEST_LINE: Final = 200
"""Characters of a foreign error that go into a report: some quote a whole request."""


class RefoldError(Exception):
    """The base class of all errors that refold raises on purpose."""


class ConfigError(RefoldError, ValueError):
    """An option is unknown, of the wrong type, or can never work."""


class MessageError(RefoldError, ValueError):
    """The input is not a conversation; `place` says where, e.g. `messages[3].content[1]`."""

    def __init__(self, problem: str, place: str = "") -> None:
        self.place = place
        super().__init__(f"{place}: {problem}" if place else problem)


class FormatError(MessageError):
    """A file or list is in no known format."""


class StoreError(RefoldError):
    """A store cannot be opened, written or read."""


class TooManyMessagesError(StoreError):
    """More messages would be restored than the caller allows, or than the records account for."""


class NestingError(StoreError):
    """A value is nested too deeply for a store in a file."""


class RecordError(StoreError):
    """A record cannot be unfolded: originals are missing, or something was changed."""


class BudgetError(RefoldError):
    """The conversation cannot be made to fit into its token budget."""


class AnswerError(RefoldError):
    """A model answered without a complete summary; asking the same again will not help.

    `usage` is what the answer cost, if known: a `refold.llm.summarizers.Usage`.
    """

    def __init__(self, problem: str, usage: Any = None) -> None:
        self.usage = usage
        super().__init__(problem)


class ToolCallError(AnswerError):
    """A model called a tool instead of writing a summary."""


class OutputError(RefoldError):
    """A command cannot write its result."""


class BatchError(RefoldError):
    """A batch cannot continue; finished parts remain, and the same command resumes it."""


class JobError(RefoldError):
    """A request could not be folded; the message quotes no content."""


def describe(error: BaseException) -> str:
    """Describe an error on one line, without long texts that it may quote."""
    try:
        line = " ".join(str(error).split())
    except Exception:  # noqa: BLE001 - not even its own words can be trusted
        line = ""
    return f"{type(error).__name__}: {line[:_LONGEST_LINE]}" if line else type(error).__name__


def describe_kind(error: BaseException) -> str:
    """Describe an error without a word that it may quote: what kind it is, and where if it says."""
    if isinstance(error, StoreError):
        return describe(error)  # about a store, not about a conversation
    place = error.place if isinstance(error, MessageError) else ""
    return f"{type(error).__name__} at {place}" if place else type(error).__name__


def attribute_of(error: object, name: str) -> Any:
    """Return the attribute *name* of a foreign error or of a part of it; `None` if that fails."""
    try:
        return getattr(error, name, None)
    except Exception:  # noqa: BLE001 - a property of a foreign class; it must not hide the error
        return None
