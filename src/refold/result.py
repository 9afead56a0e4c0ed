"""What a compression gives back: short to look at, complete to use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, NamedTuple

from refold.lazy import Lazy

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    M = TypeVar("M", default=Any)
else:
    from typing import TypeVar  # has defaults from Python 3.13 on

    M = TypeVar("M")

Thinking = Literal["kept", "stripped"]
NO_PIECES: Final[Lazy[tuple[Piece, ...]]] = Lazy.known(())
"""Of a text that was not cut: one for all of them."""


class Piece(NamedTuple):
    """A stretch of a text that was kept or dropped as one, and why."""

    text: str
    is_kept: bool
    reason: str
    """A word, and after a colon what it is about: `error`, `value:src/queue.py`, `worth_less`."""
    tokens: int
    """Its share of the tokens of the text."""
    part: int | None
    """Which text of the message it is from; `None` for the tool calls."""
    first_line: int
    """The line of that text in which it begins, from 1."""
    last_line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceEntry:
    """What happened to one text of one message, and why."""

    message_id: str
    message_index: int
    part: int
    """Which text of the message: 0 for a string content, else the number of the text part, and
    behind those the calls of which long arguments were cut."""
    action: str
    """preserved, compressed, deduped, fuzzy_deduped, contradicted, code_split, truncated; with
    the profiles `standard` and `lossless` also recoded, excerpted, digested, or clipped: calls of
    which long arguments were cut."""
    reason: str
    input_chars: int
    output_chars: int
    shown: str | None = None
    """What a digest that stands for several messages says of this one."""
    account: Lazy[tuple[Piece, ...]] = field(default=NO_PIECES, repr=False)
    """Its pieces, computed on first access."""

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """What was kept and what was dropped, piece by piece, and why; none if it was not cut.

        They tile the text that competed: with the profile `standard` a tool result may have been
        said shorter before. Those of a digest are those of all texts and calls of the message.
        """
        return self.account.get()

    def to_dict(self) -> dict[str, Any]:
        """Spell it as JSON-ready data, without its pieces."""
        names = [one.name for one in fields(self) if one.name != "account"]
        return {name: getattr(self, name) for name in names}


class _Readable:
    """A repr of a few telling figures instead of kilobytes of text."""

    __slots__ = ()

    def __rich_repr__(self) -> Iterator[tuple[str, object]]:
        raise NotImplementedError

    def __repr__(self) -> str:
        body = ", ".join(f"{name}={value!r}" for name, value in self.__rich_repr__())
        return f"{type(self).__name__}({body})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """What a folded conversation still shows: shares from 0 to 1; `None` if nothing is folded."""

    entity_retention: float | None = None
    """Share of the names in folded messages that their stand-ins still say."""
    structural_integrity: float | None = None
    """Share of their fenced blocks, bracketed data and tables that are still there."""
    reference_coherence: float | None = None
    """Share of the names still said whose first mention still says them."""
    quality_score: float | None = None
    """The three together: 0.4, 0.4 and 0.2."""


_NOTHING_FOLDED: Final = Lazy.known(Quality())


@dataclass(frozen=True, slots=True, kw_only=True)
class Compression:
    """Counters of one compression; always those of the messages that are returned."""

    original_version: int = 0
    ratio: float = 1.0
    """Characters before ÷ after."""
    token_ratio: float = 1.0
    """Tokens before ÷ after."""
    tokens_before: int = 0
    tokens_after: int = 0
    messages_compressed: int = 0
    """Summarized, merged or split messages."""
    messages_preserved: int = 0
    messages_deduped: int = 0
    messages_fuzzy_deduped: int = 0
    messages_contradicted: int = 0
    messages_pattern_preserved: int = 0
    messages_importance_preserved: int = 0
    messages_llm_classified: int = 0
    """Messages of which a classifier judged a text."""
    messages_llm_preserved: int = 0
    """Messages of which a text was kept because of that."""
    counter_failures: int = 0
    """Texts that the caller's token counter could not count, and that were estimated instead."""
    hook_failures: int = 0
    """Texts for which a scorer or token classifier failed, and our own means were used."""
    quality: Lazy[Quality] = _NOTHING_FOLDED
    """What the messages still show. Where it takes a look at every name in them, that is taken
    when one of its figures is first asked for."""
    decisions: tuple[TraceEntry, ...] = ()
    """One entry per text, with `trace=True`."""

    @property
    def entity_retention(self) -> float | None:
        """Share of the names in folded messages that are still said; `None` if none is folded."""
        return self.quality.get().entity_retention

    @property
    def structural_integrity(self) -> float | None:
        """Share of their fenced blocks, bracketed data and tables that are still there."""
        return self.quality.get().structural_integrity

    @property
    def reference_coherence(self) -> float | None:
        """Share of the names still said whose first mention still says them."""
        return self.quality.get().reference_coherence

    @property
    def quality_score(self) -> float | None:
        """The three together: 0.4, 0.4 and 0.2."""
        return self.quality.get().quality_score

    def to_dict(self) -> dict[str, Any]:
        """Spell it as JSON-ready data."""
        figures = asdict(replace(self, decisions=(), quality=_NOTHING_FOLDED))
        del figures["quality"]
        figures["decisions"] = [entry.to_dict() for entry in self.decisions]
        return {**figures, **asdict(self.quality.get())}


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacle:
    """A message that is in the way of a budget, and what it costs.

    It is one that no budget may touch, or what is left of one, or of several, that has given way
    as far as it can: `reason` says which.
    """

    message_id: str
    message_index: int
    tokens: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetReport:
    """How a token budget was kept, or why it could not be."""

    token_budget: int
    token_count: int
    rungs: tuple[str, ...] = ()
    """Rungs of the ladder that were climbed, in order; none if nothing had to be done."""
    recency_window: int = 0
    """How many of the last messages are as they were."""
    obstacles: tuple[Obstacle, ...] = ()
    """What is in the way when it does not fit, largest first."""
    stopped_by: str = ""
    """The option that kept the other messages as long as they are, when it does not fit."""

    @property
    def fits(self) -> bool:
        """Whether the budget is kept."""
        return self.token_count <= self.token_budget

    @property
    def over_by(self) -> int:
        """How many tokens too many; 0 if it fits."""
        return max(0, self.token_count - self.token_budget)

    @property
    def other_tokens(self) -> int:
        """What everything costs that is not listed as an obstacle."""
        return self.token_count - sum(obstacle.tokens for obstacle in self.obstacles)

    def explain(self) -> str:
        """Say in one line how it went."""
        if self.fits:
            how = " → ".join(self.rungs) or "nothing to do"
            return f"{self.token_count} of {self.token_budget} tokens ({how})"
        worst = [
            f"messages[{o.message_index}] {o.tokens} tokens ({o.reason})"
            for o in self.obstacles[:3]
        ]
        if self.stopped_by:
            worst.append(f"{self.other_tokens} tokens that may not be folded ({self.stopped_by})")
        return (
            f"{self.token_count} tokens do not fit into {self.token_budget}, {self.over_by} too "
            f"many; in the way: {'; '.join(worst)}; a budget of {self.token_count} would do"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedAnswer:
    """An answer of a model that a gate did not let through."""

    gate: str
    why: str
    missing: tuple[str, ...] = ()
    """Facts of the text that the answer had lost."""
    text: str = field(default="", repr=False)
    """The text that the answer was to stand for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReport:
    """What asking models has brought and cost."""

    asked: int = 0
    """Distinct texts that a model was asked about."""
    accepted: int = 0
    """Answers that passed all gates, or keep more than the rules do, and are used."""
    repaired: int = 0
    """Answers that did so once the facts they had lost were appended, and are used."""
    unused: int = 0
    """Answers that passed, but saved nothing once they were marked as summaries, or stand for what
    the budget had no room for."""
    refused: tuple[RefusedAnswer, ...] = ()
    """What the gates refused, and why; one answer may be refused by several. A session tells of
    the latest 256, and so it does of `failures`."""
    failures: tuple[str, ...] = ()
    """Errors of the model's client, and deadlines."""
    calls: int = 0
    """Calls that were answered; none for answers that were remembered."""
    input_tokens: int = 0
    """As the model's client reports them; estimated from the texts if it does not."""
    output_tokens: int = 0
    cost_usd: float = 0.0
    """Known only if the summarizer says so: see `refold.llm.summarizers.Accounting`."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Result(_Readable, Generic[M]):
    """The shorter conversation, and the originals it stands for.

    Messages have the type of those that were given: folding a `list[MessageParam]` gives a
    `Result[MessageParam]`.
    """

    messages: list[M]
    """The conversation in the caller's own shape, ready to send: every SDK's types take it."""
    verbatim: dict[str, Any]
    """Originals by id; for messages that cannot carry provenance also the links to find them."""
    compression: Compression = field(default_factory=Compression)
    first_changed: int = 0
    """Place of the first message that is not as it was given: what a provider has cached, and the
    thinking that it has signed, is good up to here."""
    thinking: Thinking = "kept"
    """Whether thinking behind that place was left out, because it is bound to what came before."""
    budget: BudgetReport | None = None
    """How the token budget was kept; `None` without one."""
    model: ModelReport | None = None
    """What the model was asked and what became of its answers; `None` without one."""

    @property
    def fits(self) -> bool | None:
        """Whether the token budget is kept; `None` without one."""
        return None if self.budget is None else self.budget.fits

    @property
    def recency_window(self) -> int | None:
        """How many of the last messages a token budget left as they were; `None` without one."""
        return None if self.budget is None else self.budget.recency_window

    @property
    def token_count(self) -> int:
        """Tokens of the conversation as it goes out."""
        return self.tokens_after

    @property
    def tokens_before(self) -> int:
        """Tokens of the conversation as it came in."""
        return self.compression.tokens_before

    @property
    def tokens_after(self) -> int:
        """Tokens of the conversation as it goes out."""
        return self.compression.tokens_after

    @property
    def tokens_saved(self) -> int:
        """How many fewer tokens; never below 0."""
        return self.tokens_before - self.tokens_after

    @property
    def decisions(self) -> tuple[TraceEntry, ...]:
        """What happened to every text, with `trace=True`."""
        return self.compression.decisions

    def __rich_repr__(self) -> Iterator[tuple[str, object]]:
        yield "messages", len(self.messages)
        yield "tokens_before", self.tokens_before
        yield "tokens_after", self.tokens_after
        yield "originals", len(self.verbatim)
        if self.budget is not None:
            yield "fits", self.budget.fits


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class UncompressResult(_Readable, Generic[M]):
    """The restored conversation, and what could not be restored."""

    messages: list[M]
    messages_expanded: int = 0
    """Stand-ins that were replaced by their originals."""
    messages_passthrough: int = 0
    """Messages that were not stand-ins, or whose originals are missing."""
    missing_ids: list[str] = field(default_factory=list)
    """Originals that the store does not have; their stand-ins are still in place."""
    messages_unknown: int = 0
    """Messages that read like stand-ins, or say that they are, but of which nothing is known here:
    somebody typed or forged them, or it is the wrong store, conversation or part of a view."""

    def __rich_repr__(self) -> Iterator[tuple[str, object]]:
        yield "messages", len(self.messages)
        yield "messages_expanded", self.messages_expanded
        yield "missing_ids", self.missing_ids
