"""Find the secrets of a text: keys, tokens, passwords, private keys, cards, seed phrases.

One vocabulary for all of refold: the detector that keeps keys word for word reads the table of
`secret_keys`; redaction hides everything that is found here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from refold.native import scanner
from refold.scan.named_secrets import find_named
from refold.scan.needles import Needles
from refold.scan.plain_bytes import plain_bytes
from refold.scan.runs import KEY_RUN, Span
from refold.scan.secret_blocks import (
    find_columns,
    find_in_lists,
    find_private_keys,
    find_seed_phrases,
)
from refold.scan.secret_commands import COMMAND_SIGNS, find_in_calls, find_on_command_lines
from refold.scan.secret_keys import find_keys, find_known
from refold.scan.secret_names import NEEDLES, Grade, find_names
from refold.scan.secret_numbers import find_numbers
from refold.scan.secret_places import PLACE_SIGNS, find_placed
from refold.scan.secret_tokens import find_digests, find_password_like, find_random_tokens
from refold.scan.unwrap import join_lines, unescape
from refold.scan.view import TextView

_NEEDLES: Final = Needles((*PLACE_SIGNS, *COMMAND_SIGNS), NEEDLES, scanner)


def find_secrets(text: str) -> list[Span]:
    """Return where the secrets of *text* are, in reading order.

    By shape: keys of services, random tokens, private keys, cards, bank accounts, seed phrases. By
    place: addresses, headers, cookies, command lines, calls, files of accounts. By what stands
    around them: words for secrets in sixty languages, as names in code and configuration, as
    headings, in sentences. In doubt it is a secret: what is hidden comes back. Linear in the text,
    whatever the text is.
    """
    spans = [span for found in _finders(text) for span in found]
    spans += _keys_across_lines(text)
    plain = unescape(text)
    if plain is not None:
        spans += [plain.span(*span) for found in _finders(plain.text) for span in found]
    return merged(text, spans)


def announces_secrets(text: str) -> bool:
    """Tell whether a word of *text* says that there is a secret."""
    lower = TextView(text).lower
    names = find_names(text, lower, _NEEDLES.search(text, lower).places)
    return any(name.grade >= Grade.SECRET for name in names)


def _finders(text: str) -> Iterator[Iterable[Span]]:
    view = TextView(text)
    lower = view.lower
    seen = _NEEDLES.search(text, lower)
    signs = frozenset(seen.signs)
    names = list(find_names(text, lower, seen.places))
    yield find_keys(text, list(KEY_RUN.spans(view.plain)))
    yield find_named(text, names)
    yield find_columns(text, names)
    yield find_placed(text, signs)
    yield find_on_command_lines(text, signs)
    yield find_in_calls(text, lower)
    yield find_private_keys(text)
    yield find_seed_phrases(text, view.plain)
    yield find_numbers(text, lower, view.plain, view.outline)
    yield find_in_lists(text, names)
    yield find_random_tokens(text, view.plain)
    yield find_password_like(text, view.plain)
    yield find_digests(text, view.plain, names)


def _keys_across_lines(text: str) -> Iterator[Span]:
    """Yield the keys of known services that go on in the next line."""
    joined = join_lines(text)
    if joined is not None:
        runs = list(KEY_RUN.spans(plain_bytes(joined.text)))
        for start, end in find_known(joined.text, runs):
            yield joined.span(start, end)


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
