"""What is known of texts: each pass over one is made once, and kept from one plan to the next.

Threads may share a view: each property returns what it has made, whatever others forget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from refold.classic.english import TELLING, Words
from refold.messages.handles import handle_of
from refold.messages.message import Message
from refold.messages.token_count import CountedTexts
from refold.notation.spelling import CLASSIC, Spelling
from refold.scan.runs import Span

if TYPE_CHECKING:
    from refold.classic.detectors import DetectorTable
    from refold.classic.names import Names
    from refold.classic.sentences import Sentences

_WORD_BYTES: Final = bytes(
    byte if chr(byte) in "abcdefghijklmnopqrstuvwxyz0123456789_"
    else byte + 32 if 65 <= byte <= 90
    else 32
    for byte in range(256)
)  # fmt: skip
"""Maps words to lower case and everything else to blanks."""
_DOTTED_I: Final = "\u0130"  # the one letter whose small form is more than one character
_ODD_CASES: Final = ((_DOTTED_I, "i"), ("\u0131", "i"), ("\u017f", "s"), ("\u212a", "k"))
"""The letters beyond ASCII that are an ASCII letter where case is ignored."""


class View:
    """A text, its derived forms, and what was found in it; equal texts share one."""

    __slots__ = (
        *("_lower", "_plain", "_words", "best", "first_hard", "hard", "listed", "names"),
        *("sentences", "text"),
    )

    def __init__(self, text: str) -> None:
        self.text: Final = text
        self.hard: tuple[str, ...] | None = None
        """All hard reasons, if all were looked for."""
        self.first_hard: str | None = None
        """A hard reason, "" if there is none, `None` if nobody looked."""
        self.sentences: Sentences | None = None
        self.best: Sentences | None = None
        self.listed: Sequence[str] | None = None
        """The best sentences and the names, if it was rolled up."""
        self.names: Names | None = None
        self._plain: bytes | None = None
        self._lower: str | None = None
        self._words: Words | None = None

    @property
    def plain(self) -> bytes:
        """One byte for each character: itself if it is ASCII, else a question mark."""
        plain = self._plain
        if plain is None:
            plain = self._plain = self.text.encode("ascii", "replace")
        return plain

    @property
    def lower(self) -> str:
        """The text in lower case; a place in it is one in the text."""
        lower = self._lower
        if lower is None:
            lower = self.text.lower()
            if len(lower) != len(self.text):
                lower = _DOTTED_I.join(map(str.lower, self.text.split(_DOTTED_I)))
            self._lower = lower
        return lower

    @property
    def words(self) -> Words:
        """Those words of the text, in lower case, that any table asks for."""
        if self._words is None:
            text = self.text
            for odd, letter in _ODD_CASES:
                text = text.replace(odd, letter)
            plain = self.plain if text == self.text else text.encode("ascii", "replace")
            self._words = TELLING.intersection(plain.translate(_WORD_BYTES).split())
        return self._words

    @property
    def has_digits(self) -> bool:
        """Whether there is any digit of ASCII."""
        plain = self.plain
        return len(plain.translate(None, b"0123456789")) != len(plain)

    def has_any(self, words: Words) -> bool:
        """Tell whether any of *words* stands in the text, in any case."""
        return not words.isdisjoint(self.words)

    def runs(self, members: bytes, length: int) -> Iterator[Span]:
        """Yield the runs of at least *length* characters for which *members* has a 1."""
        mask = self.plain.translate(members)
        at = mask.find(b"\x01" * length)
        while at >= 0:
            end = mask.find(b"\x00", at)
            end = len(mask) if end < 0 else end
            yield at, end
            at = mask.find(b"\x01" * length, end)

    def forget(self) -> None:
        """Drop the derived forms, which take more memory than the text; findings stay."""
        self._plain = self._lower = self.sentences = self.names = None


StandInKey = tuple[tuple[str, ...], str, str]
"""The texts that it stands for, how it was made, and the id and handle that it shows."""


class Reader:
    """Looks at each distinct text once. What an earlier reader knew of it is taken over."""

    def __init__(
        self,
        tokens: CountedTexts,
        *,
        detectors: DetectorTable,
        spelling: Spelling = CLASSIC,
        before: Reader | None = None,
    ) -> None:
        self.tokens: Final = tokens
        self.detectors: Final = detectors
        self.spelling: Final = spelling
        """How stand-ins are written."""
        self._views: dict[str, View] = {}
        self._looked_at: list[View] = []
        """Those that somebody asked for since `forget_sentences`."""
        self._tags: dict[StandInKey, str | None] = {}
        self._known = {} if before is None else before._views
        self._known_tags = {} if before is None else before._tags

    def view(self, text: str) -> View:
        """Return what is known of *text*."""
        view = self._views.get(text)
        if view is None:
            view = self._views[text] = self._known.get(text) or View(text)
        self._looked_at.append(view)
        return view

    def stand_in(self, key: StandInKey, make: Callable[[], str | None]) -> str | None:
        """Return the stand-in under *key*, which *make* makes if it is not known."""
        if key not in self._tags:
            known = self._known_tags
            self._tags[key] = known[key] if key in known else make()
        return self._tags[key]

    @property
    def looks(self) -> int:
        """How many texts it has looked at, and how many it has shortened."""
        return len(self._views) + len(self._tags)

    def forget_sentences(self) -> None:
        """Drop what takes more memory than the texts."""
        for view in self._looked_at:
            view.forget()
        self._looked_at.clear()

    def forget_counts(self) -> None:
        """Drop what depends on the counts of tokens, because the counter has learned."""
        self._tags, self._known_tags = {}, {}


def tag_handle_of(sources: Sequence[Message], spelling: Spelling) -> str:
    """Return the handle that a stand-in shows; none where the words of tags are laid down.

    A message without an id would be shown like any other that reads the same.
    """
    has_handle = spelling.shows_handles or not sources[0].has_envelope
    return handle_of(sources) if has_handle else ""
