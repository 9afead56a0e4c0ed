"""refold folds long LLM conversations small and unfolds them again, byte for byte."""

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
from refold.result import Compression, Result, TraceEntry, UncompressResult
from refold.stores import MemoryStore, SqliteStore, Store

__version__ = "0.1.0"

__all__ = [
    "BudgetError",
    "Classification",
    "Compression",
    "Compressor",
    "ConfigError",
    "FormatError",
    "MemoryStore",
    "MessageError",
    "Options",
    "PreservePattern",
    "RefoldError",
    "Result",
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
