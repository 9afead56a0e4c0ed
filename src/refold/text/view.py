"""One text and the derived forms that several detectors ask for, each made at most once."""

from __future__ import annotations

from functools import cached_property


class TextView:
    """A text with its lines and its lower-cased form, computed when first asked for."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def lines(self) -> list[str]:
        """The text cut at line feeds; blank lines included."""
        return self.text.split("\n")

    @cached_property
    def lower(self) -> str:
        """The text in lower case, character by character: a place in it is one in the text."""
        lower = self.text.lower()
        if len(lower) == len(self.text):
            return lower
        # A few capitals, such as the dotted I, have small forms of more than one character.
        return "".join(low if len(low := char.lower()) == 1 else char for char in self.text)
