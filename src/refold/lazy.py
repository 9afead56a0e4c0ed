"""Lazy values: computed on first access, then kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

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
