"""refold folds long LLM conversations small and unfolds them again, byte for byte."""

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
from refold.options import Options, PreservePattern
from refold.result import BudgetReport, Compression, Obstacle, Result, TraceEntry, UncompressResult
from refold.stores import MemoryStore, SqliteStore, Store

__version__ = "0.1.0"

__all__ = [
    "BudgetError",
    "BudgetReport",
    "Classification",
    "Compression",
    "Compressor",
    "ConfigError",
    "FormatError",
    "Marks",
    "MemoryStore",
    "MessageError",
    "Obstacle",
    "Options",
    "PreservePattern",
    "RefoldError",
    "Result",
    "Session",
    "SessionReport",
    "SqliteStore",
    "Store",
    "StoreError",
    "TraceEntry",
    "UncompressResult",
    "acompress",
    "classify",
    "compress",
    "uncompress",
]
