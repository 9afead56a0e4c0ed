"""Packages that only some batches need."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from refold.errors import ConfigError


def need(module: str, extra: str) -> Any:
    """Import *module*, or say how to install what brings it."""
    try:
        return import_module(module)
    except ImportError as error:
        name = module.partition(".")[0]
        raise ConfigError(f"this needs {name}: pip install 'refold[{extra}]'") from error
