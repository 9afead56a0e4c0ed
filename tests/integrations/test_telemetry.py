"""OpenTelemetry is told figures of every fold, and never what was said."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("opentelemetry.sdk")

from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.integrations.test_conversations import history_of, small


@pytest.fixture(scope="module")
def told() -> tuple[InMemorySpanExporter, InMemoryMetricReader]:
    """Set up OpenTelemetry, which can be done once in a process."""
    spans, figures = InMemorySpanExporter(), InMemoryMetricReader()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    trace.set_tracer_provider(provider)
    metrics.set_meter_provider(MeterProvider([figures]))
    return spans, figures


def test_a_fold_is_a_span_and_some_figures(told: tuple[Any, Any]) -> None:
    spans, figures = told
    folded = small().fold(history_of(8), model="gpt-5", conversation="c")
    (span,) = spans.get_finished_spans()
    assert span.name == "refold.compress"
    seconds = span.attributes["refold.seconds"]
    assert dict(span.attributes) == {
        "gen_ai.conversation.id": "c",
        "gen_ai.request.model": "gpt-5",
        "gen_ai.conversation.compacted": True,
        "refold.profile": "standard",
        "refold.tokens.before": folded.report.tokens_unfolded,
        "refold.tokens.after": folded.report.tokens,
        "refold.messages": folded.report.messages,
        "refold.folds": 1,
        "refold.first_changed": 0,
        "refold.thinking": "kept",
        "refold.fits": True,
        "refold.seconds": seconds,
    }
    (resource,) = figures.get_metrics_data().resource_metrics
    names = {m.name: m for scope in resource.scope_metrics for m in scope.metrics}
    assert set(names) == {"refold.tokens.saved", "refold.fold.duration"}
    (saved,) = names["refold.tokens.saved"].data.data_points
    assert saved.value == folded.report.tokens_unfolded - folded.report.tokens
