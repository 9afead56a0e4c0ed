"""Folding inside an agent loop."""

from refold.agent.session import Session
from refold.agent.session_report import FoldThresholds, SessionReport

__all__ = ["FoldThresholds", "Session", "SessionReport"]
