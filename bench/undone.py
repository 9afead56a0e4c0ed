"""Undo what a fold without loss did to tool results, from nothing but what the model can see.

A changed result is undone by its codecs, which the trace names; by the lines that were shown
before; or because another message shows the same text. JSON and what a terminal shows is compared
as it is respelled. Whatever gives the original back in none of these ways was changed with loss.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from records import Messages, calls_of, values_in
from refold import Result
from refold.codecs import CODECS
from refold.errors import FormatError
from typed import text_of

_BY_NAME: Final = {codec.name: codec for codec in CODECS}
_NAME: Final = re.compile(r"[\w-]+")
_MARK: Final = re.compile(r"\[(?:(\d+) lines?|lines? (\d+)(?:–(\d+))?) follow as before\]")
_NUMBER: Final = re.compile(r" *(\d{1,7})(?:[→\t:|-]|$)")
_Key = tuple[str, int]
"""The id of a call, and the how many-th result with it."""


class Seen:
    """The lines that a reader has seen so far."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._places: dict[str, list[int]] = {}

    def add(self, text: str) -> None:
        """Note a text that comes next."""
        for line in (*text.split("\n"), "\0"):
            self._places.setdefault(_bare(line), []).append(len(self._lines))
            self._lines.append(_bare(line))

    def follow(self, short: str, text: str) -> bool:
        """Return whether *short* leaves out of *text* only what follows where its marks say."""
        lines = text.split("\n")
        place = 0
        for line in short.split("\n"):
            mark = _MARK.fullmatch(line)
            if mark is None or lines[place : place + 1] == [line]:
                if lines[place : place + 1] != [line]:
                    return False
                place += 1
                continue
            first, last = int(mark[2] or 1), int(mark[3] or mark[1] or mark[2])
            left = list(map(_bare, lines[place : place + last - first + 1]))
            if len(left) < last - first + 1 or not self._has(_bare(lines[place - 1]), left):
                return False
            if mark[2] and int(_NUMBER.match(lines[place])[1]) != first:  # type: ignore[index]
                return False
            place += len(left)
        return place == len(lines)

    def _has(self, above: str, lines: list[str]) -> bool:
        return any(
            self._lines[place + 1 : place + 1 + len(lines)] == lines
            for place in self._places.get(above, ())
        )


def _bare(line: str) -> str:
    return _NUMBER.sub("", line, count=1) if _NUMBER.match(line) else line


def undo(shown: str, by: Sequence[str], original: str, seen: Seen | None = None) -> bool:
    """Return whether *shown* is *original*, respelled *by* these codecs after what was *seen*."""
    expected = original
    for name in by:
        codec = _BY_NAME[name]
        if codec.decode is None:
            expected = codec.encode(expected) or expected
    for name in () if seen is None else by:
        codec = _BY_NAME[name]
        if codec.decode is not None:
            expected = codec.encode(expected) or expected
    if seen is not None:
        return seen.follow(shown, expected)
    try:
        for name in reversed(by):
            decode = _BY_NAME[name].decode
            shown = shown if decode is None else decode(shown)
    except FormatError:
        return False
    return shown == expected


class Undoing:
    """The tool results of one conversation, before and after."""

    def __init__(self, messages: Messages, result: Result) -> None:
        self._view = result.messages
        self._originals = {key: text_of(m) for key, _, m in _results(messages)}
        self._places = {key: place for key, place, _ in _results(messages)}
        self._reasons = {
            entry.message_index: entry.reason for entry in result.compression.decisions
        }
        self._texts = frozenset(map(text_of, result.messages))
        self._readable: set[str] = set()
        """Originals that can be read in what was shown so far, as they are or once undone."""

    @property
    def results(self) -> int:
        """How many tool results there are."""
        return len(self._originals)

    def changed(self) -> list[tuple[int, bool]]:
        """Return the place of every result that is not as it was, and whether it can be undone."""
        seen = Seen()
        missing = dict(self._places)
        keys = {place: key for key, place, _ in _results(self._view)}
        changed: dict[_Key, bool] = {}
        for place, message in enumerate(self._view):
            key = keys.get(place)
            if key in missing:
                at, text = missing.pop(key), text_of(message)
                is_undone = self._note(key, at, text, seen)
                if text != self._originals[key]:
                    changed[key] = is_undone
                seen.add(text)
            elif message.get("role") == "user":  # some agents put there what a tool returned
                seen.add(text_of(message))
            for text in _texts_of_calls(message):
                seen.add(text)
        # A copy may refer to a later one, which is only now known to be readable.
        found = [
            (self._places[key], is_undone or self._originals[key] in self._readable)
            for key, is_undone in changed.items()
        ]
        return found + [(at, False) for at in missing.values()]

    def _note(self, key: _Key, at: int, text: str, seen: Seen) -> bool:
        """Note a result if it can be read or undone; return whether it can."""
        original = self._originals[key]
        is_readable = text == original or self._is_undone(at, text, original, seen)
        if is_readable:
            self._readable.add(original)
        return is_readable

    def _is_undone(self, at: int, text: str, original: str, seen: Seen) -> bool:
        if original in self._texts or original in self._readable:
            return True
        names = _NAME.findall(self._reasons.get(at, ""))
        by = tuple(name for name in names if name in _BY_NAME)
        body = text.partition("\n")[2]  # below the line that says what it is
        return undo(body, by, original) or undo(body, by, original, seen)


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
