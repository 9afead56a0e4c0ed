"""The one place where texts are shortened without a model: what is used for what is chosen here."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from refold.agent.clipping import size
from refold.agent.json_cut import cut_json
from refold.engine import Engine
from refold.kinds import KINDS, kind_of
from refold.lossless import reencode
from refold.notation.notes import kept_facts
from refold.notation.recognize import body_of
from refold.options import Options
from refold.text.json_text import is_json
from refold.tokens.counter import TokenCounter

_JSON_SPACE: Final = re.compile(r'("(?:[^"\\]++|\\.)*+"?)|\s++')
_ALWAYS_KEPT: Final = re.compile(
    r"https?://[^\s<>\"'`)\]]+|^[ \t]*+(?:async def|def|class|function|func|fn)\s[^\n]{1,120}", re.M
)
"""What a short form must not lose: addresses, and the names of what code defines."""
_SHARE: Final = 0.4
_TIGHT_SHARE: Final = 0.2
"""How much of the tokens of a structured text its excerpt may take."""
_STRUCTURED: Final = frozenset(kind.name for kind in KINDS if kind.is_excerpted)
_PACKED: Final = 0.75
"""JSON that takes no more than this share of its tokens without its white space stays JSON."""
_MOST_KEPT: Final = 500
"""With more of them, a text is little else: then it stays as it is."""


def pack(text: str) -> str | None:
    """Write JSON without the white space between its values: nothing is lost."""
    if not is_json(text):
        return None
    return _JSON_SPACE.sub(lambda found: found[1] or "", text)


def say_shorter(text: str, count: TokenCounter) -> str | None:
    """Write *text* in fewer tokens so that nothing is lost; `None` if nothing is won.

    JSON stays JSON if it was mostly white space that made it long. Any other form has proven that
    it can be decoded to the same data.
    """
    packed = pack(text)
    share = 1.0 if packed is None else count(packed) / max(1, count(text))
    if share <= _PACKED:
        return packed
    recoded = reencode(text, count)
    if recoded is not None:
        return recoded.text
    return packed if share < 1 else None


class DeterministicShortener:
    """Shortens the result of a tool with the engine's own means; the same text, the same words.

    What kind of text is shortened by what is the engine's business; how the engine is set up for
    results of tools is decided here and nowhere else.
    """

    def __init__(self, count: TokenCounter) -> None:
        self._count = count
        self._standard = Engine(Options(profile="standard", counter=count))
        self._engine = Engine(Options(recency_window=0, counter=count))
        self._tight_engine = Engine(
            Options(recency_window=0, counter=count, compression_depth="aggressive")
        )

    def shorten(self, text: str, *, is_tight: bool = False) -> str | None:
        """Return a short form of *text*, with *is_tight* a shorter one; `None` if there is none."""
        share = _TIGHT_SHARE if is_tight else _SHARE
        if is_json(text):
            return cut_json(text, int(share * size(text)))
        if is_structured(text):
            return self._excerpt(text, share)
        engine = self._tight_engine if is_tight else self._engine
        short = _plan_one(engine, text, engine.options)
        if short is None:
            return None
        facts = dict.fromkeys(found[0].strip() for found in _ALWAYS_KEPT.finditer(text))
        if len(facts) > _MOST_KEPT:
            return None
        kept = [fact for fact in facts if fact not in short]
        return short + kept_facts(kept) if kept else short

    def _excerpt(self, text: str, share: float) -> str | None:
        """Show the pieces of *text* that say most for this share of its tokens."""
        budget = int(share * self._count(text))
        return _plan_one(self._standard, text, replace(self._standard.options, token_budget=budget))


def is_structured(text: str) -> bool:
    """Tell whether *text* has a structure that says what of it matters: then no model is needed."""
    return is_json(text) or kind_of(text) in _STRUCTURED


def _plan_one(engine: Engine, text: str, options: Options) -> str | None:
    """Return what *engine* makes of one tool result, without its mark: the caller has its own."""
    job = engine.begin([{"role": "tool", "content": text, "id": "text"}])
    plan, _ = engine.plan(job.messages, job.analyses, options)
    short = next(iter(plan[0].texts.values()), None)
    return None if short is None else body_of(short)
