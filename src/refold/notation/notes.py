"""Notes: what is appended to, or put inside, the short form of a single tool result.

    [shortened from 1,100 tokens; whole text: #kdbfq]

They come last, so that JSON stays JSON and a program that reads the beginning still can.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from refold.notation.marks import GAP

_KEPT: Final = "[kept: "


def shortened_from(amount: int, unit: str) -> str:
    """Spell how long a text was of which only pieces are shown."""
    return f"shortened from {_rounded(amount)} {unit}"


def summarized_from(amount: int, unit: str) -> str:
    """Spell how long a text was that a model has summarized."""
    return f"summarized from {_rounded(amount)} {unit}"


def _rounded(amount: int) -> str:
    """Write *amount* with two figures and zeros: 2,347 is about 2,300."""
    step = 10 ** max(0, len(str(amount)) - 2)
    return f"{(amount + step // 2) // step * step:,}"


def note(words: str, handle: str = "") -> str:
    """Join *words* and how to fetch the whole text, as far as there are any."""
    return "; ".join([*([words] if words else []), *([f"whole text: #{handle}"] if handle else [])])


def annotate(text: str, words: str) -> str:
    """Append a note to *text*: on a line of its own if it has several lines."""
    if not words:
        return text
    return f"{text}{chr(10) if chr(10) in text else ' '}[{words}]"


def annotate_json(text: str, words: str) -> str:
    """Put a note inside a JSON object or array, so that it stays valid."""
    body, end = text.rstrip()[:-1].rstrip(), text.rstrip()[-1]
    comma = "" if body in ("{", "[") else ","
    key = f'"{_free_name(text)}":' if end == "}" else ""
    return f'{body}{comma}{key}"[{words}]"{end}'


def _free_name(text: str) -> str:
    """Return a name that no key in *text* has."""
    name = GAP
    while f'"{name}"' in text:
        name += GAP
    return name


def free_key(keys: Sequence[str]) -> str:
    """Return a key for a note that an object with these *keys* does not have."""
    return GAP * (max((len(key) for key in keys if key.startswith(GAP)), default=0) + 1)


def kept_facts(facts: Sequence[str]) -> str:
    """Spell facts that a short form would have lost, word for word, as its last line."""
    return f"\n{_KEPT}{'; '.join(facts)}]"
