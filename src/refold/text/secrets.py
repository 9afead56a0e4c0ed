"""Find the secrets of a text: keys, tokens, passwords, private keys, cards, seed phrases.

One vocabulary for all of refold: the detector that keeps keys word for word reads the table of
`secret_keys`; redaction hides everything that is found here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from refold.text.named_secrets import find_named
from refold.text.runs import KEY_RUN
from refold.text.secret_blocks import (
    find_cards,
    find_columns,
    find_private_keys,
    find_seed_phrases,
    join_lines,
)
from refold.text.secret_commands import find_on_command_lines
from refold.text.secret_keys import Span, find_keys, find_known
from refold.text.secret_names import find_names
from refold.text.secret_places import find_placed
from refold.text.view import TextView


def find_secrets(text: str) -> list[Span]:
    """Return where the secrets of *text* are, in reading order.

    By shape: keys of services, tokens, private keys, cards, seed phrases. By place: addresses,
    headers, cookies, command lines, files of accounts. By what stands before: words for secrets in
    ten languages, as names in code and configuration, as headings, in sentences. In doubt it is a
    secret: what is hidden comes back. Linear in the text, whatever the text is.
    """
    view = TextView(text)
    return merged(text, (span for spans in _finders(view) for span in spans))


def _finders(view: TextView) -> Iterator[Iterable[Span]]:
    text, lower = view.text, view.lower
    yield find_keys(text, list(KEY_RUN.spans(view.plain)))
    yield _wrapped_keys(text)
    names = list(find_names(text, lower))
    yield find_named(text, names)
    yield find_columns(text, names)
    yield find_placed(text, lower)
    yield find_on_command_lines(text, lower)
    yield find_private_keys(text)
    yield find_cards(text)
    yield find_seed_phrases(text)


def _wrapped_keys(text: str) -> Iterator[Span]:
    """Yield the keys of known services that go on in the next line."""
    if "\n" not in text:
        return
    joined, places = join_lines(text)
    if len(joined) < len(text):
        runs = list(KEY_RUN.spans(TextView(joined).plain))
        for start, end in find_known(joined, runs):
            if places[end - 1] - places[start] >= end - start:
                yield places[start], places[end - 1] + 1


def merged(text: str, spans: Iterable[Span]) -> list[Span]:
    """Return *spans* in order, those that overlap as one, without empty ones."""
    joined: list[Span] = []
    for start, end in sorted((max(0, a), min(b, len(text))) for a, b in spans):
        if start >= end:
            continue
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined
