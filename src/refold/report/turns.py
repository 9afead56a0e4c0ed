"""The folded conversation, message by message: who speaks, what it stands for, what it costs.

And which models it was held with, as the records of a session say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from refold.messages.message import Message
from refold.messages.token_count import CountedTexts
from refold.messages.wire import digest
from refold.result import Result
from refold.scan.tokens.choose import counter_for
from refold.scan.tokens.estimate import estimate_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A message as a model reads it, and what it costs beside what it stands for."""

    message: Message
    place: range
    """The messages it stands for, by their number."""
    is_folded: bool
    """Whether it stands for anything but itself."""
    tools: tuple[str, ...]
    """The tools whose results it shows."""
    tokens_before: int
    tokens_after: int


def list_turns(
    before: Sequence[Message],
    after: Sequence[Message],
    places: Sequence[range],
    model: str | None,
) -> Iterator[Turn]:
    """Yield the messages that a model sees; tokens are counted as *model* counts them."""
    count = make_counter(model)
    names = name_tools(before)
    for message, place in zip(after, places, strict=True):
        if not any(before[number].is_turn for number in place):
            continue
        source = before[place.start]
        yield Turn(
            message=message,
            place=place,
            is_folded=len(place) > 1 or message.digest != source.digest,
            tools=tools_of(message, names),
            tokens_before=sum(count.message(before[number]) for number in place),
            tokens_after=count.message(message),
        )


def make_counter(model: str | None) -> CountedTexts:
    """Return what counts the tokens of texts and messages, exactly where that can be done."""
    return CountedTexts(counter_for(model), estimate_tokens)


def name_tools(messages: Sequence[Message]) -> dict[str, str]:
    """Map the id of every call to the tool that it calls."""
    return {call.id: call.name for message in messages for call in message.calls}


def tools_of(message: Message, names: Mapping[str, str]) -> tuple[str, ...]:
    """Name the tools whose results *message* has."""
    tools = (names.get(part.call_id, "") for part in message.parts if part.call_id)
    return tuple(dict.fromkeys(name for name in tools if name))


def align(wires: Sequence[Mapping[str, Any]], result: Result) -> Iterator[tuple[range, Any]]:
    """Yield the places in *wires* that each message of *result* stands for, and that message.

    Together they cover all of *wires*, in order. A message that was kept is yielded as it was
    given, the same object.
    """
    for wire, place in zip(result.messages, result.places, strict=True):
        is_kept = len(place) == 1 and digest(wire) == digest(wires[place.start])
        yield place, wires[place.start] if is_kept else wire


_PLACES: Final = ("message", "payload")
"""Where Claude Code and Codex have the turn, and the model beside it."""
_MAX_CHARS: Final = 100
"""No model has a longer name; what is longer is something else."""
USUAL_MODELS: Final = (
    "claude-opus-5-5",
    "claude-sonnet-5-5",
    "claude-haiku-5-5",
    "gpt-6.1-sol",
    "gpt-6.1-terra",
    "gemini-4-argon",
    "gemini-3.8-flash",
)
"""Whose prices are shown where the model is not known: large and small ones of three makers."""


def models_in(wires: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the names of the models in order of their last appearance, the latest first."""
    models: dict[str, None] = {}
    for wire in wires:
        name = _model_of(wire)
        if name:
            models.pop(name, None)
            models[name] = None
    return list(reversed(models))


def _model_of(wire: Mapping[str, Any]) -> str:
    for place in (wire, *(wire.get(name) for name in _PLACES)):
        name = place.get("model") if isinstance(place, Mapping) else None
        # Claude Code writes `<synthetic>` where it speaks itself.
        if isinstance(name, str) and 0 < len(name) <= _MAX_CHARS and not name.startswith("<"):
            return name
    return ""
