"""An agent that calls a tool sixty times, in a window of 8,000 tokens.

    python examples/agent_loop.py

`CompressionManager` keeps a short form beside every tool result that the model has read,
`ContextWindowManager` sees to it that each request fits. The full history stays as it was.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from scripted_model import ScriptedModel

from refold import (
    CompressionManager,
    ContextWindowManager,
    MemoryStore,
    uncompress,
)
from refold.scan.tokens.estimate import estimate_tokens

TURNS = 60
WINDOW = 8_000
RESERVED = 1_000
CONVERSATION = "pumps"


def read_log(day: int) -> str:
    """Be a tool that says a lot."""
    chatter = "The crew moved along the quay as usual and everybody went on with the work. "
    levels = " ".join(
        f"At {hour:02}:{day % 60:02} basin B-{day + 500} stood at {day + 400 - hour} cm."
        for hour in range(2, 24, 4)
    )
    return (
        f"Log of day {day}. {chatter * 6}Pump P-{day + 70} stood still for {day % 9 + 1} hours. "
        f"Valve V-{day + 300} was opened at 06:{day % 50 + 10} and closed at 17:{day % 40 + 15}. "
        f"{levels} "
        f"{chatter * 6}Nobody may restart the pump before form {2_200 + day} is signed."
    )


@dataclass
class Story:
    """What happened: the whole history, and the tokens of each request."""

    history: list[dict[str, Any]] = field(default_factory=list)
    without_refold: list[int] = field(default_factory=list)
    with_refold: list[int] = field(default_factory=list)
    folded: int = 0
    """How often the history had to be folded to fit."""
    all_fit: bool = True
    all_restored: bool = False


async def run_agent(model: ScriptedModel, turns: int = TURNS) -> Story:
    """Let the model call its tool *turns* times."""
    store = MemoryStore()
    cm = CompressionManager(
        generate=model.generate,
        compress_tool_results_limit=3,
        store=store,
        conversation=CONVERSATION,
    )
    cwm = ContextWindowManager(
        context_limit=WINDOW,
        reserve_output_tokens=RESERVED,
        strategy="summarize",
        llm=model.generate,
        store=store,
        conversation=CONVERSATION,
    )
    story = Story(
        history=[
            {"role": "system", "content": "You look after the pumps of a harbour."},
            {"role": "user", "content": "Read the log of every day and tell me what stood still."},
        ]
    )
    for _ in range(turns):
        if cm.should_compress(story.history):
            await cm.acompress(story.history)
        fitted = await cwm.afit(cm.view(story.history))
        story.all_fit &= fitted.fits
        story.folded += bool(fitted.steps)
        story.without_refold.append(count(without_short_forms(story.history)))
        story.with_refold.append(count(fitted.messages))
        answer = await asyncio.to_thread(model.chat, fitted.messages)
        story.history += [answer, *map(answer_call, answer["tool_calls"])]
    fitted = await cwm.afit(cm.view(story.history))
    restored = uncompress(fitted.messages, store, conversation=CONVERSATION)
    story.all_restored = restored.messages == without_short_forms(story.history)
    return story


def answer_call(call: dict[str, Any]) -> dict[str, Any]:
    """Run the tool that the model wants."""
    arguments = json.loads(call["function"]["arguments"])
    return {"role": "tool", "tool_call_id": call["id"], "content": read_log(**arguments)}


def without_short_forms(history: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the history as it was before refold put anything beside it."""
    return [{k: v for k, v in m.items() if k != "compressed_content"} for m in history]


def count(messages: Sequence[dict[str, Any]]) -> int:
    """Return about how many tokens sending *messages* costs, four of them for framing each."""
    texts = [str(message.get("content") or "") for message in messages]
    calls = [json.dumps(call["function"]) for m in messages for call in m.get("tool_calls") or ()]
    return sum(map(estimate_tokens, [*texts, *calls])) + 4 * len(messages)


def chart(story: Story, *, is_plain: bool, width: int = 50) -> str:
    """Draw two bars for every fifth turn, to one scale."""
    most = max(story.without_refold)
    grey, green, end = ("", "", "") if is_plain else ("\x1b[90m", "\x1b[32m", "\x1b[0m")
    lines = [f"tokens sent per turn, in a window of {WINDOW:,}", ""]
    for turn in range(4, len(story.with_refold), 5):
        rows = (
            ("without", story.without_refold[turn], grey),
            ("with", story.with_refold[turn], green),
        )
        for name, tokens, colour in rows:
            label = f"turn {turn + 1:>3}" if name == "without" else ""
            bar = ("#" if is_plain else "█") * max(1, tokens * width // most)
            lines.append(f"{label:<9}{name:<8}{colour}{bar}{end} {tokens:,}")
    saved = sum(story.without_refold) - sum(story.with_refold)
    lines += ["", f"tokens saved over {len(story.with_refold)} turns: {saved:,}"]
    lines += [f"requests folded to fit: {story.folded}"]
    lines += [f"every request fits the window: {'yes' if story.all_fit else 'no'}"]
    lines += [f"every original restored: {'yes' if story.all_restored else 'no'}"]
    return "\n".join(lines)


def main() -> int:
    """Run the loop and show what it cost."""
    with ScriptedModel() as model:
        story = asyncio.run(run_agent(model))
    is_plain = not sys.stdout.isatty() or "NO_COLOR" in os.environ
    print(chart(story, is_plain=is_plain))
    return 0 if story.all_fit and story.all_restored else 1


if __name__ == "__main__":
    raise SystemExit(main())
