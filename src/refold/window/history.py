"""Read a history that grows: what an earlier pass has read and folded is not read again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from refold.engine import Engine, Job
from refold.errors import MessageError
from refold.messages.formats import Loader, check_list
from refold.messages.message import Message
from refold.messages.wire import clone
from refold.plan.text_cache import TextCache
from refold.scan.tokens.choose import factor_of
from refold.window.passes import Given, Pass, Tail
from refold.window.reading import Chains, Wires, as_sent

MOST_ANEW: Final = 64
"""Up to so many messages a conversation is folded from its originals again at every pass; a longer
one from what was last sent and what has come since, so that a pass does not cost more and more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """A list as it was given, and what of it there is to fold."""

    wires: Wires
    """The list itself."""
    job: Job
    firsts: Sequence[int]
    """Where in the list stands what each message of the job stands for, or begins to."""
    total: int
    """Tokens of the list."""
    turn: int
    """How often the model has spoken so far."""
    tail: Sequence[Message]
    """What came after the earlier pass; everything without one."""
    is_anew: bool
    """Whether all of the list is in the job, as it was given."""
    chains: Chains
    """Where the stand-ins of the list end."""
    short: Mapping[str, Any]
    """What undoes the short forms of what was read now."""
    earlier: Pass | None = None
    """The last pass over the beginning of the list."""
    read: Tail | None = None
    """What was read behind it, if that can be gone on from."""

    def give_back(self) -> None:
        """Leave what was read for the next call: nothing has been changed that it does not know."""
        if self.earlier is not None and self.read is not None:
            self.earlier.tails[:] = [self.read]

    @property
    def ids(self) -> frozenset[str]:
        """The ids that messages of the list have of their own."""
        before = frozenset[str]() if self.earlier is None or self.is_anew else self.earlier.ids
        read = self.job.messages if self.is_anew else self.tail
        return before.union(message.id for message in read if message.has_envelope)

    def sent(self) -> Iterable[Any]:
        """Yield the list as it would be sent if nothing had to be done."""
        if self.is_anew:
            return (message.wire for message in self.job.messages)
        # A sibling room: imported late, so that neither is needed first.
        from refold.agent.shapes import apply_short_form

        return map(apply_short_form, self.wires)

    @property
    def given(self) -> Given:
        """The list, for later comparison."""
        return Given.of(self.wires, None if self.earlier is None else self.earlier.given)


def read_history(messages: Wires, earlier: Pass | None, engine: Engine) -> History:
    """Read *messages*, which begin with those of the *earlier* pass, if there is one."""
    if earlier is None or len(messages) <= MOST_ANEW:
        chains = Chains(engine.new_chain(), engine.new_chain())
        wires, short = _sent(messages, chains, engine)
        job = engine.begin(wires, chain=chains.sent)
        start = 0 if earlier is None else len(earlier.given)
        return History(
            wires=messages,
            job=job,
            firsts=range(len(messages)),
            total=total_of(job),
            turn=_turns_in(job.messages),
            tail=job.messages[start:],
            is_anew=True,
            chains=chains,
            short=short,
            earlier=earlier,
        )
    start = len(earlier.given)
    factor = factor_of(engine.options.counter)
    growth = factor / earlier.factor  # what is gone is not counted again
    read, short = _read_tail(messages[start:], earlier, factor, engine)
    tail = tuple(read.messages)
    job = Job((*earlier.shown, *read.numbered), read.text_cache)
    return History(
        wires=messages,
        job=job,
        firsts=(*earlier.firsts, *range(start, len(messages))),
        total=round(earlier.total * growth) + sum(map(job.text_cache.tokens.message, tail)),
        turn=earlier.turn + _turns_in(tail),
        tail=tail,
        is_anew=False,
        chains=read.chains,
        short=short,
        earlier=earlier,
        read=read if read.is_plain and not short else None,
    )


def _sent(messages: Wires, chains: Chains, engine: Engine) -> tuple[Wires, dict[str, Any]]:
    """Return *messages* as they are to be sent, and what undoes that; the store knows it, too."""
    wires, rendering = as_sent(messages, chains, engine.conversation)
    if rendering is None:
        return wires, {}
    engine.save(rendering)
    return wires, rendering.verbatim


def _read_tail(
    messages: Wires, earlier: Pass, factor: float, engine: Engine
) -> tuple[Tail, dict[str, Any]]:
    """Read what came after an *earlier* pass; what the call before has read is not read again."""
    told = check_list(messages)
    known = earlier.take_tail(factor)
    if known is not None:
        done = len(known.copies)
        rest = told[done:]
        if list(told[:done]) == known.copies and not any(map(_has_short_form, rest)):
            _read_on(known, rest, earlier, engine)
            return known, {}
    text_cache = engine.new_text_cache() if known is None else known.text_cache
    fresh = new_tail(earlier, text_cache, factor, engine)
    return fresh, _read_on(fresh, told, earlier, engine)


def new_tail(earlier: Pass, text_cache: TextCache, factor: float, engine: Engine) -> Tail:
    """Return what is known behind an *earlier* pass before anything is read."""
    loader = Loader(earlier.shown[0].format, strict_roles=engine.options.strict_roles)
    chains = earlier.chains.copy()
    return Tail(text_cache=text_cache, factor=factor, loader=loader, chains=chains)


def _has_short_form(message: Mapping[str, Any]) -> bool:
    # A sibling room: imported late, so that neither is needed first.
    from refold.agent.shapes import has_short_form

    return has_short_form(message)


def _read_on(tail: Tail, messages: Wires, earlier: Pass, engine: Engine) -> dict[str, Any]:
    """Read *messages* that follow those of *tail*; return what undoes their short forms."""
    start = len(earlier.given) + len(tail.messages)
    wires, short = _sent(messages, tail.chains, engine)
    read = []
    for index, wire in enumerate(wires, start):
        message = tail.loader.load(wire, index)
        if message.id in earlier.ids:
            raise MessageError(
                f"id {message.id!r} is already used by an earlier message; ids must be unique",
                f"messages[{index}].id",
            )
        read.append(message)
    recognized = engine.recognize(tuple(read), tail.chains.sent)
    place = len(earlier.shown) + len(tail.messages)
    tail.copies += [clone(dict(wire)) for wire in messages]
    tail.messages += recognized
    tail.numbered += numbered(recognized, place)
    return short


def numbered(messages: Sequence[Message], start: int = 0) -> tuple[Message, ...]:
    """Return *messages* with their places from *start* on as indices."""
    return tuple(
        message if message.index == place else message.changed(index=place)
        for place, message in enumerate(messages, start)
    )


def total_of(job: Job) -> int:
    """Return the tokens of all messages of *job*."""
    return sum(map(job.text_cache.tokens.message, job.messages))


def _turns_in(messages: Sequence[Message]) -> int:
    """Return how often the model speaks in *messages*."""
    return sum(message.role == "assistant" for message in messages)
