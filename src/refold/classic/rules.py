"""The rules: one ordered list, the first that matches decides on a text and says why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Final, Literal, NamedTuple

from refold.calling import is_async
from refold.classic.others import (
    Copies,
    find_copies,
    find_corrections,
    find_near_copies,
    score_importance,
)
from refold.classic.structured import has_fence, has_prose
from refold.classic.texts import Reader, View
from refold.errors import ConfigError
from refold.messages.message import DERIVED_ID, Message
from refold.messages.untouchable import is_pinned
from refold.notation.spelling import REFERENCE
from refold.options import Options
from refold.scan.structure import is_json

SHORT: Final = 120  # characters: shorter texts stay as they are

Action = Literal[
    "preserved", "deduped", "fuzzy_deduped", "contradicted", "code_split", "compressed"
]


class Verdict(NamedTuple):
    """What happens to a text, and why."""

    action: Action
    reason: str
    to: Text | None = None
    """The text that a reference names."""
    similarity: float | None = None
    """Of a near copy, from 0 to 1."""


@lru_cache(maxsize=1_000)
def kept(reason: str) -> Verdict:
    """Leave the text as it is."""
    return Verdict("preserved", reason)


def summarized(reason: str) -> Verdict:
    """Summarize the text, together with neighbors of the same role."""
    return Verdict("compressed", reason)


Write = Callable[[str], str | None]
"""A model that writes summaries: it returns the one for a text if it was asked already and the
answer passed, and what it was not asked yet is noted as a question."""


@dataclass(slots=True, eq=False, repr=False)
class Text:
    """One text of one message, and what was decided on it."""

    message: Final[Message]
    part: Final[int]
    """Its number in the message."""
    view: Final[View]
    text: Final[str]
    verdict: Verdict | None = None


@dataclass(eq=False, repr=False)
class Run:
    """A conversation while the rules decide on it: a rule sees what those before it decided."""

    messages: Final[Sequence[Message]]
    options: Final[Options]
    reader: Final[Reader]
    window: Final[int]
    """How many of the last turns stay."""
    write: Write | None = None
    """A model that may write summaries."""
    pinned: Final[Mapping[int, str]] = field(default_factory=dict[int, str])
    """Messages that stay for the reason given, by their indices."""
    shortens_beside_calls: Final[bool] = False
    is_tried: Final[bool] = False
    """Whether a text may be summarized several times, so that its sentences are kept."""

    def __post_init__(self) -> None:
        self.recent_from = recent_from(self.messages, self.window)
        view = self.reader.view
        self.by_message = [
            [Text(m, part, view(piece.text), piece.text) for part, piece in enumerate(m.parts)]
            for m in self.messages
        ]
        self.texts = [text for texts in self.by_message for text in texts]

    def decide(self, rules: Sequence[Rule]) -> None:
        """Let each of the *rules* in turn decide on the texts that are still open."""
        left = [text for text in self.texts if text.verdict is None]
        for rule in rules:
            for text in left:
                text.verdict = rule(self, text)
            left = [text for text in left if text.verdict is None]
        for text in left:
            text.verdict = kept("no_rule")

    def is_large(self, message: Message) -> bool:
        """Tell whether *message* is so large that recency and structure do not protect it."""
        limit = self.options.observation_threshold
        return limit is not None and self.reader.tokens.message(message) > limit

    def may_refer(self, message: Message) -> bool:
        """Tell whether *message* may become a reference, or the target of one."""
        return (
            message.role not in self.options.preserve
            and not message.calls
            and not message.is_stand_in
            and message.is_turn
        )

    # What other messages say about one is looked up when a rule first asks for it: by then, the
    # rules before it have decided.

    @cached_property
    def importance(self) -> Sequence[float]:
        """How important each message is."""
        views = [
            texts[0].view if len(texts) == 1 else View("\n".join([text.text for text in texts]))
            for texts in self.by_message
        ]
        return score_importance(views, least=self.options.importance_threshold)

    @cached_property
    def copies(self) -> Mapping[Text, Verdict]:
        """What open texts and what they are exact copies of come to."""
        return _references(find_copies(self), "deduped", "exact_duplicate")

    @cached_property
    def near_copies(self) -> Mapping[Text, Verdict]:
        """What open texts and what they are near copies of come to."""
        return _references(find_near_copies(self), "fuzzy_deduped", "fuzzy_duplicate")

    @cached_property
    def corrections(self) -> Mapping[Text, Verdict]:
        """What open texts that are corrected, or correct others, come to."""
        return {
            text: kept(reason) if by is None else Verdict("contradicted", reason, by)
            for text, (reason, by) in find_corrections(self).items()
        }

    @cached_property
    def named_before(self) -> frozenset[str]:
        """The ids of messages to which stand-ins of earlier folds refer."""
        return frozenset(
            _unchanging(reference[1])
            for message in self.messages
            if message.is_stand_in
            for part in message.parts
            if (reference := REFERENCE.match(part.text))
        )


def _references(copies: Copies, action: Action, reason: str) -> dict[Text, Verdict]:
    """Let copies refer to their targets, which stay."""
    targets = {target: kept("duplicate_target") for target, _ in copies.values()}
    return targets | {text: Verdict(action, reason, *copy) for text, copy in copies.items()}


def recent_from(messages: Sequence[Message], window: int) -> int:
    """Return the index of the first of the last *window* turns."""
    index = len(messages)
    for message in reversed(messages):
        if window <= 0:
            break
        if message.is_turn:
            window -= 1
            index = message.index
    return index


def _unchanging(id_: str) -> str:
    """Return the part of a message id that does not change from fold to fold."""
    derived = DERIVED_ID.fullmatch(id_)
    return derived[1] if derived else id_


Rule = Callable[[Run, Text], Verdict | None]
"""Decides on an open text, or leaves it to the next rule."""

# In order of precedence.


def _pinned(run: Run, text: Text) -> Verdict | None:
    reason = run.pinned.get(text.message.index)
    return None if reason is None else kept(reason)


def protection(run: Run, message: Message, text: str) -> str:
    """Return the first reason for which a *text* of *message* is protected; "" if none is."""
    reason = ""
    if not message.is_turn:
        reason = "not_a_turn"
    elif message.role in run.options.preserve:
        reason = "preserved_role"
    elif run.options.pins and is_pinned(message, run.options.pins):
        reason = "pinned"
    elif message.index >= run.recent_from and not run.is_large(message):
        reason = "recency_window"
    # A provider may have signed the thinking before a call together with the text.
    elif message.calls and (message.thinking or not run.shortens_beside_calls):
        reason = "tool_calls"
    elif len(text) < SHORT and not run.is_large(message):
        reason = "short_content"
    elif message.is_stand_in:
        reason = "already_compressed"
    return reason


def _protected(run: Run, text: Text) -> Verdict | None:
    reason = protection(run, text.message, text.text)
    return kept(reason) if reason else None


def _important(run: Run, text: Text) -> Verdict | None:
    if not run.options.importance_scoring:
        return None
    score = run.importance[text.message.index]
    if score < run.options.importance_threshold or run.is_large(text.message):
        return None
    return kept(f"importance:{score:.2f}")


def _named_before(run: Run, text: Text) -> Verdict | None:
    is_named = bool(run.named_before) and _unchanging(text.message.id) in run.named_before
    return kept("duplicate_target") if is_named else None


def _code(_: Run, text: Text) -> Verdict | None:
    if not has_fence(text.text):
        return None
    if has_prose(text.text):
        return Verdict("code_split", "code_split")
    return kept("code_fence_no_prose")


def _structure(run: Run, text: Text) -> Verdict | None:
    if run.is_large(text.message):
        return None
    detectors, is_traced = run.reader.detectors, run.options.trace
    hard = ",".join(detectors.hard(text.view)) if is_traced else detectors.first_hard(text.view)
    return kept(f"hard_t0:{hard}") if hard else None


def _pattern(run: Run, text: Text) -> Verdict | None:
    for chosen in run.options.preserve_patterns:
        if chosen.pattern.search(text.text):
            return kept(f"pattern:{chosen.label}")
    return None


RULES: Final[tuple[Rule, ...]] = (
    _pinned,
    _protected,
    _important,
    lambda run, text: run.copies.get(text),
    lambda run, text: run.near_copies.get(text),
    _named_before,
    lambda run, text: run.corrections.get(text),
    _code,
    _structure,
    _pattern,
    # Even if it is large: half of it would not be JSON.
    lambda _, text: kept("json_structure") if is_json(text.text) else None,
    lambda _run, _text: summarized("compressible_prose"),
)
"""In order of precedence: the first verdict on a text stands."""


def check_rules(rules: Sequence[Rule] | None) -> tuple[Rule, ...]:
    """Return the rules that a caller chose, or refold's own.

    Raises `ConfigError` for anything but a list of ordinary (not async) functions.
    """
    if rules is None:
        return RULES
    if isinstance(rules, str) or not isinstance(rules, Sequence):
        raise ConfigError(f"rules must be a list of functions, got {rules!r}")
    for rule in rules:
        if not callable(rule) or is_async(rule):
            raise ConfigError(f"rules must hold ordinary functions only, got {rule!r}")
    return tuple(rules)
