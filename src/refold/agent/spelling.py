"""What a tool returned as JSON: rows with dates and the like, not only plain data."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from datetime import date, time
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any, Final
from uuid import UUID

_SAID_AS_TEXT: Final = (date, time, Decimal, UUID, PurePath)  # a datetime is a date


def spell_result(value: object) -> str:
    """Spell *value* as JSON; raise `TypeError` or `ValueError` for what is no data.

    An object that is not in a list or a mapping is none: whoever called the tool may want its type.
    """
    default = _plain if isinstance(value, dict | list | tuple) else None
    return json.dumps(value, ensure_ascii=False, default=default)


def _plain(value: Any) -> object:
    """Return data that says what *value* does, if it is one of the usual things."""
    if isinstance(value, _SAID_AS_TEXT):
        return str(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, set | frozenset):
        return sorted(value, key=repr)  # sets have no order of their own: the same bytes each time
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: getattr(value, one.name) for one in fields(value)}
    if callable(dump := getattr(value, "model_dump", None)):  # pydantic
        return dump(mode="json")
    raise TypeError(f"{type(value).__name__} is no data")
