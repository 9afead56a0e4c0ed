"""Telling whether a text is JSON."""

from __future__ import annotations

import json


def is_json(text: str) -> bool:
    """Tell whether *text* is one valid JSON object or array."""
    body = text.strip()
    if not body or body[0] not in "{[" or body[-1] not in "}]":
        return False
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True
