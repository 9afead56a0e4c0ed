"""A cache of what is known of texts: tokens, codecs, what rules found, what models answered."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Final, TypeVar

from refold.classic.reader import Reader
from refold.codecs import CachedCodecTable
from refold.llm.ask import Answers, Questions
from refold.messages.folds import Fold
from refold.messages.token_count import CountedTexts
from refold.notation.spelling import CLASSIC, Spelling
from refold.plan.tables import OWN_TABLES, Tables

T = TypeVar("T")

_MAX_ANSWERS: Final = 1_000
"""How many answers of models are kept while a conversation grows."""


class TextCache:
    """Cached analyses of each distinct text.

    What a model says of a text is cached like everything else, but has to be asked for. A plan that
    lacks an answer notes the question; when it is answered, the plan is made again. So no step of
    the pipeline needs to know whether anything was asked.
    """

    def __init__(
        self,
        tokens: CountedTexts,
        *,
        spelling: Spelling = CLASSIC,
        tables: Tables = OWN_TABLES,
        may_write: bool = False,
        keeps_sentences: bool = True,
        before: TextCache | None = None,
    ) -> None:
        self.tokens = tokens
        self.spelling = spelling
        """How stand-ins are written."""
        self.tables = tables
        """Detectors, kinds and rules; use `codecs` for the codecs, which are cached."""
        self.codecs = CachedCodecTable(tables.codecs)
        """Re-encodes texts, each once."""
        self._may_write = may_write
        self.reader: Final[Reader] = Reader(
            tokens,
            detectors=tables.detectors,
            spelling=spelling,
            keeps_sentences=keeps_sentences,
            before=before.reader if before is not None else None,
        )
        """Reads texts for the rules."""
        self._written: dict[str, str | None] = {}
        self._to_write: dict[str, None] = {}
        self._stretches: dict[str, str] = {}
        self._told: dict[str, tuple[str, ...]] = {}

    @property
    def can_ask(self) -> bool:
        """Whether a model may write what is left of a text."""
        return self._may_write

    @property
    def looks(self) -> int:
        """How many texts were looked at so far."""
        return self.reader.looks

    def forget_sentences(self) -> None:
        """Forget what only planning needs; it takes more memory than the conversation."""
        self.reader.forget_sentences()

    def forget_counts(self) -> None:
        """Forget what depends on token counts, because the counter has learned."""
        self.tokens.forget()
        self.codecs.forget()
        self.reader.forget_counts()

    def keep_only(self, texts: frozenset[str]) -> None:
        """Forget what is known of all other texts, which will hardly be seen again.

        The latest answers of models stay, as they were expensive.
        """
        self.reader.keep_only(texts)
        self.tokens.keep_only(texts | self.reader.stand_ins)
        self.codecs.keep_only(texts)
        self._written = _latest(self._written)
        self._stretches = _only(self._stretches, self._written)
        self._told = _latest(self._told)

    @property
    def has_writer(self) -> bool:
        """Whether a model may write, or has written before."""
        return self._may_write or bool(self._written)

    def written(self, text: str) -> str | None:
        """Return what a model wrote for *text*, past the checks; note the question if not asked."""
        if self._may_write and text not in self._written:
            self._to_write[text] = None
        return self._written.get(text)

    def written_for_stretch(self, text: str, rules: str) -> str | None:
        """Return what a model wrote for a stretch, for which the *rules* have another text."""
        self._stretches[text] = rules
        return self.written(text)

    def note_use(self, stand_in: str, *texts: str) -> None:
        """Note that *stand_in* shows what a model wrote for *texts*."""
        self._told[stand_in] = texts

    def written_in(self, plan: Iterable[Fold]) -> set[str]:
        """Return the texts for which *plan* shows what a model wrote."""
        shown = (stand_in for fold in plan for stand_in in fold.texts.values())
        return {text for stand_in in shown for text in self._told.get(stand_in, ())}

    def take_questions(self) -> Questions:
        """Return the questions noted since the last call."""
        write = tuple(self._to_write)
        self._to_write.clear()
        rooms = {t: self.tokens(self._stretches[t]) for t in write if t in self._stretches}
        return Questions(write=write, rooms=rooms)

    def learn(self, questions: Questions, answers: Answers) -> None:
        """Store the answers; a question without one is not asked again."""
        self._written.update((text, answers.written.get(text)) for text in questions.write)


def _only(known: dict[str, T], texts: Container[str]) -> dict[str, T]:
    """Return what is known of *texts*."""
    return {text: value for text, value in known.items() if text in texts}


def _latest(answers: dict[str, T]) -> dict[str, T]:
    """Return the answers that came last."""
    if len(answers) <= _MAX_ANSWERS:
        return answers
    return dict(list(answers.items())[-_MAX_ANSWERS:])
