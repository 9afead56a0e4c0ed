"""Sees credentials: the key shapes of known services, and prefixed random tokens in general."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import groupby
from typing import Final

from refold.detectors import _signs as signs
from refold.detectors._entropy import churn
from refold.detectors._runs import KEY_RUN, may_have_key
from refold.detectors.base import Detector, Span
from refold.text.view import TextView

# Each starts with its literal, which is also its needle; what stands before is checked in `_find`.
_KNOWN: Final = tuple(
    (needle, re.compile(pattern, re.ASCII))
    for needle, pattern in (
        ("sk-", r"sk-[A-Za-z0-9_-]{20,}+"),
        ("AKIA", r"AKIA[A-Z0-9]{16}+\b"),
        ("gh", r"gh[posrt]_[A-Za-z0-9]{36,}+\b"),
        ("github_pat_", r"github_pat_[A-Za-z0-9_]{36,}+\b"),
        ("k_live_", r"[sr]k_live_[A-Za-z0-9]{24,}+\b"),
        ("k_test_", r"[sr]k_test_[A-Za-z0-9]{24,}+\b"),
        ("xox", r"xox[bpra]-[A-Za-z0-9-]{20,}+"),
        ("SG.", r"SG\.[A-Za-z0-9_-]{20,}+\.[A-Za-z0-9_-]{20,}+"),
        ("glpat-", r"glpat-[A-Za-z0-9_-]{20,}+"),
        ("npm_", r"npm_[A-Za-z0-9]{36,}+\b"),
        ("AIza", r"AIza[A-Za-z0-9_-]{35}+(?![A-Za-z0-9_-])"),
        ("sbp_", r"sbp_[0-9a-f]{32,}+\b"),
    )
)
_TOKEN: Final = re.compile(
    r"(?P<prefix>[A-Za-z][A-Za-z0-9]{1,14}+)[-_](?P<body>[A-Za-z0-9_-]{20,}+)"
)
_KEBAB: Final = re.compile(r"(?<![a-z])[a-z]{2,}+-[a-z]{2,}+-")
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-")
_PIECE: Final = re.compile(r"[A-Za-z0-9]{16,}+")
_MIN_CHURN: Final = 0.3


def _find(view: TextView) -> Iterator[Span]:
    text = view.text
    runs = list(KEY_RUN.spans(view.plain))
    near = "\n".join(text[max(0, start - 3) : end] for start, end in runs)
    known = (_known(pattern, text) for needle, pattern in _KNOWN if needle in near)
    for span, _ in groupby(merge(*known, _generic(text, runs))):
        yield span


def _known(pattern: re.Pattern[str], text: str) -> Iterator[Span]:
    for found in pattern.finditer(text):
        before = text[max(0, found.start() - 1) : found.start()]
        if not _is_inside_word(before) and not _is_name(found[0]):
            yield found.span()


def _is_inside_word(before: str) -> bool:
    return before in {"-", "_"} or (before.isascii() and before.isalnum())


def _is_name(token: str) -> bool:
    """Tell CSS classes and other hyphenated words (`sk-button-primary-large`) from keys."""
    return token.islower() and token.count("-") > 2 and not any(map(str.isdigit, token))


def _generic(text: str, runs: Iterable[Span]) -> Iterator[Span]:
    for start, end in runs:
        token = _TOKEN.match(text, start, end)
        if token and _has_service_prefix(token["prefix"]) and _is_secret(token["body"]):
            yield token.span()


def _has_service_prefix(prefix: str) -> bool:
    # Hexadecimal digits only: the first group of a UUID or of a dump.
    return any(letter in "ghijklmnopqrstuvwxyz" for letter in prefix[1:].lower())


def _is_secret(body: str) -> bool:
    if _KEBAB.search(body) or _UUID.search(body):
        return False
    if body.isalpha() or not (any(map(str.isdigit, body)) and any(map(str.isalpha, body))):
        return False
    pieces = _PIECE.findall(body)
    # "20240115T093000Z" is a time: a key has more than two letters.
    mixed = any(sum(map(str.isdigit, p)) >= 1 and sum(map(str.isalpha, p)) > 2 for p in pieces)
    return mixed or churn(body) >= _MIN_CHURN


DETECTOR: Final = Detector(
    reason="api_key", hard=True, sign=signs.API_KEY, gate=may_have_key, find=_find
)
