"""Reports folds to the log, and to OpenTelemetry if its API is installed: figures, no content."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from refold.conversation.report import SessionReport

_NAME: Final = "refold"
_SPAN: Final = "refold.compress"
_FIGURES: Final = ("messages", "folds", "first_changed", "thinking")
_log: Final = logging.getLogger("refold.integrations")


@dataclass(slots=True)
class FoldRecord:
    """What is reported about one fold."""

    conversation: str
    model: str | None
    profile: str
    report: SessionReport = field(default_factory=SessionReport)
    refused: int = 0
    """How many answers of a summarizer did not pass the gates."""

    def attributes(self, seconds: float) -> dict[str, Any]:
        """Return the attributes of the span; those in `gen_ai` are OpenTelemetry's own."""
        report = self.report
        attributes = {
            "gen_ai.conversation.id": self.conversation,
            "gen_ai.request.model": self.model,
            "gen_ai.conversation.compacted": report.tokens < report.tokens_unfolded,
            "refold.profile": self.profile,
            "refold.tokens.before": report.tokens_unfolded,
            "refold.tokens.after": report.tokens,
            "refold.fits": None if report.budget is None else report.budget.fits,
            "refold.seconds": seconds,
            **{f"refold.{name}": getattr(report, name) for name in _FIGURES},
        }
        return {name: value for name, value in attributes.items() if value is not None}


class WarnOnce:
    """Logs a problem that every request has only once."""

    def __init__(self) -> None:
        self._logged: set[str] = set()

    def __call__(self, problem: str) -> None:
        """Log a problem, unless it was logged before."""
        if problem not in self._logged:
            self._logged.add(problem)
            _log.warning("%s", problem)


class Telemetry:
    """A span and three metrics for every fold; only the log without OpenTelemetry."""

    def __init__(self) -> None:
        try:
            from opentelemetry import metrics, trace
        except ImportError:
            self._tracer: Any = None
            return
        self._tracer = trace.get_tracer(_NAME)
        meter = metrics.get_meter(_NAME)
        self._saved = meter.create_counter("refold.tokens.saved", "{token}", "Not sent")
        self._seconds = meter.create_histogram("refold.fold.duration", "s", "Time to fold")
        self._refused = meter.create_counter(
            "refold.answers.refused", "{answer}", "A summarizer's, which did not pass the checks"
        )

    @contextmanager
    def span(self, record: FoldRecord) -> Iterator[None]:
        """Report what happens inside the block, which fills in *record*."""
        if self._tracer is None:
            yield
            _log_fold(record)
            return
        start = time.perf_counter()
        with self._tracer.start_as_current_span(_SPAN) as span:
            yield
            seconds = time.perf_counter() - start
            span.set_attributes(record.attributes(seconds))
        labels = {"refold.profile": record.profile}
        if record.model is not None:
            labels["gen_ai.request.model"] = record.model
        self._saved.add(max(0, record.report.tokens_unfolded - record.report.tokens), labels)
        self._seconds.record(seconds, labels)
        if record.refused:
            self._refused.add(record.refused, labels)
        _log_fold(record)


def _log_fold(record: FoldRecord) -> None:
    """Log the figures of a fold, but no content."""
    report = record.report
    _log.debug(
        "%s: %d of %d tokens sent, first changed %d of %d, thinking %s",
        record.conversation,
        *(report.tokens, report.tokens_unfolded, report.first_changed, report.messages),
        report.thinking,
    )
    if report.budget is not None and not report.budget.fits:
        _log.warning("the token budget is not kept: %s", report.budget.explain())
