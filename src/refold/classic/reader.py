"""What is known of texts, kept from one plan to the next: findings, sentences, stand-ins."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Protocol

from refold.classic.detectors import TABLE, DetectorTable
from refold.classic.names import choose_names
from refold.classic.sentences import Sentences, TokenPoints, cut, read, summarize
from refold.classic.texts import View
from refold.messages.token_count import CountedTexts
from refold.notation.spelling import CLASSIC, Spelling

StandInKey = tuple[tuple[str, ...], str, str, str]
"""The texts of a summary, the depth, and the id and handle that it shows."""


class Writer(Protocol):
    """A model that writes summaries: what it was not asked yet, is noted as a question."""

    @property
    def can_ask(self) -> bool:
        """Whether there is a model."""
        ...

    def written(self, text: str) -> str | None:
        """Return what a model wrote for *text*, if it was asked and the answer passed."""
        ...

    def note_use(self, stand_in: str, *texts: str) -> None:
        """Note that *stand_in* shows what a model wrote for *texts*."""
        ...


class Reader:
    """Looks at each distinct text once. What an earlier reader knew of it is taken over."""

    def __init__(
        self,
        tokens: CountedTexts,
        *,
        detectors: DetectorTable = TABLE,
        spelling: Spelling = CLASSIC,
        keeps_sentences: bool = True,
        before: Reader | None = None,
    ) -> None:
        self.tokens: Final = tokens
        self.detectors: Final = detectors
        self.spelling: Final = spelling
        """How stand-ins are written."""
        self._keeps_sentences = keeps_sentences
        """Whether sentences are kept because a text may be summarized again: they take more
        memory than the text."""
        self.points: Final[TokenPoints] = TokenPoints() if before is None else before.points
        self._views: dict[str, View] = {}
        self._tags: dict[StandInKey, str | None] = {}
        self._known: Mapping[str, View] = MappingProxyType({}) if before is None else before._views
        self._known_tags: Mapping[StandInKey, str | None] = (
            MappingProxyType({}) if before is None else before._tags
        )

    def view(self, text: str) -> View:
        """Return what is known of *text*."""
        view = self._views.get(text)
        if view is None:
            view = self._views[text] = self._known.get(text) or View(text)
        return view

    def sentences(self, text: str) -> Sentences:
        """Return the scored sentences of *text*."""
        return read(self.view(text), self.points)

    def summary(self, texts: Sequence[str], budget: int) -> str:
        """Join the best sentences of *texts*; where there are none, the beginning is shown."""
        summary = summarize([self.sentences(text) for text in texts], budget)
        return summary or cut("\n\n".join(texts).strip(), budget)

    def names(self, texts: Sequence[str], body: str) -> list[str]:
        """Return what to list beside the summary *body* of *texts*."""
        return choose_names([*map(self.view, texts)], body, self.points, self.detectors)

    def stand_in(self, key: StandInKey, make: Callable[[], str | None]) -> str | None:
        """Return the stand-in under *key*, which *make* makes if it is not known."""
        if key not in self._tags:
            known = self._known_tags
            self._tags[key] = known[key] if key in known else make()
            if not self._keeps_sentences:
                for text in key[0]:
                    self.view(text).forget()
        return self._tags[key]

    @property
    def looks(self) -> int:
        """How many texts it has looked at, and how many it has shortened."""
        return len(self._views) + len(self._tags)

    @property
    def stand_ins(self) -> frozenset[str]:
        """The stand-ins that it has made."""
        return frozenset(filter(None, self._tags.values()))

    def forget_sentences(self) -> None:
        """Drop what takes more memory than the texts."""
        for view in self._views.values():
            view.forget()

    def forget_counts(self) -> None:
        """Drop what depends on the counts of tokens, because the counter has learned."""
        self._tags.clear()

    def keep_only(self, texts: frozenset[str]) -> None:
        """Drop what is known of other texts, which will hardly come again."""
        self._views = {text: view for text, view in self._views.items() if text in texts}
        self._tags = {key: tag for key, tag in self._tags.items() if texts.issuperset(key[0])}
        self._known, self._known_tags = MappingProxyType({}), MappingProxyType({})
