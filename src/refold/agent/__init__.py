"""Folding inside an agent loop."""

from refold.agent.session import Session
from refold.agent.session_report import SessionReport
from refold.agent.thresholds import FoldThresholds

__all__ = ["FoldThresholds", "Session", "SessionReport"]
