"""Plain messages: a role and content, with or without an id; what every provider has in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from refold.formats.base import Format, Reading, read_id, read_role
from refold.formats.content import read_content


def _read(message: Mapping[str, Any], place: str) -> Reading:
    reading = Reading(role=read_role(message, place), id=read_id(message, place))
    read_content(reading, message.get("content"), ("content",), place)
    return reading


FORMAT: Final = Format(name="plain", marks=lambda _: False, read=_read)
