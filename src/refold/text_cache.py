"""A cache of what is known of texts: tokens, codecs, what rules found, what models answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from refold.classic.detectors import TABLE as DETECTORS
from refold.classic.detectors import Detector, DetectorTable
from refold.classic.detectors import table_of as check_detectors
from refold.classic.rules import RULES, Rule, Write, check_rules
from refold.classic.texts import Reader
from refold.codecs import CODECS, Codec, CodecTable, check_codecs
from refold.llm.ask import Answers, Questions
from refold.messages.token_count import CountedTexts
from refold.notation.spelling import CLASSIC, Spelling


class Tables:
    """The tables that folding goes by: refold's own rows, or what a caller chose instead."""

    def __init__(
        self,
        *,
        detectors: Sequence[Detector] | None = None,
        codecs: Sequence[Codec] | None = None,
        rules: Sequence[Rule] | None = None,
    ) -> None:
        """Check what a caller chose; what is `None` is refold's own.

        Raises `ConfigError` for what is not a table of its kind.
        """
        self.detectors: Final[DetectorTable] = check_detectors(detectors)
        self.codecs: Final = check_codecs(codecs)
        self.rules: Final = check_rules(rules)

    @property
    def chosen(self) -> list[str]:
        """The names of those that are not refold's own."""
        is_chosen = {
            "detectors": self.detectors is not DETECTORS,
            "codecs": self.codecs != CODECS,
            "rules": self.rules != RULES,
        }
        return [name for name, chosen in is_chosen.items() if chosen]


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
        tables: Tables | None = None,
        may_write: bool = False,
        before: TextCache | None = None,
    ) -> None:
        self.tokens = tokens
        self.tables = tables = tables or Tables()
        self.codecs = CodecTable(tables.codecs)
        """Re-encodes texts, each once."""
        self.can_ask: Final = may_write
        """Whether a model may write what is left of a text."""
        self.reader: Final[Reader] = Reader(
            tokens,
            detectors=tables.detectors,
            spelling=spelling,
            before=before.reader if before is not None else None,
        )
        """Reads texts for the rules."""
        self._written: dict[str, str | None] = {}
        self._to_write: dict[str, None] = {}
        self._stretches: dict[str, str] = {}

    def forget_sentences(self) -> None:
        """Forget what only planning needs; it takes more memory than the conversation."""
        self.reader.forget_sentences()

    def forget_counts(self) -> None:
        """Forget what depends on token counts, because the counter has learned."""
        self.tokens.forget()
        self.codecs.forget()
        self.reader.forget_counts()

    @property
    def writer(self) -> Write | None:
        """Writes texts shorter: a model, if there is one."""
        return self.written if self.can_ask else None

    def written(self, text: str) -> str | None:
        """Return what a model wrote for *text*, past the checks; note the question if not asked."""
        if self.can_ask and text not in self._written:
            self._to_write[text] = None
        return self._written.get(text)

    def written_for_stretch(self, text: str, rules: str) -> str | None:
        """Return what a model wrote for a stretch, for which the *rules* have another text."""
        self._stretches[text] = rules
        return self.written(text)

    def take_questions(self) -> Questions:
        """Return the questions noted since the last call."""
        write = tuple(self._to_write)
        self._to_write.clear()
        rooms = {t: self.tokens(self._stretches[t]) for t in write if t in self._stretches}
        return Questions(write=write, rooms=rooms)

    def learn(self, questions: Questions, answers: Answers) -> None:
        """Store the answers; a question without one is not asked again."""
        self._written.update((text, answers.get(text)) for text in questions.write)
