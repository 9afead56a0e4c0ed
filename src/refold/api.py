"""The public face: compress, uncompress, classify, and a classifier that falls back to that."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Literal, TypeVar, Unpack

from refold.checks import check_name, check_whole
from refold.detectors import detect, detect_hard
from refold.engine import Engine, Helpers, combine, scoped, split_helpers
from refold.errors import ConfigError, StoreError
from refold.llm.ask import arun, run
from refold.llm.classify import (
    AnswerFunction,
    Classifier,
    EscalatingClassifier,
    confidence_of,
    create_classifier,
)
from refold.messages.formats import check_list
from refold.messages.formats.objects import Objects
from refold.messages.lookup import MappingLookup, StoreLookup
from refold.messages.restore import Trust, restore
from refold.options import Choices, Options
from refold.result import Result, UncompressResult
from refold.stores.base import Store

M = TypeVar("M")
Tier = Literal["T0", "T2", "T3"]
_T3_WORDS = 20
"""Prose of fewer words is T2, by the contract."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Classification:
    """What kind of text something is: T0 structure, T2 short prose, T3 long prose."""

    tier: Tier
    confidence: float
    reasons: tuple[str, ...]


def classify(text: str) -> Classification:
    """Tell structure from prose, with the reasons."""
    if not isinstance(text, str):
        raise ConfigError(f"classify() takes a string, got {type(text).__name__}")
    reasons = detect(text).reasons
    tier: Tier = "T0" if reasons else "T2" if len(text.split()) < _T3_WORDS else "T3"
    return Classification(tier=tier, confidence=confidence_of(reasons), reasons=reasons)


def create_escalating_classifier(
    call: AnswerFunction,
    *,
    max_response_tokens: int = 100,
    system_prompt: str = "",
    always_preserve: Iterable[str] = (),
    always_compress: Iterable[str] = (),
) -> Classifier:
    """Make a classifier that asks *call* and, if that fails, uses refold's own detectors.

    That is: if *call* raises, or if its answer cannot be read.
    """
    inner = create_classifier(
        call,
        max_response_tokens=max_response_tokens,
        system_prompt=system_prompt,
        always_preserve=always_preserve,
        always_compress=always_compress,
    )
    return EscalatingClassifier(inner, lambda text: detect_hard(text).hard)


def _check_thinking(options: Options) -> Options:
    """Refuse `thinking="append"`: it needs to know what was sent before."""
    if options.thinking == "append":
        raise ConfigError(
            'thinking="append" needs to know what was sent before: use a Session, '
            'or choose thinking="strip"'
        )
    return options


class NamedChoices(Choices, Helpers, total=False):
    """The fields of `Options`, and what `Compressor` and `Session` take besides."""


class Compressor:
    """Folds conversations with one set of options; safe to share between threads and tasks.

    A *conversation* that is given a name keeps its originals to itself, in whatever *store* it
    shares with others: give the same name to `uncompress`. One without a name shows a longer
    handle in its first stand-in instead, which ties all of them to it.

    A *summarizer* may write summaries and a *classifier* may have texts kept; both are limited and
    checked, summaries are remembered, and neither is needed. *on_event* gets their progress,
    which may take *pass_seconds* in all for one conversation.

    Four tables may be the caller's instead of refold's own, usually `[*DETECTORS, mine]` and so on:
    *detectors* say what must survive word for word, *codecs* how data is said shorter, *kinds* how
    results of tools fall into pieces, *rules* what becomes of what was said. Their rows are in
    `refold.detectors`, `refold.codecs`, `refold.kinds` and `refold.plan.rules`.

        compressor = Compressor(token_budget=8_000, store=SqliteStore("originals.db"))
        messages = compressor.compress(messages).messages

    Raises `ConfigError` for a choice that is unknown or can never work.
    """

    def __init__(
        self,
        options: Options | None = None,
        *,
        store: Store | None = None,
        **choices: Unpack[NamedChoices],
    ) -> None:
        helpers, fields_of_options = split_helpers(choices)
        self._helpers = {"store": store, **helpers}
        combined = combine(options, fields_of_options)
        self._engine = Engine(_check_thinking(combined), **self._helpers)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy what it was made with; what models answered is not taken along."""
        return partial(type(self), self.options, **self._helpers), ()

    def __repr__(self) -> str:
        plain = Options()
        chosen = {f.name: getattr(self.options, f.name) for f in fields(Options)}
        said = {k: v for k, v in chosen.items() if v != getattr(plain, k)} | {
            name: helper for name, helper in self._helpers.items() if helper is not None
        }
        return f"Compressor({', '.join(f'{name}={value!r}' for name, value in said.items())})"

    @property
    def options(self) -> Options:
        """What was chosen."""
        return self._engine.options

    def compress(self, messages: Sequence[M]) -> Result[M]:
        """Fold *messages*; the originals are in the store before this returns.

        They may be mappings, or objects of an SDK or a framework: those come out as the same types,
        and unchanged ones as the same objects.
        """
        objects = Objects()
        job = self._engine.begin(objects.read(messages))
        planned = run(self._engine.flow(job), self._engine.asker, job.tally)
        return objects.give_back(self._engine.finish(job, planned))

    async def acompress(self, messages: Sequence[M]) -> Result[M]:
        """Fold *messages* without blocking the event loop; same result as `compress`."""
        objects = Objects()
        wires = objects.read(messages)
        job = await asyncio.to_thread(self._engine.begin, wires)
        planned = await arun(self._engine.flow(job), self._engine.asker, job.tally)
        return objects.give_back(await asyncio.to_thread(self._engine.finish, job, planned))


class AllChoices(NamedChoices, total=False):
    """Everything that `compress` takes."""

    options: Options | None
    store: Store | None


def compress(messages: Sequence[M], **choices: Unpack[AllChoices]) -> Result[M]:
    """Fold a conversation; what goes in comes out: mappings, or objects of the same types.

    Takes everything that `Compressor` takes: the fields of `Options` and *store*, *conversation*,
    *summarizer*, *classifier*, *on_event*, *pass_seconds*, *detectors*, *codecs*,
    *kinds*, *rules*.

        result = compress(messages, token_budget=8_000, store=SqliteStore("originals.db"))
        client.chat.completions.create(model="gpt-5", messages=result.messages)

    Raises `ConfigError` for a choice that is unknown or can never work, `MessageError` for what is
    no conversation, `StoreError` if the store fails and, with `strict=True`, `BudgetError` if the
    budget cannot be kept.
    """
    return Compressor(**choices).compress(messages)


async def acompress(messages: Sequence[M], **choices: Unpack[AllChoices]) -> Result[M]:
    """Fold a conversation without blocking the event loop.

    Takes, returns and raises the same as `compress`:

        result = await acompress(messages, token_budget=8_000)
    """
    return await Compressor(**choices).acompress(messages)


def uncompress(
    messages: Sequence[M],
    store: Store | Mapping[str, Any] | Callable[[str], Any],
    *,
    recursive: bool = True,
    max_messages: int | None = None,
    conversation: str | None = None,
    accept_foreign: bool = False,
) -> UncompressResult[M]:
    """Unfold a conversation from a store, from `Result.verbatim`, or with a look-up function.

    Give the whole view, as it was returned: a stand-in without an id is known by its place among
    the others. *conversation* is the name that it was folded under, if any. Provenance that other
    tools wrote into `metadata` cannot be checked; with *accept_foreign* it is believed, for the
    originals of a mapping or function only.

    `StoreError` if it gives more than *max_messages*. Without a limit of the caller's, that is
    1,000 and a hundred times what the messages and the records behind them name: what compressing
    has written never comes near it, a few records that unfold into each other do.
    """
    objects = Objects()
    checked = check_list(objects.read(messages))
    if max_messages is not None:
        check_whole("max_messages", max_messages)
    result = restore(
        checked,
        find_lookup(store, conversation),
        recursive=recursive,
        max_messages=max_messages,
        trust=Trust(conversation=conversation, accepts_foreign=accept_foreign),
    )
    return objects.give_back(result)


def find_lookup(
    store: Store | Mapping[str, Any] | Callable[[str], Any], conversation: str | None
) -> StoreLookup | MappingLookup:
    """Return what finds originals in *store*, whatever it is."""
    if conversation is not None:
        check_name("conversation", conversation)
    if isinstance(store, Mapping):
        return MappingLookup(store)
    if isinstance(store, Store):
        return StoreLookup(scoped(store, conversation).get)
    if callable(store):
        return MappingLookup(store)
    raise StoreError(
        "uncompress() needs a store, a mapping of originals such as Result.verbatim, "
        f"or a look-up function; got {type(store).__name__}"
    )
