"""The names a text speaks of, each once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from refold.text.name_loop import LoopNames
from refold.text.name_patterns import ADDRESS, ADDRESS_KIND, TITLE, TITLE_KIND
from refold.text.name_words import WordNames
from refold.text.scan import IS_COMPILED

_TRAILING: Final = ".,;:!?)]}'\""


def extract_entities(text: str, cap: int | None = None) -> list[str]:
    """Return the distinct entities of *text*, kind by kind, at most *cap* (default: by length)."""
    limit = entity_cap(len(text)) if cap is None else cap
    return list(iter_entities(text))[:limit]


def entity_cap(length: int) -> int:
    """Return how many entities a summary of that many characters may name: 3 to 15."""
    return max(3, min(int(length / 200 + 0.5), 15))


def iter_entities(text: str) -> Iterator[str]:
    """Yield every entity of *text* once, kind by kind."""
    return iter(NameFinder().find(text))


class NameFinder:
    """Finds the names in texts.

    Interpreted, it goes word by word and remembers what it found in each; compiled, it reads each
    text in one loop. Both say the same.
    """

    def __init__(self) -> None:
        self._reader: LoopNames | WordNames = LoopNames() if IS_COMPILED else WordNames()

    def find(self, text: str) -> dict[str, None]:
        """Return every entity of *text* once, kind by kind, in reading order."""
        kinds = self._reader.read(text)
        if "/" in text and "://" in text:  # one character is looked for much faster
            kinds[ADDRESS_KIND] = _trimmed(ADDRESS.findall(text))
        if "《" in text or "「" in text or "『" in text:
            kinds[TITLE_KIND] = _trimmed(TITLE.findall(text))
        found: dict[str, None] = {}
        for names in kinds:
            for name in names:
                found[name] = None
        return found


def _trimmed(names: list[str]) -> list[str]:
    """Take the punctuation behind names away, and what is nothing else."""
    return list(filter(None, [name.rstrip(_TRAILING) for name in names]))
