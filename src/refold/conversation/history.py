"""Read a list that is passed whole every time: what an earlier pass has read is reused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from refold.conversation.passes import Pass, Passes
from refold.conversation.state import State, Wires
from refold.conversation.view import Item, View, given_item, number_through
from refold.engine import Engine
from refold.errors import MessageError, TooManyMessagesError
from refold.messages.formats import check_list, load, recognize
from refold.messages.lookup import Lookup
from refold.messages.message import Message
from refold.messages.restore import Linked, Trust, unfold_all
from refold.tools.shapes import apply_short_form

MOST_ANEW: Final = 64
"""Up to so many messages a conversation is folded from its originals again at every pass; a longer
one from what was last sent and what has come since, so that a pass does not cost more and more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """A list as it was given, and how it stands before anything is done about it."""

    wires: Wires
    """The list itself."""
    state: State
    """What there is to fold: what an earlier pass has left and what came since, or all there is."""
    is_anew: bool
    """Whether all of the list is in it, as it was given."""
    short: Mapping[str, Any]
    """What undoes the short forms of what was read now."""
    earlier: Pass | None
    """The last pass over the beginning of the list."""
    tail: Sequence[Item]
    """What came after the earlier pass; everything without one."""
    total: int
    """Tokens of the list."""
    turn: int
    """How often the model has spoken so far."""

    def reused(self) -> View | None:
        """Return what the earlier pass has left with what came since; `None` without one."""
        if self.earlier is None or not self.is_anew:
            return None if self.earlier is None else self.state.view
        before = self.earlier.state.view
        items = number_through((*before.items, *self.tail), self.state.text_cache.tokens)
        return replace(before, items=items)

    def sent(self) -> Iterable[Any]:
        """Yield the list as it would be sent if nothing had to be done."""
        if self.is_anew:
            return (item.source.wire for item in self.state.view.items)
        return map(apply_short_form, self.wires)

    def give_back(self, passes: Passes) -> None:
        """Leave what was read for the next call: nothing has been changed that it does not know.

        What stands for something else has to be looked up each time.
        """
        read = self.state.view.items if self.earlier is None else self.tail
        if self.short or any(item.source.link or item.source.provenance for item in read):
            return
        if self.earlier is None:
            passes.put_state(self.wires, self.state)
        elif not self.is_anew:
            self.state.copy_given(self.wires)
            self.earlier.grown[:] = [self.state]


def find_history(messages: Wires, passes: Passes, engine: Engine, available: int) -> History:
    """Read *messages* on from what is known of them; from all of them if they fit by now."""
    earlier = passes.find(messages)
    if earlier is not None:
        history = read_history(messages, earlier, engine)
        if history.is_anew or history.total > available:
            return history
    return read_history(messages, None, engine, passes.take_state(messages))


def read_history(
    messages: Wires, earlier: Pass | None, engine: Engine, whole: State | None = None
) -> History:
    """Read *messages*, which begin with those of the *earlier* pass, if there is one.

    Without one, *whole* may be how some of them stand in which nothing is folded.
    """
    is_anew = earlier is None or len(messages) <= MOST_ANEW
    if earlier is not None and not is_anew:
        state = earlier.go_on(messages)
    elif whole is not None and whole.reads_alike(messages[whole.view.length :]):
        state = whole
    else:
        name = engine.options.format
        name = recognize(check_list(messages)).name if name == "auto" else name
        state = State(engine, format_name=name)
    state.view = state.counted()
    short: dict[str, Any] = {}
    if earlier is not None:
        short = state.extend(messages[state.view.length : len(earlier)])
        state.note_shown(earlier.result.verbatim)
    short |= state.extend(messages[state.view.length :])
    start = 0 if earlier is None else len(earlier)
    tail = state.view.items[start:] if is_anew else state.view.tail
    spoken = sum(item.source.role == "assistant" for item in tail)
    return History(
        wires=messages,
        state=state,
        is_anew=is_anew,
        short=short,
        earlier=earlier,
        tail=tail,
        total=state.view.unfolded_tokens,
        turn=spoken if earlier is None else earlier.turn + spoken,
    )


def unroll_items(state: State, own: Lookup) -> list[Item] | None:
    """Return what is in *state* with stand-ins of ours replaced; see `unroll`, also for *own*."""
    engine = state.engine
    found = unroll(state.view.sources, engine.lookup or own, own, engine.trust, MOST_ANEW)
    if found is None:
        return None
    wires, links = zip(*(linked for linked, _ in found), strict=True)
    items: list[Item] = []
    for message, (_, place) in zip(engine.begin(wires, links=links).messages, found, strict=True):
        is_next = bool(items) and items[-1].first == place  # the cost of a place is that of one
        cost = 0 if is_next else state.view.items[place].unfolded
        items.append(given_item(message, dict(message.wire), place, cost))
    return items


def unroll(
    messages: Sequence[Message], lookup: Lookup, own: Lookup, trust: Trust, most: int
) -> list[tuple[Linked, int]] | None:
    """Return the conversation with earlier stand-ins of ours replaced by what they stand for.

    A summary is made from the originals as long as they can be found and are not more than *most*.
    What stands for one message is replaced only if *own* knows it: what others made short, such as
    a `CompressionManager`, stays so. Each message comes with the index of the one that it, or what
    it stood behind, was given as. `None` if there is nothing to replace.
    """
    unrolled: list[tuple[Linked, int]] = []
    is_other = False
    for message in messages:
        originals: Sequence[Linked] = [(message.wire, message.link)]
        if message.claims_provenance or message.link:
            originals = _originals(message, lookup, own, trust, most)
            is_other = is_other or originals[0][0] is not message.wire
        unrolled.extend((original, message.index) for original in originals)
    if not is_other:
        return None
    try:
        load([wire for (wire, _), _ in unrolled])
    except MessageError:  # originals that stand beside their own summary: ids would clash
        return None
    return unrolled


def _originals(
    message: Message, lookup: Lookup, own: Lookup, trust: Trust, most: int
) -> Sequence[Linked]:
    """Return the messages behind one, or that one if they are too many or unknown."""
    linked = (message.wire, message.link)
    try:
        found = unfold_all(linked, lookup, trust, most)
        return found if len(found) > 1 else unfold_all(linked, own, trust, most)
    except TooManyMessagesError:
        return [linked]
