"""Whether an error says that a prompt did not fit, and by how much.

Providers share no code for this, so it is read from their words; `overflow.txt` lists them. A rate
limit is never an overflow, even where it counts tokens: waiting helps there, shortening does not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Final

from refold.errors import attribute_of

MAX_CHARS: Final = 20_000
"""How much of one error text is read; providers say it within the first lines."""
_MAX_TEXTS: Final = 50
"""How many texts of one error are read."""
_MAX_CAUSES: Final = 8
"""Errors of SDKs wrap others, two or three deep; the limit guards against cycles."""
_AROUND: Final = 400
"""How far from the sign the numbers may stand, in characters."""


def _read_signs() -> tuple[list[re.Pattern[str]], list[re.Pattern[str]]]:
    """Read the signs of an overflow, and where the numbers are if a sign carries none."""
    text = files("refold.conversation").joinpath("overflow.txt").read_text("utf-8")
    text = re.sub(r"<([a-z]+)>", r"(?P<\1>\\d[\\d,_]{0,14})", text)
    signs, details = text.split("# Where the numbers are")
    return _compile(signs), _compile(details.partition("\n")[2])


def _compile(text: str) -> list[re.Pattern[str]]:
    lines = (line for line in text.splitlines() if line and not line.startswith("#"))
    return [re.compile(line, re.IGNORECASE) for line in lines]


_SIGNS, _DETAILS = _read_signs()
_OVERFLOW_CODES: Final = frozenset(
    "context_length_exceeded exceed_context_size_error model_context_window_exceeded "
    "model_max_prompt_tokens_exceeded contextwindowexceedederror contextoverflowerror".split()
)
_RATE_CODES: Final = frozenset(
    "429 rate_limit_exceeded rate_limit_error ratelimiterror throttlingexception "
    "resource_exhausted insufficient_quota tokens toomanyrequests".split()
)
_RATE: Final = re.compile(
    r"rate[ _-]?limit|\btokens? per (?:min|hour|day)|\b(?:tpm|tpd|rpm)\b|too many requests"
    r"|throttl|\bquota\b|please wait before|exceeded token rate|error code: 429",
    re.IGNORECASE,
)
_CODE_FIELDS: Final = frozenset("code type status status_code Code HTTPStatusCode".split())
_NUMBER_FIELDS: Final = frozenset("n_ctx n_prompt_tokens".split())
_ATTRIBUTES: Final = "message body code type status_code status response details".split()
"""Where exceptions of SDKs keep what the provider answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overflow:
    """A prompt that did not fit; figures that the provider did not name are `None`."""

    limit: int | None = None
    """How many tokens are allowed."""
    requested: int | None = None
    """How many tokens were counted against the limit: the prompt, often with the answer."""
    prompt: int | None = None
    """How many of them are the prompt."""
    message: str
    """The words of the provider, shortened."""

    @property
    def excess(self) -> int | None:
        """By how many tokens it was too much."""
        if self.limit is None or self.requested is None:
            return None
        return max(0, self.requested - self.limit)


def parse_overflow(error: object) -> Overflow | None:
    """Return what *error* says about a prompt that is too long; `None` if it says nothing of it.

    *error* may be an exception of any SDK, the body of a response, or a text. The exceptions it
    was raised from are read too.
    """
    for _ in range(_MAX_CAUSES):
        texts, codes, numbers = _collect(error)
        is_coded = bool(codes & _OVERFLOW_CODES)
        is_rate_limit = bool(codes & _RATE_CODES) or any(map(_RATE.search, texts))
        if is_coded or not is_rate_limit:
            readings = [reading for reading in map(_parse_text, texts) if reading is not None]
            if is_coded and not readings:
                readings = [Overflow(message=_shorten(texts[0] if texts else ""))]
            if readings:
                best = max(
                    readings, key=lambda r: (r.limit is not None) + (r.requested is not None)
                )
                prompt = best.prompt or numbers.get("n_prompt_tokens")
                return replace(
                    best,
                    limit=best.limit or numbers.get("n_ctx"),
                    requested=best.requested or prompt,
                    prompt=prompt,
                )
        # Only what it was raised from, not what merely happened before it.
        error = error.__cause__ if isinstance(error, BaseException) else None
        if is_rate_limit or error is None:
            break
    return None


def _collect(error: object) -> tuple[list[str], set[str], dict[str, int]]:
    """Collect the texts, codes and numbers of *error*, whatever SDK it comes from."""
    texts: list[str] = []
    codes: set[str] = set()
    numbers: dict[str, int] = {}
    waiting: list[tuple[str, object]] = [("", error)]
    while waiting and len(texts) + len(codes) < _MAX_TEXTS:
        name, value = waiting.pop(0)
        if isinstance(value, bytes | bytearray):
            value = bytes(value[:MAX_CHARS]).decode("utf-8", "replace")
        if isinstance(value, str):
            texts.append(" ".join(value[:MAX_CHARS].split()))
            if name in _CODE_FIELDS:
                codes.add(value[:100].lower())
        elif isinstance(value, int) and not isinstance(value, bool):
            if name in _CODE_FIELDS:
                codes.add(str(value))
            elif name in _NUMBER_FIELDS:
                numbers[name] = value
        elif isinstance(value, Mapping):
            waiting += [(str(key), part) for key, part in list(value.items())[:_MAX_TEXTS]]
        elif isinstance(value, list | tuple):
            waiting += [(name, part) for part in value[:_MAX_TEXTS]]
        elif isinstance(value, BaseException):
            codes.add(type(value).__name__.lower())
            with suppress(Exception):  # it may be anybody's, and fail to print
                waiting.append(("", str(value)))
            waiting += [(part, attribute_of(value, part)) for part in _ATTRIBUTES]
    return texts, codes, numbers


def _parse_text(text: str) -> Overflow | None:
    """Return what the first sign in *text* says, with the numbers around it."""
    sign = next((match for sign in _SIGNS if (match := sign.search(text))), None)
    if sign is None:
        return None
    near = text[max(0, sign.start() - _AROUND) : sign.end() + _AROUND]
    numbers: dict[str, int] = {}
    for match in (sign, *(detail.search(near) for detail in _DETAILS)):
        for name, value in match.groupdict().items() if match else ():
            if value and name not in numbers:
                numbers[name] = int(re.sub("[,_]", "", value))
    limit, prompt, total = map(numbers.get, ("limit", "prompt", "total"))
    output = numbers.get("output", 0)
    if total is None and prompt is not None:
        total = prompt + output
    if total is None and limit is not None and "excess" in numbers:
        total = limit + numbers["excess"]
    if prompt is None and total is not None:
        prompt = total - output
    return Overflow(limit=limit, requested=total, prompt=prompt, message=_shorten(near))


def _shorten(text: str) -> str:
    return text if len(text) <= 2 * _AROUND else f"{text[: 2 * _AROUND]}…"
