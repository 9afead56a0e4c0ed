"""Check what a caller chose: every refusal names the choice, what it must be and what was got."""

from __future__ import annotations

import math
from typing import TypeGuard

from refold.errors import ConfigError


def check_whole(name: str, value: object, *, least: int = 0) -> None:
    """Refuse what is not a whole number of at least *least*."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ConfigError(f"{name} must be a whole number, {least} or more; got {value!r}")


def check_number(name: str, value: object, *, least: float = 0) -> None:
    """Refuse what is not a finite number of at least *least*."""
    if not _is_number(value) or not least <= value < math.inf:
        raise ConfigError(f"{name} must be a number, {least:g} or more; got {value!r}")


def check_positive(name: str, value: object) -> None:
    """Refuse what is not a finite number above 0."""
    if not _is_number(value) or not 0 < value < math.inf:
        raise ConfigError(f"{name} must be a number above 0, got {value!r}")


def check_share(name: str, value: object) -> None:
    """Refuse what is not a number from 0 to 1."""
    if not _is_number(value) or not 0 <= value <= 1:
        raise ConfigError(f"{name} must be a number from 0 to 1, got {value!r}")


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
