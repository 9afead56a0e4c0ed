"""Undo what a fold without loss did to tool results, from nothing but what the model can see.

A changed result is undone by its codecs, which the trace names; by the lines that were shown
before; as a diff against an earlier result of the same call; or because another message shows the
same text. Whatever gives the original back in none of these ways was changed with loss.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from records import Messages, calls_of, values_in
from refold import Result
from refold.codecs import CODECS, Reencoded, decode, normal
from refold.codecs.rereads import apply_changes
from refold.codecs.shown import Shown
from refold.errors import FormatError
from typed import text_of

_NAMES: Final = frozenset(codec.name for codec in CODECS)
_NAME: Final = re.compile(r"[\w-]+")
_Key = tuple[str, int]
"""The id of a call, and the how many-th result with it."""


class Undoing:
    """The tool results of one conversation, before and after."""

    def __init__(self, messages: Messages, result: Result) -> None:
        self._view = result.messages
        self._originals = {key: text_of(m) for key, _, m in _results(messages)}
        self._places = {key: place for key, place, _ in _results(messages)}
        self._calls = {
            id_: f"{name} {arguments}"
            for message in messages
            for id_, name, arguments in calls_of(message)
        }
        self._reasons = {
            entry.message_index: entry.reason for entry in result.compression.decisions
        }
        self._texts = frozenset(map(text_of, result.messages))
        self._readable: set[str] = set()
        """Originals that can be read in what was shown so far, as they are or once undone."""
        self._by_call: dict[str, list[str]] = {}

    @property
    def results(self) -> int:
        """How many tool results there are."""
        return len(self._originals)

    def changed(self) -> list[tuple[int, bool]]:
        """Return the place of every result that is not as it was, and whether it can be undone."""
        shown = Shown()
        missing = dict(self._places)
        keys = {place: key for key, place, _ in _results(self._view)}
        changed: dict[_Key, bool] = {}
        for place, message in enumerate(self._view):
            key = keys.get(place)
            if key in missing:
                at, text = missing.pop(key), text_of(message)
                is_undone = self._note(key, at, text, shown)
                if text != self._originals[key]:
                    changed[key] = is_undone
                shown.add(text)
            for text in _texts_of_calls(message):
                shown.add(text)
        # A copy may refer to a later one, which is only now known to be readable.
        found = [
            (self._places[key], is_undone or self._originals[key] in self._readable)
            for key, is_undone in changed.items()
        ]
        return found + [(at, False) for at in missing.values()]

    def _note(self, key: _Key, at: int, text: str, shown: Shown) -> bool:
        """Note a result if it can be read or undone; return whether it can."""
        original = self._originals[key]
        earlier = self._by_call.setdefault(self._calls.get(key[0], ""), [])
        is_readable = text == original or self._is_undone(at, text, original, earlier, shown)
        if is_readable:
            self._readable.add(original)
            earlier.append(original)
        return is_readable

    def _is_undone(
        self, at: int, text: str, original: str, earlier: Sequence[str], shown: Shown
    ) -> bool:
        if original in self._texts or original in self._readable:
            return True
        by = self._codecs_at(at)
        # Some stand-ins open or close with a line that says what they are.
        for body in (text, text.partition("\n")[2], text.rpartition("\n")[0]):
            if any(_is_diff(body, before, original) for before in earlier):
                return True
            if any(_decodes(form, by, original) for form in _unshortened(body, shown)):
                return True
        return False

    def _codecs_at(self, place: int) -> tuple[str, ...]:
        names = _NAME.findall(self._reasons.get(place, ""))
        return tuple(name for name in names if name in _NAMES)


def _unshortened(body: str, shown: Shown) -> Iterator[str]:
    """Yield *body* as it is, and with the lines that it leaves out because they were shown."""
    yield body
    try:
        yield shown.expand(body)
    except FormatError:
        return


def _decodes(text: str, by: tuple[str, ...], original: str) -> bool:
    try:
        return decode(Reencoded(text, by)) == normal(original)
    except FormatError:
        return False


def _is_diff(text: str, before: str, original: str) -> bool:
    try:
        return apply_changes(text, before) == original
    except FormatError:
        return False


def _results(messages: Messages) -> Iterator[tuple[_Key, int, dict[str, Any]]]:
    """Yield the tool results with their places; some harnesses use the same id again."""
    seen: Counter[str] = Counter()
    for place, message in enumerate(messages):
        if message.get("role") == "tool":
            id_ = message["tool_call_id"]
            yield (id_, seen[id_]), place, message
            seen[id_] += 1


def _texts_of_calls(message: dict[str, Any]) -> Iterator[str]:
    """Yield the texts of several lines that calls carry: a reader has seen them."""
    for _, _, arguments in calls_of(message):
        # The last first, as the engine notes them: where a line stands twice, that tells which.
        for value in reversed(list(values_in(arguments))):
            if isinstance(value, str) and "\n" in value:
                yield value
