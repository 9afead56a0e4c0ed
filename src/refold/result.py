"""What a compression returns: the result, its figures and reports, and the trace."""

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
NO_ENTRIES: Final[Lazy[tuple[TraceEntry, ...]]] = Lazy.known(())
NO_PIECES: Final[Lazy[tuple[Piece, ...]]] = Lazy.known(())
"""Shared by all texts that were not cut."""


class Piece(NamedTuple):
    """A span of a text that was kept or dropped as a whole, and why."""

    text: str
    is_kept: bool
    reason: str
    """A word, with details after a colon: `error`, `value:src/queue.py`, `worth_less`."""
    tokens: int
    """Its share of the text's tokens."""
    part: int | None
    """The index of the text in its message; `None` for tool calls."""
    first_line: int
    """The line where it begins, counted from 1."""
    last_line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceEntry:
    """What happened to one text of one message, and why."""

    message_id: str
    message_index: int
    part: int
    """The index of the text in its message. Calls with clipped arguments come after the texts."""
    action: str
    """`preserved`, `compressed`, `deduped`, `fuzzy_deduped`, `contradicted`, `code_split` or
    `truncated`; `standard` and `lossless` add `recoded`, `excerpted`, `digested` and `clipped` (a
    call with a long argument)."""
    reason: str
    input_chars: int
    output_chars: int
    shown: str | None = None
    """What the digest of several messages shows of this one."""
    account: Lazy[tuple[Piece, ...]] = field(default=NO_PIECES, repr=False)
    """Its pieces, computed on first access."""

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The text piece by piece, kept or dropped, and why; empty if it was not cut.

        The pieces tile the text as it was when it was cut: a tool result may have been re-encoded
        before. In a digest, these are the pieces of all texts and calls of the message.
        """
        return self.account.get()

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data, without its pieces."""
        names = [one.name for one in fields(self) if one.name != "account"]
        return {name: getattr(self, name) for name in names}


class _Readable:
    """A repr with a few figures instead of kilobytes of text."""

    __slots__ = ()

    def __rich_repr__(self) -> Iterator[tuple[str, object]]:
        raise NotImplementedError

    def __repr__(self) -> str:
        body = ", ".join(f"{name}={value!r}" for name, value in self.__rich_repr__())
        return f"{type(self).__name__}({body})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compression:
    """The figures of one compression, measured on the messages that are returned."""

    original_version: int = 0
    ratio: float = 1.0
    """Characters before ÷ after."""
    token_ratio: float = 1.0
    """Tokens before ÷ after."""
    tokens_before: int = 0
    tokens_after: int = 0
    messages_compressed: int = 0
    """Messages that were summarized, merged, excerpted or otherwise shortened."""
    messages_preserved: int = 0
    messages_deduped: int = 0
    messages_fuzzy_deduped: int = 0
    messages_contradicted: int = 0
    messages_pattern_preserved: int = 0
    messages_importance_preserved: int = 0
    counter_failures: int = 0
    """Texts on which the caller's token counter failed; they were estimated instead."""
    decisions: tuple[TraceEntry, ...] = ()
    """What happened to each text, with `trace=True`."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        figures = asdict(replace(self, decisions=()))
        return {**figures, "decisions": [entry.to_dict() for entry in self.decisions]}


def percent_saved(before: int, after: int) -> str:
    """Spell the share of tokens saved: `−53.7 %`, or `±0 %`."""
    if before == after or not before:
        return "±0 %"
    share = 100 * (1 - after / before)
    return f"{'−' if share > 0 else '+'}{abs(share):.1f} %"


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacle:
    """A message that keeps a conversation from fitting into its budget.

    `reason` is why: it must not be changed, or it is a stand-in that cannot get any shorter.
    """

    message_id: str
    message_index: int
    tokens: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetReport:
    """How a token budget was kept, or why it could not be.

    `explain` says so in one line:

        if not result.fits:
            print(result.budget.explain())
    """

    token_budget: int
    token_count: int
    rungs: tuple[str, ...] = ()
    """The steps that were taken, in order; empty if everything fit."""
    recency_window: int = 0
    """How many of the last messages are unchanged."""
    obstacles: tuple[Obstacle, ...] = ()
    """Messages that cannot be shortened further, the largest first."""
    stopped_by: str = ""
    """The option that protected the other messages, if the conversation does not fit."""

    @property
    def fits(self) -> bool:
        """Whether the conversation fits."""
        return self.token_count <= self.token_budget

    @property
    def over_by(self) -> int:
        """How many tokens too many it has; 0 if it fits."""
        return max(0, self.token_count - self.token_budget)

    @property
    def other_tokens(self) -> int:
        """The tokens of everything that is not an obstacle."""
        return self.token_count - sum(obstacle.tokens for obstacle in self.obstacles)

    def explain(self) -> str:
        """Return the same as one line of text."""
        from refold.report.pieces import say_reason

        count, budget = f"{self.token_count:,}", f"{self.token_budget:,}"
        if self.fits:
            how = " → ".join(self.rungs) or "nothing to do"
            return f"{count} of {budget} tokens ({how})"
        worst = [
            f"messages[{o.message_index}] {o.tokens:,} tokens ({say_reason(o.reason)})"
            for o in self.obstacles[:3]
        ]
        if self.stopped_by:
            worst.append(f"{self.other_tokens:,} tokens that may not be folded ({self.stopped_by})")
        return (
            f"{count} tokens do not fit into {budget}, {self.over_by:,} too many; cannot be "
            f"shortened: {'; '.join(worst)}; a budget of {self.token_count} would be enough"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedAnswer:
    """An answer of a model that was not used, and which check refused it."""

    check: str
    why: str
    """In kinds and counts, never in words of the text or of the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReport:
    """What a model was asked, and what that cost."""

    asked: int = 0
    """Distinct texts that it was asked to shorten."""
    accepted: int = 0
    """Answers that passed all checks."""
    repaired: int = 0
    """Answers that passed after the facts they lacked were appended."""
    refused: tuple[RefusedAnswer, ...] = ()
    """Rejected answers and why, one entry per check. A session keeps the latest 256, as with
    `failures`."""
    failures: tuple[str, ...] = ()
    """Errors and timeouts of the model's client."""
    calls: int = 0
    """Calls that were answered, not counting cached answers."""
    input_tokens: int = 0
    """As the provider reports them."""
    output_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Result(_Readable, Generic[M]):
    """The folded conversation, its originals and figures.

        result = compress(messages, token_budget="30%")
        send(result.messages)
        result.show()
        print(result.explain())

    Messages keep their type: folding a `list[MessageParam]` gives a `Result[MessageParam]`.
    """

    messages: list[M]
    """The folded conversation in its own format, ready to send."""
    verbatim: dict[str, Any]
    """Originals by id, and the records of the view; `uncompress` accepts it in place of a store."""
    compression: Compression = field(default_factory=Compression)
    first_changed: int = 0
    """Index of the first changed message; prompt caches and signed thinking stay valid up to here.
    """
    thinking: Thinking = "kept"
    """Whether thinking after that message was removed."""
    budget: BudgetReport | None = None
    """How the token budget was kept; `None` without one."""
    model: ModelReport | None = None
    """What a model was asked and what became of its answers; `None` without one."""
    conversation: str | None = None
    """The name under which it was folded."""
    places: tuple[range, ...] = ()
    """For each message, the indices of the input messages that it stands for or is."""
    entries: Lazy[tuple[TraceEntry, ...]] = field(default=NO_ENTRIES, compare=False)
    """What happened to each text; computed on first access, by `explain`."""

    @property
    def fits(self) -> bool | None:
        """Whether the token budget is kept; `None` without a budget."""
        return None if self.budget is None else self.budget.fits

    @property
    def recency_window(self) -> int | None:
        """How many of the last messages the budget left unchanged."""
        return None if self.budget is None else self.budget.recency_window

    @property
    def token_count(self) -> int:
        """The same as `tokens_after`."""
        return self.tokens_after

    @property
    def tokens_before(self) -> int:
        """Tokens of the input."""
        return self.compression.tokens_before

    @property
    def tokens_after(self) -> int:
        """Tokens of the folded conversation."""
        return self.compression.tokens_after

    @property
    def tokens_saved(self) -> int:
        """Tokens saved; never below 0."""
        return self.tokens_before - self.tokens_after

    @property
    def decisions(self) -> tuple[TraceEntry, ...]:
        """What happened to each text, with `trace=True`."""
        return self.compression.decisions

    def show(self) -> None:
        """Print the folded conversation as a model reads it."""
        from refold.report.text import draw_view

        print("\n".join(draw_view(self)))

    def explain(self) -> str:
        """Return the figures and one line for each message: what happened to it, and why."""
        from refold.report.text import explain

        return "\n".join(explain(self))

    def __rich_repr__(self) -> Iterator[tuple[str, object]]:
        yield "messages", len(self.messages)
        yield "tokens_before", self.tokens_before
        yield "tokens_after", self.tokens_after
        yield "change", percent_saved(self.tokens_before, self.tokens_after)
        yield "cache", f"{self.first_changed} of {len(self.messages)} messages as before"
        yield "originals", sum(not key.startswith("refold:") for key in self.verbatim)
        if self.budget is not None:
            yield "fits", self.budget.fits


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class UncompressResult(_Readable, Generic[M]):
    """A restored conversation, and what could not be restored."""

    messages: list[M]
    messages_expanded: int = 0
    """How many stand-ins were replaced by their originals."""
    messages_passthrough: int = 0
    """How many messages are not stand-ins, or lack originals."""
    missing_ids: list[str] = field(default_factory=list)
    """Ids of originals and keys of records that the store should have but does not; their stand-ins
    are still in place."""
    unknown: tuple[int, ...] = ()
    """Indices of input messages that read like stand-ins but have no record: typed or forged, or
    the store, the conversation or the view is not the right one."""
    is_known: bool = False
    """Whether a record of this view was found."""
    places: tuple[int, ...] = ()
    """For each message, the index of the input message that it is, or that stood for it."""

    @property
    def complete(self) -> bool:
        """Whether everything was restored, as far as can be known."""
        return not self.missing_ids and not self.unknown

    @property
    def messages_unknown(self) -> int:
        """How many messages are in `unknown`."""
        return len(self.unknown)

    def explain(self) -> str:
        """Return in one line what stayed folded, and why."""
        why: list[str] = []
        if self.missing_ids:
            named = ", ".join(self.missing_ids[:3]) + (", …" if len(self.missing_ids) > 3 else "")
            why.append(f"{len(self.missing_ids)} originals or records are missing ({named})")
        if self.unknown:
            where = ", ".join(f"messages[{n}]" for n in self.unknown[:3])
            why.append(
                f"{len(self.unknown)} messages read like stand-ins and are not known ({where}): is "
                "it another store or conversation=, or a view that was edited (edited=True)?"
            )
        return "; ".join(why) or "everything is restored"

    def __rich_repr__(self) -> Iterator[tuple[str, object]]:
        yield "messages", len(self.messages)
        yield "complete", self.complete
        yield "messages_expanded", self.messages_expanded
        if self.missing_ids:
            yield "missing_ids", self.missing_ids
        if self.unknown:
            yield "unknown", self.unknown
