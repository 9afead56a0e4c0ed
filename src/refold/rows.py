"""Tables whose rows a caller may replace, and what a row needs of a text to be asked about it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from operator import methodcaller
from typing import Any, ClassVar, Final, Generic, Protocol, Self, TypeVar

from refold.checks import check_rows

Sign = str | re.Pattern[str]
"""A string that a text holds, or a pattern that is found in it."""


class Needs:
    r"""What a text must hold for a row of a table to apply to it.

    Each of *signs* must be found in the text; of a tuple, one of its items. None that it *lacks*
    may be, and it must have at least so many *chars* and *line_breaks*. The test is cheap, and may
    let through what the row has no use for; a row that needs nothing is asked about every text.

    Every line has a line break before and behind it: a pattern for the beginning of a line starts
    with `\n`, which the engine looks for at full speed.
    """

    __slots__ = ("_all_of", "_any_of", "_lacks", "chars", "line_breaks")

    def __init__(
        self,
        *signs: Sign | tuple[Sign, ...],
        lacks: tuple[Sign, ...] = (),
        chars: int = 0,
        line_breaks: int = 0,
    ) -> None:
        groups = [sign for sign in signs if isinstance(sign, tuple)]
        self._all_of: Final = [_finder(sign) for sign in signs if not isinstance(sign, tuple)]
        self._any_of: Final = [list(map(_finder, group)) for group in groups]
        self._lacks: Final = list(map(_finder, lacks))
        self.chars: Final = chars + len(frame(""))
        self.line_breaks: Final = line_breaks

    def __call__(self, text: str) -> bool:
        """Return whether *text* has all that is needed."""
        return self.are_met(frame(text), text.count("\n") if self.line_breaks else 0)

    def are_met(self, framed: str, line_breaks: int) -> bool:
        """Return the same of a text that is *framed*, with so many *line_breaks* of its own."""
        if line_breaks < self.line_breaks or len(framed) < self.chars:
            return False
        for is_found in self._lacks:
            if is_found(framed):
                return False
        for is_found in self._all_of:
            if not is_found(framed):
                return False
        for group in self._any_of:
            for is_found in group:
                if is_found(framed):
                    break
            else:
                return False
        return True


def frame(text: str) -> str:
    """Return *text* with the line breaks around it that `Needs` counts on."""
    return f"\n{text}\n"


def _finder(sign: Sign) -> Callable[[str], Any]:
    """Return what finds *sign* in a text, a builtin in either case."""
    return methodcaller("__contains__", sign) if isinstance(sign, str) else sign.search


class _Row(Protocol):
    @property
    def name(self) -> str: ...


R = TypeVar("R", bound=_Row)


class Table(Generic[R]):
    """Rows in the order in which they are asked."""

    row_type: ClassVar[type]
    plural: ClassVar[str]
    """What the rows are called in an error."""

    def __init__(self, rows: Sequence[R]) -> None:
        self.rows: Final = tuple(rows)
        self.by_name: Final = {row.name: row for row in rows}

    def choose(self, rows: Sequence[R] | None) -> Self:
        """Return a table of the *rows* that a caller chose; this one if there are none.

        Raises `ConfigError` for what is no such row, and for two of them with the same name.
        """
        if rows is None:
            return self
        check_rows(self.plural, rows, self.row_type)
        return self if tuple(rows) == self.rows else type(self)(rows)
