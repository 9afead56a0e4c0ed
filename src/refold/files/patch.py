"""The files that a patch changes, by its headers; what its lines mention says nothing."""

from __future__ import annotations

import re
from typing import Final

_BEGIN: Final = "*** Begin Patch"
_MARKED: Final = re.compile(
    r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): ([^\n]*+)$", re.MULTILINE
)
"""As tools called `apply_patch` want it."""
_UNIFIED: Final = re.compile(r"^--- ([^\t\n]*+)[^\n]*+\n\+\+\+ ([^\t\n]*+)", re.MULTILINE)
_NO_FILE: Final = "/dev/null"


def is_patch(text: str) -> bool:
    """Tell whether *text* is a patch in the shape of `apply_patch`."""
    return text.lstrip().startswith(_BEGIN)


def may_hold_patch(text: str) -> bool:
    """Tell whether such a patch may stand anywhere in *text*."""
    return _BEGIN in text


def patched_files(text: str) -> list[str]:
    """Return the files that a patch in the shape of `apply_patch` changes."""
    return [name.strip() for name in _MARKED.findall(text)]


def diffed_files(text: str, strip: int) -> list[str]:
    """Return the files that a unified diff changes, without *strip* leading directories."""
    named = (name.rstrip() for pair in _UNIFIED.findall(text) for name in pair)
    cut = (name.split("/", strip) for name in named if name != _NO_FILE)
    return list(dict.fromkeys(parts[strip] for parts in cut if len(parts) > strip))
