"""Shorten one text without its conversation: for tools and managers."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from refold.classic.compress import plan_by_rules
from refold.classic.reader import Reader
from refold.codecs import reencode
from refold.fold.kinds import kind_of
from refold.messages.formats import load
from refold.messages.message import Message
from refold.messages.token_count import MESSAGE_OVERHEAD, CountedTexts
from refold.notation.notes import kept_facts
from refold.notation.recognize import body_of
from refold.options import Depth, Options
from refold.plan.fit import fit_budget
from refold.plan.text_cache import TextCache
from refold.scan.structure import is_json
from refold.scan.tokens.estimate import estimate_tokens

_AROUND_TOKENS: Final = MESSAGE_OVERHEAD + 12
"""What a plan counts besides the shown text: the message, and the mark of an excerpt."""
_DEPTHS: Final[tuple[Depth, ...]] = ("gentle", "moderate", "aggressive")
_PROSE_SLACK: Final = 1.5
"""How much longer than asked a summary may be: the next tighter depth says far less."""
_ALWAYS_KEPT: Final = re.compile(
    r"https?://[^\s<>\"'`)\]]+|^[ \t]*+(?:async def|def|class|function|func|fn)\s[^\n]{1,120}", re.M
)
"""What a summary must not lose: URLs, and the signatures of code."""
_MOST_KEPT: Final = 500
"""A text with more of these is little else, and stays as it is."""


@dataclass(frozen=True, slots=True)
class ShortText:
    """A text in fewer tokens, without a mark that says so."""

    text: str
    is_lossless: bool
    """Whether it was only re-encoded."""


def say_shorter(text: str, count: Callable[[str], int]) -> str | None:
    """Re-encode *text* in fewer tokens without loss; `None` if that saves nothing."""
    recoded = reencode(text, count)
    return None if recoded is None else recoded.text


def shorten_text(text: str, max_tokens: int, count: Callable[[str], int]) -> ShortText | None:
    """Shorten a tool result to about *max_tokens*, as a budget shortens results in a conversation.

    It is re-encoded if that is enough. Otherwise, structured text is reduced to its most relevant
    pieces, with marks where others are left out, and prose is summarized by the rules. `None` if
    none of this is shorter.
    """
    recoded = say_shorter(text, count)
    if recoded is not None and count(recoded) <= max_tokens:
        return ShortText(recoded, is_lossless=True)
    shorten = _excerpt if is_structured(text) else _summarize
    short = shorten(text, max_tokens, CountedTexts(count, estimate_tokens))
    if not short or count(short) >= count(text):
        return None
    return ShortText(short, is_lossless=False)


def is_structured(text: str) -> bool:
    """Tell whether *text* has a structure by which its pieces can be rated."""
    return is_json(text) or kind_of(text) != "prose"


def _excerpt(text: str, max_tokens: int, tokens: CountedTexts) -> str:
    """Return the best pieces of *text*; "" if none of them fits."""
    budget = max_tokens + _AROUND_TOKENS
    options = Options(profile="standard", token_budget=budget)
    plan, _ = fit_budget(_only(text), options, TextCache(tokens), budget)
    return body_of(plan[0].texts.get(0, ""))


def _summarize(text: str, max_tokens: int, tokens: CountedTexts) -> str:
    """Summarize prose by the rules, as tightly as needed; "" if they leave it as it is."""
    short = ""
    for depth in _DEPTHS:
        options = Options(profile="classic", recency_window=0, compression_depth=depth)
        plan = plan_by_rules(_only(text), options, Reader(tokens))
        short = body_of(plan[0].texts.get(0, ""))
        if tokens(short) <= _PROSE_SLACK * max_tokens:
            break
    facts = dict.fromkeys(found[0].strip() for found in _ALWAYS_KEPT.finditer(text))
    if not short or len(facts) > _MOST_KEPT:
        return ""
    kept = [fact for fact in facts if fact not in short]
    return short + kept_facts(kept) if kept else short


def _only(text: str) -> tuple[Message, ...]:
    """Return a conversation of one tool result."""
    return load([{"role": "tool", "content": text, "id": "text"}])
