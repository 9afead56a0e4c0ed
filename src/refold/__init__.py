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
    from refold.agent.manager import CompressionManager
    from refold.agent.policy import Policies
    from refold.agent.retrieval import retrieve_tool
    from refold.agent.tool import ToolCompressor
    from refold.classifiers import create_classifier, create_escalating_classifier
    from refold.strategies.tokens import TokenVerdict
    from refold.summarizers import create_escalating_summarizer, create_summarizer
    from refold.summarizers.generate import DEFAULT_COMPRESSION_PROMPT
    from refold.tokens.choose import CalibratedCounter
    from refold.window import ContextWindowManager, FitResult

__version__ = "0.1.0"

_LATE = {
    "CalibratedCounter": "refold.tokens.choose",
    "CompressionManager": "refold.agent.manager",
    "ContextWindowManager": "refold.window",
    "DEFAULT_COMPRESSION_PROMPT": "refold.summarizers.generate",
    "FitResult": "refold.window",
    "Policies": "refold.agent.policy",
    "TokenVerdict": "refold.strategies.tokens",
    "ToolCompressor": "refold.agent.tool",
    "create_classifier": "refold.classifiers",
    "create_escalating_classifier": "refold.classifiers",
    "create_escalating_summarizer": "refold.summarizers",
    "create_summarizer": "refold.summarizers",
    "retrieve_tool": "refold.agent.retrieval",
}
"""Names that are loaded when they are first used: most programs need none of them."""


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATE[name]), name)


__all__ = [
    "DEFAULT_COMPRESSION_PROMPT",
    "BudgetError",
    "BudgetReport",
    "CalibratedCounter",
    "Classification",
    "Compression",
    "CompressionManager",
    "Compressor",
    "ConfigError",
    "ContextWindowManager",
    "Event",
    "FitResult",
    "FormatError",
    "Marks",
    "MemoryStore",
    "MessageError",
    "ModelReport",
    "Obstacle",
    "Options",
    "Policies",
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
    "ToolCompressor",
    "TraceEntry",
    "UncompressResult",
    "acompress",
    "classify",
    "compress",
    "create_classifier",
    "create_escalating_classifier",
    "create_escalating_summarizer",
    "create_summarizer",
    "retrieve_tool",
    "uncompress",
]
