"""Folding inside an agent loop."""

from refold.agent.marks import Marks
from refold.agent.session import Session
from refold.agent.session_report import SessionReport

__all__ = ["Marks", "Session", "SessionReport"]
