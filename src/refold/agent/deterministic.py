"""The one place where texts are shortened without a model: what is used for what is chosen here."""

from __future__ import annotations

import re
from typing import Final

from refold.engine import Engine
from refold.options import Options
from refold.text.json_text import is_json
from refold.tokens.base import TokenCounter

_JSON_SPACE: Final = re.compile(r'("(?:[^"\\]|\\.)*+")|\s++')
_ALWAYS_KEPT: Final = re.compile(
    r"https?://[^\s<>\"'`)\]]+|^[ \t]*+(?:async def|def|class|function|func|fn)\s[^\n]{1,120}", re.M
)
"""What a short form must not lose: addresses, and the names of what code defines."""
_MOST_KEPT: Final = 500
"""With more of them, a text is little else: then it stays as it is."""


def pack(text: str) -> str | None:
    """Write JSON without the white space between its values: nothing is lost."""
    if not is_json(text):
        return None
    return _JSON_SPACE.sub(lambda found: found[1] or "", text)


class DeterministicShortener:
    """Shortens the result of a tool with the engine's own means; the same text, the same words.

    What kind of text is shortened by what is the engine's business; how the engine is set up for
    results of tools is decided here and nowhere else.
    """

    def __init__(self, count: TokenCounter) -> None:
        self._engine = Engine(Options(recency_window=0, counter=count))
        self._tight_engine = Engine(
            Options(recency_window=0, counter=count, compression_depth="aggressive")
        )

    def shorten(self, text: str, *, is_tight: bool = False) -> str | None:
        """Return a short form of *text*, with *is_tight* a shorter one; `None` if there is none."""
        engine = self._tight_engine if is_tight else self._engine
        job = engine.begin([{"role": "tool", "content": text, "id": "text"}])
        plan, _ = engine.plan(job.messages, job.analyses, engine.options)
        short = next(iter(plan[0].texts.values()), None)
        if short is None:
            return None
        facts = dict.fromkeys(found[0].strip() for found in _ALWAYS_KEPT.finditer(text))
        if len(facts) > _MOST_KEPT:
            return None
        kept = [fact for fact in facts if fact not in short]
        return f"{short}\n[kept: {'; '.join(kept)}]" if kept else short
