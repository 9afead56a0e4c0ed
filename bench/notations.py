"""Conversations made of what refold itself writes, cut anywhere and put together again."""

from __future__ import annotations

import random
import sys
from functools import cache
from pathlib import Path
from typing import Any, Final

from generate import generate
from hostile import HOSTILE
from refold import Session, compress

sys.path.append(str(Path(__file__).parents[1]))

from tests.notation import examples

_SENTENCE: Final = "The billing service keeps its own copy of the rates for 30 days."
_LINES: Final = (
    "rows of status|took:",
    "rows of status|took, the rest as above:",
    "rows of ",
    "rows of the table were lost",
    "JSON lines ",
    "failed|12",
    "[again ×3 at 10:00:01]",
    "[12 lines as above]",
    "[A| ×12 from 10:00:00 to 10:00:09: the lamp at <> was checked]",
    *examples.gap_marks(),
    *examples.plain_marks(_SENTENCE, "kdbfqamt"),
    *examples.tool_notes(_SENTENCE, "kdbfqamt"),
    *examples.classic_tags(_SENTENCE, "kdbfqamt"),
    _SENTENCE,
)
_JOINTS: Final = ("\n", "\n", "\n", "\n\n", " ", "", "\r\n")


def make_conversation(chance: random.Random) -> list[dict[str, Any]]:
    """Let a user, a model and a tool speak in notations that they saw somewhere."""
    views = _views()
    messages: list[dict[str, Any]] = [{"role": "user", "content": _make_text(chance, views)}]
    for number in range(chance.randint(1, 4)):
        text = _make_text(chance, views)
        if chance.random() < 0.5:
            function = {"name": "read_file", "arguments": '{"path": "a.py"}'}
            call = {"id": f"c{number}", "type": "function", "function": function}
            messages += (
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": f"c{number}", "content": text},
            )
        else:
            messages.append({"role": ("assistant", "user")[number % 2], "content": text})
    return [*messages, {"role": "user", "content": "And what now?"}]


def _make_text(chance: random.Random, views: list[str]) -> str:
    pieces: list[str] = []
    for _ in range(chance.randint(1, 8)):
        whole = chance.choice(_LINES) if chance.random() < 0.5 else chance.choice(views)
        start = chance.randint(0, len(whole))
        end = chance.randint(start, min(len(whole), start + 2_000))
        pieces += (chance.choice((whole[:2_000], whole[start:end])), chance.choice(_JOINTS))
    return "".join(pieces)


@cache
def _views() -> list[str]:
    """Return texts as views of other conversations show them."""
    shown: dict[str, None] = {}
    made = [generate(0.05, seed) for seed in range(2)] + [one.make(4) for one in HOSTILE]
    for messages in made:
        for profile in ("classic", "standard", "lossless"):
            for budget in (None, 200):
                options: dict[str, Any] = {"profile": profile, "token_budget": budget}
                view = compress(messages, recency_window=0, **options).messages
                shown.update(dict.fromkeys(str(message.get("content")) for message in view))
        session = Session(profile="standard")
        session.extend(messages)
        shown.update(dict.fromkeys(str(m.get("content")) for m in session.view(300)))
    return [text for text in shown if text]
