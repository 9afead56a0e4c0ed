"""The profiles: presets of one engine, one file each, loaded when it is first used."""

from __future__ import annotations

from importlib import import_module

from refold.options import Profile
from refold.plan.preset import Preset


def preset_of(profile: Profile) -> Preset:
    """Return what sets *profile* apart."""
    preset: Preset = import_module(f"{__name__}.{profile}").PRESET
    return preset
