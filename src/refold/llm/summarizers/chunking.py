"""Texts longer than the summarizer's own window: cut, summarized piece by piece, and merged."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Final

from refold.checks import check_whole
from refold.errors import ConfigError
from refold.llm.summarizers.base import (
    Summarizer,
    Summary,
    SummaryRequest,
    TextFunction,
    Usage,
    as_summarizer,
)
from refold.scan.sentences import find_sentences
from refold.scan.structure import split_fences
from refold.scan.tokens.estimate import estimate_tokens

_BLANK_LINES: Final = re.compile(r"\n[ \t\r]*+\n\s*+")
_LINE: Final = re.compile(r"\n")
_SPACE: Final = re.compile(r"\s++")
_MIN_TOKENS: Final = 32
"""No piece is asked for a shorter answer than this: fewer words say nothing."""


class Chunking:
    """Asks *inner* about pieces of at most *max_chars* characters and *max_tokens* tokens.

    These limit the text of one request; leave room for the prompt around it and for the answer.
    All pieces are asked for at once: put a `Limited` below. Facts of `must_keep` go to the pieces
    they occur in. The answers are joined in order and, with *merge* or if they are longer than the
    request allows, summarized once more. A piece without a shorter answer stands for itself, so
    nothing is silently lost.
    """

    def __init__(
        self,
        inner: Summarizer | TextFunction,
        *,
        max_chars: int | None = None,
        max_tokens: int | None = None,
        count_tokens: Callable[[str], int] = estimate_tokens,
        merge: bool = False,
    ) -> None:
        if max_chars is None and max_tokens is None:
            raise ConfigError("Chunking needs max_chars or max_tokens, got neither")
        for name, limit in (("max_chars", max_chars), ("max_tokens", max_tokens)):
            if limit is not None:
                check_whole(name, limit, least=1)
        self._inner = as_summarizer(inner)
        self._window = _Window(max_chars, max_tokens, count_tokens)
        self._count_tokens = count_tokens
        self._merge = merge

    async def summarize(self, request: SummaryRequest) -> Summary:
        """Return what *inner* says about the text, in as many calls as its window needs."""
        spent = Usage()
        while not self._window.fits(request.text):
            answers = await self._ask_all(_requests(request, _split(request.text, self._window)))
            text = "\n\n".join(answer.text for answer in answers)
            spent = sum((answer.usage for answer in answers), start=spent)
            is_done = not self._merge and self._count_tokens(text) <= request.max_tokens
            is_stuck = 2 * len(text) > len(request.text) and not self._window.fits(text)
            if is_done or is_stuck:
                return Summary(text=text, usage=spent)
            request = replace(request, text=text)
        return (await self._inner.summarize(request)).charged(spent)

    async def _ask_all(self, requests: Iterable[SummaryRequest]) -> list[Summary]:
        """Ask for all at once; after the first error the others are cancelled and awaited."""
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._ask(request)) for request in requests]
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        return [task.result() for task in tasks]

    async def _ask(self, request: SummaryRequest) -> Summary:
        answer = await self._inner.summarize(request)
        text = answer.text if answer.is_useful_for(request) else request.text
        return replace(answer, text=text.strip())


def _requests(whole: SummaryRequest, pieces: list[str]) -> Iterator[SummaryRequest]:
    """Yield a request for each piece: its facts, and its share of the length of the answer."""
    facts = _route(whole, pieces)
    for piece, its_facts in zip(pieces, facts, strict=True):
        if piece.strip():
            share = whole.max_tokens * len(piece) // len(whole.text)
            max_tokens = min(whole.max_tokens, max(_MIN_TOKENS, share))
            yield replace(whole, text=piece, max_tokens=max_tokens, must_keep=tuple(its_facts))


def _route(whole: SummaryRequest, pieces: list[str]) -> list[list[str]]:
    """Give each fact to the pieces that contain it; one that was cut, to where it begins."""
    facts: list[list[str]] = [[] for _ in pieces]
    for fact in whole.must_keep:
        homes = [number for number, piece in enumerate(pieces) if fact in piece]
        for number in homes or [_piece_at(max(0, whole.text.find(fact)), pieces)]:
            facts[number].append(fact)
    return facts


def _piece_at(place: int, pieces: list[str]) -> int:
    end = 0
    for number, piece in enumerate(pieces):
        end += len(piece)
        if place < end and piece.strip():
            return number
    return 0


class _Window:
    """How much text one request may have."""

    def __init__(
        self, max_chars: int | None, max_tokens: int | None, count_tokens: Callable[[str], int]
    ) -> None:
        self.max_chars = max_chars
        self.max_tokens = max_tokens
        self._count_tokens = count_tokens

    def fits(self, text: str) -> bool:
        if self.max_chars is not None and len(text) > self.max_chars:
            return False
        return self.max_tokens is None or self._count_tokens(text) <= self.max_tokens

    def share(self, text: str) -> float:
        """Return how much of the window *text* takes: about additive, 1 is all of it."""
        chars = 0.0 if self.max_chars is None else len(text) / self.max_chars
        tokens = 0.0 if self.max_tokens is None else self._count_tokens(text) / self.max_tokens
        return max(chars, tokens)


def _split(text: str, window: _Window) -> list[str]:
    """Cut *text* into pieces that fit; joined they are the text again.

    Between paragraphs and fenced blocks where possible, else between lines of code or sentences,
    else between words; only a word that is too long by itself is cut inside.
    """
    pieces: list[str] = []
    run: list[str] = []
    filled = 0.0
    for atom in _atoms(text, window):
        share = window.share(atom)
        if run and filled + share > 1:
            pieces += _checked(run, window)
            run, filled = [], 0.0
        run.append(atom)
        filled += share
    return pieces + _checked(run, window)


def _checked(run: list[str], window: _Window) -> list[str]:
    """Join a run of atoms; tokens do not quite add up, so in halves if it does not fit."""
    pieces: list[str] = []
    waiting = [run] if run else []
    while waiting:
        atoms = waiting.pop()
        piece = "".join(atoms)
        if len(atoms) == 1 or window.fits(piece):
            pieces.append(piece)
        else:
            middle = len(atoms) // 2
            waiting += atoms[middle:], atoms[:middle]
    return pieces


def _atoms(text: str, window: _Window) -> Iterator[str]:
    """Yield the largest natural pieces of *text* that fit, in order."""
    for stretch in split_fences(text):
        block = text[stretch.start : stretch.end]
        if stretch.is_code:
            yield from _cut(block, (_at_lines, _at_words, _at_middle), window)
        else:
            cuts = (_at_paragraphs, _at_sentences, _at_words, _at_middle)
            yield from _cut(block, cuts, window)


Cut = Callable[[str], list[int]]
"""Says where a text may be cut, in order, its ends not included."""


def _cut(block: str, cuts: tuple[Cut, ...], window: _Window) -> Iterator[str]:
    """Yield *block*, or what remains whole of it after the coarsest cuts that make it fit."""
    waiting = [(block, 0)]
    while waiting:
        piece, level = waiting.pop()
        if len(piece) < 2 or window.fits(piece):
            yield piece
            continue
        places = [0, *cuts[level](piece), len(piece)]
        finer = min(level + 1, len(cuts) - 1)  # the last way to cut is used again and again
        parts = [(piece[a:b], finer) for a, b in pairwise(places) if a < b]
        waiting += reversed(parts)


def _at_paragraphs(text: str) -> list[int]:
    return [gap.end() for gap in _BLANK_LINES.finditer(text)]


def _at_lines(text: str) -> list[int]:
    return [feed.end() for feed in _LINE.finditer(text)]


def _at_sentences(text: str) -> list[int]:
    return [sentence.start for sentence in find_sentences(text)]


def _at_words(text: str) -> list[int]:
    """Cut after white space; before it too if there is much, which may be too long by itself."""
    spans = (space.span() for space in _SPACE.finditer(text))
    return [place for a, b in spans for place in ((b,) if b - a == 1 else (a, b))]


def _at_middle(text: str) -> list[int]:
    return [len(text) // 2]
