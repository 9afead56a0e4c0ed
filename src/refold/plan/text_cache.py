"""A cache of all that is computed or asked about texts: findings, summaries, names, answers."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import Final, TypeVar

from refold.codecs import CachedCodecTable
from refold.detectors import Findings
from refold.llm.ask import Answers, Questions
from refold.llm.classify import Verdict
from refold.messages.folds import Fold
from refold.messages.message import Message
from refold.messages.token_count import CountedTexts
from refold.notation.spelling import CLASSIC, Spelling
from refold.plan.hooks import Hooks
from refold.plan.shorten import POINTS, SummaryRules
from refold.plan.shorten.extract import Extract, cut_passage, read_extract, summarize_extracts
from refold.plan.shorten.prose import (
    Units,
    make_units,
    summarize_groups,
)
from refold.plan.tables import OWN_TABLES, Tables
from refold.scan.entities import find_names, missing_from
from refold.scan.mentions import choose_mentions, find_mentions, without_secrets
from refold.scan.truncate import cut_words

T = TypeVar("T")
K = TypeVar("K", bound="tuple[tuple[str, ...], *tuple[object, ...]]")
StandInKey = tuple[tuple[str, ...], *tuple[str, ...]]
"""The texts of a stand-in, and whatever else it depends on."""

_MAX_ENTITY_CHARS: Final = 120
"""A longer name would take the room of a sentence in a tag."""
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
        rules: SummaryRules = POINTS,
        tables: Tables = OWN_TABLES,
        hooks: Hooks | None = None,
        may_judge: bool = False,
        may_write: bool = False,
        keeps_sentences: bool = True,
    ) -> None:
        self.tokens = tokens
        self.spelling = spelling
        """How stand-ins are written."""
        self.rules = rules
        """The rules by which prose is summarized."""
        self.tables = tables
        """Detectors, kinds and rules; use `codecs` for the codecs, which are cached."""
        self.codecs = CachedCodecTable(tables.codecs)
        """Re-encodes texts, each once."""
        self.hooks: Final = hooks or Hooks()
        self.may_judge = may_judge
        self._may_write = may_write
        self._keeps_sentences = keeps_sentences or self.hooks.scores
        """Whether sentences are cached: if texts may be summarized again, or are expensive to
        score. All sentences together take more memory than the conversation."""
        self._findings: dict[str, Findings] = {}
        self._summaries: dict[tuple[tuple[str, ...], int], str] = {}
        self._stand_ins: dict[StandInKey, str | None] = {}
        self._units: dict[str, Units] = {}
        self._extracts: dict[str, Extract] = {}
        self._named: dict[str, tuple[str, ...]] = {}
        self._found: dict[str, tuple[str, ...]] = {}
        self._mentions: dict[str, tuple[str, ...]] = {}
        self._hidden: dict[str, str] = {}
        self._kept_tokens: dict[str, str | None] = {}
        self._judged: dict[str, Verdict | None] = {}
        self._written: dict[str, str | None] = {}
        self._to_judge: dict[str, None] = {}
        self._to_write: dict[str, None] = {}
        self._stretches: dict[str, str] = {}
        self._told: dict[str, tuple[str, ...]] = {}

    @property
    def can_ask(self) -> bool:
        """Whether a model or a hook of the caller may write what is left of a text."""
        return self._may_write or self.hooks.keeps_tokens

    def findings(self, text: str) -> Findings:
        """Return the hard findings of the detectors in *text*."""
        known = self._findings.get(text)
        if known is None:
            known = self._findings[text] = self.tables.detectors.detect_hard(text)
        return known

    def summary(self, texts: Sequence[str], budget: int) -> str:
        """Join the most important sentences of *texts*, at least one of each text.

        The *budget* is a length by the rules. Where no sentence qualifies, the beginning is shown.
        """
        key = (tuple(texts), budget)
        known = self._summaries.get(key) if self._keeps_sentences else None
        if known is None:
            known = self._summarize(*key)
            if self._keeps_sentences:
                self._summaries[key] = known
        return known

    def _summarize(self, texts: tuple[str, ...], budget: int) -> str:
        joined = "\n\n".join(texts).strip()
        if self.rules.finds_acts:
            extracts = [self._extract(text) for text in texts]
            return summarize_extracts(extracts, budget) or cut_passage(joined, budget)
        units = [self.units(text) for text in texts]
        return summarize_groups(units, budget) or cut_words(joined, budget)

    def _extract(self, text: str) -> Extract:
        known = self._extracts.get(text)
        if known is None:
            read = read_extract(text)
            scores = self.hooks.rescore(read.texts, read.worths)
            known = Extract(read.passages, scores, read.costs, read.needs)
            if self._keeps_sentences:
                self._extracts[text] = known
        return known

    def stand_in(self, key: StandInKey, make: Callable[[], str | None]) -> str | None:
        """Return the stand-in for the texts in *key*, made by *make* if it is not cached."""
        if not self._keeps_sentences:
            return make()
        if key not in self._stand_ins:
            self._stand_ins[key] = make()
        return self._stand_ins[key]

    def units(self, text: str) -> Units:
        """Return the scored sentences of *text*."""
        known = self._units.get(text)
        if known is None:
            units = make_units(text)
            scores = self.hooks.rescore(units.texts, units.scores)
            known = Units(units.texts, scores, units.paragraphs)
            if self._keeps_sentences:
                self._units[text] = known
        return known

    def kept_tokens(self, text: str) -> str | None:
        """Return the words of *text* that the caller's token classifier keeps, if it has one."""
        if not self.hooks.keeps_tokens:
            return None
        if text not in self._kept_tokens:
            self._kept_tokens[text] = self.hooks.kept_tokens(text, self.tokens)
        return self._kept_tokens[text]

    def entities(self, text: str) -> Iterator[str]:
        """Yield what of *text* is worth listing beside its summary: names, then soft findings.

        There may be duplicates.
        """
        for name in self._names(text):
            if len(name) <= _MAX_ENTITY_CHARS:
                yield name
        yield from self._other_findings(text)

    def lost_entities(self, text: str, summary: str, most: int) -> list[str]:
        """Return the first *most* entities of *text* that its *summary* lacks, each once.

        The names are mostly enough, so other findings are looked for only if they are not.
        """
        lost = missing_from(summary, self._names(text), _MAX_ENTITY_CHARS, most)
        if len(lost) < most:
            others = self._other_findings(text)
            lost += missing_from(summary, others, _MAX_ENTITY_CHARS, most)
            lost = list(dict.fromkeys(lost))[:most]
        return lost

    def lost_mentions(self, texts: Sequence[str], summary: str, tokens: int) -> list[str]:
        """Return what *texts* of so many *tokens* mention and their *summary* lacks."""
        found: dict[str, None] = {}
        for text in texts:
            found.update(dict.fromkeys(self._mentioned(text)))
        return choose_mentions(found, summary, tokens)

    def _mentioned(self, text: str) -> tuple[str, ...]:
        known = self._mentions.get(text)
        if known is None:
            known = self._mentions[text] = without_secrets(text, find_mentions(text), find_mentions)
        return known

    def _other_findings(self, text: str) -> tuple[str, ...]:
        found = self._found.get(text)
        if found is None:
            soft_texts = self.tables.detectors.soft_texts
            found = soft_texts(text)
            found = self._found[text] = without_secrets(text, found, soft_texts, self._hidden)
        return found

    def _names(self, text: str) -> tuple[str, ...]:
        """Return the names that may be listed beside a summary: secrets may not."""
        named = self._named.get(text)
        if named is None:
            found = find_names(text)
            named = self._named[text] = without_secrets(text, found, find_names, self._hidden)
        return named

    @property
    def looks(self) -> int:
        """How many texts were scanned so far, for structure or for names."""
        return len(self._findings) + len(self._named)

    def forget_sentences(self) -> None:
        """Forget what only planning needs; it takes more memory than the conversation."""
        self._summaries.clear()
        self._stand_ins.clear()
        self._units.clear()
        self._extracts.clear()
        self._kept_tokens.clear()

    def forget_counts(self) -> None:
        """Forget what depends on token counts, because the counter has learned."""
        self.tokens.forget()
        self.codecs.forget()
        self._stand_ins.clear()

    def keep_only(self, texts: frozenset[str]) -> None:
        """Forget what is known of all other texts, which will hardly be seen again.

        The latest answers of models stay, as they were expensive.
        """
        self._stand_ins = _only_all(self._stand_ins, texts)
        self.tokens.keep_only(texts.union(filter(None, self._stand_ins.values())))
        self.codecs.keep_only(texts)
        self._findings = _only(self._findings, texts)
        self._units = _only(self._units, texts)
        self._named = _only(self._named, texts)
        self._extracts = _only(self._extracts, texts)
        self._found = _only(self._found, texts)
        self._mentions = _only(self._mentions, texts)
        self._hidden = _only(self._hidden, texts)
        self._kept_tokens = _only(self._kept_tokens, texts)
        self._judged = _latest(self._judged)
        self._written = _latest(self._written)
        self._stretches = _only(self._stretches, self._written)
        self._told = _latest(self._told)
        self._summaries = _only_all(self._summaries, texts)

    def judgement(self, text: str) -> Verdict | None:
        """Return what a classifier said of *text*; note the question if it was not asked."""
        if self.may_judge and text not in self._judged:
            self._to_judge[text] = None
        return self._judged.get(text)

    def count_judged(self, messages: Sequence[Message]) -> int:
        """Count the messages with a text that a classifier has judged."""
        judged = {text for text, judgement in self._judged.items() if judgement is not None}
        return sum(any(part.text in judged for part in m.parts) for m in messages) if judged else 0

    @property
    def has_writer(self) -> bool:
        """Whether a model may write, or has written before."""
        return self._may_write or bool(self._written)

    def written(self, text: str) -> str | None:
        """Return what a model wrote for *text*, past the gates; note the question if not asked."""
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
        """Return the questions noted since the last call; judging comes before writing."""
        judge, write = tuple(self._to_judge), tuple(self._to_write)
        self._to_judge.clear()
        self._to_write.clear()
        # Texts that are judged worth keeping need no summary.
        if judge:
            return Questions(judge=judge)
        return Questions(
            write=write,
            rules={text: self._by_rules(text) for text in write},
            stretches=frozenset(self._stretches).intersection(write),
        )

    def _by_rules(self, text: str) -> str:
        """Return the text that the rules have for *text*, to which an answer is compared."""
        if text in self._stretches:
            return self._stretches[text]
        return self.summary([text], self.rules.room(self.rules.measure(text), "gentle"))

    def learn(self, questions: Questions, answers: Answers) -> None:
        """Store the answers; a question without one is not asked again."""
        self._judged.update((text, answers.judged.get(text)) for text in questions.judge)
        self._written.update((text, answers.written.get(text)) for text in questions.write)


def _only(known: dict[str, T], texts: Container[str]) -> dict[str, T]:
    """Return what is known of *texts*."""
    return {text: value for text, value in known.items() if text in texts}


def _only_all(known: dict[K, T], texts: frozenset[str]) -> dict[K, T]:
    """Return what is known of several *texts* together."""
    return {key: value for key, value in known.items() if texts.issuperset(key[0])}


def _latest(answers: dict[str, T]) -> dict[str, T]:
    """Return the answers that came last."""
    if len(answers) <= _MAX_ANSWERS:
        return answers
    return dict(list(answers.items())[-_MAX_ANSWERS:])
