"""What the compiler may be told about a class; to plain Python it means nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["mypyc_attr"]

if TYPE_CHECKING:
    from mypy_extensions import mypyc_attr
else:

    def mypyc_attr(**_):
        """Take the place of the compiler's own decorator, so that nobody needs to install it.

        `acyclic=True` says that objects never lead back to themselves: the garbage collector then
        need not look at them, and it would have to at every message of a long conversation.
        """
        return lambda cls: cls
