"""What is shown of a growing conversation, and what the next fold starts from.

The next fold starts from what a view shows, never from the whole conversation. A message that is
shown in short is folded from its original; but what several messages share is from then on one
message, which the next summary may take in. So a fold costs what a view costs, however long the
conversation has become, and the originals of a summary of summaries are found layer by layer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

from refold.messages.folds import Fold, kept_fold
from refold.messages.message import Message
from refold.messages.token_count import CountedTexts
from refold.messages.wire import clone
from refold.result import BudgetReport


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One message of a view, and the originals it stands for."""

    fold: Fold
    """How its source is shown: unchanged or shortened."""
    wire: dict[str, Any]
    """The message as it is sent."""
    first: int
    """The index in the conversation of the first message it stands for."""
    end: int
    """The index after the last message it stands for."""
    unfolded: int
    """The tokens of the messages that it stands for, and of any dropped before them."""
    tokens_to: int = 0
    """The tokens of the view up to here."""
    unfolded_to: int = 0
    """The tokens of the conversation up to here."""
    is_apart: bool = False
    """Whether it shows a call or a result without the other: then neither comes back alone."""
    original: Message | None = None
    """The original message, if it was shortened before it was folded."""

    @property
    def source(self) -> Message:
        """What the next fold starts from; its index is the place in the view."""
        return self.original or self.fold.sources[0]

    @property
    def is_shared(self) -> bool:
        """Whether it stands for several messages, or shows a call apart from its result."""
        return self.end - self.first > 1 or self.is_apart

    @property
    def is_as_given(self) -> bool:
        """Whether it shows its one message word for word."""
        return self.fold.is_kept and not self.is_shared and self.original is None

    @property
    def shows_thinking(self) -> bool:
        """Whether thinking is in it, which may be bound to what comes before."""
        return bool(self.source.thinking) and not (self.fold.is_rolled or self.fold.is_stripped)

    def hides(self, wanted: Set[int]) -> bool:
        """Tell whether it stands for one of the *wanted* messages and does not show it verbatim."""
        return not self.is_as_given and not wanted.isdisjoint(range(self.first, self.end))

    def texts(self) -> Iterator[str]:
        """Yield all of its texts."""
        yield from self.source.texts()
        yield from self.fold.texts.values()
        yield from (call.text for call in self.fold.calls.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A view, and how it came about; only its list of items grows, and a fold makes another one."""

    items: list[Item] = field(default_factory=list[Item])
    settled: int = 0
    """How many items the last fold has settled for good; the rest were recent."""
    folded: int = 0
    """How many items there were after the last fold; the rest came later."""
    seen: int = 0
    """How many messages the last fold has seen: more than are behind the items, if it has dropped
    the last of them."""
    is_guarded: bool = False
    """Whether every fold so far was made under a budget, which leaves some messages alone."""
    is_stripped: bool = False
    """Whether thinking is left out anywhere; noted, so that no view has to scan all items."""
    folds: int = 0
    """The number of folds that changed something."""
    budget: BudgetReport | None = None
    """The budget report of the last fold under a budget."""
    factor: float = 1.0
    """The factor of the counter when the tokens were counted."""

    @property
    def length(self) -> int:
        """How many messages the conversation has."""
        return max(self.seen, self.items[-1].end) if self.items else self.seen

    @property
    def sources(self) -> list[Message]:
        """What the next fold starts from."""
        return [item.source for item in self.items]

    @property
    def tail(self) -> list[Item]:
        """The items since the last fold."""
        return self.items[self.folded :]

    @property
    def tokens(self) -> int:
        """The tokens of the view."""
        return self.tokens_before(len(self.items))

    @property
    def tail_tokens(self) -> int:
        """The tokens of the items since the last fold."""
        return self.tokens - self.tokens_before(self.folded)

    @property
    def unfolded_tokens(self) -> int:
        """The tokens of the conversation."""
        return self.items[-1].unfolded_to if self.items else 0

    def tokens_before(self, place: int) -> int:
        """Return the tokens of the first *place* items."""
        return self.items[place - 1].tokens_to if place else 0

    def hidden(self, end: int) -> frozenset[int]:
        """Return the places before *end* that do not show a message word for word."""
        return frozenset(n for n, item in enumerate(self.items[:end]) if not item.is_as_given)

    def is_best_for(self, budget: int) -> bool:
        """Tell whether it is what the last fold made of all messages under this same *budget*."""
        report, is_all = self.budget, self.folded == len(self.items)
        if report is None or not is_all or report.token_budget != budget:
            return False
        return self.tokens <= report.token_count

    def append(self, message: Message, wire: dict[str, Any], cost: int) -> None:
        """Add a message that is not folded yet, shown as *wire*, which costs so many tokens.

        Nothing has changed before the one step that adds it, and everything has after it.
        """
        place = len(self.items)
        source = message if message.index == place else message.changed(index=place)
        totals = self.tokens + cost, self.unfolded_tokens + cost
        self.items.append(given_item(source, wire, self.length, cost, totals))


def given_item(
    message: Message,
    wire: dict[str, Any],
    index: int,
    cost: int,
    totals: tuple[int, int] = (0, 0),
) -> Item:
    """Return the item of a message that is not folded yet; *index* says where it was given."""
    return Item(
        fold=kept_fold(message, "not_folded_yet"),
        wire=wire,
        first=index,
        end=index + 1,
        unfolded=cost,
        tokens_to=totals[0],
        unfolded_to=totals[1],
    )


def number_through(items: Iterable[Item], tokens: CountedTexts) -> list[Item]:
    """Renumber the items and add up their totals, after others were put before them."""
    shown = unfolded = 0
    numbered: list[Item] = []
    for place, item in enumerate(items):
        fold = _at(item.fold, place)
        original = item.original and item.original.changed(index=place)
        shown += tokens.fold(fold)
        unfolded += item.unfolded
        numbered.append(
            replace(item, fold=fold, original=original, tokens_to=shown, unfolded_to=unfolded)
        )
    return numbered


def _at(fold: Fold, place: int) -> Fold:
    """Return the fold of one message at another *place*."""
    source = fold.sources[0]
    if source.index == place:
        return fold
    return fold.changed(sources=(source.changed(index=place),))


def count_anew(items: Iterable[Item], tokens: CountedTexts, growth: float) -> list[Item]:
    """Recount everything for a counter that now counts *growth* times as much.

    What is out of view is not counted again: its figure grows by as much.
    """
    return number_through(
        (
            replace(
                item,
                unfolded=round(item.unfolded * growth)
                if item.is_shared
                else tokens.message(item.source),
            )
            for item in items
        ),
        tokens,
    )


def unshare(
    items: Sequence[Item], given: Sequence[Message], wanted: Set[int], tokens: CountedTexts
) -> list[Item]:
    """Replace every summary that hides one of the *wanted* by its original messages.

    *given* is the whole conversation; *wanted* are indices in it.
    """
    found: list[Item] = []
    for item in items:
        if not item.is_shared or not item.hides(wanted):
            found.append(item)
            continue
        found += [
            given_item(message, clone(message.wire), message.index, tokens.message(message))
            for message in given[item.first : item.end]
        ]
    return number_through(found, tokens)


def by_index(report: BudgetReport, items: Sequence[Item]) -> BudgetReport:
    """Translate places in the view to messages of the conversation in *report*."""
    obstacles = [replace(o, message_index=items[o.message_index].first) for o in report.obstacles]
    return replace(report, obstacles=tuple(obstacles))
