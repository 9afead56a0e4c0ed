"""What a text names: people, identifiers, quantities, paths, addresses, versions, titles.

A summary lists the names that it lost, so a reader can ask for them; never a secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from refold.classic.detectors import DetectorTable
from refold.classic.sentences import TokenPoints, read
from refold.classic.texts import View
from refold.scan.patterns import (
    ASCII_PROPER_NAME,
    ASCII_QUANTITY,
    IDENTIFIER,
    PATH,
    PROPER_NAME,
    QUANTITY,
    SHORT,
    STARTERS,
    TITLE,
    UNIT_WORDS,
    VERSION,
    WEB_ADDRESS,
    trim_url,
)

_FEWEST, _MOST = 3, 15
"""The least and the most names that a summary lists."""
_CHARS_A_NAME: Final = 200
"""One for so many characters."""
_LONGEST: Final = 120
"""A name of more characters would take the room of a sentence."""
_TRAILING: Final = ".,;:!?)]}'\""
_MIXED: Final = re.compile(
    r"[0-9][A-Za-z_]|[A-Za-z_][0-9]|[A-Za-z0-9][!#$^&*]|://[^\s/]*@|[?&=]|[0-9][0-9 -]{11}"
)
"""A name like this may be a secret, whatever the text says."""
_HUMP: Final = re.compile("[a-z][A-Z]")
"""A name like this may be one if the text announces secrets; all others are words and measures."""
_MEASURE: Final = re.compile(r"[0-9.,]{1,9} ?(?:%|[A-Za-z]{1,9})|v?[0-9]{1,4}(?:\.[0-9]{1,4}){1,2}")
"""No secret looks like this."""


def entity_cap(length: int) -> int:
    """Return how many names the summary of a text of *length* characters may list: 3 to 15."""
    return max(_FEWEST, min(int(length / _CHARS_A_NAME + 0.5), _MOST))


def extract_entities(text: str, cap: int | None = None) -> list[str]:
    """Return the distinct names in *text*, kind by kind, at most *cap* (default: by length)."""
    found = dict.fromkeys(iter_names(View(text), TokenPoints()))
    return list(found)[: entity_cap(len(text)) if cap is None else cap]


def iter_names(view: View, points: TokenPoints) -> Iterator[str]:
    """Yield the names in a text, kind by kind; who has enough stops reading.

    Identifiers, abbreviations and figures stand only in sentences that have points for them.
    """
    text = view.text
    is_ascii = text.isascii()
    for name, more in (ASCII_PROPER_NAME if is_ascii else PROPER_NAME).findall(text):
        if not more and name.partition(" ")[0] not in STARTERS:
            yield name
    tokens = read(view, points).marked
    if tokens or not is_ascii:
        # Tokens are bytes of Latin-1, so what is beyond it can only be found in the text.
        near = b" ".join(tokens).decode() if is_ascii else text
        by_kind: dict[str | None, list[str]] = {"pascal": [], "camel": [], "snake": []}
        for found in IDENTIFIER.finditer(near):
            by_kind[found.lastgroup].append(found[0])
        yield from chain(*by_kind.values())
        yield from SHORT.findall(near)
    if view.has_digits:
        for name in (ASCII_QUANTITY if is_ascii else QUANTITY).findall(text):
            if not name.isascii() or name.lstrip("0123456789., ").lower() in UNIT_WORDS:
                yield name
    dotted = ""
    if "." in text:  # neither a path nor a version has a blank
        dotted = " ".join([word for word in text.split() if "." in word[:-1]])
    yield from PATH.findall(dotted)
    if "://" in text:
        yield from map(trim_url, WEB_ADDRESS.findall(text))
    yield from VERSION.findall(dotted)
    if not is_ascii:
        yield from filter(None, [name.rstrip(_TRAILING) for name in TITLE.findall(text)])


def choose_names(
    views: Sequence[View], body: str, points: TokenPoints, detectors: DetectorTable
) -> list[str]:
    """Choose what to list beside a summary: what its *body* lost first, then other names."""
    cap = entity_cap(sum([len(view.text) for view in views]))
    addresses = "\n".join(WEB_ADDRESS.findall(body)) if "://" in body else ""
    lost: dict[str, None] = {}
    others: dict[str, None] = {}
    for view in views:
        found: dict[str, None] = {}
        missing = 0
        for name in chain(iter_names(view, points), detectors.soft_texts(view)):
            if len(name) <= _LONGEST and name not in found:
                found[name] = None
                missing += name not in body
                if missing == cap:
                    break
        for name in _without_secrets(view.text, list(found)):
            if name not in body:
                lost[name] = None
            elif name not in addresses:  # who sees an address needs no second copy of it
                others[name] = None
        if len(lost) >= cap:
            break
    return [*lost, *others][:cap]


def _without_secrets(text: str, names: Sequence[str]) -> Sequence[str]:
    """Return *names* without secrets, their parts and what holds one."""
    listed = "\n".join([name for name in names if not _MEASURE.fullmatch(name)])
    is_mixed = _MIXED.search(listed) is not None
    if not is_mixed and not _HUMP.search(listed):
        return names
    # Imported when needed: they compile many patterns.
    from refold.scan.redaction import hide_secrets
    from refold.scan.secrets import announces_secrets

    if not is_mixed and not announces_secrets(text):
        return names
    bare = hide_secrets(text)
    return names if bare == text else [name for name in names if name in bare]
