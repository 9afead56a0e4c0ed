"""How a text spells its JSON: spacing and escapes, so that it can be written the same way again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import Any, Final, Self

from refold.lazy import regex
from refold.messages.wire import digest

_SAMPLE: Final = 32
"""So many records tell the style of a file. A guess; a file of several styles has the one that most
of these have."""
_SEPARATORS: Final = ((",", ":"), (", ", ": "), (",", ": "), (", ", ":"))
_FIRST_INDENT: Final = regex(r"[\[{](\r?\n)([ \t]*)")
_LAST_INDENT: Final = regex(r"\n([ \t]*)[\]}]\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """One way to spell JSON; `newline` holds the line break and the indent of the record itself."""

    item_separator: str = ", "
    key_separator: str = ": "
    indent: str | None = None
    newline: str = "\n"
    ascii_only: bool = True

    def dump(self, value: object, *, ascii_only: bool = False) -> str:
        """Spell *value*; what UTF-8 cannot hold (half a surrogate pair) is escaped anyway."""
        text = json.dumps(
            value,
            ensure_ascii=self.ascii_only or ascii_only,
            indent=self.indent,
            separators=(self.item_separator, self.key_separator),
        )
        try:
            text.encode()
        except UnicodeEncodeError:
            return self.dump(value, ascii_only=True)
        return text if self.indent is None else text.replace("\n", self.newline)

    def to_wire(self) -> dict[str, Any]:
        """Spell the style itself as JSON-ready data."""
        return asdict(self)

    @classmethod
    def from_wire(cls, wire: object) -> Self:
        """Read it back; what is missing or strange takes its default."""
        held = wire if isinstance(wire, Mapping) else {}
        texts = ("item_separator", "key_separator", "indent", "newline")
        kinds = {**dict.fromkeys(texts, str), "ascii_only": bool}
        return cls(**{n: held[n] for n, kind in kinds.items() if isinstance(held.get(n), kind)})


def says(raw: str, wire: object) -> bool:
    """Tell whether *raw* spells *wire*, however it does."""
    try:
        return digest(json.loads(raw)) == digest(wire)
    except (ValueError, RecursionError):
        return False


def detect_style(records: Iterable[tuple[str, Any]], *, ascii_only: bool) -> Style:
    """Return the style that spells most of the (raw text, value) pairs as they stand."""
    sample = list(islice(records, _SAMPLE))
    candidates = _candidates([raw for raw, _ in sample], ascii_only)
    return max(candidates, key=lambda style: sum(style.dump(value) == raw for raw, value in sample))


def find_style(raw: str, value: object) -> Style | None:
    """Return a style that spells *value* as *raw* does, to the byte; `None` if there is none."""
    candidates = _candidates([raw], raw.isascii())
    return next((style for style in candidates if style.dump(value) == raw), None)


def _candidates(raws: Iterable[str], ascii_only: bool) -> list[Style]:
    """List the styles worth trying, the likeliest first."""
    for raw in raws:
        first, last = _FIRST_INDENT.search(raw), _LAST_INDENT.search(raw)
        if first and last:
            newline, indent = first[1] + last[1], first[2].removeprefix(last[1])
            style = Style(item_separator=",", indent=indent, newline=newline, ascii_only=ascii_only)
            return [replace(style, key_separator=key) for key in (": ", ":", " : ")]
    return [
        Style(item_separator=item, key_separator=key, ascii_only=ascii_only)
        for item, key in _SEPARATORS
    ]
