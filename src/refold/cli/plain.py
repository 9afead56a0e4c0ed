"""What a terminal shows that lacks a character: a plain one that is just as wide."""

from __future__ import annotations

import codecs
from typing import Final, TextIO

_HANDLER: Final = "refold.plain"
_PLAIN: Final = str.maketrans("…→←–—−─│█░·×±✓✗", "~><----|#.*x+v!")
"""Each as wide as what it stands for, so that columns stay straight."""


def never_fail_to_print(*streams: TextIO) -> None:
    """Let *streams* show a plain character, or a question mark, instead of a traceback."""
    codecs.register_error(_HANDLER, _replace)
    for stream in streams:
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors=_HANDLER)


def _replace(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    plain = error.object[error.start : error.end].translate(_PLAIN)
    return plain.encode("ascii", "replace").decode("ascii"), error.end
