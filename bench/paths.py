"""The ways a text takes through the package, from one function to a whole session: one row each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, Final

from refold import (
    CompressionManager,
    MemoryStore,
    RefoldError,
    Session,
    ToolCompressor,
    classify,
    compress,
    retrieve_tool,
    uncompress,
)
from refold.classic.code import prose_around
from refold.classic.corrections import score_importance
from refold.classic.detectors import DETECTORS, TABLE
from refold.classic.names import extract_entities
from refold.classic.sentences import best_sentence_score
from refold.classic.sentences import split as split_sentences
from refold.classic.structured import cut_json, is_structured, summarize_structured
from refold.classic.texts import View
from refold.codecs import CODECS, reencode
from refold.codecs.rereads import changes
from refold.codecs.shown import Shown
from refold.conversation import ContextWindowManager, parse_overflow
from refold.errors import FormatError
from refold.files import effects_of
from refold.kinds import KINDS, kind_of, split
from refold.llm.classify import read_verdict
from refold.llm.dialogue import repair
from refold.llm.gates import check
from refold.llm.gates.base import Source
from refold.llm.summarizers import Redacting, SummaryRequest
from refold.messages.failure import is_failure_text
from refold.messages.message import Call
from refold.scan.facts import extract_facts
from refold.scan.items import find_items
from refold.scan.tokens.estimate import estimate_tokens
from refold.scan.truncate import cut

Path = Callable[[str], object]

_TALK: Final = "Please look at the second pier, and tell the harbour office what you find there."
_SHARE: Final = 0.25
_TOKEN_CHARS: Final = 4


def _as_result(text: str) -> list[dict[str, Any]]:
    """Make a conversation of which *text* is the result of a tool."""
    call = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": "{}"}}
    return [
        {"role": "user", "content": _TALK},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": text},
        *({"role": "user", "content": f"And then, {n}?"} for n in range(6)),
    ]


def _as_talk(text: str) -> list[dict[str, Any]]:
    """Make a conversation in which somebody says *text*."""
    return [{"role": "user", "content": text}, {"role": "assistant", "content": "Noted."}]


def _as_arguments(text: str) -> list[dict[str, Any]]:
    """Make a conversation in which a tool is called with *text*."""
    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": text}}
    return [
        {"role": "user", "content": _TALK},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
        *({"role": "user", "content": f"And then, {n}?"} for n in range(6)),
    ]


def _budget(text: str) -> int:
    return max(50, int(_SHARE * len(text) / _TOKEN_CHARS))


def _round_trip(shape: Callable[[str], list[dict[str, Any]]], **options: Any) -> Path:
    def path(text: str) -> None:
        messages = shape(text)
        result = compress(messages, recency_window=0, **options)
        restored = uncompress(result.messages, result.verbatim)
        assert restored.messages == messages

    return path


def _in_budget(shape: Callable[[str], list[dict[str, Any]]], **options: Any) -> Path:
    return lambda text: compress(
        shape(text), recency_window=0, token_budget=_budget(text), **options
    )


def _in_session(profile: Any) -> Path:
    def path(text: str) -> None:
        session = Session(profile=profile, token_budget=_budget(text))
        for message in _as_result(text):
            session.append(message)
            if message["role"] != "assistant":
                session.view()

    return path


def _in_window(text: str) -> None:
    manager = ContextWindowManager(context_limit=_budget(text) + 200, reserve_output_tokens=0)
    manager.fit(_as_result(text))


def _shown_by_tool(text: str) -> None:
    store = MemoryStore()
    ToolCompressor(store=store).compress(text)
    tool = retrieve_tool({"m": {"role": "user", "content": text}})
    for asked in (
        {"handle": "m"},
        {"handle": text},
        {"handle": "m", "search": text[: len(text) // 2] + "#"},
        {"handle": "m", "lines": text},
    ):
        tool.call(asked)


def _through_gates(text: str) -> None:
    source = Source(text, estimate_tokens)
    for answer in (text[: len(text) // 2], _TALK):
        repair(source, answer, check(source, answer))
    check(Source(_TALK, estimate_tokens), text)


def _redacted(text: str) -> None:
    facts = extract_facts(text)
    request = SummaryRequest(
        text=text,
        context=_TALK,
        max_tokens=100,
        must_keep=(*facts.values, *facts.names)[:50],
    )
    asyncio.run(Redacting(lambda said: said).summarize(request))


def _encoded(codec: Any) -> Path:
    def path(text: str) -> None:
        codec.normal(text)
        if codec.applies_to(text):
            codec.encode(text)
        with suppress(FormatError):
            codec.decode(text)

    return path


def _read_again(text: str) -> None:
    changes(text, text.replace("a", "b", 3))
    half = len(text) // 2
    changes(text[:half], text[half:])


def _shown(text: str) -> None:
    shown = Shown()
    shown.add(text)
    with suppress(FormatError):
        shown.expand(shown.shorten(text) or text)


def _refusing(path: Path) -> Path:
    """Let the package say no to a text."""

    def refusing(text: str) -> None:
        with suppress(RefoldError):
            path(text)

    return refusing


def _every_detector(text: str) -> None:
    view = View(text)
    for detector in DETECTORS:
        detector.finds(view)
        for _ in detector.find(view):
            pass


PARTS: Final[dict[str, Path]] = {
    "every detector": _every_detector,
    "soft texts": lambda text: list(TABLE.soft_texts(View(text))),
    "classify": classify,
    "sentences": split_sentences,
    "fences": prose_around,
    "entities": extract_entities,
    "facts": extract_facts,
    "tokens": estimate_tokens,
    "cut JSON": lambda text: cut_json(text, len(text) // 2),
    "structured": lambda text: is_structured(text) and summarize_structured(text, 200),
    "scores": best_sentence_score,
    "importance": lambda text: score_importance([View(text), View(_TALK)]),
    "items": find_items,
    "cut": lambda text: [cut(text, len(text) - less) for less in range(1, 20)],
    "kind": kind_of,
    "failure": is_failure_text,
    "calls": lambda text: effects_of(Call("", "bash", text)),
    "overflow": lambda text: parse_overflow(ValueError(text)),
    "reencode": lambda text: reencode(text, estimate_tokens),
    "rereads": _read_again,
    "shown": _shown,
    "verdict": _refusing(read_verdict),
    "gates": _through_gates,
    "redaction": _redacted,
    **{f"split {kind.name}": partial(split, kind=kind.name) for kind in KINDS},
    **{f"codec {codec.name}": _encoded(codec) for codec in CODECS},
}
"""What reads one text."""

WHOLES: Final[dict[str, Path]] = {
    "classic": _round_trip(_as_talk, profile="classic"),
    "classic, everything on": _round_trip(
        _as_talk,
        profile="classic",
        observation_threshold=0,
        fuzzy_dedup=True,
        importance_scoring=True,
        contradiction_detection=True,
    ),
    "classic in a budget": _in_budget(_as_talk, profile="classic"),
    "standard": _round_trip(_as_result, profile="standard"),
    "standard in a budget": _in_budget(_as_result, profile="standard"),
    "standard in a budget, talk": _in_budget(_as_talk, profile="standard"),
    "standard in a budget, arguments": _in_budget(_as_arguments, profile="standard"),
    "lossless": _round_trip(_as_result, profile="lossless"),
    "session classic": _in_session("classic"),
    "session standard": _in_session("standard"),
    "session lossless": _in_session("lossless"),
    "window": _in_window,
    "manager": lambda text: CompressionManager().view(_as_result(text)),
    "retrieval": _shown_by_tool,
    "restore": lambda text: uncompress(_as_talk(text), {}),
}
"""What reads a conversation."""
