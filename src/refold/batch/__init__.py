"""Many conversations: one record, one Arrow batch, or files of them on any engine.

Conversations are JSON text, so that what comes back is the very same bytes.
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
