"""Folding inside an agent loop."""

from refold.agent.session import Marks, Session, SessionReport

__all__ = ["Marks", "Session", "SessionReport"]
