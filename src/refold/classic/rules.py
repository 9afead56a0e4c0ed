"""The rules: one ordered list, the first that matches decides on a text and says why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from refold.calling import is_async
from refold.classic.code import has_fence, has_prose
from refold.classic.copies import Copy, find_copies, find_near_copies
from refold.classic.corrections import Corrections, find_corrections, find_importance
from refold.classic.reader import Reader, Writer
from refold.classic.texts import View
from refold.errors import ConfigError
from refold.messages.message import DERIVED_ID, Message
from refold.messages.untouchable import is_pinned
from refold.notation.spelling import REFERENCE
from refold.options import Options
from refold.scan.structure import is_json

SHORT: Final = 120
"""Characters; shorter texts stay as they are."""

Action = Literal[
    "preserved", "deduped", "fuzzy_deduped", "contradicted", "code_split", "compressed"
]
_NO_INDICES: Final[frozenset[int]] = frozenset()
_NOTHING: Final[Mapping[int, str]] = MappingProxyType({})


class Verdict(NamedTuple):
    """What happens to a text, and why."""

    action: Action
    reason: str
    to: Text | None = None
    """The text that a reference names."""
    similarity: float | None = None
    """Of a near copy, from 0 to 1."""


def kept(reason: str) -> Verdict:
    """Leave the text as it is."""
    return Verdict("preserved", reason)


def summarized(reason: str) -> Verdict:
    """Summarize the text, together with neighbors of the same role."""
    return Verdict("compressed", reason)


class Text:
    """One text of one message, numbered through the conversation."""

    __slots__ = ("message", "number", "part", "view")

    def __init__(self, number: int, message: Message, part: int, view: View) -> None:
        self.number: Final = number
        self.message: Final = message
        self.part: Final = part
        """Its number in the message."""
        self.view: Final = view

    @property
    def text(self) -> str:
        """The text itself."""
        return self.view.text


class Run:
    """A conversation while the rules decide on it: a rule sees what those before it decided."""

    def __init__(
        self,
        messages: Sequence[Message],
        options: Options,
        reader: Reader,
        *,
        window: int,
        writer: Writer | None = None,
        pinned: Mapping[int, str] = _NOTHING,
        hidden: frozenset[int] = _NO_INDICES,
        shortens_beside_calls: bool = False,
    ) -> None:
        self.messages: Final = messages
        self.options: Final = options
        self.reader: Final = reader
        self.detectors: Final = reader.detectors
        self.writer: Final = writer if writer is not None and writer.can_ask else None
        """A model that may write summaries."""
        self.recent_from: Final = recent_from(messages, window)
        self.pinned: Final = pinned
        """Messages that stay for the reason given, by their indices."""
        self.hidden: Final = hidden
        """Messages that were folded already: nothing may refer to them."""
        self.shortens_beside_calls: Final = shortens_beside_calls
        self.texts: Final[list[Text]] = []
        self._first: Final[list[int]] = []
        for message in messages:
            self._first.append(len(self.texts))
            for part in range(len(message.parts)):
                view = reader.view(message.parts[part].text)
                self.texts.append(Text(len(self.texts), message, part, view))
        self.verdicts: Final[list[Verdict | None]] = [None] * len(self.texts)

    def decide(self, rules: Sequence[Rule]) -> None:
        """Let each of the *rules* in turn decide on the texts that are still open."""
        verdicts = self.verdicts
        left = [text for text in self.texts if verdicts[text.number] is None]
        for rule in rules:
            for text in left:
                verdicts[text.number] = rule(self, text)
            left = [text for text in left if verdicts[text.number] is None]
        for text in left:
            verdicts[text.number] = kept("no_rule")
        for text in self.texts:
            text.view.forget()

    def of(self, message: Message) -> Sequence[Text]:
        """Return the texts of one message."""
        first = self._first[message.index]
        return self.texts[first : first + len(message.parts)]

    def verdict(self, text: Text) -> Verdict:
        """Return what was decided on *text*."""
        verdict = self.verdicts[text.number]
        assert verdict is not None, "every text is decided on"
        return verdict

    def is_open(self, text: Text) -> bool:
        """Tell whether no rule has decided on *text* yet."""
        return self.verdicts[text.number] is None

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
            and message.index not in self.hidden
        )

    def whole_view(self, message: Message) -> View:
        """Return the view of all texts of *message* together."""
        if len(message.parts) == 1:
            return self.texts[self._first[message.index]].view
        return View("\n".join([part.text for part in message.parts]))

    def read_at(self, text: Text) -> Text:
        """Return where *text* can be read: the copy that stays if it became a reference."""
        verdict = self.verdicts[text.number]
        is_reference = verdict is not None and verdict.action in ("deduped", "fuzzy_deduped")
        return verdict.to if is_reference and verdict and verdict.to else text

    # What other messages say about one is looked up when a rule first asks for it: by then, the
    # rules before it have decided.

    @cached_property
    def importance(self) -> Sequence[float]:
        """How important each message is."""
        return find_importance(self)

    @cached_property
    def copies(self) -> Mapping[int, Copy]:
        """What each open text is an exact copy of."""
        return find_copies(self)

    @cached_property
    def near_copies(self) -> Mapping[int, Copy]:
        """What each open text is a near copy of."""
        return find_near_copies(self)

    @cached_property
    def targets(self) -> frozenset[int]:
        """The texts to which exact copies refer."""
        return frozenset([copy.of.number for copy in self.copies.values()])

    @cached_property
    def near_targets(self) -> frozenset[int]:
        """The texts to which near copies refer."""
        return frozenset([copy.of.number for copy in self.near_copies.values()])

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

    @cached_property
    def corrections(self) -> Corrections:
        """Which open texts are corrected, and by which."""
        return find_corrections(self)


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


PROTECTIONS: Final[tuple[tuple[str, Callable[[Run, Message, str], bool]], ...]] = (
    ("not_a_turn", lambda _run, message, _text: not message.is_turn),
    ("preserved_role", lambda run, message, _text: message.role in run.options.preserve),
    ("pinned", lambda run, message, _text: is_pinned(message, run.options.pins)),
    (
        "recency_window",
        lambda run, message, _text: message.index >= run.recent_from and not run.is_large(message),
    ),
    # A provider may have signed the thinking before a call together with the text.
    (
        "tool_calls",
        lambda run, message, _text: bool(
            message.calls and (message.thinking or not run.shortens_beside_calls)
        ),
    ),
    (
        "short_content",
        lambda run, message, text: len(text) < SHORT and not run.is_large(message),
    ),
    ("already_compressed", lambda _run, message, _text: message.is_stand_in),
)
"""Why a text is kept for what its message is: reasons and predicates, in order."""


def protection(run: Run, message: Message, text: str) -> str:
    """Return the first reason for which a *text* of *message* is protected; "" if none is."""
    return next((reason for reason, holds in PROTECTIONS if holds(run, message, text)), "")


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


def _exact_copy(run: Run, text: Text) -> Verdict | None:
    copy = run.copies.get(text.number)
    return Verdict("deduped", "exact_duplicate", copy.of) if copy else None


def _exact_target(run: Run, text: Text) -> Verdict | None:
    return kept("duplicate_target") if text.number in run.targets else None


def _near_copy(run: Run, text: Text) -> Verdict | None:
    copy = run.near_copies.get(text.number)
    if copy is None:
        return None
    return Verdict("fuzzy_deduped", "fuzzy_duplicate", copy.of, copy.similarity)


def _near_target(run: Run, text: Text) -> Verdict | None:
    return kept("duplicate_target") if text.number in run.near_targets else None


def _named_before(run: Run, text: Text) -> Verdict | None:
    is_named = bool(run.named_before) and _unchanging(text.message.id) in run.named_before
    return kept("duplicate_target") if is_named else None


def _correcting(run: Run, text: Text) -> Verdict | None:
    corrected = run.corrections.correcting.get(text.number)
    return None if corrected is None else kept(f"corrects:{corrected}")


def _corrected(run: Run, text: Text) -> Verdict | None:
    correction = run.corrections.corrected.get(text.number)
    if correction is None:
        return None
    return Verdict("contradicted", f"contradicted:{correction.signal}", correction.by)


def _code(_: Run, text: Text) -> Verdict | None:
    if not has_fence(text.text):
        return None
    if has_prose(text.text):
        return Verdict("code_split", "code_split")
    return kept("code_fence_no_prose")


def _structure(run: Run, text: Text) -> Verdict | None:
    if run.is_large(text.message):
        return None
    if run.options.trace:
        hard = run.detectors.hard(text.view)
        return kept(f"hard_t0:{','.join(hard)}") if hard else None
    first = run.detectors.first_hard(text.view)
    return kept(f"hard_t0:{first}") if first else None


def _pattern(run: Run, text: Text) -> Verdict | None:
    for chosen in run.options.preserve_patterns:
        if chosen.pattern.search(text.text):
            return kept(f"pattern:{chosen.label}")
    return None


def _json(_: Run, text: Text) -> Verdict | None:
    # Even if it is large: half of it would not be JSON.
    return kept("json_structure") if is_json(text.text) else None


def _prose(_run: Run, _text: Text) -> Verdict:
    return summarized("compressible_prose")


RULES: Final[tuple[Rule, ...]] = (
    _pinned,
    _protected,
    _important,
    _exact_copy,
    _exact_target,
    _near_copy,
    _near_target,
    _named_before,
    _correcting,
    _corrected,
    _code,
    _structure,
    _pattern,
    _json,
    _prose,
)
"""In order of precedence: the first verdict on a text stands."""


def check_rules(rules: Sequence[Rule] | None) -> tuple[Rule, ...] | None:
    """Return the rules that a caller chose; `None` for refold's own.

    Raises `ConfigError` for anything but a list of ordinary (not async) functions.
    """
    if rules is None:
        return None
    if isinstance(rules, str) or not isinstance(rules, Sequence):
        raise ConfigError(f"rules must be a list of functions, got {rules!r}")
    for rule in rules:
        if not callable(rule) or is_async(rule):
            raise ConfigError(f"rules must hold ordinary functions only, got {rule!r}")
    return None if tuple(rules) == RULES else tuple(rules)
