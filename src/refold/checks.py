"""Checks of options and requirements; errors name the option, what it must be and what it was."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from importlib import import_module
from typing import Any, TypeGuard

from refold.errors import ConfigError, RefoldError
from refold.gone import GONE_OPTIONS


def check_whole(name: str, value: object, *, least: int = 0) -> None:
    """Raise `ConfigError` unless *value* is a whole number of at least *least*."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ConfigError(f"{name} must be a whole number, {least} or more; got {value!r}")


def check_number(name: str, value: object, *, least: float = 0) -> None:
    """Raise `ConfigError` unless *value* is a finite number of at least *least*."""
    if not _is_number(value) or not least <= value < math.inf:
        raise ConfigError(f"{name} must be a number, {least:g} or more; got {value!r}")


def check_positive(name: str, value: object) -> None:
    """Raise `ConfigError` unless *value* is a finite number above 0."""
    if not _is_number(value) or not 0 < value < math.inf:
        raise ConfigError(f"{name} must be a number above 0, got {value!r}")


def check_share(name: str, value: object) -> None:
    """Raise `ConfigError` unless *value* is a number from 0 to 1."""
    if not _is_number(value) or not 0 <= value <= 1:
        raise ConfigError(f"{name} must be a number from 0 to 1, got {value!r}")


def check_switch(name: str, value: object) -> None:
    """Raise `ConfigError` unless *value* is a bool."""
    if not isinstance(value, bool):
        raise ConfigError(f"{name} must be True or False, got {value!r}")


def check_choice(name: str, value: object, known: Collection[str]) -> None:
    """Raise `ConfigError` unless *value* is one of the *known* words."""
    if not isinstance(value, str) or value not in known:
        hint = _nearest(str(value), known)
        raise ConfigError(f"{name} must be one of {', '.join(known)}; got {value!r}{hint}")


def check_name(name: str, value: object) -> None:
    """Raise `ConfigError` unless *value* is a string that is not empty."""
    if not isinstance(value, str) or not value:
        raise ConfigError(f"{name} must be a non-empty string, got {value!r}")


def check_names(names: Iterable[str], known: Collection[str]) -> None:
    """Raise `ConfigError` for a name that is not *known*; for one that is gone, say what to use."""
    for name in names:
        if name not in known:
            if name in GONE_OPTIONS:
                raise ConfigError(f"{name} is no longer an option: {GONE_OPTIONS[name]}")
            hint = _nearest(name, known) or f"; known: {', '.join(sorted(known))}"
            raise ConfigError(f"unknown option {name!r}{hint}")


def check_rows(name: str, rows: object, kind: type, *, by: str = "name") -> None:
    """Raise `ConfigError` unless *rows* is a list of *kind*, each with another *by*."""
    if isinstance(rows, str) or not isinstance(rows, Sequence):
        raise ConfigError(f"{name} must be a list of {kind.__name__}, got {rows!r}")
    known: set[str] = set()
    for row in rows:
        if not isinstance(row, kind):
            raise ConfigError(f"{name} must hold {kind.__name__} only, got {row!r}")
        key = getattr(row, by)
        if key in known:
            raise ConfigError(f"{name} has two with the {by} {key!r}")
        known.add(key)


def need(
    module: str, extra: str, *, what: str = "this", error: type[RefoldError] = ConfigError
) -> Any:
    """Import *module* of an optional package; raise *error*, which says what to install."""
    try:
        return import_module(module)
    except ImportError as cause:
        name = module.partition(".")[0]
        raise error(
            f"{what} needs {name}, which is not installed: pip install 'refold[{extra}]'"
        ) from cause


def _nearest(word: str, known: Collection[str]) -> str:
    from difflib import get_close_matches  # only on the way to an error

    near = get_close_matches(word, sorted(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
