"""Ways to make a conversation fit: fold it, summarize or drop its beginning, keep its end.

Whatever the strategy, tool calls and results go together, and what must stay does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, Literal

from refold.classic.rules import recent_from
from refold.engine import Engine
from refold.fold.write import clip
from refold.messages.blocks import find_blocks
from refold.messages.folds import Plan
from refold.messages.foreign import note_provenance
from refold.messages.formats import Loader, find_format
from refold.messages.handles import behind_of, handle_of
from refold.messages.manifest import read_wording
from refold.messages.message import Message
from refold.messages.untouchable import find_last_words, find_untouchable, has_words
from refold.messages.wire import clone_with
from refold.notation.marks import media
from refold.planner import NO_PINS, Fitter
from refold.result import BudgetReport
from refold.scan.truncate import cut
from refold.text_cache import TextCache

StrategyName = Literal["fold", "summarize", "truncate", "sliding_window"]

_USER_SHARE: Final = 0.2
"""Share of the room within which the user's own words stay outside of summaries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A conversation that is to become shorter."""

    messages: Sequence[Message]
    """Their indices are their places."""
    engine: Engine
    text_cache: TextCache
    budget: int | None
    target: int | None
    """The tokens to aim at, fewer than the budget, so that the next turns fit too."""

    def plan(self, pinned: Mapping[int, str] = NO_PINS, target: int | None = None) -> Fitting:
        """Let the engine plan, as its profile says."""
        options = replace(self.engine.options, token_budget=self.budget)
        aim = self.target if target is None else target
        planned = self.engine.plan(self.messages, self.text_cache, options, aim, pinned=pinned)
        return Fitting(*planned)

    def stays(self) -> dict[int, str]:
        """Map the index of every message that must survive word for word to the reason.

        User turns without text, too: some providers want the user to speak first.
        """
        asked = [m for m in self.messages if m.role == "user" and not m.is_tool_result]
        wordless = (m.index for m in (*asked[:1], *asked[-1:]) if not has_words(m))
        untouchable = find_untouchable(self.messages, self.engine.options)
        return {**dict.fromkeys(wordless, "user_turn"), **untouchable}

    def cost(self, messages: Sequence[Message]) -> int:
        """Return the tokens of some messages."""
        return sum(map(self.text_cache.tokens.message, messages))


@dataclass(frozen=True, slots=True)
class Fitting:
    """A plan, and how it keeps the budget."""

    plan: Plan
    report: BudgetReport | None = None
    kept: Sequence[int] | None = None
    """Which places the plan is about, where others were dropped."""
    rewritten: Mapping[int, Message] = field(default_factory=dict[int, Message])
    """Index of every message that was written shorter before the plan was made → as it was."""

    @property
    def fits(self) -> bool:
        """Whether it keeps the budget, if there is one."""
        return self.report is None or self.report.fits

    def is_good(self, task: Task) -> bool:
        """Tell whether it fits, and leaves the model something to answer."""
        return self.fits and not ends_in_summary(task.messages, self.plan)


Strategy = Callable[[Task], Fitting]


def ends_in_summary(messages: Sequence[Message], plan: Plan) -> bool:
    """Tell whether what the model is to answer has become a summary in the assistant's role.

    Some providers refuse a request that ends with the assistant, others let it speak on.
    """
    return bool(plan) and plan[-1].is_rolled and messages[-1].role != "assistant"


def fold(task: Task) -> Fitting:
    """Let the engine plan: what a `Session` does."""
    return task.plan()


def strategy_called(name: StrategyName, *, max_messages: int, keep_results: int | None) -> Strategy:
    """Return what a window does; the newest *keep_results* results stay whole if that fits."""
    match name:
        case "fold":
            return partial(_fold_or_drop, keep_results=keep_results)
        case "summarize":
            return _summarize
        case "truncate":
            return _drop
        case "sliding_window":
            return partial(_keep_last, max_messages=max_messages)


def _fold_or_drop(task: Task, *, keep_results: int | None = None) -> Fitting:
    """Fold; where there is not even room for a line about each stretch, drop the oldest blocks."""
    if keep_results:
        kept = _plan_around(task, newest_results(task, keep_results))
        if kept.is_good(task):
            return kept
    fitting = _plan_around(task)
    if fitting.fits:
        return fitting
    dropped = _drop(task)
    return dropped if dropped.fits else fitting


def _summarize(task: Task) -> Fitting:
    """Put the oldest stretch into one summary; fold everything if that is not enough.

    What users said stays word for word, the latest first, as far as its share goes.
    """
    room, words = _USER_SHARE * (task.budget or 0), dict[int, str]()
    for message in reversed(task.messages):
        if message.role == "user" and not message.is_tool_result and message.is_turn:
            room -= task.cost([message])
            if room < 0:
                break
            words[message.index] = "user_words"
    aim = max(0, (task.target or 0) - task.engine.anchor_room(task.messages))
    for pinned in (words, {}):
        fitter = Fitter(task.messages, task.engine.options, task.text_cache, pinned, rolls_up=True)
        fitting = Fitting(*fitter.fit(aim, task.budget or 0))
        if fitting.is_good(task):
            return fitting
    return _fold_or_drop(task)


def _keep_last(task: Task, *, max_messages: int) -> Fitting:
    """Keep the last messages, in whole blocks, and what must stay."""
    room = max_messages
    must_go: set[int] = set()
    for block in reversed(find_blocks(task.messages)):
        room -= sum(task.messages[index].is_turn for index in block)
        if room < 0:
            must_go.update(block)
    return _drop(task, frozenset(must_go))


def _drop(task: Task, must_go: frozenset[int] = frozenset()) -> Fitting:
    """Drop blocks, those in *must_go* and then the oldest, until the rest fits, and fold that."""
    gone = _to_drop(task, must_go)
    kept = [message.index for message in task.messages if message.index not in gone]
    rest = [task.messages[index].changed(index=place) for place, index in enumerate(kept)]
    fitting = _plan_around(replace(task, messages=rest), target=task.budget or 0)
    if not gone:
        return fitting
    report = fitting.report
    if report is not None:
        report = replace(report, rungs=("drop", *report.rungs))
    return replace(fitting, report=report, kept=kept)


def _to_drop(task: Task, must_go: frozenset[int]) -> set[int]:
    """Choose what to drop; the newest block goes only if it must, and never if it is the last."""
    messages, blocks = task.messages, find_blocks(task.messages)
    stays = {*task.stays(), *(message.index for message, _ in find_last_words(messages))}
    newest = next((b for b in reversed(blocks) if any(messages[i].is_turn for i in b)), None)
    total, turns_left = task.cost(messages), sum(message.is_turn for message in messages)
    gone: set[int] = set()
    for block in sorted(blocks, key=lambda b: b[0] not in must_go):
        is_wanted_out = block[0] in must_go
        if total <= (task.target or 0) and not is_wanted_out:
            break
        turns = sum(messages[index].is_turn for index in block)
        is_last = turns == turns_left or (block == newest and not is_wanted_out)
        if is_last or not stays.isdisjoint(block):
            continue
        gone.update(block)
        turns_left -= turns
        total -= task.cost([messages[index] for index in block])
    return gone


def newest_results(task: Task, count: int) -> dict[int, str]:
    """Return the newest *count* tool results, with the calls that they answer."""
    pins: dict[int, str] = {}
    for block in reversed(find_blocks(task.messages)):
        results = sum(task.messages[index].is_tool_result for index in block)
        if count <= 0:
            break
        if results:
            pins.update(dict.fromkeys(block, "newest_results"))
            count -= results
    return pins


def _plan_around(
    task: Task, pinned: Mapping[int, str] = NO_PINS, target: int | None = None
) -> Fitting:
    """Plan as the engine does; but unlike in its plans, what must stay does so at any cost.

    Old pictures go first; if that is not enough, newer ones and the arguments of calls. The
    arguments of old calls are left alone at first: the engine knows better what of them is needed.
    """
    recent = recent_from(task.messages, task.engine.options.recency_window)
    old = task.messages[: min((recent, *newest_results(task, 1)))]
    fitting = _plan_with(task, ["evict_media"], old, pinned, target)
    if fitting.is_good(task):
        return fitting
    return _plan_with(task, [*RUNGS], task.messages, pinned, task.budget or 0)


def _plan_with(
    task: Task,
    rungs: Sequence[str],
    messages: Sequence[Message],
    pinned: Mapping[int, str],
    target: int | None,
) -> Fitting:
    """Plan once some of *messages* are written shorter, in order, as long as there is too much.

    What must stay, the messages as they were say: so does a picture.
    """
    tokens, version = task.text_cache.tokens, task.engine.options.source_version
    stays = {**task.stays(), **pinned}
    changing = [message.index for message in messages if message.index not in stays]
    shorter, steps = list(task.messages), dict[str, None]()
    excess = task.cost(shorter) - (task.target or 0) + task.engine.anchor_room(shorter)
    for name, index in ((name, index) for name in rungs for index in changing):
        if excess <= 0:
            break
        short = _shorten(RUNGS[name], shorter[index], task.messages[index], version)
        saved = 0 if short is None else tokens.message(shorter[index]) - tokens.message(short)
        if short is not None and saved > 0:
            shorter[index], steps[name] = short, None
            excess -= saved
    rewritten = replace(task, messages=shorter)
    fitting = rewritten.plan(dict.fromkeys(stays, "pinned"), target)
    cut_words = _cut_words(task, fitting.plan)
    if cut_words is not None and cut_words not in stays:
        stays[cut_words] = "last_user_message"
        fitting = rewritten.plan(dict.fromkeys(stays, "pinned"), target)
    report = fitting.report
    if report is not None:
        obstacles = [
            replace(o, reason=stays.get(o.message_index, o.reason)) for o in report.obstacles
        ]
        rungs_taken = (*steps, *report.rungs)
        report = replace(report, obstacles=tuple(obstacles), rungs=rungs_taken)
    changed = {o.index: o for o, s in zip(task.messages, shorter, strict=True) if o is not s}
    return Fitting(fitting.plan, report, rewritten=changed)


def _cut_words(task: Task, plan: Plan) -> int | None:
    """Return the message in which *plan* cuts the user's last words beside tool results."""
    spoken = [(m.index, number) for m, number in find_last_words(task.messages)]
    if not spoken:
        return None
    index, numbers = spoken[0][0], {number for _, number in spoken}
    fold = next(f for f in plan if f.sources[0].index <= index <= f.sources[-1].index)
    return index if fold.is_rolled or not numbers.isdisjoint(fold.texts) else None


# --- what no plan of the engine does ------------------------------------------------------------

Rung = Callable[[Message, str], dict[str, Any] | None]
"""From a message and the handle to show in it, if any, to what it becomes; `None` if nothing in it
can be written shorter. May only return marked texts where there is a handle to show."""

_HOLDERS: Final = (
    "source image_url input_audio file image audio video inlineData inline_data fileData file_data"
).split()
"""Where a block may keep what it holds, if not beside its type."""
_NAMES: Final = "filename file_id media_type mimeType mime_type format detail".split()
_DATA: Final = "url image_url file_url fileUri file_uri data file_data".split()
_MAX_URL_CHARS: Final = 100
"""Of a picture's address, to know it by."""


def evict_media(message: Message, handle: str) -> dict[str, Any] | None:
    """Replace the media in *message*, also those among the results of tools."""
    if not message.media:
        return None
    write = find_format(message.format).write_text
    lines = {
        one.path: write(one.block, media(one.kind, _describe(one.block), handle))
        for one in message.media
    }
    return clone_with(message.wire, lines)


def _describe(block: Mapping[str, Any]) -> str:
    """Say what can be said of a block: its name, its type, its size, its address."""
    inner = [block[name] for name in _HOLDERS if isinstance(block.get(name), Mapping)]
    holder = inner[0] if inner else block
    facts = [holder[name] for name in _NAMES if isinstance(holder.get(name), str)]
    facts += [_address(data) for data in map(holder.get, _DATA) if isinstance(data, str)]
    return ", ".join(facts) or "no more is known"


def _address(data: str) -> str:
    """Return an address as it is, and of data written into the message its type and size."""
    if data.startswith(("http://", "https://", "file:", "gs://", "s3://")):
        return cut(data, _MAX_URL_CHARS)
    head, comma, body = data.partition(",")
    is_url = bool(comma) and head.startswith("data:")
    kind = head.removeprefix("data:").partition(";")[0] if is_url else ""
    size = f"{len(body if is_url else data) * 3 // 4} bytes"
    return f"{kind}, {size}" if kind else size


def clip_arguments(message: Message, handle: str) -> dict[str, Any] | None:
    """Cut the long arguments of every call that *message* makes, if there is something to cut."""
    if message.is_fixed:
        return None
    clipped = (clip(call, handle) for call in message.calls)
    changed = {call.path: call.raw_arguments for call in clipped if call is not None and call.path}
    return clone_with(message.wire, changed) if changed else None


RUNGS: Final[Mapping[str, Rung]] = {"evict_media": evict_media, "clip_arguments": clip_arguments}
"""Every rung by the name of its step, the gentlest first."""


def _shorten(rung: Rung, message: Message, original: Message, version: int) -> Message | None:
    """Return what stands for the *original* once a rung was taken on how it is now.

    `None` if there is nothing to write shorter, or if it could not be recognized as a stand-in.
    """
    wire = rung(message, handle_of((original,)))
    if wire is None:
        return None
    behind = behind_of((original,))
    note_provenance(wire, behind, version, (original,))
    loaded = Loader(original.format).load(wire, original.index)
    if not read_wording(wire, loaded).is_marked:
        return None
    return loaded.changed(id=original.id, stands_for=behind)
