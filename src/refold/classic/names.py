"""What a text names: people, identifiers, quantities, paths, addresses, versions, titles.

A summary lists the names that it lost, so a reader can ask for them; never a secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from refold.classic.detectors import DetectorTable
from refold.classic.sentences import TokenPoints, tokens_of
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
    UUID,
    VERSION,
    WEB_ADDRESS,
    trim_url,
)
from refold.scan.runs import churn, has_digit

_FEWEST, _MOST = 3, 15
"""The least and the most names that a summary lists."""
_CHARS_A_NAME: Final = 200
"""One for so many characters."""
_LONGEST: Final = 120
"""A name of more characters would take the room of a sentence."""
_TRAILING: Final = ".,;:!?)]}'\""
_LEAST_RANDOM: Final = 8
_MIN_CHURN: Final = 0.3
"""Of so many characters, those of random ones change their kind so often: see `churn`."""
_UUID: Final = re.compile(UUID)
_SECRET_LOOK: Final = re.compile(
    r"://[^\s/]*[:@]|[?&][\w-]+=|[0-9][0-9 -]{11}|[A-Za-z0-9][!$^*]"
    r"|\b(?=[A-Za-z_-]*[0-9])(?=[0-9_-]*[A-Za-z])[\w-]{20,}"
)
"""A name like this may be a secret, whatever the text says."""
_MIXED: Final = re.compile(r"[0-9][A-Za-z]|[A-Za-z][0-9]|[a-z][A-Z]")
"""A name like this may be one if the text announces secrets; all others are words and figures."""


def entity_cap(length: int) -> int:
    """Return how many names the summary of a text of *length* characters may list: 3 to 15."""
    return max(_FEWEST, min(int(length / _CHARS_A_NAME + 0.5), _MOST))


def extract_entities(text: str, cap: int | None = None) -> list[str]:
    """Return the distinct names in *text*, kind by kind, at most *cap* (default: by length)."""
    names = dict.fromkeys(iter_names(View(text), TokenPoints()))
    return list(names)[: entity_cap(len(text)) if cap is None else cap]


def iter_names(view: View, points: TokenPoints) -> Iterator[str]:
    """Yield the names in a text, kind by kind; who has enough stops reading.

    Identifiers and abbreviations are looked for only in tokens that have points.
    """
    text = view.text
    is_ascii = text.isascii()
    for name, more in (ASCII_PROPER_NAME if is_ascii else PROPER_NAME).findall(text):
        if not more and name.partition(" ")[0] not in STARTERS:
            yield name
    # Tokens are bytes of Latin-1, so what is beyond it can only be found in the text.
    near = text
    if is_ascii:
        tokens = dict.fromkeys(tokens_of(text))
        near = b" ".join([token for token in tokens if points[token]]).decode()
    if near:
        by_kind: dict[str | None, list[str]] = {"pascal": [], "camel": [], "snake": []}
        for match in IDENTIFIER.finditer(near):
            by_kind[match.lastgroup].append(match[0])
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
        here: dict[str, None] = {}
        missing = 0
        for name in chain(iter_names(view, points), detectors.soft_texts(view)):
            if len(name) <= _LONGEST and name not in here:
                here[name] = None
                missing += name not in body
                if missing == cap:
                    break
        for name in _without_secrets(view.text, list(here)):
            if name not in body:
                lost[name] = None
            elif name not in addresses:  # who sees an address needs no second copy of it
                others[name] = None
        if len(lost) >= cap:
            break
    return [*lost, *others][:cap]


def _without_secrets(text: str, names: Sequence[str]) -> Sequence[str]:
    """Return *names* without secrets, their parts and what holds one."""
    listed = "\n".join(names)
    if not _MIXED.search(listed) and not _SECRET_LOOK.search(listed):
        return names
    # Imported when needed: they compile many patterns.
    from refold.scan.redaction import hide_secrets
    from refold.scan.secrets import announces_secrets

    listed = _UUID.sub("", listed)
    looks_secret = _SECRET_LOOK.search(listed) or any(
        has_digit(name) and len(name) >= _LEAST_RANDOM and churn(name) >= _MIN_CHURN
        for name in listed.split("\n")
    )
    if not looks_secret and not announces_secrets(text):
        return names
    bare = hide_secrets(text)
    return names if bare == text else [name for name in names if name in bare]
