"""The names of a text that may be listed beside its summary: a secret is no name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, MutableMapping
from typing import Final

_MIXED: Final = re.compile(
    r"[0-9][A-Za-z_]|[A-Za-z_][0-9]|[A-Za-z0-9][!#$^&*]|://|[0-9][0-9 -]{11}"
)
"""What may be a secret among names, whatever the text says."""
_HUMP: Final = re.compile("[a-z][A-Z]")
"""What may be one if the text says so. Others are words, measures and places."""


def without_secrets(
    text: str,
    names: tuple[str, ...],
    find: Callable[[str], Iterable[str]],
    hidden: MutableMapping[str, str] | None = None,
) -> tuple[str, ...]:
    """Return *names*, what *find* finds in *text*, without its secrets, their parts and holders.

    Many texts have no name that looks like a secret; that is seen at little cost. Otherwise the
    names stay that are found in the text without its secrets. *hidden* keeps texts without theirs
    for the next time.
    """
    listed = "\n".join(names)
    is_mixed = _MIXED.search(listed) is not None
    if not is_mixed and not _HUMP.search(listed):
        return names
    # They know many patterns: imported when needed.
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
