"""Texts without their secrets: placeholders stand for them, and can be taken back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from refold.lazy import regex
from refold.scan.runs import Span
from refold.scan.secrets import find_secrets, merged

SecretFinder = Callable[[str], Iterable[Span]]
"""Finds the secrets of a text."""

_MIN_REPEATED: Final = 8
"""A secret this long is hidden wherever it occurs; a shorter one may be a common word, so it is
hidden only where it was found."""

_MAX_COMPARED: Final = 256
"""A longer secret is recognized by its first characters, so that few comparisons are long."""

_PLACEHOLDER: Final = regex(r"(?:<|&lt;|&#60;)secret-([0-9]{1,9})(?:>|&gt;|&#62;)", re.I)
_NUMBERED: Final = regex(r"secret-([0-9]{1,9})", re.I)


class Vault:
    """The secrets of some texts, and the placeholders that stand for them.

    The same secret has the same placeholder in all of the texts. What *find* raises is raised.
    """

    def __init__(self, texts: Sequence[str], find: SecretFinder = find_secrets) -> None:
        # A placeholder must not look like anything that is already there.
        self._taken = {int(n) for text in texts for n in _NUMBERED.findall(text)}
        self._last = 0
        self._placeholders: dict[str, str] = {}
        self._secrets: dict[int, str] = {}
        spans_of = {text: merged(text, find(text)) for text in texts}
        self._known = {text[a:b] for text, spans in spans_of.items() for a, b in spans}
        self._lengths: dict[str, set[int]] = {}
        self._by_head: dict[str, list[str]] = {}
        for secret in self._known:
            if len(secret) >= _MIN_REPEATED:
                head = secret[:_MAX_COMPARED]
                self._lengths.setdefault(secret[:_MIN_REPEATED], set()).add(len(head))
                self._by_head.setdefault(head, []).append(secret)
        self._spans = {
            text: merged(text, (*spans, *self._repeated(text, spans)))
            for text, spans in spans_of.items()
        }

    def __bool__(self) -> bool:
        return bool(self._known)

    def hide(self, text: str) -> str:
        """Return *text*, one of those given, with placeholders for its secrets."""
        return self._hide(text, 0, len(text))

    def hide_fact(self, fact: str, text: str, hidden: str) -> str:
        """Return *fact* as it reads in the hidden text, even if it is only a part of a secret."""
        start = text.find(fact)
        if start >= 0 and fact not in hidden:
            return self._hide(text, start, start + len(fact))
        return self._placeholder(fact) if fact in self._known else self.hide(fact)

    def reveal(self, answer: str) -> str:
        """Put the secrets back; a placeholder that is not ours stays."""
        return _PLACEHOLDER.sub(lambda m: self._secrets.get(int(m[1]), m[0]), answer)

    def _repeated(self, text: str, spans: list[Span]) -> Iterator[Span]:
        """Find known secrets between *spans*, by their first characters: one look a place."""
        if not self._lengths:
            return
        edges = [0, *(place for span in spans for place in span), len(text)]
        for start, end in zip(edges[::2], edges[1::2], strict=True):
            place = start
            while place + _MIN_REPEATED <= end:
                length = self._length_at(text, place, end)
                if length:
                    yield place, place + length
                place += length or 1

    def _length_at(self, text: str, place: int, end: int) -> int:
        """Return the length of the longest known secret at *place*, 0 if there is none."""
        lengths = self._lengths.get(text[place : place + _MIN_REPEATED], ())
        return max(
            (
                len(secret) if text.startswith(secret, place, end) else length
                for length in lengths
                if place + length <= end
                for secret in self._by_head.get(text[place : place + length], ())
            ),
            default=0,
        )

    def _hide(self, text: str, start: int, end: int) -> str:
        """Return text[start:end]; a secret that lies across its border is hidden as a whole."""
        parts: list[str] = []
        done = start
        for a, b in self._spans[text]:
            if b > start and a < end:
                parts += text[done : max(a, done)], self._placeholder(text[a:b])
                done = b
        parts.append(text[done:end])
        return "".join(parts)

    def _placeholder(self, secret: str) -> str:
        if secret not in self._placeholders:
            self._last += 1
            while self._last in self._taken:
                self._last += 1
            self._placeholders[secret] = f"<secret-{self._last}>"
            self._secrets[self._last] = secret
        return self._placeholders[secret]


def hide_secrets(text: str, find: SecretFinder = find_secrets) -> str:
    """Redact a text for good: for text about it, and for models that only classify it."""
    pieces: list[str] = []
    done = 0
    for start, end in merged(text, find(text)):
        pieces += text[done:start], "<secret>"
        done = end
    return "".join([*pieces, text[done:]])
