"""What the command line says: words for codes and figures, safe to print on a terminal."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from refold.report.pieces import say_action, say_reason
from refold.result import Compression

_COLOURS: Final[Mapping[str, str]] = {
    "preserved": "dim",
    "compressed": "green",
    "deduped": "cyan",
    "fuzzy_deduped": "cyan",
    "contradicted": "magenta",
    "code_split": "yellow",
    "truncated": "red",
    "recoded": "bright_blue",
    "excerpted": "green",
    "digested": "green",
    "clipped": "green",
}
_CONTROLS: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def action_word(action: str) -> tuple[str, str]:
    """Return the word and the colour for an action."""
    return say_action(action), _COLOURS.get(action, "white")


def reason_words(reason: str) -> str:
    """Say a reason in words; what it quotes is data."""
    return clean(say_reason(reason))


def clean(text: str) -> str:
    """Replace what could steer a terminal: a file's text is data, never commands."""
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def excerpt(text: str, chars: int) -> str:
    """Return the beginning of *text* on one line."""
    line = " ".join(clean(text[: chars * 4]).split())
    if len(line) <= chars and len(text) <= chars * 4:
        return line
    return line[: chars - 1].rstrip() + "…"


def count_of(before: int, after: int) -> str:
    """Say how many messages there are, and were if that changed."""
    number = f"{before:,}" if before == after else f"{before:,} → {after:,}"
    return f"{number} message{'' if (before, after) == (1, 1) else 's'}"


def percent_saved(figures: Compression) -> str:
    """Say how much shorter it became, such as `−53.7 %`."""
    if not figures.tokens_before:
        return "±0 %"
    share = 100 * (1 - figures.tokens_after / figures.tokens_before)
    return f"{'−' if share > 0 else '+'}{abs(share):.1f} %" if share else "±0 %"
