"""A tool call as a value: who is called, with what, and under which id."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from refold.model.wire import Path, spell


class Call:
    """One call that a message makes; read-only."""

    __slots__ = ("_parsed", "given", "id", "name", "path", "spelled")

    def __init__(self, id: str, name: str, given: object = "", path: Path | None = None) -> None:
        self.id: Final = id
        """What its answer names; unique among the calls that are open at the same time."""
        self.name: Final = name
        self.given: Final = given
        """The arguments as the message has them: a text, mostly JSON, or data."""
        self.spelled: Final = given if isinstance(given, str) else spell(given)
        """The arguments as text, the way a provider counts them."""
        self.path: Final = path
        """Where the arguments stand, if they may be written shorter there."""
        self._parsed: object = None

    @property
    def text(self) -> str:
        """What the call costs: its name and its arguments."""
        return f"{self.name} {self.spelled}"

    @property
    def arguments(self) -> Mapping[str, Any] | None:
        """The arguments by name, read when first asked for; `None` if they have no names."""
        if self._parsed is None:
            self._parsed = _parse(self.given) if isinstance(self.given, str) else self.given
        return self._parsed if isinstance(self._parsed, Mapping) else None


def _parse(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
