"""The public API: compress, uncompress, `Compressor`, classify."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, Literal, TypeVar, Unpack

from refold.checks import check_name, check_whole
from refold.classic.detectors import TABLE
from refold.engine import Engine, Helpers, combine, scoped, split_helpers
from refold.errors import ConfigError, StoreError
from refold.llm.ask import arun, run
from refold.messages.formats import check_list
from refold.messages.formats.objects import Objects
from refold.messages.lookup import MappingLookup, StoreLookup
from refold.messages.restore import Trust, restore
from refold.options import Choices, Options, check_effect
from refold.result import Result, UncompressResult
from refold.stores.base import Store

M = TypeVar("M")
Tier = Literal["T0", "T2", "T3"]
_T3_WORDS: Final = 20
"""Prose of fewer words is T2, by the contract."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Classification:
    """What kind of text something is: T0 structure, T2 short prose, T3 long prose.

    `reasons` names the detectors that found structure; it is empty for prose.
    """

    tier: Tier
    confidence: float
    reasons: tuple[str, ...]


def classify(text: str) -> Classification:
    """Classify *text* as structure or prose.

    Raises `ConfigError` if *text* is not a string.

        classify("See https://example.org/a?b=1").reasons  # ("url", "file_path")
    """
    if not isinstance(text, str):
        raise ConfigError(f"classify() takes a string, got {type(text).__name__}")
    reasons = TABLE.reasons(text)
    tier: Tier = "T0" if reasons else "T2" if len(text.split()) < _T3_WORDS else "T3"
    # More detectors make it surer, and never certain; without any, it is a guess.
    confidence = round(min(0.95, 0.70 + 0.05 * len(reasons)), 2) if reasons else 0.65
    return Classification(tier=tier, confidence=confidence, reasons=reasons)


def _checked(options: Options) -> Options:
    """Reject what has no effect, and what needs to know what was sent before."""
    check_effect(options)
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

        compressor = Compressor(token_budget=8_000, store=SqliteStore("originals.db"))
        messages = compressor.compress(messages).messages

    All arguments are optional:

    - *options*: an `Options`; keywords of the same names override single fields of it.
    - *store*: where originals are kept. Without one they are in `Result.verbatim` only.
    - *conversation*: a name that separates the originals of this conversation from those of others
      in the same store; give the same name to `uncompress`. Without a name, the first stand-in of a
      view shows a longer handle that ties all the others to it.
    - *summarizer*: a model that writes summaries. Its answers are checked, limited and cached.
    - *on_event*: a callback for the progress of the model.
    - *pass_seconds*: how long the model may take for one conversation.
    - *detectors*, *codecs*, *kinds*, *rules*: tables to use in place of refold's own, usually
      `[*DETECTORS, mine]` and so on. Detectors find what must survive word for word, codecs
      re-encode data in fewer tokens, kinds cut tool results into pieces, rules decide what happens
      to each text. Refold's own are in `refold.detectors`, `refold.codecs`, `refold.kinds` and
      `refold.classic.rules`.

    Raises `ConfigError` for an option that is unknown or can never work, and for one that the
    profile does not use.
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
        self._engine = Engine(_checked(combined), **self._helpers)

    def __repr__(self) -> str:
        plain = Options()
        chosen = {f.name: getattr(self.options, f.name) for f in fields(Options)}
        said = {k: v for k, v in chosen.items() if v != getattr(plain, k)} | {
            name: helper for name, helper in self._helpers.items() if helper is not None
        }
        return f"Compressor({', '.join(f'{name}={value!r}' for name, value in said.items())})"

    @property
    def options(self) -> Options:
        """The options it folds with."""
        return self._engine.options

    def compress(self, messages: Sequence[M]) -> Result[M]:
        """Fold *messages*: mappings, or message objects of an SDK or framework.

        Objects come out as the same types, unchanged ones as the same objects. The originals are in
        the store before this returns.

        Raises `MessageError` for input that is not a conversation, `StoreError` if the store fails
        and, with `strict=True`, `BudgetError` if the conversation cannot fit.
        """
        objects = Objects()
        job = self._engine.begin(objects.read(messages))
        planned = run(self._engine.flow(job), self._engine.asker, job.tally)
        return objects.give_back(self._engine.finish(job, planned))

    async def acompress(self, messages: Sequence[M]) -> Result[M]:
        """Fold *messages* without blocking the event loop; otherwise the same as `compress`."""
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
    """Fold a conversation: a list of mappings, or of message objects of an SDK or framework.

        result = compress(messages, token_budget=8_000, store=SqliteStore("originals.db"))
        client.chat.completions.create(model="gpt-5", messages=result.messages)

    *choices* are everything that `Compressor` takes: the fields of `Options`, and *options*,
    *store*, *conversation*, *summarizer*, *on_event*, *pass_seconds*, *detectors*,
    *codecs*, *kinds* and *rules*.

    Objects come out as the same types, unchanged ones as the same objects.

    Raises `ConfigError` for an option that is unknown or can never work, `MessageError` for input
    that is not a conversation, `StoreError` if the store fails and, with `strict=True`,
    `BudgetError` if the conversation cannot fit into its budget.
    """
    return Compressor(**choices).compress(messages)


async def acompress(messages: Sequence[M], **choices: Unpack[AllChoices]) -> Result[M]:
    """Fold a conversation without blocking the event loop.

        result = await acompress(messages, token_budget=8_000)

    Takes, returns and raises the same as `compress`.
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
    """Restore the original messages of a folded conversation.

        original = uncompress(result.messages, SqliteStore("originals.db")).messages

    - *messages*: the whole view, as it was returned. A stand-in without an id is found by its place
      among the others.
    - *store*: a store, `Result.verbatim`, or a function from an id to its original.
    - *recursive*: also unfold what was folded several times.
    - *max_messages*: how many messages may come out. By default 1,000 plus a hundred times what the
      messages and the records behind them name: folds never come near that, only forged records
      that unfold into each other do.
    - *conversation*: the name under which it was folded, if any.
    - *accept_foreign*: believe provenance that other tools wrote into `metadata`, which cannot be
      verified. Only for originals from a mapping or function.

    Missing originals are no error: `UncompressResult.missing_ids` lists them. Raises `StoreError`
    if the store fails or more than *max_messages* would come out, `MessageError` for input that is
    not a conversation.
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
    """Return a look-up for the originals in a store, a mapping or behind a function.

    Raises `StoreError` for anything else.
    """
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
