"""refold folds long LLM conversations to fit a token budget, and unfolds them byte for byte.

Every public name is imported when it is first used, so importing refold costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
"""As in `typing`, which takes longer to import than everything here."""

if TYPE_CHECKING:
    from typing import Any

    from refold.api import Classification as Classification
    from refold.api import Compressor, acompress, classify, compress, uncompress
    from refold.conversation import ContextWindowManager, FitResult, Session
    from refold.conversation import SessionReport as SessionReport
    from refold.errors import (
        BudgetError,
        ConfigError,
        FormatError,
        MessageError,
        RefoldError,
        StoreError,
    )
    from refold.events import Event as Event
    from refold.llm.summarizers import create_summarizer
    from refold.llm.summarizers.prompt import DEFAULT_COMPRESSION_PROMPT
    from refold.notation.marks import legend
    from refold.options import Options, PreservePattern
    from refold.result import BudgetReport as BudgetReport
    from refold.result import Compression as Compression
    from refold.result import ModelReport as ModelReport
    from refold.result import Obstacle as Obstacle
    from refold.result import Piece as Piece
    from refold.result import RefusedAnswer as RefusedAnswer
    from refold.result import Result, UncompressResult
    from refold.result import TraceEntry as TraceEntry
    from refold.scan.tokens.choose import CalibratedCounter as CalibratedCounter
    from refold.scan.tokens.counter import TokenCounter
    from refold.stores import MemoryStore, SqliteStore, Store, open_store
    from refold.stores.encrypted import EncryptedStore as EncryptedStore
    from refold.stores.objects import ObjectStore as ObjectStore
    from refold.stores.postgres import PostgresStore as PostgresStore
    from refold.stores.redis import RedisStore as RedisStore
    from refold.stores.scope import ScopedStore
    from refold.stores.upkeep import forget as forget
    from refold.tools.manager import CompressionManager
    from refold.tools.policy import Policies
    from refold.tools.retrieve import retrieve_tool
    from refold.tools.tool import ToolCompressor

__version__ = "0.1.0"

_HOMES = {
    name: f"refold.{module}"
    for module, names in {
        "api": "Classification Compressor acompress classify compress uncompress",
        "conversation.report": "FitResult SessionReport",
        "conversation.session": "Session",
        "conversation.window": "ContextWindowManager",
        "errors": "BudgetError ConfigError FormatError MessageError RefoldError StoreError",
        "events": "Event",
        "llm.summarizers": "create_summarizer",
        "llm.summarizers.prompt": "DEFAULT_COMPRESSION_PROMPT",
        "notation.marks": "legend",
        "options": "Options PreservePattern",
        "result": "BudgetReport Compression ModelReport Obstacle Piece RefusedAnswer Result "
        "TraceEntry UncompressResult",
        "scan.tokens.choose": "CalibratedCounter",
        "scan.tokens.counter": "TokenCounter",
        "stores.base": "Store",
        "stores.encrypted": "EncryptedStore",
        "stores.memory": "MemoryStore",
        "stores.objects": "ObjectStore",
        "stores.opening": "open_store",
        "stores.postgres": "PostgresStore",
        "stores.redis": "RedisStore",
        "stores.scope": "ScopedStore",
        "stores.sqlite": "SqliteStore",
        "stores.upkeep": "forget",
        "tools.manager": "CompressionManager",
        "tools.policy": "Policies",
        "tools.retrieve": "retrieve_tool",
        "tools.tool": "ToolCompressor",
    }.items()
    for name in names.split()
}
"""The module of every public name."""


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        from refold.gone import missing  # only on the way to an error

        raise missing(__name__, name)
    value = getattr(import_module(home), name)
    globals()[name] = value  # the next look-up does not come here
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "DEFAULT_COMPRESSION_PROMPT",
    "BudgetError",
    "CompressionManager",
    "Compressor",
    "ConfigError",
    "ContextWindowManager",
    "FitResult",
    "FormatError",
    "MemoryStore",
    "MessageError",
    "Options",
    "Policies",
    "PreservePattern",
    "RefoldError",
    "Result",
    "ScopedStore",
    "Session",
    "SqliteStore",
    "Store",
    "StoreError",
    "TokenCounter",
    "ToolCompressor",
    "UncompressResult",
    "acompress",
    "classify",
    "compress",
    "create_summarizer",
    "legend",
    "open_store",
    "retrieve_tool",
    "uncompress",
]
"""The main names. Parts of reports and rarely used names are documented with their modules (see
`_HOMES`) but can be imported from here as well."""
