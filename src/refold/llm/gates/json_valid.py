"""Refuses an answer that is not JSON where the source is a JSON object or array."""

from __future__ import annotations

from typing import Final

from refold.llm.gates.base import Gate, Refusal, Source
from refold.scan.structure import is_json


def _check(source: Source, answer: str) -> Refusal | None:
    if not is_json(source.text) or is_json(answer):
        return None
    return Refusal("the source is JSON, the answer is not")


GATE: Final = Gate("json_valid", _check)
