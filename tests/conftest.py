"""What holds for every test: Hypothesis never fails because a machine is busy."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("refold", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("refold")
