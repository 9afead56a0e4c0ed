"""How many tokens the known models can read: one row a model, dated and with its source.

Written on 2026-11-15 from two public tables (both MIT) and completed by hand:

- genai-prices 0.2.1 gives the windows; it is not needed at run time. Its import takes 0.15 s and
  brings pydantic and an HTTP client along, and it knows no longest answers.
- LiteLLM 1.108.4 (`model_prices_and_context_window_backup.json`) gives the longest answers and the
  windows that genai-prices lacks. Where both differ by more than a tenth, the smaller one stands.
- Rows "by hand" stand above both. They are the makers' published figures as the author knew them,
  not fetched: of 254, 98 agree with the tables within a tenth, 13 differ, 143 are not in them.

They stand in `windows.txt`: `## date source`, then its rows; a later group overrules an earlier
one. A row is `name window longest-answer longest-prompt`; `-` or nothing means not known. Spelling
does not matter (see `model_names.key_of`); a row without a size stands for each size of the family,
a row without a date for each date. `provider/name` is a row for one provider only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from importlib.resources import files
from typing import Final

_HEADING: Final = "## "


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Rows from one source."""

    source: str
    as_of: date
    rows: str


def read_groups() -> Iterator[Group]:
    """Read all rows from the package, the strongest source last."""
    text = files("refold.window").joinpath("windows.txt").read_text("utf-8")
    for section in text.removeprefix(_HEADING).split("\n" + _HEADING):
        heading, _, rows = section.partition("\n")
        day, _, source = heading.partition(" ")
        yield Group(source=source, as_of=date.fromisoformat(day), rows=rows)
