"""The public API: compress, uncompress, `Compressor`, classify."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from inspect import signature
from typing import Any, Final, Literal, Never, TypeVar, Unpack

from refold.checks import check_name, check_names, check_switch, check_whole
from refold.choices import Choices, combine, spelled_out, split_helpers
from refold.classic.detectors import TABLE
from refold.engine import Engine
from refold.errors import ConfigError, StoreError
from refold.llm.ask import arun, run
from refold.messages.foreign import accept_foreign as replace_foreign
from refold.messages.formats import check_list
from refold.messages.formats.objects import Objects
from refold.messages.manifest import Get
from refold.messages.restore import restore
from refold.options import Options, check_effect
from refold.result import Result, UncompressResult
from refold.stores.base import Store
from refold.stores.scope import scoped

M = TypeVar("M")
Tier = Literal["T0", "T2", "T3"]
_T3_WORDS: Final = 20
"""Prose of fewer words is T2, by the contract."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Classification:
    """The kind of a text: T0 is structure, T2 short prose, T3 long prose.

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


class Compressor:
    """Folds conversations with one set of options; safe to share between threads and tasks.

        compressor = Compressor(token_budget=8_000, store=SqliteStore("originals.db"))
        messages = compressor.compress(messages).messages

    - *options*: an `Options`; keywords of the same names override its fields.
    - *store*: where originals are kept. Without one, they are only in `Result.verbatim`.
    - *conversation*: a name that separates these originals from others in the same store; give the
      same name to `uncompress`. Without one, the first handle of a view is longer.
    - *summarizer*: a model that writes summaries. Its answers are checked, limited and cached.
    - *on_event*: a callback for the model's progress.
    - *pass_seconds*: how long the model may take for one conversation.
    - *detectors*, *codecs*, *rules*: replace refold's tables, usually with `[*DETECTORS, mine]` and
      so on. Detectors find what must survive word for word, codecs re-encode data in fewer tokens,
      rules decide what happens to each text.

    Raises `ConfigError` for an option that is unknown, invalid or not used by the profile.
    """

    @spelled_out
    def __init__(
        self,
        options: Options | None = None,
        *,
        store: Store | None = None,
        **choices: Unpack[Choices],
    ) -> None:
        helpers, chosen = split_helpers(choices)
        self._helpers = {"store": store, **helpers}
        combined = combine(options, chosen)
        check_effect(combined)
        self._engine = Engine(combined, **self._helpers)

    def __repr__(self) -> str:
        values = {f.name: (getattr(self.options, f.name), f.default) for f in fields(Options)}
        chosen = {name: value for name, (value, default) in values.items() if value != default}
        helpers = {name: value for name, value in self._helpers.items() if value is not None}
        body = ", ".join(f"{name}={value!r}" for name, value in {**chosen, **helpers}.items())
        return f"Compressor({body})"

    @property
    def options(self) -> Options:
        """The options of this compressor."""
        return self._engine.options

    def compress(self, messages: Iterable[M]) -> Result[M]:
        """Fold *messages*: mappings or message objects of an SDK, as a list or a generator.

        Objects come out as the same types, unchanged ones as the same objects. The originals are in
        the store before this returns.

        Raises `MessageError` for input that is not a conversation, `StoreError` if the store fails
        and, with `strict=True`, `BudgetError` if the conversation cannot fit.
        """
        objects = Objects()
        job = self._engine.begin(objects.read(messages))
        planned = run(self._engine.flow(job), self._engine.asker, job.tally)
        return objects.give_back(self._engine.finish(job, planned))

    async def acompress(self, messages: Iterable[M]) -> Result[M]:
        """Fold *messages* without blocking the event loop; otherwise the same as `compress`."""
        import asyncio  # it takes as long to load as everything else here

        objects = Objects()
        wires = objects.read(messages)
        job = await asyncio.to_thread(self._engine.begin, wires)
        planned = await arun(self._engine.flow(job), self._engine.asker, job.tally)
        return objects.give_back(await asyncio.to_thread(self._engine.finish, job, planned))


@spelled_out
def compress(
    messages: Iterable[M],
    *,
    options: Options | None = None,
    store: Store | None = None,
    **choices: Unpack[Choices],
) -> Result[M]:
    """Fold a conversation: mappings, or message objects of an SDK or framework.

        result = compress(messages, token_budget="30%", store=SqliteStore("originals.db"))
        client.chat.completions.create(model="gpt-5", messages=result.messages)

    The keywords are those of `Options` and `Compressor`. Objects come out as the same types,
    unchanged ones as the same objects.

    Raises `ConfigError` for an option that is unknown or invalid, `MessageError` for input that is
    not a conversation, `StoreError` if the store fails and, with `strict=True`, `BudgetError` if
    the conversation cannot fit.
    """
    return Compressor(options, store=store, **choices).compress(messages)


@spelled_out
async def acompress(
    messages: Iterable[M],
    *,
    options: Options | None = None,
    store: Store | None = None,
    **choices: Unpack[Choices],
) -> Result[M]:
    """Fold a conversation without blocking the event loop.

        result = await acompress(messages, token_budget=8_000)

    Takes, returns and raises the same as `compress`.
    """
    return await Compressor(options, store=store, **choices).acompress(messages)


def uncompress(
    messages: Iterable[M] | Result[M],
    store: Store | Mapping[str, Any] | Callable[[str], Any] | None = None,
    *,
    conversation: str | None = None,
    edited: bool = False,
    partial: bool = False,
    strict: bool = False,
    max_messages: int | None = None,
    accept_foreign: bool = False,
    **gone: Never,
) -> UncompressResult[M]:
    """Restore the original messages of a folded conversation.

        restored = uncompress(result.messages, SqliteStore("originals.db"), strict=True)
        messages = restored.messages

    - *messages*: a `Result`, or the folded messages and any that followed. Changes to ids, unknown
      fields and the system prompt do not matter.
    - *store*: a store, `Result.verbatim`, or a function from a key to its value.
    - *conversation*: the name under which it was folded, if any.
    - *edited*: trust the handles of a view in which messages were changed, added or left out. Needs
      *conversation*. Stand-ins pasted from another chat of that name are trusted, too.
    - *partial*: if some originals of a stand-in have expired, restore the others.
    - *strict*: raise `StoreError` if originals are missing or the view is unknown.
    - *max_messages*: the most messages to return, by default 1,000 plus a hundred times what the
      records name. Only forged records that unfold into each other exceed that.
    - *accept_foreign*: first replace stand-ins of other tools by the messages whose ids they name
      in `metadata`, which cannot be verified. Only for a mapping or function.

    Raises `StoreError` if the store fails or *max_messages* is exceeded, and `MessageError` for
    input that is not a conversation.
    """
    check_names(gone, signature(uncompress).parameters)
    if isinstance(messages, Result):
        conversation = messages.conversation if conversation is None else conversation
        store = messages.verbatim if store is None else store
        messages = messages.messages
    for name, value in (("edited", edited), ("partial", partial), ("strict", strict)):
        check_switch(name, value)
    if edited and conversation is None:
        raise ConfigError(
            "edited=True needs conversation=: without a name, handles belong to no single view"
        )
    objects = Objects()
    checked = check_list(objects.read(messages))
    if max_messages is not None:
        check_whole("max_messages", max_messages)
    get = find_source(store, conversation)
    count, expanded, missing = len(checked), 0, list[str]()
    if accept_foreign and (isinstance(store, Mapping) or not isinstance(store, Store)):
        checked, expanded, missing = replace_foreign(checked, get, max_messages)
    result = restore(
        checked,
        get,
        conversation=conversation,
        edited=edited,
        partial=partial,
        max_messages=max_messages,
    )
    if expanded or missing:
        result = replace(
            result,
            messages_expanded=result.messages_expanded + expanded,
            messages_passthrough=count - result.messages_expanded - expanded,
            missing_ids=[*missing, *result.missing_ids],
        )
    if strict and (result.missing_ids or (result.unknown and not result.is_known)):
        raise StoreError(f"not everything can be restored: {result.explain()}")
    return objects.give_back(result)


def find_source(
    store: Store | Mapping[str, Any] | Callable[[str], Any] | None, conversation: str | None
) -> Get:
    """Return what finds originals in a store or a mapping, or by a function.

    Raises `StoreError` for anything else.
    """
    if conversation is not None:
        check_name("conversation", conversation)
    if isinstance(store, Store) and not isinstance(store, Mapping):
        return scoped(store, conversation).get
    look_up = store.get if isinstance(store, Mapping) else store
    if not callable(look_up):
        raise StoreError(
            "uncompress() needs a store, a mapping of originals such as Result.verbatim, "
            f"or a look-up function; got {type(store).__name__}"
        )

    def get(keys: Iterable[str]) -> dict[str, Any]:
        return {key: value for key in keys if (value := look_up(key)) is not None}

    return get
