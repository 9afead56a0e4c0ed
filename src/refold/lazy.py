"""Lazy values: computed on first access, then kept."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar, cast

T = TypeVar("T")


class Lazy(Generic[T]):
    """A value that is computed on first access and then kept.

    It compares, prints, copies and pickles like its value.
    """

    __slots__ = ("_made",)

    def __init__(self, make: Callable[[], T]) -> None:
        self._made: Callable[[], T] | tuple[T] = make

    @classmethod
    def known(cls, value: T) -> Lazy[T]:
        """Wrap a value that is known already."""
        later = cls(lambda: value)
        later._made = (value,)
        return later

    def get(self) -> T:
        """Return the value; two threads at once may compute it twice."""
        made = self._made
        if not isinstance(made, tuple):
            made = self._made = (made(),)
        return made[0]

    def __eq__(self, other: object) -> bool:
        """Compare values."""
        return self.get() == other.get() if isinstance(other, Lazy) else NotImplemented

    def __hash__(self) -> int:
        """Hash the value."""
        return hash(self.get())

    def __repr__(self) -> str:
        return repr(self.get())

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the value, not the function that computes it."""
        return Lazy.known, (self.get(),)


_ATTRIBUTES: Final = (
    *("search", "match", "fullmatch", "finditer", "findall", "split", "sub", "subn"),
    *("flags", "groups", "groupindex"),
)


def regex(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return `re.compile(pattern, flags)`, compiled when it is first used.

    The package has hundreds of patterns, and compiling them all takes longer than most calls.
    """
    return cast("re.Pattern[str]", _NotCompiled(pattern, flags))


class Regex:
    """A pattern that has, once it is used, the attributes of a compiled one."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern: Final = pattern
        self._flags: Final = flags

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle what it was made of."""
        return regex, (self.pattern, self._flags)


class _NotCompiled(Regex):
    def __getattr__(self, name: str) -> Any:
        if name not in _ATTRIBUTES:
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self._flags)
        for attribute in _ATTRIBUTES:
            setattr(self, attribute, getattr(compiled, attribute))
        # Without `__getattr__`, look-ups are faster.
        self.__class__ = Regex  # type: ignore[assignment]
        return getattr(compiled, name)
