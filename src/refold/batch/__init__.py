"""Fold many conversations: single records, Arrow batches, or files on any engine.

Conversations are JSON text, so that unfolding restores the exact bytes.
"""

from __future__ import annotations

from refold.batch.arrow import fold_batch, unfold_batch
from refold.batch.job import Job
from refold.batch.record import FoldedRecord, fold_record, unfold_record
from refold.batch.run import BatchResult, run_batch
from refold.errors import BatchError, RecordError

__all__ = [
    "BatchError",
    "BatchResult",
    "FoldedRecord",
    "Job",
    "RecordError",
    "fold_batch",
    "fold_record",
    "run_batch",
    "unfold_batch",
    "unfold_record",
]
