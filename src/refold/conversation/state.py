"""The state of one growing conversation: what was given, what is shown of it, and its tokens.

A `Session` has one and appends to it. A `ContextWindowManager` has one for each conversation that
it has seen: it is given the whole list every time, recognizes the beginning, and appends the rest.
Nothing here decides when to fold, or how.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from refold.conversation.view import Item, View, count_anew, number_through
from refold.engine import Engine
from refold.messages.folds import Fold, Plan, kept_fold
from refold.messages.formats import Loader, check_list, format_names, recognize
from refold.messages.manifest import folds_in
from refold.messages.message import Message
from refold.messages.wire import Wire, clone
from refold.plan.render import Rendering, render_short_forms
from refold.plan.text_cache import TextCache
from refold.scan.tokens.choose import factor_of
from refold.tools.shapes import apply_short_form, drop_short_form, has_short_form

Wires = Sequence[Mapping[str, Any]]


class Given:
    """Copies of the messages as they were given, and their digests where known.

    No more than that is kept of what is out of view, and in two lists: of pairs, the garbage
    collector would have to look at each.
    """

    __slots__ = ("_digests", "_wires")

    def __init__(self) -> None:
        self._digests: list[str] = []
        self._wires: list[Wire] = []

    def __len__(self) -> int:
        return len(self._wires)

    def put(self, index: int, wire: Wire, digest: str = "") -> None:
        """Add a message at *index*, in the place of what an interrupted append may have left."""
        self._digests[index:] = [digest]
        self._wires[index:] = [wire]

    @property
    def copies(self) -> list[Wire]:
        """The list of messages itself, not a copy: only for comparisons."""
        return self._wires

    def wires(self, length: int) -> list[Wire]:
        """Return the first *length* messages."""
        return self._wires[:length]

    def names(self, length: int) -> list[str]:
        """Return the digests of the first *length* messages."""
        return self._digests[:length]

    def copy(self) -> Given:
        """Return an independent copy."""
        fresh = Given()
        fresh._digests, fresh._wires = self._digests.copy(), self._wires.copy()
        return fresh


class State:
    """One conversation, for one thread at a time.

    An exception at any point of `append`, such as `KeyboardInterrupt`, leaves it as it was before,
    or as it is after it: whatever changes, `view` is what counts, and is changed in one step.
    """

    def __init__(
        self, engine: Engine, *, format_name: str = "", text_cache: TextCache | None = None
    ) -> None:
        self.engine = engine
        options = engine.options
        self.text_cache: TextCache = text_cache or engine.new_text_cache()
        self.view = View(factor=factor_of(options.counter))
        self.given = Given()
        self._format_name = format_name or options.format
        self._loader = Loader(self._format_name, strict_roles=options.strict_roles)
        self.trail = engine.new_trail()
        """What is known of the messages as they were given, in the short form if they have one."""

    def append(self, wire: Mapping[str, Any]) -> None:
        """Add one message at the end; the state keeps its own copy."""
        index = self.view.length
        self._loader.rewind(index)
        loaded = self._loader.load(wire, index)
        own = loaded.changed(wire=clone(dict(wire)))
        message = self._recognize((own,), index)[0]
        self.given.put(index, message.wire, message.digest)
        self.view.append(message, clone(message.wire), self.text_cache.tokens.message(message))

    def extend(self, messages: Wires) -> dict[str, Any]:
        """Add messages at the end, as they are to be sent; return what undoes their short forms.

        They stay the caller's, and are not copied.
        """
        start = self.view.length
        short = self._read_short_forms(messages, start)
        wires = messages if short is None else short.messages
        loaded = tuple(self._loader.load(wire, index) for index, wire in enumerate(wires, start))
        count = self.text_cache.tokens.message
        for number, message in enumerate(self._recognize(loaded, start)):
            behind = None if short is None else short.stands[number]
            known = message if behind is None else message.changed(stands_for=behind)
            self.view.append(known, dict(message.wire), count(message))
        return {} if short is None else short.verbatim

    def _recognize(self, messages: tuple[Message, ...], start: int) -> tuple[Message, ...]:
        """Find out what the next messages stand for, and those before them that are in view."""
        if len(self.trail.keys) > start:  # an addition was interrupted, or undone
            self.trail = self.trail.copy(start)
        before = len(self.trail.stands)
        known = self.engine.recognize(messages, self.trail)
        fresh = sum(message.stands_for is not None for message in known)
        if len(self.trail.stands) > before + fresh and self.engine.get is not None:
            folds = {stand.place: stand.fold for stand in self.trail.stands if stand.place < start}
            behind = folds_in(folds.values(), self.engine.get)
            for place, item in enumerate(self.view.items):
                fold = behind.get(folds.get(item.first, ""))
                if fold and item.is_as_given and item.source.stands_for is None:
                    told = item.source.changed(stands_for=fold)
                    self.view.items[place] = replace(item, fold=kept_fold(told, "not_folded_yet"))
        return known

    def _read_short_forms(self, messages: Wires, start: int) -> Rendering | None:
        """Show the short forms of `CompressionManager` in the place of the long ones, if any."""
        if not any(map(has_short_form, check_list(messages))):
            return None
        sent = [apply_short_form(m) if isinstance(m, dict) else m for m in messages]
        originals = [drop_short_form(message) for message in messages]
        rendering = render_short_forms(originals, sent, self.trail.copy(start))
        self.engine.save(rendering)
        return rendering

    def reads_alike(self, messages: Wires) -> bool:
        """Tell whether more *messages* would leave the format of the conversation unchanged."""
        names = format_names()
        return names.index(recognize(check_list(messages)).name) >= names.index(self._format_name)

    def copy_given(self, messages: Wires) -> None:
        """Copy those of *messages*, the whole list, that are not copied yet."""
        for index in range(len(self.given), len(messages)):
            self.given.put(index, clone(dict(messages[index])))

    def fork(self, text_cache: TextCache | None = None) -> State:
        """Return an independent copy."""
        other = State(self.engine, format_name=self._format_name, text_cache=text_cache)
        other.view = replace(self.view, items=self.view.items.copy())
        other.given = self.given.copy()
        other._loader = self._loader.copy()
        other.trail = self.trail.copy()
        return other

    @property
    def wires(self) -> list[Wire]:
        """The conversation as it was given."""
        return self.given.wires(self.view.length)

    @property
    def names(self) -> list[str]:
        """The digests of its messages."""
        return self.given.names(self.view.length)

    def read_given(self, length: int) -> tuple[Message, ...]:
        """Read the first *length* messages once more."""
        loader = Loader(self.engine.options.format)
        given = enumerate(self.given.wires(length))
        loaded = tuple(loader.load(wire, index) for index, wire in given)
        return self.engine.recognize(loaded, self.engine.new_trail())

    def cut(self, length: int) -> View:
        """Return the view of the first *length* messages, without adopting it.

        If the last fold has seen more than these, it is a view in which nothing is folded.
        """
        now = self.view
        if length >= now.seen:
            return replace(now, items=now.items[: len(now.items) - (now.length - length)])
        fresh = View(factor=now.factor)
        for message in self.read_given(length):
            fresh.append(message, clone(message.wire), self.text_cache.tokens.message(message))
        return fresh

    def counted(self, slack: float = 0.0) -> View:
        """Return the view, counted again if the counter's factor drifted by more than *slack*."""
        now, factor = self.view, factor_of(self.engine.options.counter)
        growth = factor / now.factor
        if abs(growth - 1) <= slack:
            return now
        self.text_cache.forget_counts()
        items = count_anew(now.items, self.text_cache.tokens, growth)
        return replace(now, items=items, factor=factor)

    def show(
        self,
        plan: Plan,
        written: Rendering,
        before: Sequence[Item],
        *,
        first: int = 0,
        originals: Mapping[int, Message] | None = None,
    ) -> list[Item]:
        """Return the items of a view after a fold: what *plan* made of the items *before*.

        It was *written* from its fold number *first* on. *originals* are messages behind sources of
        the plan, by their places: what was written shorter before the plan was made.
        """
        made = self._items(plan[first:], written, before, originals or {})
        return number_through((*before[:first], *made), self.text_cache.tokens)

    def _items(
        self,
        plan: Plan,
        written: Rendering,
        before: Sequence[Item],
        originals: Mapping[int, Message],
    ) -> Iterator[Item]:
        start = plan[0].sources[0].index if plan else 0
        for fold, wire in zip(plan, written.messages, strict=True):
            source, end = fold.sources[0], fold.sources[-1].index + 1
            behind = before[source.index : end]
            is_paired = fold.is_rolled and bool(source.calls or source.is_tool_result)
            is_apart = len(behind) == 1 and (is_paired or behind[0].is_apart)
            is_one = len(behind) == 1 and not (is_apart and not fold.is_kept)
            is_last = fold is plan[-1]  # what was dropped behind it counts with it
            yield Item(
                fold=fold if is_one else self._read_back(fold, wire, behind[0].first),
                wire=wire,
                first=behind[0].first,
                end=behind[-1].end,
                unfolded=sum(item.unfolded for item in before[start : None if is_last else end]),
                is_apart=is_apart,
                original=originals.get(source.index) if is_one else None,
            )
            start = end

    def _read_back(self, fold: Fold, wire: dict[str, Any], index: int) -> Fold:
        """Return a fold of the single message that *fold* has become."""
        made = self.engine.read_back(fold, wire, index)
        return kept_fold(made, "already_compressed")

    def keep_texts(self, items: Sequence[Item]) -> None:
        """Drop what is cached of texts that are not in *items*."""
        self.text_cache.keep_only(frozenset(text for item in items for text in item.texts()))
