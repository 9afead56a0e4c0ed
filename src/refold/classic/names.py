"""What a text names: people, identifiers, quantities, paths, addresses, versions, titles.

A summary lists the names that it lost, so a reader can ask for them; never a secret.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from refold.classic.detectors import LONGEST_NAME, DetectorTable
from refold.classic.sentences import points_of, tokens_of
from refold.classic.texts import View
from refold.lazy import regex
from refold.scan import patterns
from refold.scan.patterns import WEB_ADDRESS, trim_url
from refold.scan.runs import churn, has_digit

FEWEST_NAMES, MOST_NAMES = 3, 15  # names that a summary lists
_CHARS_A_NAME: Final = 200  # one for so many characters
_TRAILING: Final = ".,;:!?)]}'\""
_LEAST_RANDOM: Final = 8  # characters: shorter words show no randomness
_MIN_CHURN: Final = 0.3  # random characters change their kind so often, words below 0.25
_FAR, _NEAR = (160, 40), (56, 24)
"""Characters before and after a name, with digits or without, that may announce a secret."""
_UUID: Final = regex(patterns.UUID)
_SECRET_LOOK: Final = regex(
    r"://[^\s/]{0,99}[:@]|[?&][\w-]{1,99}=|[0-9][0-9 -]{11}|[A-Za-z0-9][!$^*]"
    r"|\b(?=[A-Za-z_-]{0,99}[0-9])(?=[0-9_-]{0,99}[A-Za-z])[\w-]{20,}"
)
"""A name like this may be a secret, whatever the text says."""
_MIXED: Final = regex(r"[0-9][A-Za-z]|[A-Za-z][0-9]|[a-z][A-Z]")
"""A name like this may be one if the text announces secrets; all others are words and figures."""


def entity_cap(length: int) -> int:
    """Return how many names the summary of a text of *length* characters may list: 3 to 15."""
    return max(FEWEST_NAMES, min(int(length / _CHARS_A_NAME + 0.5), MOST_NAMES))


def extract_entities(text: str, cap: int | None = None) -> list[str]:
    """Return the distinct names in *text*, kind by kind, at most *cap* (default: by length)."""
    names = dict.fromkeys(iter_names(View(text)))
    return list(names)[: entity_cap(len(text)) if cap is None else cap]


def iter_names(view: View) -> Iterator[str]:
    """Yield the names in a text, kind by kind; who has enough stops reading.

    Identifiers and abbreviations are looked for only in tokens that have points.
    """
    text = view.text
    is_ascii = text.isascii()
    names = patterns.ASCII_PROPER_NAME if is_ascii else patterns.proper_name()
    for name, more in names.findall(text):
        if not more and name.partition(" ")[0] not in patterns.STARTERS:
            yield name
    # Tokens are bytes of Latin-1, so what is beyond it can only be found in the text.
    near = text
    if is_ascii:
        tokens = dict.fromkeys(tokens_of(text))
        near = b" ".join([token for token in tokens if points_of(token)]).decode()
    if near:
        by_kind: dict[str | None, list[str]] = {"pascal": [], "camel": [], "snake": []}
        for match in patterns.IDENTIFIER.finditer(near):
            by_kind[match.lastgroup].append(match[0])
        yield from chain(*by_kind.values())
        yield from patterns.SHORT.findall(near)
    if view.has_digits:
        for name in (patterns.ASCII_QUANTITY if is_ascii else patterns.QUANTITY).findall(text):
            if not name.isascii() or name.lstrip("0123456789., ").lower() in patterns.UNIT_WORDS:
                yield name
    dotted = ""
    if "." in text:  # neither a path nor a version has a blank
        dotted = " ".join([word for word in text.split() if "." in word[:-1]])
    yield from patterns.PATH.findall(dotted)
    if "://" in text:
        yield from map(trim_url, WEB_ADDRESS.findall(text))
    yield from patterns.VERSION.findall(dotted)
    if not is_ascii:
        yield from filter(None, [name.rstrip(_TRAILING) for name in patterns.TITLE.findall(text)])


def choose_names(views: Sequence[View], body: str, detectors: DetectorTable) -> list[str]:
    """Choose what to list beside a summary: what its *body* lost first, then other names."""
    cap = entity_cap(sum([len(view.text) for view in views]))
    addresses = "\n".join(WEB_ADDRESS.findall(body)) if "://" in body else ""
    lost: dict[str, None] = {}
    others: dict[str, None] = {}
    for view in views:
        here: dict[str, None] = {}
        missing = 0
        for name in chain(iter_names(view), detectors.soft_texts(view)):
            if len(name) <= LONGEST_NAME and name not in here:
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

    for name in _UUID.sub("", listed).split("\n"):
        is_random = has_digit(name) and len(name) >= _LEAST_RANDOM and churn(name) >= _MIN_CHURN
        if is_random or _SECRET_LOOK.search(name):
            break
        at = text.find(name) if _MIXED.search(name) else -1
        before, after = _FAR if has_digit(name) else _NEAR
        if at >= 0 and announces_secrets(text[max(0, at - before) : at + len(name) + after]):
            break
    else:
        return names
    bare = hide_secrets(text)
    return names if bare == text else [name for name in names if name in bare]
