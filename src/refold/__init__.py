"""refold folds long LLM conversations small and unfolds them again, byte for byte."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from refold.agent import Marks, Session, SessionReport
from refold.compressor import (
    Classification,
    Compressor,
    acompress,
    classify,
    compress,
    uncompress,
)
from refold.errors import (
    BudgetError,
    ConfigError,
    FormatError,
    MessageError,
    RefoldError,
    StoreError,
)
from refold.events import Event
from refold.options import Options, PreservePattern
from refold.result import (
    BudgetReport,
    Compression,
    ModelReport,
    Obstacle,
    RefusedAnswer,
    Result,
    TraceEntry,
    UncompressResult,
)
from refold.stores import MemoryStore, SqliteStore, Store

if TYPE_CHECKING:
    from refold.classifiers import create_classifier, create_escalating_classifier
    from refold.strategies.tokens import TokenVerdict
    from refold.summarizers import create_escalating_summarizer, create_summarizer

__version__ = "0.1.0"

_LATE = {
    "TokenVerdict": "refold.strategies.tokens",
    "create_classifier": "refold.classifiers",
    "create_escalating_classifier": "refold.classifiers",
    "create_escalating_summarizer": "refold.summarizers",
    "create_summarizer": "refold.summarizers",
}
"""Names that are loaded when they are first used: most programs need none of them."""


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATE[name]), name)


__all__ = [
    "BudgetError",
    "BudgetReport",
    "Classification",
    "Compression",
    "Compressor",
    "ConfigError",
    "Event",
    "FormatError",
    "Marks",
    "MemoryStore",
    "MessageError",
    "ModelReport",
    "Obstacle",
    "Options",
    "PreservePattern",
    "RefoldError",
    "RefusedAnswer",
    "Result",
    "Session",
    "SessionReport",
    "SqliteStore",
    "Store",
    "StoreError",
    "TokenVerdict",
    "TraceEntry",
    "UncompressResult",
    "acompress",
    "classify",
    "compress",
    "create_classifier",
    "create_escalating_classifier",
    "create_escalating_summarizer",
    "create_summarizer",
    "uncompress",
]
