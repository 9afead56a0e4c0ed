"""What a text names: people, identifiers, quantities, paths, addresses, versions, titles.

A summary lists the names that it lost, so a reader can ask for them; never a secret.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
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


class Names:
    """The names of a text that are short enough to list, each once; found as far as somebody reads.

    What is found stays known: under a budget, several summaries of a text are tried.
    """

    def __init__(self, view: View, detectors: DetectorTable) -> None:
        self._text: Final = view.text
        self._known: dict[str, None] = {}
        self._rest: Final = chain(iter_names(view), detectors.soft_texts(view))

    def __iter__(self) -> Iterator[str]:
        yield from list(self._known)
        for name in self._rest:
            if len(name) <= LONGEST_NAME and name not in self._known:
                self._known[name] = None
                yield name

    @cached_property
    def _bare(self) -> str:
        """The text without its secrets."""
        from refold.scan.redaction import hide_secrets  # compiles many patterns

        return hide_secrets(self._text)

    def without_secrets(self, names: Sequence[str]) -> Sequence[str]:
        """Return those of its *names* that are not secret, nor part of one, and hold none."""
        listed = "\n".join(names)
        is_mixed = _MIXED.search(listed) is not None
        if not (is_mixed or _SECRET_LOOK.search(listed)) or not any(
            map(self._may_be_secret, _UUID.sub("", listed).split("\n"))
        ):
            return names
        bare = self._bare
        return names if bare == self._text else [name for name in names if name in bare]

    def _may_be_secret(self, name: str) -> bool:
        """Tell whether a name looks like a secret, or the text around it announces one."""
        has_digits = has_digit(name)
        is_random = has_digits and len(name) >= _LEAST_RANDOM and churn(name) >= _MIN_CHURN
        if is_random or _SECRET_LOOK.search(name):
            return True
        at = self._text.find(name) if _MIXED.search(name) else -1
        if at < 0:
            return False
        from refold.scan.secrets import announces_secrets  # compiles many patterns

        before, after = _FAR if has_digits else _NEAR
        return announces_secrets(self._text[max(0, at - before) : at + len(name) + after])


def choose_names(texts: Sequence[Names], body: str, cap: int) -> list[str]:
    """Choose what to list beside a summary: what its *body* lost first, then other names."""
    addresses = "\n".join(WEB_ADDRESS.findall(body)) if "://" in body else ""
    lost: dict[str, None] = {}
    others: dict[str, None] = {}
    for names in texts:
        here: list[str] = []
        missing = 0
        for name in names:
            here.append(name)
            missing += name not in body
            if missing == cap:
                break
        for name in names.without_secrets(here):
            if name not in body:
                lost[name] = None
            elif name not in addresses:  # who sees an address needs no second copy of it
                others[name] = None
        if len(lost) >= cap:
            break
    return [*lost, *others][:cap]
