"""Originals by the short handles that a model was shown, for who sees no messages.

A short handle is found only through the messages that show it, which an MCP server never sees. So
the proxy enters which original is behind which handle, and the server looks it up. Where two texts
share a short handle, both are found.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from refold.model.wire import digest, spell
from refold.notation.marks import HANDLE_CHARS, show_handle
from refold.stores.base import Store

_SHOWN: Final = "refold:shown:"
_HANDLE: Final = re.compile(rf"#([a-z]{{{HANDLE_CHARS},36}})\b")
_MOST: Final = 4
"""How many originals are found by one handle; of more that share it, the first are."""


def enter_shown(store: Store, folded: Mapping[str, Any], original: Mapping[str, Any]) -> None:
    """Enter that *folded*, a message as it is sent, stands for *original*, which is in *store*."""
    own = digest(original)
    entries = {}
    for handle in dict.fromkeys(_HANDLE.findall(spell(folded))):
        places = _places(handle)
        known = store.get(places)
        free = next((place for place in places if place not in known), None)
        if free is not None and own not in known.values():
            entries[free] = own
    if entries:
        store.put(entries)


def find_shown(store: Store, handle: str) -> list[dict[str, Any]]:
    """Return the originals behind *handle*, however a model has spelled it, with it as their id."""
    spelled = handle if "#" in handle else show_handle(handle.strip())
    found: list[dict[str, Any]] = []
    for name in dict.fromkeys(_HANDLE.findall(spelled)):
        keys = store.get(_places(name)).values()
        found += ({**original, "id": name} for original in store.get(keys).values())
    return found


def _places(handle: str) -> list[str]:
    return [f"{_SHOWN}{handle}:{n}" for n in range(_MOST)]
