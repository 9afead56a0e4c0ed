"""What every stage gets to see besides the draft: options, and facts about texts made once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from refold.detectors import Findings, detect, soft_texts
from refold.model.draft import Draft, Verdict
from refold.model.message import Message
from refold.options import Options
from refold.strategies.prose import Unit, make_units
from refold.text.entities import iter_entities
from refold.text.view import TextView
from refold.tokens.base import CountedTexts

_MAX_ENTITY_CHARS: Final = 120


class Analyses:
    """What is known of each distinct text; worked out when first asked for, then kept."""

    def __init__(self, tokens: CountedTexts) -> None:
        self.tokens = tokens
        self._findings: dict[str, Findings] = {}
        self._units: dict[str, list[Unit]] = {}
        self._names: dict[str, dict[str, None]] = {}
        self._entities: dict[str, tuple[str, ...]] = {}

    def findings(self, text: str) -> Findings:
        """Return the structure that the detectors see in *text*."""
        known = self._findings.get(text)
        if known is None:
            known = self._findings[text] = detect(TextView(text))
        return known

    def units(self, text: str) -> list[Unit]:
        """Return the scored sentences of *text*."""
        known = self._units.get(text)
        if known is None:
            known = self._units[text] = make_units(text)
        return known

    def names(self, text: str) -> Collection[str]:
        """Return the people, identifiers, quantities and places that *text* names, each once."""
        known = self._names.get(text)
        if known is None:
            known = self._names[text] = dict.fromkeys(iter_entities(text))
        return known

    def entities(self, text: str) -> tuple[str, ...]:
        """Return what of *text* is worth listing beside its summary, each once."""
        known = self._entities.get(text)
        if known is None:
            found = dict.fromkeys((*self.names(text), *soft_texts(TextView(text))))
            known = tuple(name for name in found if len(name) <= _MAX_ENTITY_CHARS)
            self._entities[text] = known
        return known


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """The ground rules of one run."""

    options: Options
    analyses: Analyses
    recent_from: int
    """Index of the first message inside the recency window."""
    hidden: frozenset[int] = frozenset()
    """Indices of messages that are already folded: nothing may refer to their texts."""

    @classmethod
    def of(
        cls, messages: Sequence[Message], options: Options, analyses: Analyses, window: int
    ) -> Setting:
        """Set up a run in which the last *window* turns are recent."""
        turns = [message.index for message in messages if message.is_turn]
        recent = turns[-window:] if window else []
        return cls(
            options=options,
            analyses=analyses,
            recent_from=recent[0] if recent else len(messages),
        )

    def is_recent(self, message: Message) -> bool:
        """Tell whether *message* is inside the recency window."""
        return message.index >= self.recent_from

    def is_large(self, message: Message) -> bool:
        """Tell whether *message* is so large that being recent or structured does not save it."""
        limit = self.options.observation_threshold
        return limit is not None and self.analyses.tokens.message(message) > limit

    def may_refer(self, message: Message) -> bool:
        """Tell whether *message* may be replaced by, or serve as, the other end of a reference."""
        return (
            message.role not in self.options.preserve
            and not message.calls
            and message.provenance is None
            and message.is_turn
            and message.index not in self.hidden
        )


Stage = Callable[[Draft, Setting], Iterator[Verdict]]
"""A step of the pipeline: looks at the draft and yields verdicts on segments."""
