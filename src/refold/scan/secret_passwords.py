"""Passwords known by their own looks, and by talk of accounts around them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from refold.scan.randomness import has_digit
from refold.scan.runs import Span

_TOKEN: Final = re.compile(
    r"(?<![^\s\"'`:=,;/({\[>])(?=[A-Za-z_!#$^&?~@%+-]*+[0-9])"
    r"[A-Za-z0-9_!#$^&?~@%+-]{6,40}+(?![^\s\"'`:=,;.!?)}\]<\\|])"
)
_KINDS: Final = bytes(
    ord("0") if byte in b"0123456789"
    else ord("1") if (chr(byte).isalpha() and byte < 128) or byte in b"_!#$^&?~@%+-"
    else ord(" ")
    for byte in range(256)
)  # fmt: skip
"""Maps the characters of such a word to 0 and 1: digits and others."""
_INNER_MARK: Final = re.compile(r"[A-Za-z0-9][!#$^~]{1,2}[A-Za-z0-9]|[A-Za-z0-9]&[A-Za-z0-9]")
_LOWER: Final = re.compile("[a-z]")
_UPPER: Final = re.compile("[A-Z]")
_TALK: Final = re.compile(
    r"log(?:ged|ging)?[ _-]?(?:in|on)\b|sign(?:ed|ing)?[ _-]?(?:in|on)\b|credential|\bcreds\b"
    r"|pass[cop-rw]|pass\b|\bpswd|pwd|pw\b|auth(?:enticate|user)?\b|unlock|identify|\bkeychain"
    r"|/r?p\b|add-mask|wlan|wi-?fi|\bssid|zugang|anmeld|schl[uü]ssel|kennw|kenncode|benutzer"
    r"|\broot:|\badmin[:/]|\buser(?:name)?[:=, ]|smtp|imap|@[\w-]{1,40}\.[a-z]{2,10}:",
    re.I,
)
"""What people talk about when they hand over a password."""
_HANDED_OVER: Final = re.compile(r"(?:\bpass|pwd?|passwd|password)\b[^\n(){}=.,]{0,16}$", re.I)
_BEFORE: Final = 48
_AFTER: Final = 24
_NAME: Final = re.compile(
    r"[a-z]+(?:[A-Z][a-z]+)*[0-9]?$|(?:[A-Z][a-z]+)+[0-9]?$|[A-Z0-9_]+$|[\w.-]+@"
)
"""Names in code (`testSession1`), and addresses."""


def find_password_like(text: str, plain: bytes) -> Iterator[Span]:
    """Yield words of letters, digits and marks that no language and no program has.

    *plain* is the text as bytes: where no digit stands beside another of their characters, there
    is none of them.
    """
    kinds = plain.translate(_KINDS)
    if kinds.find(b"01") < 0 and kinds.find(b"10") < 0:
        return
    for found in _TOKEN.finditer(text):
        word = found[0]
        if not has_digit(word) or not _LOWER.search(word):
            continue
        if "&" in word and text.startswith("=", found.end()):
            continue  # the next parameter of an address begins in it
        start, end = found.start(), found.start() + len(word.rstrip("!?"))
        has_mark = _INNER_MARK.search(word) is not None
        has_upper = _UPPER.search(word) is not None
        is_plain = has_mark and has_upper and "%" not in word
        if is_plain or (
            (has_upper or has_mark)
            and _is_talk(text, start, end, is_name=_NAME.match(word) is not None)
        ):
            yield start, end


def _is_talk(text: str, start: int, end: int, *, is_name: bool) -> bool:
    """Tell whether the line is about accounts, near the word; of a name, about its password."""
    first = max(text.rfind("\n", max(0, start - _BEFORE), start) + 1, start - _BEFORE, 0)
    if is_name:
        return _HANDED_OVER.search(text, first, start) is not None
    last = text.find("\n", end, end + _AFTER)
    last = last if last >= 0 else end + _AFTER
    return _TALK.search(text, first, start) is not None or _TALK.search(text, end, last) is not None
