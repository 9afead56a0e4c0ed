"""One text and the derived forms that several detectors ask for, each made at most once."""

from __future__ import annotations

from refold.text.scan import Vocabulary, outline, plain_bytes


class TextView:
    """A text with its lines, its lower-cased form and its bytes, made when first asked for."""

    __slots__ = ("_lines", "_lower", "_outline", "_plain", "_seen", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._lines: list[str] | None = None
        self._lower: str | None = None
        self._plain: bytes | None = None
        self._outline: bytes | None = None
        self._seen: tuple[Vocabulary, frozenset[bytes]] | None = None

    @property
    def lines(self) -> list[str]:
        """The text cut at line feeds; blank lines included."""
        if self._lines is None:
            self._lines = self.text.split("\n")
        return self._lines

    @property
    def lower(self) -> str:
        """The text in lower case, character by character: a place in it is one in the text."""
        if self._lower is None:
            self._lower = _lower_each(self.text)
        return self._lower

    @property
    def plain(self) -> bytes:
        """The text as bytes, one for each character; those beyond ASCII are question marks."""
        if self._plain is None:
            self._plain = plain_bytes(self.text)
        return self._plain

    @property
    def outline(self) -> bytes:
        """The bytes with digits and some letters replaced, see `refold.text.scan.outline`."""
        if self._outline is None:
            self._outline = outline(self.plain)
        return self._outline

    def seen(self, vocabulary: Vocabulary) -> frozenset[bytes]:
        """Return the words of *vocabulary* that stand in the text."""
        if self._seen is None or self._seen[0] is not vocabulary:
            self._seen = (vocabulary, vocabulary.seen_in(self.text, self.plain))
        return self._seen[1]

    def tell_seen(self, vocabulary: Vocabulary, seen: frozenset[bytes]) -> None:
        """Take over what an earlier view of the same text has seen."""
        self._seen = (vocabulary, seen)


def _lower_each(text: str) -> str:
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    # A few capitals, such as the dotted I, have small forms of more than one character.
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)
