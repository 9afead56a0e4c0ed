"""Reports folds to the log, and to OpenTelemetry if its API is installed: figures, no content."""

from __future__ import annotations

import logging
import time
from typing import Any, Final

from refold.conversation.session import Session

_FIGURES: Final = ("messages", "folds", "first_changed", "thinking")
_log: Final = logging.getLogger("refold.integrations")


class Telemetry:
    """A span and three metrics for every fold; only the log without OpenTelemetry."""

    def __init__(self) -> None:
        try:
            from opentelemetry import metrics, trace
        except ImportError:
            self._tracer: Any = None
            return
        self._tracer = trace.get_tracer("refold")
        meter = metrics.get_meter("refold")
        self._saved = meter.create_counter("refold.tokens.saved", "{token}", "Not sent")
        self._seconds = meter.create_histogram("refold.fold.duration", "s", "Time to fold")
        self._refused = meter.create_counter(
            "refold.answers.refused", "{answer}", "A summarizer's, which did not pass the checks"
        )

    def note(self, session: Session[Any], started: int, refused: int) -> None:
        """Report a fold that *started* at a time in nanoseconds.

        *refused* is how many answers of a summarizer did not pass the checks in it.
        """
        report, conversation = session.report, session.conversation or ""
        model, profile = session.options.model, session.options.profile
        if self._tracer is not None:
            seconds = max(0, time.time_ns() - started) / 1e9
            attributes = {
                "gen_ai.conversation.id": conversation,  # those in gen_ai are OpenTelemetry's own
                "gen_ai.request.model": model,
                "gen_ai.conversation.compacted": report.tokens < report.tokens_unfolded,
                "refold.profile": profile,
                "refold.tokens.before": report.tokens_unfolded,
                "refold.tokens.after": report.tokens,
                "refold.fits": None if report.budget is None else report.budget.fits,
                "refold.seconds": seconds,
                **{f"refold.{name}": getattr(report, name) for name in _FIGURES},
            }
            span = self._tracer.start_span("refold.compress", start_time=started)
            span.set_attributes({k: v for k, v in attributes.items() if v is not None})
            span.end()
            labels: dict[str, str] = {"refold.profile": profile}
            if model is not None:
                labels["gen_ai.request.model"] = model
            self._saved.add(max(0, report.tokens_unfolded - report.tokens), labels)
            self._seconds.record(seconds, labels)
            if refused:
                self._refused.add(refused, labels)
        _log.debug(
            "%s: %d of %d tokens sent, first changed %d of %d, thinking %s",
            conversation,
            *(report.tokens, report.tokens_unfolded, report.first_changed, report.messages),
            report.thinking,
        )
        if report.budget is not None and not report.budget.fits:
            _log.warning("the token budget is not kept: %s", report.budget.explain())
