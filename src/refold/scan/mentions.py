"""What a text mentions and its summary may leave out: addresses, paths, values, names.

Values come before names: a name is mostly said again where it matters, an address is not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, MutableMapping
from typing import Final

from refold.scan.facts import find_names, find_values

_PLACES: Final = frozenset({"url", "mail", "path"})
_TIMES: Final = frozenset({"date", "time", "id"})
_MEASURED: Final = re.compile(r"[^0-9.,\s-]|[0-9]{3}|[.,][0-9]")
"""A number that says something by itself: with a unit, a sign, decimals, or three digits."""
_QUOTED_PLACE: Final = re.compile(r"(?<!`)`([^`\s]{1,200})`")
"""Code without blanks: a path in it may have signs that end one elsewhere, `app/(shop)/[id].ts`."""
_HEADING: Final = re.compile(
    r"^[ \t]*+(?:#[^\n]*+|\*\*[^*\n]*+\*\*:?|[^\n.!?]{0,60}:)[ \t]*+$", re.MULTILINE
)
"""Lines whose capitals are due to their place."""
_LABEL: Final = re.compile(r"(?<![^\W\d_])[^\W\d_]++(?: [^\W\d_]++){0,2}+(?=[*_]{0,2}+:)")
_WORD: Final = re.compile(r"[^\W\d_]++")
_LONGEST: Final = 200
"""Longer ones take the room of a sentence."""
_LEAST: Final = 3
"""For short texts; see `choose_mentions`."""
_MOST: Final = 15
"""As many as the contract lets a tag list."""
_TOKENS_A_NAME: Final = 50
"""A guess: with more, a list takes the room of sentences; with fewer, names get lost."""


def find_mentions(text: str) -> tuple[str, ...]:
    """Return what *text* mentions as it is spelled there, each once.

    Addresses and paths come first, whole; then ids, dates and times, measures, names. A small
    number by itself says nothing.
    """
    places: list[str] = []
    times: list[str] = []
    measures: list[str] = []
    whole = _quoted_places(text)
    for kind, value in find_values(text):
        if kind in _PLACES:
            places.append(whole.get(value, value))
        elif kind in _TIMES:
            times.append(value)
        elif _MEASURED.search(value):
            measures.append(value)
    found = (*places, *times, *measures, *_names(text))
    return tuple(dict.fromkeys(name for name in found if len(name) <= _LONGEST))


def _quoted_places(text: str) -> dict[str, str]:
    """Map each part that reads as a path to the code that it stands in."""
    found: dict[str, str] = {}
    for place in _QUOTED_PLACE.findall(text) if "`" in text else ():
        if "/" in place:
            for kind, value in find_values(place):
                if kind in _PLACES:
                    found.setdefault(value, place)
    return found


def _names(text: str) -> list[str]:
    """Return the names in *text* that are more than words with a capital.

    A word that also stands there in small letters, before a colon, or only in headings is none.
    """
    body = _HEADING.sub("", text)
    names = list(dict.fromkeys(find_names(body)))
    if names and ":" in body:
        labels = {word for label in _LABEL.findall(body) for word in (label, *label.split())}
        names = [name for name in names if name not in labels]
    if any(name.lower() in body for name in names if " " not in name):  # most texts end before
        small = {word for word in _WORD.findall(body) if word[0].islower()}
        names = [name for name in names if " " in name or name.lower() not in small]
    return names


def is_place(mention: str) -> bool:
    """Tell whether a mention is an address or a path."""
    return "/" in mention or "@" in mention


def choose_mentions(found: Iterable[str], summary: str, tokens: int) -> list[str]:
    """Return the first of what was *found* that *summary* does not say: three to fifteen.

    For every fifty *tokens* of the text there may be one; addresses and paths are named as long as
    there are not fifteen.
    """
    folded = summary.casefold()
    most = max(_LEAST, min(tokens // _TOKENS_A_NAME, _MOST))
    chosen: list[str] = []
    named = ""
    for mention in found:
        limit = _MOST if is_place(mention) else most
        if len(chosen) >= limit:
            continue
        said = mention.casefold()
        if said not in folded and said not in named:
            chosen.append(mention)
            named += f"{said}\n"
    return chosen


_MIXED: Final = re.compile(
    r"[0-9][A-Za-z_]|[A-Za-z_][0-9]|[A-Za-z0-9][!#$^&*]|://|[0-9][0-9 -]{11}"
)
"""A name like this may be a secret, whatever the text says."""
_HUMP: Final = re.compile("[a-z][A-Z]")
"""A name like this may be one if the text announces secrets; all others are words and measures."""


def without_secrets(
    text: str,
    names: tuple[str, ...],
    find: Callable[[str], Iterable[str]],
    hidden: MutableMapping[str, str] | None = None,
) -> tuple[str, ...]:
    """Return *names*, found in *text* by *find*, without secrets, their parts and what holds one.

    Most texts have no name that looks like a secret, which is cheap to check. Otherwise a name
    stays if it is also found in the redacted text. *hidden* caches redacted texts.
    """
    listed = "\n".join(names)
    is_mixed = _MIXED.search(listed) is not None
    if not is_mixed and not _HUMP.search(listed):
        return names
    # Imported when needed: they compile many patterns.
    from refold.scan.redaction import hide_secrets
    from refold.scan.secrets import announces_secrets

    if not is_mixed and not announces_secrets(text):
        return names
    bare = None if hidden is None else hidden.get(text)
    if bare is None:
        bare = hide_secrets(text)
        bare = text if bare == text else bare
        if hidden is not None:
            hidden[text] = bare
    if bare is text:
        return names
    kept = set(find(bare))
    return tuple([name for name in names if name in kept])
